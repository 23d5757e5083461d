"""Speed and errors of dense flow against OpenCV's other one, Farneback's, on a picture that moves as a whole."""

import numpy as np

from paucens.features import dense_flow

ACROSS, DOWN = -2, 3  # pixels that the picture moves by
USUAL = (0.5, 3, 15, 3, 5, 1.2, 0)  # Farneback's: halves, 3 levels, windows of 15 pixels, 3 iterations, polynomials


def distance(flow):
    """How many pixels flow is off, on average."""
    return float(np.linalg.norm(flow - [ACROSS, DOWN], axis=2).mean())


def test_flow_against_farneback(ratio, benchmark, picture, opencv):
    first, second = (picture[8 - y : 472 - y, 8 - x : 632 - x] for y, x in ((0, 0), (DOWN, ACROSS)))

    def ours():
        return dense_flow(first, second)

    def theirs():
        greys = (opencv.cvtColor(image, opencv.COLOR_RGB2GRAY) for image in (first, second))
        return opencv.calcOpticalFlowFarneback(*greys, None, *USUAL)

    off = {"ours_off": distance(ours()), "peer_off": distance(theirs())}
    benchmark.extra_info.update(off)
    print(off)
    assert off["ours_off"] <= 0.2 * off["peer_off"]
    assert ratio(ours, theirs, rounds=9) <= 1
