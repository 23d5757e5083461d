"""Table 1: exponents from times that are known, the loops that are timed, and the script at smoke scale."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
import table_1
from table_1 import ADABOOST, DIGITS, OURS, QP, SCRATCH, SOLVE, STEPS, TRAIN, VARIABLES, Sizes

from harness import Run
from paucens import AdaBoostClassifier, PAUCEnsClassifier, Tree
from paucens.metrics import MeanInterval
from paucens.parallel import Threads
from paucens.plotting import draw_power_law, house_style, new_figure


def run(out, *extra):
    return table_1.main(["--scale", "smoke", "--jobs", "1", "--out", str(out), *extra])


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder in which the script has run, once for the whole file."""
    folder = tmp_path_factory.mktemp("finished")
    run(folder)
    return folder


def made_up(exponents, n_repeats=4):
    """Make the rows of a run whose times are powers of the sizes: `exponents` by step and variable, 0.5 elsewhere."""
    rows = []
    for name, variable in VARIABLES.items():
        for method in variable.steps:
            for repeat in range(n_repeats):
                for k, size in enumerate(table_1.SMOKE[name]):
                    values = vars(Sizes(4000)) | {variable.size: size, "nodes": 2.0 ** (k + 1) - 1}
                    for step in STEPS[method]:
                        row = values | {"iterations": 3.0 * (k + 1) ** 2, "active": 0.2, "seed": 0, "scale": "smoke"}
                        exponent = exponents.get((step, name), 0.5)
                        seconds = 1e-3 * row[variable.column] ** exponent
                        row["round_seconds"] = seconds * (1.0 if name == "r" else row["iterations"])
                        row["qp_seconds"] = 1e-5 * row["iterations"] ** exponents.get((QP, "r"), 2.0)
                        rows.append({"variable": name, "method": method, "repeat": repeat, "step": step} | row)
    return pd.DataFrame(rows)


# -- fitting ---------------------------------------------------------------------------------------


def test_known_exponents_are_recovered():
    """All exponents differ, so that none can be mistaken for another."""
    steps = [(step, name) for name, v in VARIABLES.items() for own in v.steps.values() for step in own]
    exponents = {key: 0.1 + 0.13 * i for i, key in enumerate(dict.fromkeys(steps))}
    fitted = list(table_1.fits(made_up(exponents)))
    assert [(fit.step, fit.variable) for fit in fitted] == steps
    for fit in fitted:
        expected = exponents[fit.step, fit.variable]
        assert fit.exponent == pytest.approx((expected,) * 3, abs=1e-9)
        assert table_1.slopes(fit.x[:, -2:], fit.y[:, -2:]) == pytest.approx([expected] * 4, abs=1e-9)


def test_slopes_are_those_of_least_squares():
    random = np.random.RandomState(0)
    x, y = random.normal(size=(2, 3, 5))
    assert table_1.slopes(x, y) == pytest.approx([np.polyfit(*line, 1)[0] for line in zip(x, y, strict=True)])


def test_intervals_cover_the_exponent_of_noisy_times():
    rows, random, covered = made_up({}, n_repeats=5), np.random.RandomState(0), []
    for _ in range(6):
        noisy = rows.assign(round_seconds=rows.round_seconds * np.exp(0.2 * random.normal(size=len(rows))))
        fitted = [fit for fit in table_1.fits(noisy) if fit.step != QP]
        covered += [fit.exponent.low < 0.5 < fit.exponent.high for fit in fitted]
    assert len(covered) == 96 and 0.88 < np.mean(covered) < 1


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.92, 1.05, "as the paper"),
        (0.80, 0.95, "below"),
        (1.05, 1.2, "above"),
        (0.8, 1.1, "open"),
        (np.nan, np.nan, "open"),
    ],
)
def test_verdicts(low, high, verdict):
    assert table_1.verdict(MeanInterval(1.0, low, high), 1) == verdict


def test_the_quadratic_program_has_no_exponent_in_the_paper():
    fit = next(fit for fit in table_1.fits(made_up({})) if fit.step == QP)
    assert fit.paper is None and table_1.verdict(fit.exponent, fit.paper) == "not in it"


def test_comments_are_for_verdicts_that_can_come():
    for step, name, verdict in table_1.COMMENTS:
        assert verdict in ("below", "above")
        assert any(step in own for own in VARIABLES[name].steps.values())


def test_the_table_names_the_cause_only_for_its_own_verdict():
    header, cause = "| weak learner                  | pAUCEnsT | K ", table_1.COMMENTS[TRAIN, "K", "below"]
    for exponent, expected in ((0.4, True), (1.0, False)):
        text = table_1.table(made_up({(TRAIN, "K"): exponent}))
        (line,) = (line for line in text.splitlines() if line.startswith(header))
        assert (cause in line) is expected and f"| {exponent:.2f} |" in " ".join(line.split())


# -- the loops -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data():
    sizes = Sizes(3000, n_features=12, rounds=12)
    X, m = table_1.sample(sizes, 0, 0)
    return sizes, X, m, (np.arange(len(X)) < m).astype(int)


