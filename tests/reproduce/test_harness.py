"""What the scripts share: the command line, resuming, order, provenance, data, comparisons and tables."""

import csv
import doctest
import json
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import all as all_scripts
import numpy as np
import pandas as pd
import pytest
import tiny
from tiny import Protocol

import report
from harness import MissingData, Run, data, exit_code, journal
from paucens.metrics import mean_interval
from report import difference_cells, differences, interval_text, markdown, order_holds, paper_says

ROOT = Path(__file__).resolve().parents[2]
TINY = Path(tiny.__file__)


def run_of(folder, protocol=None, **changes):
    run = Run("tiny", protocol or Protocol(), "smoke", 0, 1, None, folder, False, None)
    return replace(run, **changes)


def square(folder, n_cases=3, **changes):
    return run_of(folder, Protocol(n_cases, "square", str(folder / "book")), **changes)


def booked(folder):
    return (folder / "book").read_text().split()


def timeless(path):
    """Return a CSV as lists, without the columns of times."""
    with path.open(encoding="utf-8", newline="") as stream:
        header, *lines = csv.reader(stream)
    kept = [i for i, column in enumerate(header) if not column.endswith("seconds")]
    return [[line[i] for i in kept] for line in [header, *lines]]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished")
    assert tiny.main(["--scale", "smoke", "--jobs", "1", "--out", str(folder)]).scale == "smoke"
    return folder


# -- files -----------------------------------------------------------------------------------------


def test_a_script_writes_everything_it_promises(finished):
    assert {path.name for path in finished.iterdir()} == {f"tiny.{end}" for end in ("csv", "json", "md", "png", "pdf")}
    frame = pd.read_csv(finished / "tiny.csv")
    assert list(frame) == ["k", "seed", "scale", "x", "fit_seconds"] and frame.k.tolist() == list(range(6))


def test_provenance_names_versions_and_no_machine(finished):
    text = (finished / "tiny.json").read_text(encoding="utf-8")
    origin = json.loads(text)
    assert set(origin["versions"]) == {"paucens", "python", "numpy", "scipy", "scikit-learn"}
    assert origin["arguments"] == {"scale": "smoke", "seed": 0} and origin["protocol"]["n_cases"] == 6
    assert str(finished) not in text and str(ROOT) not in text


def test_processes_leave_no_trace(finished, tmp_path):
    tiny.main(["--scale", "smoke", "--jobs", "2", "--out", str(tmp_path)])
    assert timeless(tmp_path / "tiny.csv") == timeless(finished / "tiny.csv")
    for ending in ("json", "md", "png", "pdf"):
        assert (tmp_path / f"tiny.{ending}").read_bytes() == (finished / f"tiny.{ending}").read_bytes()


def test_processes_are_others_and_stay_for_the_next_stage(tmp_path):
    processes = run_of(tmp_path, Protocol(8, "where"), jobs=2)
    seen = [set(processes.rows(name, tiny.measure, [{"k": k} for k in range(8)]).x) for name in ("one", "two")]
    assert len(seen[0] | seen[1]) <= 2


def test_table_and_picture_need_the_csv_only(finished, tmp_path):
    shutil.copy(finished / "tiny.csv", tmp_path)
    tiny.main(["--scale", "smoke", "--out", str(tmp_path), "--redraw"])
    for ending in ("md", "png", "pdf"):
        assert (tmp_path / f"tiny.{ending}").read_bytes() == (finished / f"tiny.{ending}").read_bytes()


def test_redraw_without_a_csv_says_what_to_do(tmp_path, capsys):
    assert exit_code(lambda: tiny.main(["--scale", "smoke", "--out", str(tmp_path), "--redraw"])) == 1
    assert "without --redraw first" in capsys.readouterr().err


def test_only_real_data_goes_to_figures():
    paper = run_of(None, scale="paper")
    assert paper.folder == ROOT / "figures"
    paper.sources["digits_parity (stand-in for usps)"] = {}
    assert paper.folder == ROOT / "build" / "figures" / "paper"
    assert run_of(None, scale="small").folder == ROOT / "build" / "figures" / "small"
    assert run_of(Path("here"), scale="paper").folder == Path("here")


