"""Metrics of labels and scores: ROC curve, partial AUC, TPR at an FPR, confidence intervals, a paired test.

In every function the positive label is the larger of the two, unless `pos_label` names the other one. Larger
scores mean "more positive", and only their order matters.

Integers of any size are compared exactly; integers among floats are floats first, as in NumPy. To reverse an order, use
`pos_label` rather than the negative of unsigned integers, of which 0 stays the smallest. The unit of weights does not
matter. Rates within 1e-9 of each other, relatively, count as equal.
"""

from paucens._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
