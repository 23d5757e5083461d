"""Results in the README and in the user guide are those of `figures/*.csv`.

A paragraph or table below `<!-- numbers: name -->` holds the texts that the function `name` makes of the CSV files, and
no other decimal number. Elsewhere there are none, but for code, ranges such as [0, 0.1], and rates to ask for.
"""

import itertools
import re
from fractions import Fraction
from functools import cache

import beyond_3
import pandas as pd
import pytest
from pages import GUIDE, PAGES, ROOT, marked_numbers

from paucens.metrics import mean_interval
from paucens.metrics.binomial import most_above, samples_needed
from report import paper_says

SMALL = "10 trees of 4 leaves: partial AUC on [0, 0.01], mean over 10 random splits"
OVERLAP = 1.0  # test samples over training samples, of random halves
OURS = "pAUCEnsT"
INRIA = "INRIA, 50 px"
ALL_CHANNELS = "spCov+spLBP+M+O+LUV"


@cache
def table_of(name):
    return pd.read_csv(ROOT / "figures" / f"{name}.csv")


def results(name, **wanted):
    """Return the rows of a CSV file whose columns have the wanted values."""
    table = table_of(name)
    for column, value in wanted.items():
        table = table[table[column] == value]
    return table


def row(*cells):
    return f"| {' | '.join(cells)} |"


def ends(interval):
    return f"{interval.low:+.3f} to {interval.high:+.3f}"


def points(rate):
    return f"{100 * rate:.1f}"


# -- what the marked paragraphs and tables say -----------------------------------------------------


def small_models():
    rows = results("beyond_3", beta=0.01)
    frame = beyond_3.compared(rows[rows.depth.isin((0, 2))], "pauc").query("trees == 10")
    assert len(frame) == 6 and (frame["mean"] > 0).all()  # "above on each of six tables"
    assert (frame.low < 0).all() and (frame.high > 0).all()  # "each interval contains 0"
    yield row(SMALL, *frame.data_set)
    yield row("this package / best booster", *(f"{own.ours:.3f} / {own.theirs:.3f}" for own in frame.itertuples()))
    gaps = (f"{own.mean:+.3f} ({own.low:+.3f} to {own.high:+.3f})" for own in frame.itertuples())
    yield row("difference, 95 % interval", *gaps)


def ahead_by_size():
    rows = results("beyond_3", beta=0.01)
    frame = beyond_3.compared(rows[rows.depth.isin((0, 2))], "pauc")
    for n, own in frame.groupby("trees"):
        clear = (own.low > 0).sum()
        assert not (own.high < 0).any()  # "clearly behind on none"
        yield row(str(n), f"{(own['mean'] > 0).sum()} of {len(own)}", str(clear), f"{own['mean'].mean():+.3f}")


def of_table_5(data_set, rounds):
    """Results with trees on three levels and parameters of the paper's grids."""
    own = results("table_5", data_set=data_set, rounds=rounds, depth=3)
    first = own.groupby("method").choice.transform("first")
    return own[own.choice == first]


def boosters():
    ahead = 0
    for beta in (0.01, 0.1):
        cells = []
        for _, own in results("beyond_1", beta=beta).groupby("data_set", sort=False):
            wide = own.pivot(index="repeat", columns="method", values="pauc")
            default, automatic = (wide[f"{OURS}, {how}"] for how in ("default", 'nu="auto"'))
            others = wide[[name for name in wide if OURS not in name and name != "as published"]]
            best = others[others.mean().idxmax()]
            cells.append(" / ".join(f"{one.mean():.3f}" for one in (default, automatic, best)))
            for ours in (default, automatic):
                interval = mean_interval(ours - best, OVERLAP)
                assert interval.low < 0 < interval.high  # "all intervals of the differences contain 0"
            assert default.mean() < best.mean()  # "the booster's mean is higher than the default's in all eight cells"
            assert automatic.mean() > best.mean() - 0.01  # "higher by less than 0.01"
            ahead += automatic.mean() > best.mean()
        yield row(f'[0, {beta:g}]: default / `nu="auto"` / best booster', *cells)
    assert ahead == 1  # "in seven and lower in one"


def guarantee():
    hundredth, thousandth = (samples_needed(rate, 0.05) for rate in (0.01, 0.001))
    yield f"for a rate of 0.01 takes {hundredth} negatives held out, one for 0.001 takes {thousandth}, at 95 %"


