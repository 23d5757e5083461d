"""The scripts on a Dask cluster: the same results as on this machine, and errors that end a run."""

import gc
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import tiny
from tiny import Protocol

from harness import Run, cluster, exit_code
from harness import command as command_line

dask = pytest.importorskip("dask", reason="dask is not installed: pip install 'paucens[dask]'")
distributed = pytest.importorskip("distributed", reason="distributed is not installed: pip install 'paucens[dask]'")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 5)


def local_cluster(**changes):
    options = {"n_workers": 1, "threads_per_worker": 2, "processes": False} | changes
    return distributed.LocalCluster(**options, dashboard_address=":0", silence_logs=50)


@pytest.fixture(scope="module")
def processes():
    """A cluster of two worker processes, one for the whole file."""
    with local_cluster(n_workers=2, threads_per_worker=1, processes=True) as workers:
        yield workers.scheduler_address


def run_of(folder, protocol=None, scheduler=None):
    return Run("tiny", protocol or Protocol(), "smoke", 0, 1, None, folder, False, scheduler)


def on(address):
    return ["--scale", "smoke", "--backend", "dask", "--scheduler", address]


def test_a_cluster_leaves_no_trace(processes, tmp_path):
    here, there = (
        tiny.main(run_of(tmp_path / name, scheduler=at)) for name, at in (("here", None), ("there", processes))
    )
    for ending in ("json", "md", "png"):
        first, second = (run.folder / f"tiny.{ending}" for run in (here, there))
        assert first.read_bytes() == second.read_bytes()


def test_cases_run_on_the_workers(processes, tmp_path):
    rows = run_of(tmp_path, Protocol(6, "where"), processes).rows("n", tiny.measure, [{"k": k} for k in range(6)])
    assert len(set(rows.x)) and os.getpid() not in set(rows.x)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["figure_4", "table_5"])
def test_a_cluster_leaves_no_trace_in_the_papers_results(name, monkeypatch, tmp_path):
    script = pytest.importorskip(name)
    monkeypatch.setenv("PAUCENS_DATA", str(tmp_path))  # for stand-ins, which are small
    monkeypatch.chdir(tmp_path)
    script.main(["--scale", "smoke", "--jobs", "1", "--out", "here"])
    with local_cluster(n_workers=2, threads_per_worker=1, processes=True) as workers:
        script.main([*on(workers.scheduler_address), "--out", "there"])
    for ending in ("json", "md", "png"):
        first, second = (tmp_path / folder / f"{name}.{ending}" for folder in ("here", "there"))
        assert first.read_bytes() == second.read_bytes()


def test_what_is_finished_is_not_measured_again(tmp_path):
    """On a cluster of two threads of this process."""
    book, path = tmp_path / "book", tmp_path / "tiny.csv"
    with local_cluster() as workers:
        run = run_of(tmp_path, Protocol(5, "square", str(book)), workers.scheduler_address)
        tiny.main(run)
        assert sorted(book.read_text().split()) == [*"01234"]
        content = path.read_bytes()
        tiny.main(replace(run, scheduler=workers.scheduler_address))
    assert path.read_bytes() == content and len(book.read_text().split()) == 5


# -- interruptions and errors ----------------------------------------------------------------------


def test_an_error_of_a_case_is_raised_here(processes, tmp_path):
    with pytest.raises(ValueError, match="no luck"):
        tiny.main(run_of(tmp_path, Protocol(5, "raise 3"), processes))


class Unreadable:
    """Can be sent, and fails where it arrives."""

    def __reduce__(self):
        return int, ("not a number",)


def test_a_case_that_workers_cannot_load_ends_the_run(processes, tmp_path):
    run = run_of(tmp_path, scheduler=processes)
    run.figure = Unreadable()
    with pytest.raises(Exception, match=r"not a number|deserialization"):
        run.rows("n", tiny.measure, [{"k": 0}, {"k": 1}])


