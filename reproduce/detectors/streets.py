"""The detectors of Figures 5 and 6: a small model, trained on annotated images of streets (Sec. 4.3).

The window is 64 x 32 around a person of 50 x 20.5, with features of 16 pixels around it. Trees have three levels of
splits; there are 2048, after three rounds of hard negatives, which AdaBoost mines, and about 33 000 negatives. The
range and nu of pAUCEnsT are those that `detector_choice.py` chose on INRIA's training data, among the paper's values.
Detectors on rendered streets have few trees, and neither covariance nor LBP among their channels.
"""

from dataclasses import dataclass
from functools import partial

from detectors.training import DetectorConfig, adaboost, pauc_ensemble
from paucens.detector import Window

WINDOW = Window(shape=(64, 32), target=(50.0, 20.5))
CLASSIFIERS = {"pAUCEnsT": partial(pauc_ensemble, beta=0.25, nu=0.0625), "AdaBoost": adaboost}


@dataclass(frozen=True)
class Protocol:
    """What a scale means."""

    n_estimators: tuple = (32, 128, 512, 2048)
    n_negatives: int = 11_000
    most_negatives: int = 33_000
    scenes: int = 0  # rendered, to train on and to judge on; 0: photographs
    channels: str = "M+O+LUV+spCov+spLBP"  # those of the paper on KITTI


QUICK = "M+O+LUV"
PROTOCOLS = {
    "smoke": Protocol((2, 4), 60, 80, 4, QUICK),
    "small": Protocol((16, 64), 400, 800, 16, QUICK),
    "paper": Protocol(),
}


def configuration(method, channels):
    """Return the configuration of a detector of one of `CLASSIFIERS`."""
    return DetectorConfig(method, channels, classifier=CLASSIFIERS[method], window=WINDOW)
