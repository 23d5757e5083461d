"""How a script runs: its command line, its data, the journal of finished cases, and where cases are measured."""

from harness.command import MissingData, Run, exit_code
from harness.data import is_stand_in
