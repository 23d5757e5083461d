"""Algorithm 1: an ensemble trained for one slice of the ROC curve."""

from paucens.ensemble.classifier import DEFAULT_LEARNER, PAUCEnsClassifier

__all__ = ["DEFAULT_LEARNER", "PAUCEnsClassifier"]
