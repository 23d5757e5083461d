from paucens.detector.cascade import positive_traces
from paucens.detector.crops import cut_crops
from paucens.detector.model import PedestrianDetector
from paucens.detector.suppression import non_maximum_suppression
from paucens.detector.training import TrainingRound, train_detector
from paucens.detector.window import Window

__all__ = [
    "PedestrianDetector",
    "TrainingRound",
    "Window",
    "cut_crops",
    "non_maximum_suppression",
    "positive_traces",
    "train_detector",
]
