"""What the scripts share: command line, data, journal of finished cases, tables."""

from harness.command import MissingData, Run, exit_code
from harness.data import is_stand_in
from harness.report import (
    difference_cells,
    differences,
    interval_text,
    markdown,
    mean_sd,
    order_holds,
    paper_says,
    yes_no,
)