@pytest.mark.parametrize("bad", [["--scale", "huge"], ["--seed", "-1"], ["--seed", "x"], ["--scal", "smoke"]])
def test_bad_arguments_are_refused(bad, capsys):
    with pytest.raises(SystemExit):
        tiny.main(bad)
    assert bad[0] in capsys.readouterr().err


def test_help_is_the_docstring(capsys):
    with pytest.raises(SystemExit):
        tiny.main(["--help"])
    assert "python tests/reproduce/tiny.py --scale smoke" in capsys.readouterr().out


# -- interruptions ---------------------------------------------------------------------------------


def test_finished_cases_are_not_measured_again(tmp_path, capsys):
    tiny.main(square(tmp_path))
    content = (tmp_path / "tiny.csv").read_bytes()
    tiny.main(square(tmp_path))
    assert booked(tmp_path) == ["0", "1", "2"] and (tmp_path / "tiny.csv").read_bytes() == content
    assert "were there already" in capsys.readouterr().out


def test_a_new_case_is_measured_alone(tmp_path):
    book = str(tmp_path / "book")
    rows = run_of(tmp_path).rows("n", partial_of("square", book), [{"k": k} for k in (2, 0)])
    assert rows.k.tolist() == [2, 2, 0, 0]
    more = run_of(tmp_path).rows("n", partial_of("square", book), [{"k": k} for k in range(3)])
    assert more.k.tolist() == [0, 0, 1, 1, 2, 2] and booked(tmp_path) == ["2", "0", "1"]


def partial_of(kind, book):
    return lambda run, case: tiny.measure(replace(run, protocol=Protocol(0, kind, book)), case)


def test_wherever_the_journal_is_cut_it_is_completed_to_the_same_bytes(tmp_path):
    tiny.main(square(tmp_path / "whole"))
    whole = (tmp_path / "whole" / "tiny.csv").read_bytes()
    about = json.loads((tmp_path / "whole" / "tiny.json").read_text())
    cut = square(tmp_path, redraw=False)
    about["protocol"]["book"] = cut.protocol.book
    keys = [journal._texts({"k": k, "seed": 0, "scale": "smoke"}) for k in range(3)]
    rows = [[json.loads(journal._texts(row)) for row in tiny.measure(cut, {"k": k})] for k in range(3)]
    lines = "".join(journal._line(about, key, own) for key, own in zip(keys, rows, strict=True))
    for length in range(0, len(lines), 31):
        (tmp_path / "tiny.csv").unlink(missing_ok=True)
        (tmp_path / "tiny.jsonl").write_text(lines[:length], encoding="utf-8")
        cut.rows("tiny", tiny.measure, [{"k": k} for k in range(3)])
        assert (tmp_path / "tiny.csv").read_bytes() == whole


def test_an_interruption_keeps_what_is_finished(tmp_path, capsys):
    cases = [{"k": k} for k in range(4)]
    with pytest.raises(KeyboardInterrupt):
        run_of(tmp_path).rows("n", partial_of("interrupt 2", str(tmp_path / "book")), cases)
    assert "2 results are saved in n.jsonl" in capsys.readouterr().out
    run_of(tmp_path).rows("n", partial_of("fit", str(tmp_path / "book")), cases)
    assert booked(tmp_path) == ["0", "1", "2", "2", "3"] and not (tmp_path / "n.jsonl").exists()


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_ends_the_run_and_keeps_what_is_finished(jobs, tmp_path):
    run = run_of(tmp_path, Protocol(4, "raise 3"), jobs=jobs)
    with pytest.raises(ValueError, match="no luck"):
        tiny.main(run)
    assert 0 < len((tmp_path / "tiny.jsonl").read_text().splitlines()) < 4 and not (tmp_path / "tiny.csv").exists()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"versions": {"numpy": "0.9"}}, "numpy 0.9"),
        ({"protocol": {"n_cases": 7}}, "n_cases 7"),
        ({"data": {"usps": {"content_hash": "old"}}}, "other data of usps"),
    ],
)
def test_rows_of_another_origin_are_not_reused(change, complaint, tmp_path, capsys):
    run = square(tmp_path, sources={"usps": {"content_hash": "new"}})
    tiny.main(run)
    path = tmp_path / "tiny.json"
    origin = json.loads(path.read_text())
    ((part, values),) = change.items()
    path.write_text(json.dumps(origin | {part: origin[part] | values}))
    tiny.main(run)
    assert booked(tmp_path) == [*"012", *"012"]
    assert capsys.readouterr().out.count(f"tiny.csv: made with {complaint}; it is measured again") == 1
    assert json.loads(path.read_text()) == origin