@pytest.mark.slow
def test_a_case_that_kills_its_workers_ends_the_run(tmp_path):
    once = dask.config.set({"distributed.scheduler.allowed-failures": 0})
    killed = pytest.raises(distributed.scheduler.KilledWorker)
    with once, local_cluster(n_workers=2, threads_per_worker=1, processes=True) as workers, killed:
        tiny.main(run_of(tmp_path, Protocol(2, "die 0"), workers.scheduler_address))


def heed_ctrl_c():
    """Undo what a shell does to its background jobs, whose children ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_leaves_a_journal_that_the_next_run_resumes(processes, tmp_path, monkeypatch):
    """The script is the main module of its process, which workers cannot import: its functions travel."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "reproduce"), prepend=":")
    arguments = ["--scale", "small", "--out", str(tmp_path), *on(processes)[2:]]
    path = tmp_path / "tiny.jsonl"
    command = [sys.executable, tiny.__file__, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=heed_ctrl_c) as process:
        deadline = time.monotonic() + 60
        while not path.exists() or path.read_bytes().count(b"\n") < 2:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 130 and "goes on from what is saved" in output
    kept = [json.loads(line)["rows"][0]["fit_seconds"] for line in path.read_text().splitlines()]
    assert 2 <= len(kept) < 12 and not (tmp_path / "tiny.md").exists()
    tiny.main(["--scale", "small", "--jobs", "1", "--out", str(tmp_path)])
    assert all(seconds in (tmp_path / "tiny.csv").read_text() for seconds in kept)  # these were not measured again


@pytest.mark.parametrize("extra", [["--backend", "dask"], ["--scheduler", "tcp://here:8786"]])
def test_backend_and_scheduler_go_together(extra, capsys):
    with pytest.raises(SystemExit):
        tiny.main(extra)
    assert "go together" in capsys.readouterr().err


def test_without_distributed_the_extra_is_named(monkeypatch, capsys):
    monkeypatch.setattr(command_line, "find_spec", lambda name: None)
    with pytest.raises(SystemExit):
        tiny.main(on("tcp://here:8786"))
    assert "pip install 'paucens[dask]'" in capsys.readouterr().err


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nowhere"])
def test_a_scheduler_that_is_not_there_is_named(address, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    assert exit_code(lambda: tiny.main([*on(address), "--out", str(tmp_path)])) == 1
    assert f"No Dask scheduler at {address}" in capsys.readouterr().err


def test_a_failed_client_does_not_stay_half_open(monkeypatch):
    """It would be finalised at any time, and while another one starts that is a deadlock."""
    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    before = half_open_clients()
    with pytest.raises(ConnectionError), cluster.executor("nowhere", 1):
        pass
    assert half_open_clients() == before


def half_open_clients():
    clients = [each for each in gc.get_objects() if isinstance(each, distributed.Client)]
    return sum(client.status != "closed" for client in clients)


def test_a_cluster_without_workers_is_refused(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    with local_cluster(n_workers=0) as workers:
        assert exit_code(lambda: tiny.main(run_of(tmp_path, scheduler=workers.scheduler_address))) == 1
    assert "has no workers" in capsys.readouterr().err and not (tmp_path / "tiny.csv").exists()


def answer(workers):
    def run(client, function):
        if isinstance(workers, Exception):
            raise workers
        return workers

    return run


def test_workers_of_other_versions_are_refused(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(distributed.Client, "run", answer({"tcp://there:1": cluster.versions() | {"numpy": "0.9"}}))
    with local_cluster() as workers:
        assert exit_code(lambda: tiny.main(run_of(tmp_path, scheduler=workers.scheduler_address))) == 1
    assert "install the same. tcp://there:1: " in capsys.readouterr().err


def test_a_cluster_that_does_not_find_the_scripts_is_refused(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(distributed.Client, "run", answer(ModuleNotFoundError("No module named 'harness'")))
    with local_cluster() as workers:
        assert exit_code(lambda: tiny.main(run_of(tmp_path, scheduler=workers.scheduler_address))) == 1
    assert "No module named 'harness'. Start it as" in capsys.readouterr().err