def late(values):
    return np.mean(values[len(values) // 2 :])


def steps_of(method, sizes, X, m):
    """Run a loop and name its results by step and column."""
    with Threads(1) as threads:
        found = table_1.LOOPS[method](*table_1.prepare(sizes, X, m, threads), sizes)
    return {step: dict(zip(DIGITS, own, strict=True)) for step, own in zip(STEPS[method], found, strict=True)}


def test_the_loop_of_ours_is_that_of_the_estimator(data):
    sizes, X, m, y = data
    found = steps_of(OURS, sizes, X, m)
    published = {"learner": Tree(depth=3), "n_estimators": sizes.rounds, "nu": sizes.nu, "anneal": False}
    model = PAUCEnsClassifier((0, sizes.beta), **published).fit(X, y)
    assert model.n_iter_ == sizes.rounds
    assert found[SOLVE]["iterations"] == pytest.approx(late(model.n_cuts_), abs=1e-4)
    nodes = [np.count_nonzero(learner.nodes_.child) for learner in model.learners_]
    assert found[TRAIN]["nodes"] == pytest.approx(late(nodes), abs=1e-4)
    assert 0 < found[TRAIN]["active"] < 0.6
    assert found[SCRATCH]["iterations"] > found[SOLVE]["iterations"]


def test_the_loop_of_adaboost_is_that_of_the_estimator(data):
    sizes, X, m, y = data
    found = steps_of(ADABOOST, sizes, X, m)
    model = AdaBoostClassifier(learner=Tree(depth=3), n_estimators=sizes.rounds).fit(X, y)
    nodes = [np.count_nonzero(learner.nodes_.child) for learner in model.learners_]
    assert model.n_iter_ == sizes.rounds
    assert found[TRAIN]["nodes"] == pytest.approx(late(nodes), abs=1e-4)
    assert found[TRAIN]["active"] == 1.0


# -- the script ------------------------------------------------------------------------------------


def test_the_script_writes_what_it_promises(finished):
    rows = pd.read_csv(finished / "table_1.csv")
    key = ["variable", "method", "repeat", "seed", "scale", "step"]
    assert list(rows) == [*key, *vars(Sizes(1)), *DIGITS]
    assert not rows.duplicated([*key, *vars(Sizes(1))]).any()
    assert set(rows.variable) == set(VARIABLES) and set(rows.method) == set(STEPS)
    assert rows.round_seconds.gt(0).all() and rows.qp_seconds.le(rows.round_seconds).all()
    assert rows.iterations.ge(1).all() and rows.active.between(0, 1).all()
    origin = json.loads((finished / "table_1.json").read_text(encoding="utf-8"))
    assert origin["protocol"]["ladders"]["m+n"] == [2000, 4000, 8000]
    for ending in ("md", "png", "pdf"):
        assert (finished / f"table_1.{ending}").stat().st_size > 500


def test_what_is_timed_is_not_timed_again(finished, tmp_path):
    for ending in ("csv", "json"):
        shutil.copy(finished / f"table_1.{ending}", tmp_path)
    path, first = tmp_path / "table_1.csv", pd.read_csv(finished / "table_1.csv")
    kept = path.read_bytes().splitlines(keepends=True)[:-9]  # without the last case
    path.write_bytes(b"".join(kept))
    cases = first[["variable", "method", "repeat"]].drop_duplicates().to_dict("records")
    resumed = Run("table_1", table_1.PROTOCOLS["smoke"], "smoke", 0, 1, None, tmp_path, False, None)
    again = resumed.rows("table_1", table_1.measure, cases)
    assert path.read_bytes().splitlines(keepends=True)[: len(kept)] == kept
    timeless = [name for name in first if not name.endswith("_seconds")]
    pd.testing.assert_frame_equal(again[timeless], first[timeless])


def test_the_table_quotes_the_paper(finished):
    text = (finished / "table_1.md").read_text(encoding="utf-8")
    assert "O(r (m+n) (log(m+n) + t_max))" in text and "ERRATA.md, E16" in text
    assert len([line for line in text.splitlines() if line.startswith("| we")]) == 2 + 17 + 5


def test_panels_show_what_was_fitted_and_the_papers_exponent_in_grey():
    panels = table_1.picture(made_up({})).axes
    assert len(panels) == 8
    for panel in panels:
        assert panel.get_xscale() == panel.get_yscale() == "log"
        labels = [text.get_text() for text in panel.get_legend().get_texts()]
        assert labels[-1] in ("paper 0", "paper 1")
        assert all(label.endswith("0.50") for label in labels[:-1] if "QP" not in label)


def test_ticks_are_short():
    assert [table_1.short(value, None) for value in (300_000, 1000, 30, 0.03)] == ["300k", "1k", "30", "0.03"]


@pytest.mark.parametrize("exponent", [0.0, 1.0, 1.7])
def test_a_power_law_is_a_straight_line_through_the_middle(exponent):
    x = np.array([1.0, 10.0, 100.0])
    with house_style():
        axes = new_figure(3, 3).subplots()
        draw_power_law(axes, x, 5 * x**0.5, exponent, "black")
    (line,) = axes.lines
    ends, heights = line.get_data()
    assert ends.tolist() == [1.0, 100.0]
    assert np.log10(heights[1] / heights[0]) / 2 == pytest.approx(exponent)
    assert np.sqrt(heights.prod()) == pytest.approx(5 * 10**0.5)
