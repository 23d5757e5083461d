"""From samples as they are stored to features for a classifier, learnt on the training part only.

In a module of its own, so that a process that runs tasks imports it and keeps what it has computed.
"""

from functools import lru_cache

import numpy as np
from sklearn.decomposition import PCA

from paucens.features import Centrist, census_images

VARIANCE = 0.95  # that principal components of faces keep


def raw(X, train):
    """Pixels as they are."""
    return X


def principal(X, train):
    """Principal components of the training half that hold 95 % of its variance."""
    return PCA(n_components=VARIANCE, svd_solver="covariance_eigh").fit(X[train]).transform(X)


def words(paths, train):
    """Visual words in 31 windows, learnt on the training half."""
    return described(tuple(paths), tuple(train))


@lru_cache(maxsize=1)  # tasks of one repeat follow each other
def described(paths, train):
    """Describe all images by the words of some; the images by path, the some by index."""
    census = census_of(paths)
    return Centrist(n_jobs=1, random_state=0).fit(census[list(train)]).transform(census).astype(np.float32)


@lru_cache(maxsize=1)
def census_of(paths):
    """Read the images and transform them, once a process."""
    return census_images(paths, n_jobs=1)


# samples, training indices -> (n, d)
FEATURES = {"usps": raw, "digits_parity": raw, "scene15": words, "faces": principal}
