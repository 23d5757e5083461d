"""The record of mixtures: what is in it, gains by hand, and the script from end to end on one set."""

import mixtures
import pandas as pd
import pytest

from paucens.cutting_plane import wider_ranges
from pictures import texts_outside


@pytest.mark.parametrize("beta", mixtures.SHARES)
def test_equal_shares_are_what_auto_stands_for(beta):
    own = mixtures.mixture_of(beta, mixtures.EQUAL)
    assert wider_ranges(5000, (0, beta), own) == wider_ranges(5000, (0, beta), "auto")
    assert next(iter(mixtures.SHARES[beta])) == mixtures.EQUAL


def test_mixtures_by_name():
    assert mixtures.mixture_of(0.01, "0.5, 0, 0.5") == [(1.0, 0.5), (0.01, 0.5)]
    assert mixtures.mixture_of(0.1, "0.2, 0.8") == [(1.0, 0.2), (0.1, 0.8)]
    assert mixtures.mixture_of(0.1, mixtures.ALONE) is None
    for beta, own in mixtures.SHARES.items():
        for name in own:
            wider_ranges(5000, (0, beta), mixtures.mixture_of(beta, name))
    assert mixtures.PROTOCOLS["paper"].configurations == max(map(len, mixtures.SHARES.values()))


def test_gains_are_over_equal_shares_of_the_same_nu():
    paucs = {(1.0, mixtures.EQUAL): 0.5, (1.0, "other"): 0.6, (3.0, mixtures.EQUAL): 0.7, (3.0, "other"): 0.6}
    rows = [{"data_set": "a", "trees": 5, "nu": nu, "shares": name, "pauc": pauc} for (nu, name), pauc in paucs.items()]
    assert mixtures.gains(pd.DataFrame(rows))["other"].tolist() == pytest.approx([10, -10])


def test_the_script_from_end_to_end(tmp_path):
    finished = mixtures.main(["--scale", "smoke", "--jobs", "1", "--out", str(tmp_path)])
    text = (tmp_path / "mixtures.md").read_text(encoding="utf-8")
    assert mixtures.ALONE in text and "nan" not in text
    assert not texts_outside(finished.figure)
