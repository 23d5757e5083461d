"""Exit codes, and the errors that end a command with one of them."""

import contextlib

DONE, CRITERION, USAGE, DATA_MISSING, MODEL_UNUSABLE, INTERRUPTED = 0, 1, 2, 3, 4, 130

MEANINGS = {
    DONE: "done",
    CRITERION: "done, but a criterion failed or some images were unreadable",
    USAGE: "a wrong argument",
    DATA_MISSING: "data are missing or unusable",
    MODEL_UNUSABLE: "a model or a checkpoint is missing or unusable",
    INTERRUPTED: "interrupted; run again to resume, if the command can",
}


class Failure(Exception):
    """What ends a command: a message for its user, and an exit code."""

    def __init__(self, code, message):
        super().__init__(str(message))
        self.code = code


@contextlib.contextmanager
def failing_with(code):
    """Turn the errors that bad input raises in the block into a `Failure` of this code."""
    try:
        yield
    except (ValueError, TypeError, OSError) as error:
        raise Failure(code, text_of(error)) from error


def text_of(error):
    """Return the message of an error; one of the system has the name of the file in it."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)