def paper_and_ours():
    for start, name in (
        ("USPS, 100 trees, partial AUC on [0, 0.1]", "usps"),
        ("15 scenes, 100 trees, the same", "scene15"),
        ("faces, 100 trees, the same", "faces"),
    ):
        ours = of_table_5(name, 100)[lambda rows: rows.method == OURS].pauc.mean()
        yield row(start, f"{paper_says('table_5')[name][OURS]['mean'][-1]:.2f}", f"{ours:.3f}")
    theirs, ours = paper_says("table_3")["miss_rate"][ALL_CHANNELS]["INRIA"], inria("table_3", ALL_CHANNELS, "release")
    yield row("INRIA, detector with all features, log-average miss rate", f"{theirs:.1f} %", f"{points(ours)} %")
    theirs = {method: rates["INRIA"] for method, rates in paper_says("table_2")["miss_rate"].items()}
    for name, with_pooling, without in (("covariance features", "spCov+LUV", "Cov+LUV"), ("LBP", "spLBP", "LBP")):
        ours = inria("table_2", without) - inria("table_2", with_pooling)
        (pair,) = results("table_2_pairs", test_set=INRIA, method=with_pooling).itertuples()
        assert pair.low < 0 < pair.high  # "ties"
        gain = theirs[without] - theirs[with_pooling]
        yield row(f"INRIA, what spatial pooling of {name} gains", f"{gain:.1f} points", f"{points(ours)} points")


def inria(table, method, preset="robust"):
    """Return the mean over the seeds."""
    rows = results(table, test_set=INRIA, method=method, preset=preset)
    assert len(rows) == 3
    return rows.miss_rate.mean()


def default_detector():
    (own,) = results("default_model_test", test_set=INRIA, change="unchanged").itertuples()
    interval = f"95 %: {points(own.low)} to {points(own.high)}"
    yield f"log-average miss rate on the test images is {points(own.miss_rate)} % ({interval})"


def default_on_test_images():
    for start, change in (
        ("as they are", "unchanged"),
        ("JPEG 75", "JPEG 75"),
        ("WebP 80", "WebP 80"),
        ("blurred by a sigma of 1", "blur 1"),
    ):
        rows = results("default_model_test", change=change).set_index("test_set")
        own = [rows.loc[name] for name in (INRIA, "TUD-Stadtmitte, 100 px", "ETH-Bahnhof, 100 px")]
        yield row(start, *(f"{points(one.miss_rate)} ({points(one.low)} to {points(one.high)})" for one in own))


def default_threshold():
    (own,) = results("default_model_threshold", rule="photographs and people").itertuples()
    alarms = f"{own.false_per_photograph:.2f} false boxes per photograph without people"
    yield f"threshold of {own.threshold:.2f} gives {alarms}, and finds {100 * own.found:.0f} % of people held out"


def negatives_for_a_threshold():
    for rate in (0.1, 0.05, 0.01, 0.005, 0.001):
        yield row(f"{rate:g}", *(str(samples_needed(rate, error)) for error in (0.1, 0.05, 0.01)))


def price_of_a_threshold():
    shares = [share_above(10 * samples_needed(rate, 0.05), rate) for rate in (0.1, 0.05, 0.01, 0.005, 0.001)]
    assert max(shares) - min(shares) < 0.05
    yield f"about {shares[2]:.1f} × `max_fpr` of them may score above the threshold, at a confidence of 0.95"


def share_above(n, rate):
    """Return the share of n negatives that may score above a threshold, over the rate that is guaranteed at 0.95."""
    return most_above(n, rate, 0.05) / (n * rate)


def gain(configuration, beta):
    """Gain over the base of defaults.py, in hundredths, with its interval over the sets."""
    own = results("defaults", beta=beta)
    means = own.pivot_table(index="data_set", columns="configuration", values="pauc")
    return mean_interval(100 * (means[configuration] - means["300 rounds, nu = 0.05"]))


def wider_ranges():
    for start, configuration in (
        ("trained for [0, 0.0316] (`beta**0.75`)", "trained to beta^0.75"),
        ("trained for [0, 0.1] (`beta**0.5`)", "trained to beta^0.5"),
        ('`train_range="auto"`: 200 negatives or more in the range', "train_range auto"),
    ):
        mean, low, high = gain(configuration, 0.01)
        yield row(start, f"{mean:+.2f}", f"{low:+.2f} to {high:+.2f}")


