"""One ensemble of every class, and the options of PAUCEnsClassifier, for tests of what all of them do."""

from paucens import (
    AdaBoostClassifier,
    AdaBoostLDAClassifier,
    AsymBoostClassifier,
    CSAdaBoostClassifier,
    PAUCBoostClassifier,
    PAUCEnsClassifier,
    Tree,
)

RANGE = (0, 0.2)
ENSEMBLES = [
    PAUCEnsClassifier(RANGE, n_estimators=8, nu=1.0, random_state=0),
    PAUCEnsClassifier(RANGE, n_estimators=8, learner=Tree(depth=2), nu=1.0, anneal=False, binning="tails"),
    PAUCEnsClassifier(RANGE, n_estimators=8, nu=1.0, mixture="auto", row_fraction=0.7, random_state=0),
    PAUCEnsClassifier(RANGE, n_estimators=8, nu=1.0, early_stopping=True, n_iter_no_change=8, random_state=0),
    AdaBoostClassifier(n_estimators=8),
    AdaBoostLDAClassifier(n_estimators=8),
    AsymBoostClassifier(2.0, n_estimators=8),
    CSAdaBoostClassifier(1.5, 0.5, n_estimators=8),
    PAUCBoostClassifier(RANGE, n_estimators=8),
]
