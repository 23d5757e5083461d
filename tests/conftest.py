"""Settings that must stand before SciPy and scikit-learn are imported."""

import os

os.environ["SCIPY_ARRAY_API"] = "1"  # scikit-learn's array API checks are skipped without it