CHANGES = {
    "600 rounds, `nu=0.03` (the default)": "600 rounds, nu = 0.03",
    "1200 rounds, `nu=0.015`": "1200 rounds, nu = 0.015",
    "mean score of two seeds": "two seeds",
    "`nu=0.2`": "300 rounds, nu = 0.2",
    '`mixture="auto"`': "mixture auto",
    '`binning="tails"`': "bins of tails",
    "`anneal=False`": "not annealed",
    "`row_fraction=0.6`": "60 % of the rows",
    "15 leaves": "15 leaves",
    "63 leaves": "63 leaves",
    "`leaf_ridge=7`": "ridge 7",
    "`leaf_ridge=60`": "ridge 60",
    "15 % of the columns": "15 % of the columns",
    "60 % of the columns": "60 % of the columns",
    "columns drawn per tree": "columns per tree",
}


def slice_gains():
    found = {0.01: [], 1.0: []}
    for name, own in results("beyond_4").groupby("data_set", sort=False):
        cells = []
        for model, judged in itertools.product(("default", "ten trees"), found):
            judged_rows = own[(own.model == model) & (own.judged == judged)]
            wide = judged_rows.pivot(index="repeat", columns="trained", values="pauc")
            interval = mean_interval(wide[0.01] - wide[1.0], own.n_test.iloc[0] / own.n_train.iloc[0])
            found[judged].append(interval)
            cells.append(f"{interval.mean:+.3f} ({ends(interval)})")
        yield row(name, *cells)
    narrow, whole = found.values()
    assert len(narrow) == 12 and min(interval.mean for interval in narrow) > 0  # "all twelve means"
    assert sum(interval.low > 0 for interval in narrow) == 4  # "four intervals do not contain 0"
    assert sum(interval.mean < 0 for interval in whole) > sum(interval.mean > 0 for interval in whole)


def changes():
    clear = {0.01: 0, 0.1: 0}  # "on [0, 0.01] there is none, on [0, 0.1] there are three"
    for start, configuration in CHANGES.items():
        cells = []
        for beta in clear:
            mean, low, high = gain(configuration, beta)
            clear[beta] += low > 0 or high < 0
            cells.append(f"{mean:+.2f} ({low:+.2f} to {high:+.2f})")
        yield row(start, *cells)
    assert clear == {0.01: 0, 0.1: 3}


def many_rows():
    shares = [f"600 rounds, nu = n / {number}" for number in (320_000, 160_000, 80_000)]
    for n, beta in itertools.product((8_000, 16_000, 64_000), (0.01, 0.1)):
        own, cells = results("many_rows", n_train=n, beta=beta), []
        wide = own.pivot_table(index=["data_set", "repeat"], columns="configuration", values="pauc")
        for name in (*shares, "LightGBM, 31 leaves"):
            gains = 100 * (wide[name] - wide["default: 600 rounds, nu = 0.03"]).groupby("data_set").mean()
            mean, low, high = mean_interval(gains)
            cells.append(f"{mean:+.2f} ({low:+.2f} to {high:+.2f})")
        size = f"{n:,}".replace(",", " " if n >= 10_000 else "")
        yield row(f"{size}, [0, {beta:g}]", *cells)


def tuning():
    clear = []
    for beta in (0.01, 0.1):
        cells = []
        for name, own in results("beyond_1", beta=beta).groupby("data_set", sort=False):
            wide = own.pivot(index="repeat", columns="method", values="pauc")
            default, *others = (wide[f"{OURS}, {how}"] for how in ("default", 'nu="auto"', "tuned"))
            cells.append(" / ".join(f"{one.mean():.3f}" for one in (default, *others)))
            intervals = [mean_interval(other - default, OVERLAP) for other in others]
            clear += [(name, beta) for interval in intervals if interval.low > 0 or interval.high < 0]
        yield row(f"[0, {beta:g}]", *cells)
    assert clear == [("hiv_ecfp4", 0.1)] * 2  # "Two gains are clear, both in the last cell"


def mixture():
    own = results("mixtures", beta=0.01, trees=10)
    wide = own.pivot_table(index=["data_set", "nu"], columns="shares", values="pauc")
    gains = wide["equal shares"] - wide["the wanted range alone"]
    mean, low, high = mean_interval(gains.groupby("data_set").mean())
    yield f"gain {mean:.2f} on [0, 0.01] over the range alone (95 %: {low:.2f} to {high:.2f})"


def smaller_window():
    rows = results("window_size", channels="spCov+spLBP+M+O+LUV").set_index("window")
    whole, half = rows.loc["128 x 64"], rows.loc["64 x 32"]
    loss = f"{points(half.difference)} points more ({points(half.difference_low)} to {points(half.difference_high)})"
    yield f"misses {loss}, in {half.hog_ratio / whole.hog_ratio:.2f} of the time"