def test_results_of_other_versions_are_kept_on_request(tmp_path):
    run, path = square(tmp_path, keep=True), tmp_path / "tiny.json"
    tiny.main(replace(run, protocol=replace(run.protocol, n_cases=2)))
    origin = json.loads(path.read_text())
    older = origin | {"versions": origin["versions"] | {"numpy": "0.9"}, "protocol": asdict(run.protocol)}
    path.write_text(json.dumps(older))
    tiny.main(run)
    assert booked(tmp_path) == [*"01", "2"]
    versions = json.loads(path.read_text())["versions"]
    assert versions == origin["versions"] | {"numpy": f"0.9, {np.__version__}"}
    tiny.main(run)
    assert booked(tmp_path) == [*"01", "2"] and json.loads(path.read_text())["versions"] == versions
    tiny.main(square(tmp_path))
    assert booked(tmp_path) == [*"01", "2", *"012"]
    assert json.loads(path.read_text())["versions"] == origin["versions"]


def test_another_protocol_is_not_kept(tmp_path):
    tiny.main(square(tmp_path))
    tiny.main(replace(square(tmp_path, keep=True), scale="small"))
    path = tmp_path / "tiny.json"
    path.write_text(path.read_text().replace('"n_cases": 3', '"n_cases": 4'))
    tiny.main(replace(square(tmp_path, keep=True), scale="small"))
    assert booked(tmp_path) == [*"012", *"012", *"012"]


def test_rows_of_another_seed_or_scale_are_not_reused(tmp_path):
    for changes in ({}, {"seed": 1}, {"scale": "small"}):
        tiny.main(square(tmp_path, **changes))
    assert booked(tmp_path) == 3 * [*"012"]


def test_a_csv_without_provenance_is_not_reused(tmp_path):
    tiny.main(square(tmp_path))
    (tmp_path / "tiny.json").unlink()
    tiny.main(square(tmp_path))
    assert booked(tmp_path) == [*"012", *"012"]


