"""Reproduction scripts at smoke scale, and the machinery below them: resuming, order, provenance, tables."""

import csv
import doctest
import importlib
import json
import shutil
import signal
import subprocess
import sys
import time
from argparse import Namespace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from paucens.datasets import load_digits_parity, load_usps
from paucens.plotting import house_style
from reproduce import _features, _run, _store, _tables, figure_4, table_5
from reproduce import all as all_scripts

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = {"figure_4": figure_4, "table_5": table_5}
ORIGIN = {"versions": {"paucens": "0"}}


def has_usps():
    try:
        load_usps()
    except FileNotFoundError:
        return False
    return True


needs_usps = pytest.mark.skipif(not has_usps(), reason="USPS is in neither $PAUCENS_DATA nor ./data")


@pytest.fixture(autouse=True)
def fresh_machine(request, monkeypatch, tmp_path):
    """Hide the data sets of this machine, but from the tests that need them."""
    if not any(mark.name == "skipif" for mark in request.node.iter_markers()):
        monkeypatch.setenv("PAUCENS_DATA", str(tmp_path))
        monkeypatch.chdir(tmp_path)


def run(name, out, *extra, jobs=1):
    """Run a script through its main and return the exit code."""
    empty = ["--data", str(out)]  # before the data/ of the project
    arguments = ["--scale", "smoke", "--jobs", str(jobs), "--out", str(out), *empty, *extra]
    return _run.main(SCRIPTS[name].SCRIPT, arguments)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder in which both scripts have run, once for the whole file."""
    folder = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PAUCENS_DATA", str(folder))
        patch.chdir(folder)
        assert [run(name, folder) for name in SCRIPTS] == [0, 0]
    return folder


def timeless(path):
    """Return a CSV as lists, timing columns aside; None for a folder that has none of that name."""
    with path.open(encoding="utf-8", newline="") as stream:
        header, *lines = csv.reader(stream)
    kept = [i for i, column in enumerate(header) if not column.endswith("_seconds")]
    return [[line[i] for i in kept] for line in [header, *lines]]


def assert_same_results(folder, other):
    names = sorted(path.name for path in folder.glob("*.csv"))
    assert names == sorted(path.name for path in other.glob("*.csv"))
    for name in names:
        assert timeless(folder / name) == timeless(other / name), name


# ------------------------------------------------------------------------------------------ the scripts


def test_every_script_is_run_by_all_and_says_how_to_run_it():
    assert set(SCRIPTS) <= set(all_scripts.script_names())
    for name, script in SCRIPTS.items():
        assert f"python reproduce/{name}.py" in script.__doc__
        assert all(part in script.__doc__ for part in ("Claim", "Protocol", "Where we depart", "2 cores"))


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_writes_everything_it_promises(name, finished):
    for sheet in SCRIPTS[name].SCRIPT.sheets:
        assert (finished / f"{sheet}.csv").exists() and (finished / f"{sheet}.json").exists()
    for ending in ("md", "png", "pdf"):
        assert (finished / f"{name}.{ending}").stat().st_size > 500
    assert not [path.name for path in finished.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("name", SCRIPTS)
def test_rows_have_a_unique_key_and_sane_values(name, finished):
    frame = _store.read_frame(finished / f"{name}.csv")
    assert tuple(frame.columns[:7]) == _store.KEY
    key = [*_store.KEY, *({"choice", "rounds"} & set(frame))]
    assert not frame.duplicated(key).any()
    assert frame.pauc.between(0, 1).all()
    assert set(frame.scale) == {"smoke"} and set(frame.seed) == {0}
    assert frame.data_hash.str.fullmatch("[0-9a-f]{16}").all()
    chosen = frame[frame.get("choice", frame.setting).str.contains("nu ")]
    assert len(chosen) and chosen.parameter.gt(0).all()
    assert frame[frame.method == "AdaBoost"].parameter.isna().all()


@pytest.mark.parametrize("name", SCRIPTS)
def test_provenance_names_versions_and_no_machine(name, finished):
    text = (finished / f"{name}.json").read_text(encoding="utf-8")
    origin = json.loads(text)
    assert set(origin["versions"]) == {"paucens", "python", "numpy", "scipy", "scikit-learn"}
    assert origin["arguments"] == {"scale": "smoke", "seed": 0}
    assert str(finished) not in text and str(ROOT) not in text


def test_jobs_leave_no_trace(finished, tmp_path):
    assert [run(name, tmp_path, jobs=2) for name in SCRIPTS] == [0, 0]
    assert_same_results(tmp_path, finished)
    for name in SCRIPTS:
        assert (tmp_path / f"{name}.json").read_bytes() == (finished / f"{name}.json").read_bytes()
        assert (tmp_path / f"{name}.md").read_bytes() == (finished / f"{name}.md").read_bytes()


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_csv_cut_in_the_middle_of_a_line_is_completed(name, finished, tmp_path):
    for path in finished.glob(f"{name}*"):
        shutil.copy(path, tmp_path)
    path = tmp_path / f"{name}.csv"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * 3 // 5])
    assert run(name, tmp_path) == 0
    for sheet in SCRIPTS[name].SCRIPT.sheets:
        assert timeless(tmp_path / f"{sheet}.csv") == timeless(finished / f"{sheet}.csv")
    kept = content[: len(content) // 3].rpartition(b"\n")[0]
    assert path.read_bytes().startswith(kept)  # to the byte, timings too: these were not run again


def test_table_and_picture_need_the_csv_only(finished, tmp_path):
    for path in finished.glob("*.csv"):
        shutil.copy(path, tmp_path)
    assert [run(name, tmp_path, "--redraw") for name in SCRIPTS] == [0, 0]
    for name in SCRIPTS:
        for ending in ("md", "png", "pdf"):
            drawn, first = (folder / f"{name}.{ending}" for folder in (tmp_path, finished))
            assert drawn.read_bytes() == first.read_bytes()


def test_redraw_without_a_csv_says_what_to_do(tmp_path, capsys):
    assert run("figure_4", tmp_path, "--redraw") == 1
    assert "without --redraw first" in capsys.readouterr().err


def heed_ctrl_c():
    """Undo what a shell does to its background jobs, whose children ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_leaves_a_csv_that_the_next_run_resumes(finished, tmp_path):
    command = [
        sys.executable,
        str(ROOT / "reproduce" / "figure_4.py"),
        "--scale",
        "smoke",
        "--jobs",
        "1",
        "--out",
        str(tmp_path),
    ]
    path = tmp_path / "figure_4.csv"
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, preexec_fn=heed_ctrl_c) as process:
        deadline = time.monotonic() + 60
        while not path.exists() or path.read_bytes().count(b"\n") < 2:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "goes on from what is saved" in output
    assert not (tmp_path / "figure_4.md").exists()
    assert run("figure_4", tmp_path) == 0
    for sheet in figure_4.SCRIPT.sheets:
        assert timeless(tmp_path / f"{sheet}.csv") == timeless(finished / f"{sheet}.csv")