def presets():
    for start, method, seeds in (
        ("M+O+LUV", "M+O+LUV", 3),
        ("spCov+LUV, one seed", "spCov+LUV", 1),
        ("spCov+M+O+LUV", "spCov+M+O+LUV", 3),
        ("all", ALL_CHANNELS, 3),
    ):
        rows = results("table_3", test_set=INRIA, method=method)
        means = rows[rows.repeat < seeds].groupby("preset").miss_rate.mean()
        yield row(start, *(points(means[name]) if name in means else "–" for name in ("robust", "release")))


def faster():
    for way, channels, setting in (
        ("traces", "M+O+LUV", "quantile 2 %"),
        ("two stages", "317 channels", "0.02 % left"),
        ("two stages behind normalised BING", "317 channels", "0.02 % left, 37.4 % away before"),
    ):
        wanted = {"way": way, "detector": channels, "setting": setting}
        (misses,) = results("beyond_2", **wanted).itertuples()
        (times,) = results("beyond_2_times", **wanted).itertuples()
        low, high = f"{100 * misses.difference_low:+.1f}", f"{100 * misses.difference_high:+.1f}"
        change = f"{100 * misses.difference:+.1f} ({low} to {high})"
        yield row(way.replace("normalised ", ""), channels, f"{times.detect_ratio:.2f}", change)


def speed_of_classifiers():
    return (line for file, line in measured_ratios() if file == "test_speed.py")


def speed_of_detectors():
    return (line for file, line in measured_ratios() if file != "test_speed.py")


def measured_ratios():
    """Check limits against the benchmarks, and ratios against limits; `make bench` measures the ratios."""
    for line in (GUIDE / "speed.md").read_text(encoding="utf-8").splitlines():
        if found := re.search(r"\| ([\d./ ]+) \| ([\d./ ]+) \| `(\w+\.py)::(\w+)` \|$", line):
            ratios, limits = (found[k].split(" / ") for k in (1, 2))
            source = benchmark(found[3], found[4])
            for ratio, limit in zip(ratios, limits, strict=True):
                assert Fraction(ratio) <= Fraction(limit)
                assert re.search(rf"(?<![\d.]){re.escape(limit).replace('/', ' / ')}(?![\d.])", source), line
            yield found[3], line


def benchmark(file, name):
    """Return the constants of a file of benchmarks, and one of its functions."""
    constants, *functions = (ROOT / "tests" / "benchmarks" / file).read_text(encoding="utf-8").split("\n\n\n")
    (own,) = (function for function in functions if f"def {name}(" in function)
    return constants + own


def training_times():
    rows = results("table_3", test_set=INRIA, preset="robust")
    minutes = rows.groupby("method").train_seconds.mean() / 60
    for start, method in (("M+O+LUV", "M+O+LUV"), ("spCov+LUV", "spCov+LUV"), ("all 317", ALL_CHANNELS)):
        yield row(start, f"{minutes[method]:.0f}")


# -- the check -------------------------------------------------------------------------------------

MARKED = [(page, *marked) for page in PAGES for marked in marked_numbers(page)]
ASKED_FOR = {"0.001", "0.01", "0.02", "0.05", "0.1", "0.5", "0.95"}
NO_RESULTS = (  # fenced code, code in a line, ranges, targets of links, versions
    r"```.*?\n```",
    r"`[^`]*`",
    r"\[[\d.]+, [\d.]+\]",
    r"\]\([^)]*\)",
    r"[Vv]ersion [\d.]+|Python [\d.]+",
)


def decimals(text):
    for pattern in NO_RESULTS:
        text = re.sub(pattern, "", text, flags=re.DOTALL)
    return set(re.findall(r"\d+\.\d+", text)) - ASKED_FOR


@pytest.mark.parametrize(("page", "name", "text"), MARKED, ids=[f"{page.stem}-{name}" for page, name, _ in MARKED])
def test_numbers_are_those_of_the_results(page, name, text):
    for wanted in globals()[name]():
        assert wanted in text
        text = text.replace(wanted, "", 1)
    assert not decimals(text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_numbers_elsewhere_are_no_results(page):
    text = page.read_text(encoding="utf-8")
    for _, marked in marked_numbers(page):
        text = text.replace(marked, "", 1)
    assert not decimals(text)
