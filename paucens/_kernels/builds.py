"""The choice between the builds of a kernel; no other module knows that there are two.

A hot kernel is compiled twice from one source: for any processor of its kind (the baseline), and with vectors of 256
bits (`avx2/`, x86-64 Linux). Neither build fuses a multiplication and an addition, so both give the same bits. To
build a kernel twice, add `avx2/<name>.pyx` with the one line `include "../<name>.pyx"`; `chosen("<name>")` imports it.
"""

import os
from importlib import import_module
from importlib.util import find_spec

from paucens._kernels.cpu import has_avx2


def chosen(name):
    """Import the fastest build of a kernel that this processor can run; PAUCENS_BASELINE=1 forces the baseline.

    Examples
    --------
    >>> import os
    >>> os.environ["PAUCENS_BASELINE"] = "1"
    >>> chosen("covariance").__name__
    'paucens._kernels.covariance'
    >>> del os.environ["PAUCENS_BASELINE"]
    """
    wide = f"paucens._kernels.avx2.{name}"
    use_wide = os.environ.get("PAUCENS_BASELINE") != "1" and has_avx2() and find_spec(wide) is not None
    return import_module(wide if use_wide else f"paucens._kernels.{name}")
