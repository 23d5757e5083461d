"""Locks: one at a time, the next one is told who is there, and a killed process holds nothing."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from paucens import AdaBoostClassifier
from paucens.base import Checkpoint, fit_binned, locks
from paucens.base.locks import locked
from paucens.datasets import load_toy
from paucens.learners.binning import bin_features
from paucens.parallel import Threads

HOLDER = """
import sys, time
from paucens.base.locks import locked
with locked(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """A process that holds the lock."""
    process = subprocess.Popen([sys.executable, "-c", HOLDER, tmp_path / "lock"], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_another_process_is_named_and_waited_for(holder, tmp_path):
    timer = threading.Timer(0.5, holder.send_signal, [signal.SIGKILL])
    start = time.monotonic()
    timer.start()
    with (
        pytest.warns(
            UserWarning, match=f"{tmp_path} is in use by another training, process {holder.pid} on "
        ) as record,
        locked(tmp_path / "lock"),
    ):
        assert time.monotonic() - start > 0.4
        assert (tmp_path / "lock").read_text().startswith(f"process {os.getpid()} on ")
    assert len(record) == 1 and record[0].filename == __file__
    assert not list(tmp_path.iterdir())


@pytest.mark.filterwarnings("ignore:.* is in use by")
def test_one_of_many_at_a_time(tmp_path):
    """Also while others remove the file that stands for the lock."""
    inside, most, done = [], [], []

    def work(k):
        with locked(tmp_path / "folder" / "lock"):
            inside.append(k)
            most.append(len(inside))
            time.sleep(0.02)
            inside.remove(k)
        done.append(k)

    threads = [threading.Thread(target=work, args=[k]) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1 and len(done) == 8


@pytest.mark.filterwarnings("ignore:.* is in use by")
def test_a_folder_that_its_holder_removes(tmp_path):
    """Whoever waited makes it again."""
    entered = threading.Event()

    def wait():
        with locked(tmp_path / "folder" / "lock"):
            entered.set()

    with locked(tmp_path / "folder" / "lock"):
        thread = threading.Thread(target=wait)
        thread.start()
        time.sleep(0.2)
        (tmp_path / "folder" / "lock").unlink()
        (tmp_path / "folder").rmdir()
    thread.join(5)
    assert entered.is_set()


def test_an_error_releases_the_lock(tmp_path):
    with pytest.raises(RuntimeError), locked(tmp_path / "lock"):
        raise RuntimeError
    with locked(tmp_path / "lock"):
        pass


@pytest.mark.skipif(locks.fcntl is None, reason="locks of POSIX")
def test_a_file_system_without_locks(tmp_path, monkeypatch):
    def refuse(file, operation):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(locks.fcntl, "flock", refuse)
    with (
        pytest.warns(UserWarning, match=r"cannot be locked \(No locks available\): make sure"),
        locked(tmp_path / "lock"),
    ):
        pass


@pytest.mark.filterwarnings("ignore:.* is in use by")
def test_fits_wait_for_each_other(tmp_path, monkeypatch):
    """Two fits with one checkpoint end with the same model."""
    monkeypatch.setattr("paucens.base.checkpoint.EVERY", 2)
    X, y = load_toy(random_state=0)
    binned, fitted = bin_features(X[np.argsort(1 - y, kind="stable")], 256, Threads(1)), []

    def fit():
        fitted.append(
            fit_binned(AdaBoostClassifier(n_estimators=9), binned, int(y.sum()), Checkpoint(tmp_path / "fit"))
        )

    threads = [threading.Thread(target=fit) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(fitted) == 3
    for model in fitted[1:]:
        np.testing.assert_array_equal(model.weights_, fitted[0].weights_)
    assert [path.name for path in tmp_path.iterdir()] == ["fit"]
