"""Where cases run: processes of this machine, or the workers of a Dask cluster, through `concurrent.futures`.

Scheduler and workers need the project and its data sets as this machine has them. In the folder of the project:

    PYTHONPATH=reproduce dask scheduler
    PYTHONPATH=reproduce dask worker ADDRESS        (as many as wanted)
    python reproduce/table_5.py --backend dask --scheduler ADDRESS
"""

import gc
import multiprocessing
import platform
import signal
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version

PATIENCE = 30  # seconds to wait for the scheduler, and for a first worker


def versions():
    """Versions that results may depend on."""
    libraries = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {"paucens": version("paucens"), "python": platform.python_version()} | libraries


@contextmanager
def executor(scheduler, jobs):
    """Give an executor, or None if cases are to run one after the other in this process."""
    if scheduler:
        with _connected(scheduler) as client:
            _check(client)
            yield client.get_executor(pure=False)
    elif jobs == 1:
        yield None
    else:
        try:
            yield _pool(jobs)
        except BaseException:
            for worker in multiprocessing.active_children():  # their results would be lost
                worker.terminate()
            _pool.cache_clear()
            raise


@cache
def _pool(jobs):
    """Processes for all stages of a script, so that each loads a data set once."""
    spawn = multiprocessing.get_context("spawn")  # threads of this process do not survive a fork
    return ProcessPoolExecutor(jobs, spawn, signal.signal, (signal.SIGINT, signal.SIG_DFL))


def _connected(address):
    from distributed import Client

    try:
        return Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        reason = str(error)
    gc.collect()  # a failed client locks up the start of the next one if it is finalised just then
    raise ConnectionError(f"No Dask scheduler at {address}: {reason}. Start one with `dask scheduler`.")


def _check(client):
    """Raise ConnectionError unless the cluster would compute what this machine does."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
        workers = client.run(versions)
    except TimeoutError as error:
        raise ConnectionError("The Dask cluster has no workers; start some with `dask worker`.") from error
    except ImportError as error:
        raise ConnectionError(
            f"A Dask worker cannot load the scripts: {error}. Start it as `PYTHONPATH=reproduce dask worker ADDRESS`."
        ) from error
    different = [f"{address}: {theirs}" for address, theirs in workers.items() if theirs != versions()]
    if different:
        raise ConnectionError(f"Workers have other versions than {versions()}; install the same. {different[0]}")
