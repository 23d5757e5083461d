"""The first stage of a detector: binarized normed gradients (BING, Cheng et al. 2014) tell which windows to discard."""

from paucens.proposals.bing import Bing
from paucens.proposals.thresholds import calibrated
from paucens.proposals.training import train_bing

__all__ = ["Bing", "calibrated", "train_bing"]
