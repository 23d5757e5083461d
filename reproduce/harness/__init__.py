"""What the scripts share: command line, data, journal of finished cases, comparisons, tables, intervals."""

from harness.command import MissingData, Run, exit_code
from harness.compare import Interval, differences, mean_interval, order_holds
from harness.data import is_stand_in
from harness.report import difference_cells, forest, interval_text, markdown, mean_sd, paper_says, yes_no
