"""Features of the data sets of Table 5, learnt from the training half only.

These functions are not in the script, so that a process that measures cases imports them and keeps what it computed.
"""

from functools import lru_cache

import numpy as np
from sklearn.decomposition import PCA

from paucens.features import Centrist, census_images

VARIANCE = 0.95  # the share that the principal components of faces keep


def pixels(X, train):
    """Return the pixels unchanged."""
    return X


def components(X, train):
    """Return the principal components that hold 95 % of the variance of the training half."""
    return PCA(n_components=VARIANCE, svd_solver="covariance_eigh").fit(X[train]).transform(X)


def words(paths, train):
    """Return counts of visual words in 31 windows; the words are learnt from the training half."""
    return _word_counts(tuple(paths), tuple(train))


@lru_cache(maxsize=1)  # the cases of one repeat follow each other
def _word_counts(paths, train):
    census = _census(paths)
    return Centrist(n_jobs=1, random_state=0).fit(census[list(train)]).transform(census).astype(np.float32)


@lru_cache(maxsize=1)
def _census(paths):
    return census_images(paths, n_jobs=1)


# by title: (samples, training indices) -> array of shape (n_samples, n_features)
FEATURES = {"usps": pixels, "digits_parity (stand-in for usps)": pixels, "scene15": words, "faces": components}
