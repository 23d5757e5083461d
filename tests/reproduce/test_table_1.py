"""Table 1: exponents from times that are known, the loops that are timed, and the script at smoke scale."""

import csv
import doctest
import json
import shutil
from argparse import Namespace

import numpy as np
import pandas as pd
import pytest

from paucens import AdaBoostClassifier, PAUCEnsClassifier, Tree
from paucens.parallel import Threads
from paucens.plotting import draw_power_law, house_style, new_figure
from reproduce import _run, _store, _tables, table_1

PRINTED = _tables.paper_says("table_1")["exponents"]


def run(out, *extra):
    return _run.main(table_1.SCRIPT, ["--scale", "smoke", "--jobs", "1", "--out", str(out), *extra])


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder in which the script has run, once for the whole file."""
    folder = tmp_path_factory.mktemp("finished")
    assert run(folder) == 0
    return folder


def timeless(path):
    """Return a CSV as lists, timing columns aside."""
    with path.open(encoding="utf-8", newline="") as stream:
        header, *lines = csv.reader(stream)
    kept = [i for i, column in enumerate(header) if not column.endswith("_seconds")]
    return [[line[i] for i in kept] for line in [header, *lines]]


def made_up(exponents, n_repeats=4):
    """Make the frame of a run whose times are powers of the sizes: `exponents` by step and variable, 0.5 elsewhere."""
    arguments, rows = Namespace(scale="smoke", seed=0), []
    for name, variable in table_1.VARIABLES.items():
        for method in variable.steps:
            for repeat in range(n_repeats):
                for k, size in enumerate(table_1.PROTOCOLS["smoke"].ladders[name]):
                    values = vars(table_1.Sizes(4000)) | {variable.size: size, "nodes": 2.0 ** (k + 1) - 1}
                    for step in table_1.STEPS[method]:
                        row = values | {"iterations": 3.0 * (k + 1) ** 2, "active": 0.2}
                        exponent = exponents.get((step, name), 0.5)
                        seconds = 1e-3 * row[variable.column] ** exponent
                        row["round_seconds"] = seconds * (1.0 if name == "r" else row["iterations"])
                        row["qp_seconds"] = 1e-5 * row["iterations"] ** exponents.get((table_1.QP, "r"), 2.0)
                        key = _store.task_key("Gaussian", "a" * 16, method, name, repeat, arguments)
                        rows.append(dict(zip(_store.KEY, key, strict=True)) | {"step": step} | row)
    return pd.DataFrame(rows).astype({"repeat": int, "seed": int})


# ------------------------------------------------------------------------------------------ fitting


def test_known_exponents_are_recovered():
    """All exponents differ, so that none can be mistaken for another."""
    steps = [(step, name) for name, v in table_1.VARIABLES.items() for own in v.steps.values() for step in own]
    exponents = {key: 0.1 + 0.13 * i for i, key in enumerate(dict.fromkeys(steps))}
    fitted = table_1.fits(made_up(exponents), PRINTED)
    assert [(fit.step, fit.variable) for fit in fitted] == steps
    for fit in fitted:
        expected = exponents[fit.step, fit.variable]
        assert fit.exponent == pytest.approx((expected,) * 3, abs=1e-9)
        assert fit.at_the_top == pytest.approx(expected, abs=1e-9)


def test_intervals_cover_the_exponent_of_noisy_times():
    frame, rng, covered = made_up({}, n_repeats=5), np.random.RandomState(0), []
    for _ in range(6):
        noisy = frame.assign(round_seconds=frame.round_seconds * np.exp(0.2 * rng.normal(size=len(frame))))
        fitted = [fit for fit in table_1.fits(noisy, PRINTED) if fit.step != table_1.QP]
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
    fit = table_1.Fit("m+n", "pAUCEnsT", table_1.TRAIN, None, _tables.MeanInterval(1.0, low, high), 1.0, 1)
    assert fit.verdict == verdict


def test_the_quadratic_program_has_no_exponent_in_the_paper():
    fit = next(fit for fit in table_1.fits(made_up({}), PRINTED) if fit.step == table_1.QP)
    assert fit.paper is None and fit.verdict == "not in it"


def test_comments_are_of_verdicts_that_can_come():
    for step, name, verdict in table_1.COMMENTS:
        assert verdict in ("below", "above")
        assert any(step in own for own in table_1.VARIABLES[name].steps.values())


def test_table_names_the_cause_only_where_the_verdict_is_its_own():
    header = "| weak learner                  | pAUCEnsT | K "
    cause = table_1.COMMENTS[table_1.TRAIN, "K", "below"]
    for exponent, expected in ((0.4, True), (1.0, False)):
        text = table_1.table({"table_1": made_up({(table_1.TRAIN, "K"): exponent})})
        (line,) = (line for line in text.splitlines() if line.startswith(header))
        assert (cause in line) is expected and f"| {exponent:.2f} |" in " ".join(line.split())


# ------------------------------------------------------------------------------------------ the loops


@pytest.fixture(scope="module")
def data():
    sizes = table_1.Sizes(3000, n_features=12, rounds=12)
    X, m = table_1.sample(sizes, 0, 0)
    return sizes, X, m, (np.arange(len(X)) < m).astype(int)


def late(values):
    return np.mean(values[len(values) // 2 :])


def test_the_loop_of_ours_is_that_of_the_estimator(data):
    sizes, X, m, y = data
    with Threads(1) as threads:
        result = table_1.paucens_loop(*table_1.prepare(sizes, X, m, threads), sizes)
    published = {"learner": Tree(depth=3), "n_estimators": sizes.rounds, "nu": sizes.nu, "anneal": False}
    model = PAUCEnsClassifier((0, sizes.beta), **published).fit(X, y)
    assert model.n_iter_ == sizes.rounds
    assert result[table_1.SOLVE]["iterations"] == pytest.approx(late(model.n_cuts_), abs=1e-4)
    nodes = [np.count_nonzero(learner.nodes_.child) for learner in model.learners_]
    assert result[table_1.TRAIN]["nodes"] == pytest.approx(late(nodes), abs=1e-4)
    assert 0 < result[table_1.TRAIN]["active"] < 0.6
    assert result[table_1.SCRATCH]["iterations"] > result[table_1.SOLVE]["iterations"]


def test_the_loop_of_adaboost_is_that_of_the_estimator(data):
    sizes, X, m, y = data
    with Threads(1) as threads:
        result = table_1.adaboost_loop(*table_1.prepare(sizes, X, m, threads), sizes)
    model = AdaBoostClassifier(learner=Tree(depth=3), n_estimators=sizes.rounds).fit(X, y)
    nodes = [np.count_nonzero(learner.nodes_.child) for learner in model.learners_]
    assert model.n_iter_ == sizes.rounds
    assert result[table_1.TRAIN]["nodes"] == pytest.approx(late(nodes), abs=1e-4)
    assert result[table_1.TRAIN]["active"] == 1.0


def test_times_are_medians_of_the_calls_and_the_rest_is_the_first():
    calls = [table_1.row(7, 0.2, 3, seconds, 0.1) for seconds in (0.9, 0.1, 0.2)]
    assert table_1.medians(calls) == table_1.row(7, 0.2, 3, 0.2, 0.1)


# ------------------------------------------------------------------------------------------ the script


def test_the_script_writes_what_it_promises(finished):
    frame = _store.read_frame(finished / "table_1.csv")
    assert tuple(frame.columns) == _store.KEY + table_1.COLUMNS
    assert not frame.duplicated([*_store.KEY, "step", *vars(table_1.Sizes(1))]).any()
    assert set(frame.setting) == set(table_1.VARIABLES) and set(frame.method) == set(table_1.STEPS)
    assert frame.round_seconds.gt(0).all() and frame.qp_seconds.le(frame.round_seconds).all()
    assert frame.iterations.ge(1).all() and frame.active.between(0, 1).all()
    origin = json.loads((finished / "table_1.json").read_text(encoding="utf-8"))
    assert origin["protocol"]["ladders"]["m+n"] == [2000, 4000, 8000]
    for ending in ("md", "png", "pdf"):
        assert (finished / f"table_1.{ending}").stat().st_size > 500


def test_a_csv_cut_short_is_completed_to_the_same_results(finished, tmp_path):
    for path in finished.glob("table_1.*"):
        shutil.copy(path, tmp_path)
    path = tmp_path / "table_1.csv"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * 3 // 5])
    (sheet,) = table_1.plan(Namespace(scale="smoke", seed=0)).sheets
    _store.complete(sheet, tmp_path, json.loads((finished / "table_1.json").read_text(encoding="utf-8")), 1)
    assert timeless(path) == timeless(finished / "table_1.csv")
    assert path.read_bytes().startswith(content[: len(content) // 3].rpartition(b"\n")[0])  # not timed again


def test_table_and_picture_need_the_csv_only(finished, tmp_path):
    shutil.copy(finished / "table_1.csv", tmp_path)
    assert run(tmp_path, "--redraw") == 0
    for ending in ("md", "png", "pdf"):
        assert (tmp_path / f"table_1.{ending}").read_bytes() == (finished / f"table_1.{ending}").read_bytes()


def test_the_table_quotes_the_paper(finished):
    text = (finished / "table_1.md").read_text(encoding="utf-8")
    assert "O(r (m+n) (log(m+n) + t_max))" in text and "ERRATA.md, E16" in text
    assert len([line for line in text.splitlines() if line.startswith("| we")]) == 2 + 17 + 5


def test_panels_show_what_was_fitted_and_the_papers_exponent_in_grey():
    frame = made_up({})
    with house_style():
        panels = table_1.picture({"table_1": frame}).axes
    assert len(panels) == 8
    for panel in panels:
        assert panel.get_xscale() == panel.get_yscale() == "log"
        labels = [text.get_text() for text in panel.get_legend().get_texts()]
        assert labels[-1] in ("paper 0", "paper 1")
        assert all(label.endswith("0.50") for label in labels[:-1] if "QP" not in label)


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


def test_examples_in_docstrings():
    result = doctest.testmod(table_1)
    assert result.attempted and not result.failed
