from paucens.proposals.bing import Bing, greedy_bases
from paucens.proposals.thresholds import calibrated
from paucens.proposals.training import train_bing

__all__ = ["Bing", "calibrated", "greedy_bases", "train_bing"]
