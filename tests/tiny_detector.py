"""A detector of two stumps, made by hand."""

import numpy as np

from paucens.detector import PedestrianDetector, Window
from paucens.detector.first_stage import FirstStage
from paucens.detector.scan import Search
from paucens.detector.trees import DetectorTrees
from paucens.features import ChannelSpec


def tiny_detector():
    """Return a detector on two families of channels, in two stages, for windows of 16 x 16 pixels."""
    trees = DetectorTrees(
        first=np.array([0, 3, 6], dtype=np.int32),
        place=np.array([[1, 2, 0], [0] * 3, [0] * 3, [3, 0, 3], [0] * 3, [0] * 3], dtype=np.int32),
        threshold=np.array([0.4, 0, 0, 0.1, 0, 0], dtype=np.float32),
        child=np.array([1, 0, 0, 1, 0, 0], dtype=np.int32),
        value=np.array([0, 0.5, -0.5, 0, 1, -1], dtype=np.float32),
        rejection=np.array([-1, -np.inf], dtype=np.float32),
        bias=np.float32(0.25),
    )
    search = Search(ChannelSpec.parse("LUV+M"), Window((16, 16), (12, 12), 4), per_octave=1)
    return PedestrianDetector(search, trees, notes={"data": "none"}, first_stage=FirstStage(("LUV",)))
