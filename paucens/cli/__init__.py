"""The command line, `paucens`: one module per command. What a command needs is imported when it runs."""

from paucens.cli.main import main

__all__ = ["main"]
