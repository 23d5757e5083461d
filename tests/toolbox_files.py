"""Detectors as Dollar's toolbox stores them, small ones."""

import io

import numpy as np
from scipy.io import savemat

EMPTY = np.zeros((0, 0))
SHAPE, TARGET, CELL = (32, 16), (26.0, 10.0), 2


def options(filters=EMPTY, soft=1):
    """Return the settings of a detector of windows of 32 x 16 pixels in cells of 2, two cells apart."""
    colour = {"enabled": 1, "smooth": 0, "colorSpace": "luv"}
    gradient = {"enabled": 1, "colorChn": 0, "normRad": 5, "normConst": 0.005, "full": 0}
    bins = {"enabled": 1, "binSize": EMPTY, "nOrients": 6, "softBin": soft, "useHog": 0, "clipHog": 0.2}
    chns = {"shrink": CELL, "pColor": colour, "pGradMag": gradient, "pGradHist": bins, "pCustom": EMPTY}
    pyramid = {"pChns": chns, "nPerOct": 4, "nOctUp": 0, "nApprox": 3, "lambdas": [0, 0.1, 0.1], "pad": [4, 4]}
    pyramid |= {"minDs": TARGET, "smooth": 1}
    suppression = {"type": "maxg", "overlap": 0.65, "ovrDnm": "min"}
    return {
        "pPyramid": pyramid,
        "filters": filters,
        "modelDs": TARGET,
        "modelDsPad": SHAPE,
        "pNms": suppression,
        "stride": 4,
        "cascThr": -1,
    }


def classifier(n_features, n_trees=5):
    """Return random trees as the toolbox stores them: a column each, left children one before right ones."""
    rng = np.random.RandomState(0)
    child = np.tile(np.array([2, 4, 0, 0, 0])[:, None], (1, n_trees))
    return {
        "fids": rng.randint(n_features, size=(5, n_trees)).astype(np.uint32),
        "thrs": (0.4 * rng.rand(5, n_trees)).astype(np.float32),
        "child": child.astype(np.uint32),
        "hs": (rng.rand(5, n_trees) - 0.4).astype(np.float32),
    }


def mat(opts=None, clf=None, **arguments):
    """Return the bytes of a file."""
    stream = io.BytesIO()
    clf = classifier(16 * 8 * 10) if clf is None else clf
    savemat(stream, {"detector": {"opts": options() if opts is None else opts, "clf": clf}}, **arguments)
    return stream.getvalue()