def test_all_runs_the_others_after_a_failure_and_names_it(monkeypatch, capsys, tmp_path):
    def perform(script, arguments):
        if script.name == "figure_4":
            raise ValueError("no luck")
        return [tmp_path / "table_5.csv"]

    monkeypatch.setattr(all_scripts, "perform", perform)
    assert all_scripts.main(["--scale", "smoke"]) == 1
    captured = capsys.readouterr()
    assert "table_5.csv" in captured.out and "table_5, 0 s" in captured.out
    assert captured.err.splitlines()[-1] == "failed: figure_4"


def test_all_leaves_out_what_has_no_data(monkeypatch, capsys, tmp_path):
    def perform(script, arguments):
        if script.name == "table_5":
            return [tmp_path / "table_5.csv"]
        return _run.load_available(["yeast_pairs"], tmp_path)

    monkeypatch.setattr(all_scripts, "perform", perform)
    assert all_scripts.main(["--scale", "smoke"]) == 0
    shown = capsys.readouterr().out
    assert "table_4 was left out: its data is not here" in shown and "'yeast_pairs' was not found" in shown


def test_available_sets_are_loaded_and_the_others_named(tmp_path, capsys):
    (found,) = _run.load_available(["yeast_pairs", "usps"], tmp_path)
    assert found.name == "digits_parity" and found.groups is None
    assert "'yeast_pairs' was not found" in capsys.readouterr().out


