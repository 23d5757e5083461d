"""Blocks of work in threads."""

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import effective_n_jobs, parallel_config

from paucens import parallel
from paucens.parallel import Threads, blocks


@given(n_items=st.integers(0, 1000), n_blocks=st.integers(0, 50))
@settings(deadline=None, derandomize=True)
def test_blocks_cover_the_range_once_and_evenly(n_items, n_blocks):
    pieces = blocks(n_items, n_blocks)
    assert [k for start, stop in pieces for k in range(start, stop)] == list(range(n_items))
    assert len(pieces) == max(1, min(n_blocks, n_items))
    sizes = [stop - start for start, stop in pieces]
    assert max(sizes) - min(sizes) <= 1


@pytest.fixture
def eager(monkeypatch):
    """Use several blocks however small the work is."""
    monkeypatch.setattr(parallel, "WORTH_A_THREAD", 1)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_results_come_in_order(eager, n_jobs):
    with Threads(n_jobs) as threads:
        assert threads.run(lambda start, stop: (start, stop), 7, 100) == blocks(7, n_jobs)
        assert threads.run(lambda start, stop: (start, stop), 0, 100) == [(0, 0)]


def test_blocks_run_at_the_same_time(eager):
    meeting = threading.Barrier(2, timeout=20)
    with Threads(2) as threads:
        assert sorted(threads.run(lambda start, stop: meeting.wait(), 2, 100)) == [0, 1]


def test_little_work_is_done_by_the_caller():
    with Threads(2) as threads:
        by = threads.run(lambda start, stop: (threading.get_ident(), start, stop), 10, 2 * parallel.WORTH_A_THREAD - 1)
        assert by == [(threading.get_ident(), 0, 10)]
        many = threads.run(lambda start, stop: threading.get_ident(), 10, 2 * parallel.WORTH_A_THREAD)
        assert len(many) == 2
        assert threading.get_ident() not in many


def test_one_thread_needs_no_pool(eager):
    with Threads(1) as threads:
        assert threads.run(lambda start, stop: threading.get_ident(), 10, 100) == [threading.get_ident()]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_errors_reach_the_caller(eager, n_jobs):
    def fail(start, stop):
        raise ZeroDivisionError(f"block {start}")

    with Threads(n_jobs) as threads, pytest.raises(ZeroDivisionError, match="block 0"):
        threads.run(fail, 10, 100)


def test_no_thread_outlives_its_context(eager):
    before = threading.active_count()
    with Threads(2) as threads:
        threads.run(lambda start, stop: None, 10, 100)
        assert threading.active_count() > before
    assert threading.active_count() == before


def test_n_jobs_means_what_it_means_in_joblib():
    for n_jobs in (None, 1, 3, -1):
        with Threads(n_jobs) as threads:
            assert threads.n_threads == effective_n_jobs(n_jobs)
    with parallel_config(backend="threading", n_jobs=2), Threads(None) as threads:
        assert threads.n_threads == 2
    with pytest.raises(ValueError, match="n_jobs"):
        Threads(0)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_map_keeps_the_order_and_passes_errors_on(n_jobs):
    with Threads(n_jobs) as threads:
        assert threads.map(lambda k: k * k, range(20)) == [k * k for k in range(20)]
        with pytest.raises(ZeroDivisionError):
            threads.map(lambda k: 1 // k, [2, 1, 0])
