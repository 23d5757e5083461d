"""What all commands share: the parser, and from errors to exit codes."""

import argparse
import os
import sys
from importlib import import_module

from paucens.cli.failures import INTERRUPTED, MEANINGS, USAGE, Failure, text_of

COMMANDS = ("detect", "train", "crop", "evaluate", "classify", "info")
CODES = "exit codes:\n" + "\n".join(f"  {code:<4} {meaning}" for code, meaning in MEANINGS.items())


def main(argv=None):
    """Run a command and return its exit code.

    Parameters
    ----------
    argv : list of str, optional
        Arguments without the name of the program; default: those of the process.

    Returns
    -------
    code : int
        0 done; 1 done, but a criterion failed or some images were unreadable; 2 a wrong argument; 3 data are missing or
        unusable; 4 a model or a checkpoint is missing or unusable; 130 interrupted.

    Examples
    --------
    >>> from paucens.cli import main
    >>> main(["info", "no-such-model.npz"])
    4
    """
    options = make_parser().parse_args(argv)
    try:
        code = options.run(options)
        sys.stdout.flush()
        return code
    except Failure as failure:
        return _ended(options, failure, failure.code)
    except KeyboardInterrupt:
        return _ended(options, "interrupted. Run it again to resume, if it can.", INTERRUPTED)
    except BrokenPipeError:  # who reads the results has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, TypeError, OSError) as error:
        return _ended(options, text_of(error), USAGE)


def make_parser():
    """Make the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="paucens",
        description="Detection at few false alarms: find people in images, train and judge detectors, classify tables.",
        epilog=CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = import_module(f"paucens.cli.{name}")
        summary = module.__doc__.split("\n")[0].partition(": ")[2].rstrip(".")
        command = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return parser


def _ended(options, message, code):
    print(f"paucens {options.command}: {message}", file=sys.stderr)
    return code
