"""Types that annotations share."""

import os

PathLike = str | os.PathLike[str]