def test_all_stops_at_ctrl_c(monkeypatch):
    def perform(script, arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(all_scripts, "perform", perform)
    assert all_scripts.main([]) == 130


def test_only_real_data_goes_to_figures():
    def arguments(**changes):
        return Namespace(**({"out": None, "scale": "paper"} | changes))

    assert _run.output_folder(arguments()) == ROOT / "figures"
    assert _run.output_folder(arguments(), stands_in=True) == ROOT / "build" / "figures" / "paper"
    assert _run.output_folder(arguments(scale="small")) == ROOT / "build" / "figures" / "small"
    assert _run.output_folder(arguments(out=Path("here"))) == Path("here")


# ------------------------------------------------------------------------------------------ Table 5


def test_a_stand_in_says_so_everywhere_and_the_papers_numbers_are_left_out(finished, tmp_path, capsys):
    frame = _store.read_frame(finished / "table_5.csv")
    assert set(frame.data_set) == {"digits_parity (stand-in for usps)"}
    text = (finished / "table_5.md").read_text(encoding="utf-8")
    assert "stand-in" in text.splitlines()[0] and "within 0.02" not in text and "| paper" not in text
    with house_style():
        panels = table_5.picture({"table_5": frame}).axes
    assert "stand-in" in panels[0].get_title("left")
    assert not any(panel.containers for panel in panels)  # error bars are the paper's
    assert _run.load_data("usps", tmp_path).stands_in
    assert "hastie.su.domains" in capsys.readouterr().out


def test_a_row_of_table_5_is_computed_again_to_the_digit(finished):
    frame = _store.read_frame(finished / "table_5.csv")
    X, y = load_digits_parity()
    split = table_5.split_halves(len(y), 0, 0, table_5.PROTOCOLS["smoke"].folds)
    for method, depth in (("pAUCEnsT", 3), ("AsymBoost", 2)):
        rows = frame[(frame.method == method) & (frame.depth == depth)]
        build = partial(table_5.METHODS[method].build, depth, table_5.PROTOCOLS["smoke"].rounds)
        choices = table_5.METHODS[method].choices_at(depth)
        again = table_5.measure(X, y, _features.raw, split, build, choices, sorted(set(rows.rounds)), depth)
        for column in ("pauc", "choice", "parameter", "split_hash", "n_train", "n_test"):
            assert [row[column] for row in again] == rows[column].tolist(), column


def test_halves_are_random_disjoint_and_frozen():
    train, test, folds = table_5.split_halves(101, 0, 0, 5)
    assert len(train) == 50 and sorted([*train, *test]) == list(range(101))
    assert np.bincount(folds).tolist() == [10] * 5
    other, _, _ = table_5.split_halves(101, 0, 1, 5)
    assert not np.array_equal(train, other)
    assert train[:6].tolist() == [2, 3, 6, 7, 9, 10]


class Scripted:
    """A model whose stages score 0 or 1 as its parameter says: perfect, or the wrong way round."""

    def __init__(self, good):
        self.good = good

    def fit(self, X, y):
        return self

    def staged_decision_function(self, X):
        yield from (X[:, 0] * (1 if good else -1) for good in self.good)


def test_choices_are_made_per_stage_or_at_the_end_and_the_first_wins_ties():
    y = np.tile([0, 1], 20)
    X, folds = y[:, None].astype(float), np.arange(40) // 2 % 2
    early, late, both = (True, False), (False, True), (True, True)

    def choose(candidates, per_stage):
        choices = {"tried": table_5.Choice(candidates, per_stage)}
        return list(table_5.choose(X, y, folds, Scripted, choices, [1, 2])["tried"])

    assert choose((early, late), True) == [early, late]
    assert choose((early, late), False) == [late, late]
    assert choose((late, both), False) == [late, late]
    assert choose((late,), False) == [late, late]


def test_choices_share_folds_and_candidates():
    y = np.tile([0, 1], 20)
    X, folds = y[:, None].astype(float), np.arange(40) // 2 % 2
    built = []

    def build(good):
        built.append(good)
        return Scripted(good)

    choices = {"narrow": table_5.Choice(((True,), (False,))), "wide": table_5.Choice(((False,), (True,)))}
    assert table_5.choose(X, y, folds, build, choices, [1]) == {"narrow": [(True,)], "wide": [(True,)]}
    assert built == [(True,)] * 2 + [(False,)] * 2  # each candidate once a fold


def test_a_fit_that_stopped_early_keeps_its_last_stage():
    y = np.tile([0, 1], 20)
    paucs = table_5.stage_paucs(Scripted((False, True)), y[:, None].astype(float), y, [1, 2, 100])
    assert paucs == [0.0, 1.0, 1.0]


@needs_usps
def test_usps_stands_beside_the_papers_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr(table_5, "DATA_SETS", ("usps",))
    assert _run.main(table_5.SCRIPT, ["--scale", "smoke", "--jobs", "2", "--out", str(tmp_path)]) == 0
    frame = _store.read_frame(tmp_path / "table_5.csv")
    assert set(frame.data_set) == {"usps"}
    main = table_5.main_rows(frame, 3).set_index(["method", "rounds"]).pauc
    assert abs(main["AdaBoost", 10] - 0.87) < 0.05 and abs(main["pAUCEnsT", 20] - 0.92) < 0.05
    assert set(frame.method) == {"pAUCEnsT", "AdaBoost", "Ada + LDA", "AsymBoost"}
    text = (tmp_path / "table_5.md").read_text(encoding="utf-8")
    assert "| 0.87 (0.01) |" in text and "| paper" in text and "stand-in" not in text
    origin = json.loads((tmp_path / "table_5.json").read_text(encoding="utf-8"))
    assert origin["data"]["usps"]["shape"] == [9298, 256]


# ------------------------------------------------------------------------------------------ Figure 4


def test_figure_4_searches_the_papers_grid_and_a_wider_one():
    assert len(figure_4.PAPER_GRID) == 11 and figure_4.PAPER_GRID[1] == pytest.approx(10**-4.8, rel=1e-3)
    assert (figure_4.PAPER_GRID[0], figure_4.PAPER_GRID[-1]) == (1e-5, 1e-3)
    assert (figure_4.WIDE_GRID[0], figure_4.WIDE_GRID[-1]) == (1e-2, 1e3)
    grid = figure_4.METHODS["pAUCEnsT"].grids["10 stumps; nu from both grids"]
    assert list(grid) == sorted({*figure_4.PAPER_GRID, *figure_4.WIDE_GRID})


def test_figure_4_has_the_papers_four_methods_and_grids():
    assert list(figure_4.METHODS) == ["AdaBoost", "CS-AdaBoost", "AsymBoost", "pAUCEnsT"]
    assert len(figure_4.COST_RATIOS) == 21 and (figure_4.COST_RATIOS[0], figure_4.COST_RATIOS[-1]) == (0.5, 2.5)
    assert len(figure_4.ASYMMETRIES) == 16 and (figure_4.ASYMMETRIES[0], figure_4.ASYMMETRIES[-1]) == (0.5, 4.0)
    model = figure_4.build_cost_sensitive(2.5)
    assert model.cost_positive / model.cost_negative == pytest.approx(2.5)
    assert model.cost_positive + model.cost_negative == pytest.approx(2)


def test_table_5_has_the_papers_grids():
    assert table_5.PAPER_NU == (1.0, 0.5, 0.2, 0.1)
    assert len(table_5.PAPER_K) == 11
    np.testing.assert_allclose(np.log2(table_5.PAPER_K), np.arange(-5, 6) / 10, atol=1e-3)
    assert all(
        len(choice.candidates) <= 7
        for method in table_5.METHODS.values()
        for name, choice in method.choices.items()
        if "wider" in name
    )


def test_a_row_of_figure_4_is_computed_again_to_the_digit(finished):
    frame = _store.read_frame(finished / "figure_4.csv")
    row = frame[(frame.method == "pAUCEnsT") & (frame.repeat == 1)].iloc[0]
    draw = figure_4.sample_points(0, 1)
    again = figure_4.measure(draw, figure_4.build_paucens, figure_4.METHODS["pAUCEnsT"].grids[row.setting])[0]
    for column in ("parameter", "validation_pauc", "pauc", "fpr", "tpr"):
        assert again[column] == row[column]
    assert row.fpr <= 0.2


def test_stumps_of_the_csv_are_the_model(finished):
    """The region that is drawn has the rates that the CSV gives for the test points."""
    results = _store.read_frame(finished / "figure_4.csv")
    stumps = _store.read_frame(finished / "figure_4_stumps.csv")
    X, y = figure_4.sample_points(0, 0).test
    for row in figure_4.main_rows(results[results.repeat == 0]).itertuples():
        model = stumps[stumps.method == row.method]
        assert len(model) == figure_4.N_STUMPS
        assert model.weight.abs().sum() == pytest.approx(1)
        scores = figure_4.stump_scores(model, X.T)
        inside = scores > model.cut.iloc[0]
        assert (inside[y == 0].mean(), inside[y == 1].mean()) == pytest.approx((row.fpr, row.tpr), abs=1e-6)


def test_small_nu_does_not_stall():
    draw = figure_4.sample_points(0, 0)
    model = figure_4.build_paucens(1e-5).fit(*draw.train)
    assert len(model.weights_) == figure_4.N_STUMPS and np.abs(model.weights_).max() > 0


# ------------------------------------------------------------------------------------------ the store


def sheet_of(works, seed=0, data_hash="a" * 16, scale="smoke"):
    """Make a sheet of the columns x and y, one task of two rows for each method and its work."""
    arguments = Namespace(seed=seed, scale=scale)
    tasks = [
        _store.Task(_store.task_key("toy", data_hash, method, "s", 0, arguments), 2, work)
        for method, work in works.items()
    ]
    return _store.Sheet("sheet", ("x", "y"), tasks)


def two_rows(calls, method):
    calls.append(method)
    return [{"x": 0.1, "y": method}, {"x": 0.2, "y": 'a "b", c'}]


def interrupted():
    raise KeyboardInterrupt


@pytest.fixture
def calls():
    return []


@pytest.fixture
def sheet(calls):
    return sheet_of({method: partial(two_rows, calls, method) for method in "abc"})


def test_finished_tasks_are_not_run_again(sheet, calls, tmp_path, capsys):
    _store.complete(sheet, tmp_path, ORIGIN, 1)
    content = (tmp_path / "sheet.csv").read_bytes()
    _store.complete(sheet, tmp_path, ORIGIN, 1)
    assert calls == ["a", "b", "c"] and (tmp_path / "sheet.csv").read_bytes() == content
    assert "delete" in capsys.readouterr().out


def test_wherever_the_csv_is_cut_it_is_completed_to_the_same_bytes(sheet, calls, tmp_path):
    _store.complete(sheet, tmp_path, ORIGIN, 1)
    path = tmp_path / "sheet.csv"
    content = path.read_bytes()
    for length in range(len(content)):
        path.write_bytes(content[:length])
        _store.complete(sheet, tmp_path, ORIGIN, 1)
        assert path.read_bytes() == content


def test_an_interruption_keeps_what_is_finished(sheet, calls, tmp_path, capsys):
    broken = sheet_of({"a": sheet.tasks[0].work, "b": interrupted, "c": sheet.tasks[2].work})
    with pytest.raises(KeyboardInterrupt):
        _store.complete(broken, tmp_path, ORIGIN, 1)
    assert "1 of 3 results are saved" in capsys.readouterr().out
    _store.complete(sheet, tmp_path, ORIGIN, 1)
    assert calls == ["a", "b", "c"]
    assert [line[2] for line in timeless(tmp_path / "sheet.csv")] == ["method", *"aabbcc"]


@pytest.mark.parametrize("change", [{"seed": 1}, {"scale": "small"}, {"data_hash": "b" * 16}])
def test_rows_of_another_run_are_not_reused(change, sheet, calls, tmp_path, capsys):
    _store.complete(sheet, tmp_path, ORIGIN, 1)
    works = {task.key[2]: task.work for task in sheet.tasks}
    _store.complete(sheet_of(works, **change), tmp_path, ORIGIN, 1)
    assert calls == [*"abc", *"abc"]
    assert "dropped" in capsys.readouterr().out
    assert len(timeless(tmp_path / "sheet.csv")) == 7


def test_rows_of_other_versions_are_not_reused(sheet, calls, tmp_path, capsys):
    _store.complete(sheet, tmp_path, ORIGIN, 1)
    _store.complete(sheet, tmp_path, {"versions": {"paucens": "1"}}, 1)
    assert calls == [*"abc", *"abc"]
    assert "made with paucens 0" in capsys.readouterr().out
    assert json.loads((tmp_path / "sheet.json").read_text())["versions"] == {"paucens": "1"}


def test_rows_of_another_protocol_are_not_reused(sheet, calls, tmp_path, capsys):
    of = {trees: ORIGIN | {"protocol": {"n_estimators": trees}} for trees in ((4, 8), (32, 128))}
    for trees in ((4, 8), (4, 8), (32, 128)):
        _store.complete(sheet, tmp_path, of[trees], 1)
    assert calls == [*"abc", *"abc"]
    assert "made with n_estimators [4, 8]; it is computed anew" in capsys.readouterr().out


def test_rows_of_other_columns_are_not_reused(sheet, calls, tmp_path, capsys):
    _store.complete(sheet, tmp_path, ORIGIN, 1)
    _store.complete(_store.Sheet("sheet", ("y", "x"), sheet.tasks), tmp_path, ORIGIN, 1)
    assert calls == [*"abc", *"abc"]
    assert "columns" in capsys.readouterr().out


def test_a_task_must_bring_the_rows_it_announced(tmp_path):
    with pytest.raises(ValueError, match="1 rows came, 2 were planned"):
        _store.complete(sheet_of({"a": lambda: [{"x": 1, "y": 2}]}), tmp_path, ORIGIN, 1)


# ------------------------------------------------------------------------------------------ numbers


def test_interval_of_overlapping_repeats_by_hand():
    """Five differences, halves: variance .0004 / 4 = .0001 times (1/5 + 1), t(.975, 4) = 2.776445."""
    values = [0.0, 0.01, 0.02, 0.03, 0.04]  # mean .02, sample variance .00025
    mean, low, high = _tables.mean_interval(values, test_over_train=1.0)
    half_width = 2.776445 * np.sqrt(0.00025 * 1.2)
    assert (mean, low, high) == pytest.approx((0.02, 0.02 - half_width, 0.02 + half_width), abs=1e-7)


def test_interval_of_independent_repeats_is_students():
    values = np.random.RandomState(0).normal(size=12)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    assert _tables.mean_interval(values, level=0.9)[1:] == pytest.approx(tuple(expected))


def test_interval_does_not_vanish_with_the_number_of_repeats():
    values = np.tile([-1.0, 1.0], 5000)
    _, _, high = _tables.mean_interval(values, test_over_train=0.25)
    assert high == pytest.approx(1.96 * 0.5, rel=1e-3)


def test_interval_covers_where_repeats_are_as_correlated_as_it_assumes():
    """Correlation n_test / (n_test + n_train), the model of Nadeau and Bengio: then the t law is exact."""
    rng, n_repeats, correlation = np.random.RandomState(1), 10, 0.5
    common, own = rng.normal(size=(4000, 1)), rng.normal(size=(4000, n_repeats))
    samples = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own
    intervals = np.array([_tables.mean_interval(sample, test_over_train=1.0) for sample in samples])
    covered = np.mean((intervals[:, 1] < 0) & (intervals[:, 2] > 0))
    assert covered == pytest.approx(0.95, abs=0.012)
    naive = np.array([_tables.mean_interval(sample) for sample in samples])
    assert np.mean((naive[:, 1] < 0) & (naive[:, 2] > 0)) < 0.6


def test_one_repeat_has_no_interval():
    interval = _tables.mean_interval([0.5], 1.0)
    assert interval.mean == 0.5 and np.isnan(interval.low) and _tables.interval_text(interval) == "–"


def test_paper_table_is_complete_and_ours_is_best_in_it():
    paper = _tables.paper_says("table_5")
    assert paper["rounds"] == [10, 20, 100]
    for data_set in ("usps", "scene15", "faces"):
        assert set(paper[data_set]) == {"pAUCEnsT", "AdaBoost", "Ada + LDA", "AsymBoost"}
        best = np.array(paper[data_set]["pAUCEnsT"]["mean"])
        for cells in paper[data_set].values():
            assert len(cells["mean"]) == len(cells["sd"]) == 3
            assert (np.array(cells["mean"]) <= best).all()


@pytest.mark.parametrize(
    ("measured", "holds"),
    [({"a": 3.0, "b": 2.0, "c": 2.1}, True), ({"a": 2.05, "b": 2.0, "c": 2.1}, False), ({"a": 1.0}, True)],
)
def test_order_holds_where_no_pair_is_turned_round(measured, holds):
    assert _tables.order_holds({"a": 0.9, "b": 0.8, "c": 0.8}, measured) is holds


def test_streams_of_repeats_differ_and_are_frozen():
    draws = [rng.randint(1000) for repeat in range(3) for rng in _run.random_streams(7, repeat, 2)]
    assert len(set(draws)) == 6
    assert draws == [rng.randint(1000) for repeat in range(3) for rng in _run.random_streams(7, repeat, 2)]


@pytest.mark.parametrize("bad", [["--scale", "huge"], ["--seed", "-1"], ["--seed", "x"], ["--scal", "smoke"]])
def test_bad_arguments_are_refused(bad, capsys):
    with pytest.raises(SystemExit):
        _run.parse_arguments("", bad)
    assert bad[0] in capsys.readouterr().err


@pytest.mark.parametrize("name", ["reproduce._run", "reproduce._tables", "paucens.plotting"])
def test_examples_in_docstrings(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted and not result.failed
