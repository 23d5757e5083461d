"""What a command says while it works: progress on standard error, and a log of JSON lines."""

import contextlib
import json
import sys
import time

from paucens.progress import progress_bar

SECONDS_BETWEEN_LINES = 10.0  # of progress, if standard error is not a terminal


def add_log_argument(parser):
    """Add --log."""
    parser.add_argument("--log", metavar="FILE", help="append what happens to FILE, one JSON object per line")


@contextlib.contextmanager
def log_to(path):
    """Open a log of JSON lines; yield a function that writes an event and its values, or nothing without a path."""
    with open(path, "a", encoding="utf-8") if path else contextlib.nullcontext() as file:

        def log(event, **values):
            if file is not None:
                entry = {"time": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "event": event} | values
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")
                file.flush()

        yield log


class Progress:
    """A bar on a terminal; elsewhere a plain line now and then.

    Parameters
    ----------
    total : int or None
        How many there are, if that is known.
    unit : str
        What they are called, in the plural.
    """

    def __init__(self, total, unit):
        self._total, self._unit, self._done = total, unit, 0
        self._is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._bar = progress_bar(total=total, unit=f" {unit}", verbose=self._is_terminal)
        self._start = self._last = time.monotonic()

    def step(self):
        """Count one more."""
        self._done += 1
        self._bar.update()
        now = time.monotonic()
        if not self._is_terminal and now - self._last >= SECONDS_BETWEEN_LINES:
            self._last = now
            of_total = f" of {self._total}" if self._total is not None else ""
            say(f"{self._done}{of_total} {self._unit}, {now - self._start:.0f} s")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._bar.close()


def say(text):
    """Write a line on standard error, if the process has one."""
    if sys.stderr is not None:
        print(text, file=sys.stderr, flush=True)