def heed_ctrl_c():
    """Undo what a shell does to its background jobs, whose children ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_leaves_a_journal_that_the_next_run_resumes(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "reproduce"), prepend=":")
    arguments = ["--scale", "small", "--jobs", "2", "--out", str(tmp_path)]
    command = [sys.executable, str(TINY), *arguments]
    path = tmp_path / "tiny.jsonl"
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, preexec_fn=heed_ctrl_c) as process:
        deadline = time.monotonic() + 60
        while not path.exists() or path.read_bytes().count(b"\n") < 2:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 130 and "goes on from what is saved" in output
    assert not (tmp_path / "tiny.md").exists()
    kept = [json.loads(line)["rows"] for line in path.read_text().splitlines()]
    assert 2 <= len(kept) < 12
    tiny.main(["--scale", "small", "--jobs", "1", "--out", str(tmp_path)])
    with (tmp_path / "tiny.csv").open() as stream:
        rows = [{name: row[name] for name in ("x", "fit_seconds")} for row in csv.DictReader(stream)]
    assert all(row in rows for (row,) in kept)  # to the byte, times too: these were not measured again
    expected = [tiny.measure(run_of(tmp_path), {"k": k})[0]["x"] for k in range(12)]
    assert [float(row["x"]) for row in rows] == expected


# -- data ------------------------------------------------------------------------------------------


def test_data_sets_are_loaded_and_the_others_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PAUCENS_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    run = run_of(tmp_path, data_folder=tmp_path)
    (title,) = run.data("yeast_pairs", "usps")
    assert title == "digits_parity (stand-in for usps)" and data.is_stand_in(title)
    assert run.sources[title]["shape"] == [1797, 64]
    shown = capsys.readouterr().out
    assert "'yeast_pairs' was not found" in shown and "hastie.su.domains" in shown
    with pytest.raises(MissingData, match="'yeast_pairs' was not found"):
        run.data("yeast_pairs")
    assert run_of(tmp_path, redraw=True).data("yeast_pairs") == {}


def test_a_worker_with_other_data_is_refused(tmp_path):
    run = run_of(tmp_path, data_folder=tmp_path)
    run.sources = {"digits_parity (stand-in for usps)": {"content_hash": "another"}}
    with pytest.raises(ConnectionError, match="other data of digits_parity"):
        run.load("digits_parity (stand-in for usps)")


# -- all.py ----------------------------------------------------------------------------------------


def fail(argv):
    raise ValueError("no luck")


def lack(argv):
    raise MissingData("'usps' was not found")


def interrupt(argv):
    raise KeyboardInterrupt


def test_all_runs_the_others_after_a_failure_and_names_it(capsys):
    assert all_scripts.run_all({"one": fail, "two": print, "three": lack}, ["--scale", "smoke"]) == 1
    captured = capsys.readouterr()
    assert "two, 0 s" in captured.out and "three was left out: its data is not here" in captured.out
    assert "'usps' was not found" in captured.out and captured.err.splitlines()[-1] == "failed: one"
    assert all_scripts.run_all({"two": print, "three": lack}, []) == 0


def test_all_stops_at_ctrl_c():
    assert all_scripts.run_all({"one": interrupt, "two": fail}, []) == 130


# -- numbers ---------------------------------------------------------------------------------------


def test_differences_are_paired_by_repeat():
    rows = pd.DataFrame({"method": ["a", "b", "b", "a"], "repeat": [0, 1, 0, 1], "pauc": [0.5, 0.4, 0.6, 0.9]})
    own = differences(rows, "a")
    assert list(own) == ["b"] and own.b.tolist() == pytest.approx([-0.1, 0.5])
    (cells,) = difference_cells(own, "a", 0, 1)
    assert cells == [
        "a − b",
        "+0.200",
        interval_text(*mean_interval(own.b)[1:]),
        interval_text(*mean_interval(own.b, 1)[1:]),
        "1 of 2",
    ]


@pytest.mark.parametrize(
    ("measured", "holds"),
    [({"a": 3.0, "b": 2.0, "c": 2.1}, True), ({"a": 2.05, "b": 2.0, "c": 2.1}, False), ({"a": 1.0}, True)],
)
def test_order_holds_if_no_pair_is_turned_round(measured, holds):
    assert order_holds({"a": 0.9, "b": 0.8, "c": 0.8}, measured) is holds


def test_bars_do_not_end_a_cell():
    assert markdown([["|Ix|"]], ["name"]).splitlines()[-1] == r"| \|Ix\| |"


def test_paper_table_is_complete_and_ours_is_best_in_it():
    paper = paper_says("table_5")
    assert paper["rounds"] == [10, 20, 100]
    for data_set in ("usps", "scene15", "faces"):
        assert set(paper[data_set]) == {"pAUCEnsT", "AdaBoost", "Ada + LDA", "AsymBoost"}
        best = np.array(paper[data_set]["pAUCEnsT"]["mean"])
        for cells in paper[data_set].values():
            assert len(cells["mean"]) == len(cells["sd"]) == 3
            assert (np.array(cells["mean"]) <= best).all()


def test_examples_in_docstrings():
    result = doctest.testmod(report)
    assert result.attempted and not result.failed
