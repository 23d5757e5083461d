"""Where tasks run: in processes of this machine, or on the workers of a Dask cluster.

Scheduler and workers need the project as this machine has it, its folder on their path. In that folder:

    PYTHONPATH=. dask scheduler
    PYTHONPATH=. dask worker ADDRESS        (as many as wanted)
    python reproduce/table_5.py --backend dask --scheduler ADDRESS
"""

import gc
from contextlib import contextmanager
from importlib.util import find_spec

from joblib import parallel_config
from joblib._dask import DaskDistributedBackend

BACKENDS = ("loky", "dask")
IMPORTS = "import paucens, reproduce._store"
SAME_VERSIONS = ("paucens", "python", "numpy", "scipy", "scikit-learn")  # what the provenance names
PATIENCE = 30  # seconds to wait for the scheduler, and for a first worker


class DaskBackend(DaskDistributedBackend):
    """joblib's backend; that one waits for ever for a task whose worker died (seen with joblib 1.6)."""

    def submit(self, func, callback=None):
        """Submit a batch; joblib hears of its end in any case."""
        future = super().submit(func, callback)
        future.add_done_callback(lambda done: done.exception() and callback(done.exception()))
        return future

    def retrieve_result_callback(self, out):
        """Return the results of a batch or raise what came instead of them."""
        if isinstance(out, BaseException):
            raise out
        return super().retrieve_result_callback(out)


def check_backend(parser, arguments):
    """Refuse, as a parser does, a choice of --backend that cannot work."""
    if arguments.backend == "dask" and find_spec("distributed") is None:
        parser.error("--backend dask needs the package distributed: pip install 'paucens[dask]'")
    if (arguments.backend == "dask") != (arguments.scheduler is not None):
        parser.error("--backend dask and --scheduler ADDRESS (as tcp://host:8786) go together; one is missing")


@contextmanager
def cluster(arguments):
    """Send the tasks of what runs inside to the cluster that the arguments name, if any.

    Raises
    ------
    ConnectionError
        If the cluster does not answer, or its workers cannot run the scripts as this machine would.
    """
    if arguments.backend == "loky":
        yield
        return
    with _connect(arguments.scheduler) as client:
        _check(client)
        with parallel_config(DaskBackend(client=client)):
            yield


def _connect(address):
    from distributed import Client

    try:
        return Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        reason = str(error)
    gc.collect()  # a failed client locks up the start of the next one if it is finalised just then
    raise ConnectionError(f"No Dask scheduler at {address}: {reason}. Start one with `dask scheduler`.")


def _check(client):
    """Raise ConnectionError unless the cluster has workers that would compute what this machine does."""
    try:
        client.run_on_scheduler(exec, IMPORTS)  # it reads what it passes on
        client.wait_for_workers(1, timeout=PATIENCE)
        client.run(exec, IMPORTS)
    except TimeoutError as error:
        raise ConnectionError("The Dask cluster has no workers; start some with `dask worker`.") from error
    except ImportError as error:
        raise ConnectionError(
            f"The Dask cluster cannot load the scripts: {error}. Start its scheduler and its workers in the folder of "
            "the project, as `PYTHONPATH=. dask scheduler` and `PYTHONPATH=. dask worker ADDRESS`."
        ) from error
    if sum(client.ncores().values()) < 2:  # joblib would run the tasks here
        raise ConnectionError("The Dask cluster has a single core, which is not worth one; start more workers.")
    _check_versions(client.get_versions(packages=SAME_VERSIONS))


def _check_versions(versions):
    """Raise ConnectionError where a worker has other versions than the provenance will name."""
    ours = versions["client"]["packages"]
    for address, worker in versions["workers"].items():
        theirs = worker["packages"]
        for name in SAME_VERSIONS:
            if theirs[name] != ours[name]:
                raise ConnectionError(
                    f"The worker {address} has {name} {theirs[name]}, this machine {ours[name]}, and results may "
                    "differ. Install the same version on both."
                )
