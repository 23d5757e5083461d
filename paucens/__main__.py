"""`python -m paucens`: the command line."""

import sys

from paucens.cli import main

sys.exit(main())
