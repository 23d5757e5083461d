"""The estimator of Algorithm 1: its parameters, its fit and its warnings."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from paucens.base import EarlyStopping, WeightedEnsemble, prepare
from paucens.cutting_plane import MOST_CALLS, Master, training_rank_ranges, wider_ranges
from paucens.ensemble.automatic import trained_nu, trained_range
from paucens.ensemble.rounds import run_rounds
from paucens.learners import Tree
from paucens.learners.binning import MAX_BINS
from paucens.metrics import check_fpr_range
from paucens.parallel import Threads
from paucens.validation import all_or_nothing, check_choice, check_positive, warn_user

DEFAULT_LEARNER = Tree(
    depth=None, max_leaves=31, leaves="real", leaf_ridge=20, column_fraction=1 / 3, column_sampling="node"
)
HISTORY = {  # attributes that tell how a fit went, see `history_from_file`
    "stop_reason_": ("edge", "n_estimators", "validation"),
    "objective_": np.float64,
    "gap_": np.float64,
    "n_cuts_": np.int64,
}


class PAUCEnsClassifier(EarlyStopping, WeightedEnsemble):
    """Fit an ensemble that maximises the area under the ROC curve between two false positive rates.

    Parameters
    ----------
    fpr_range : tuple of two floats, default=(0.0, 0.1)
        0 <= alpha < beta <= 1, the range to maximise the area in.
    train_range : None, "auto" or tuple of two floats, default=None
        The range whose risk is minimised, if not `fpr_range`. A wider one holds more negatives, which pays if there are
        few in `fpr_range`. "auto" is [0, max(beta, min(0.1, 200 / number of negatives))], for the default learner only.
    learner : weak learner, default=None
        Any object with fit(X, signed_weights) and predict(X) in [-1, 1]. None means best-first trees of
        31 real leaves: Tree(depth=None, max_leaves=31, leaves="real", leaf_ridge=20, column_fraction=1/3,
        column_sampling="node").
    n_estimators : int, default=600
        Maximum number of rounds.
    nu : float or "auto", default=0.03
        Weight of the risk relative to `|w|^2 / 2`. The minimum of the objective is at most nu and a round lowers it by
        at most 2 nu^2, so a nu below half of `edge_tolerance` stops after one round. "auto" is a nu that grows with the
        number of samples, for the default learner only: 0.03 up to 8000, 0.1 for 16 000 and 0.8 from 128 000 on, and
        linear between these (figures/many_rows.md).
    anneal : bool or "auto", default="auto"
        Narrow the range from [0, 1] to [0, beta] over the rounds, beta_t = max(beta, beta^(t / (0.97 T))),
        t = 1..T. "auto" anneals if alpha is 0, the only case in which annealing is defined, and there is neither a
        mixture nor early stopping.
    mixture : None, "auto" or list of (float, float), default=None
        Minimise a mean of the risks in several ranges [0, beta_k], given as pairs of beta_k and its share. One of them
        is beta, and the shares have the sum 1. "auto" has equal shares of 1, 0.1, 0.01, ... down to beta; no other
        shares that were tried are clearly better (figures/mixtures.md). It is for small ensembles and narrow ranges,
        for which the risk in [0, beta] alone can have w = 0 as its minimum.
    formulation : {"tight", "struct"}, default="tight"
        Whether orderings are of the best j_beta negatives (the paper's) or of all negatives (those of its
        ICCV 2013 forerunner).
    cut_tolerance : float, default=1e-2
        Cutting planes stop when (primal - dual) <= cut_tolerance * primal.
    edge_tolerance : float, default=1e-4
        Fitting stops when a new learner of edge e promises at most e^2 / 2 <= edge_tolerance * objective.
    row_fraction : float in (0, 1], default=1.0
        Share of the samples that each learner is trained on, drawn anew in each round, whatever their weights.
    early_stopping : bool, default=False
        Hold out a part of the samples, drawn by `random_state`, and stop when the partial AUC in `fpr_range` on it has
        not risen for `n_iter_no_change` rounds. The model is that of its best round, the first of equals. It is trained
        without the part, and without annealing, whose early rounds are of other ranges than the one that is judged;
        mixture="auto" takes its place for narrow ranges.
    validation_fraction : float in (0, 1), default=0.1
        Share of each class to hold out. The scores are as noisy as the negatives that are held out in the range are
        few. Rows that belong together, such as those of one patient, are not kept together.
    n_iter_no_change : int, default=10
        Number of rounds without a rise after which fitting stops. Rounds before the first weight above 0 do not count.
    max_bins : int in [2, 256], default=256
        Maximum number of bins per feature.
    categorical_features : None, "from_dtype" or list, default=None
        Features that hold categories, text or numbers: a list of indices, of names or of one flag per feature, or those
        whose columns are categorical in a frame of pandas or polars. Only trees take them. There may be `max_bins` of
        them per feature, at most 255. Missing categories and those that are new in prediction are missing values.
    binning : {"quantile", "tails"}, default="quantile"
        Where the bins of trees end, for features of more distinct values than bins. Quantiles of all samples cannot
        rank within the top 1 / 256 of a feature. With "tails", a quarter of the bins each end at quantiles of all, at
        quantiles of the positives, and at ranks from either end, which are the denser the nearer they are to it.
    pos_label : label, default=None
        The positive label, whose detection at few false alarms is maximised; None means the larger of the two. If it is
        `classes_[0]`, its samples have negative scores: those above 0 are of `classes_[1]` in any case.
    n_jobs : int, default=None
        Number of threads, as in joblib; results do not depend on it.
    random_state : int, RandomState or None, default=None
        Source of the column samples of the learners.
    verbose : int, default=0
        Show a progress bar with objective, gap and cuts if positive.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted.
    learners_ : list of fitted learners
    weights_ : ndarray of shape (`n_iter_`,)
        `decision_function` is `sum_t weights_[t] learners_[t].predict(X) - threshold_`.
    threshold_ : float
        The threshold of largest TPR - FPR among those of FPR <= beta on the training samples.
    objective_, gap_ : ndarray of shape (`n_iter_`,)
        `|w|^2 / 2 + nu R(w)` after each round, R being the risk in the range of that round, or in the mixture; and an
        upper bound on its distance from the minimum over the learners so far, certified by the dual. w = 0 has the
        objective nu. A narrower range can lift the objective of the weights so far above that; they are kept if
        `cut_tolerance` allows, so that it is at most nu / (1 - cut_tolerance), and at most nu if the range does not
        narrow.
    n_cuts_ : ndarray of shape (`n_iter_`,)
        Number of calls of the constraint oracle for the weights of each round.
    n_iter_ : int
        Number of rounds; with early stopping of those that are kept.
    stop_reason_ : {"edge", "n_estimators", "validation"}
    validation_score_ : ndarray
        With early stopping the partial AUC on the part held out, normalised, after each round, also after those that
        follow the best one and are not kept. Otherwise it is empty.
    categories_ : dict of int to ndarray
        The categories of these features, sorted. `learners_` know them by their places in there, 0, 1, ...
    n_features_in_ : int
    feature_importances_ : ndarray of shape (n_features,)
        Gains summed over the splits on each feature, with sum 1; for trees only.

    Warns
    -----
    UserWarning
        If the range is narrower than one negative, if all weights are 0 at the end, and if fitting ends in the first
        ten rounds, with the reason.
    ConvergenceWarning
        If rounding errors, or the limit of 5000 cuts, keep a round from `cut_tolerance`, as for a huge nu.

    Notes
    -----
    The published method is `PAUCEnsClassifier(fpr_range, learner=Tree(depth=3), n_estimators=100, nu=1.0,
    anneal=False)`. We depart from its Algorithms 1 and 2 as follows: cuts are kept from round to round and
    dropped when idle, tolerances are relative, the oracle is exact for alpha > 0, and the loss is divided by
    m (j_beta - j_alpha) (ERRATA.md, E1, E3, E13).

    The stopping rule on edges is a certificate only if the learner maximises the edge exactly, as a stump
    with sign leaves does and a greedy tree does not (E12).

    With weights of samples, n is the total weight of the negatives, and the negative at an end of the range counts in
    part. Whole weights stand for repeated samples, whose ranks are whole numbers. Others have no unit: their range is
    n alpha to n beta, without rounding. The scale of weights matters only where samples are counted, in `leaf_ridge`,
    in `C` of `Linear` and in `train_range="auto"`; divide weights that are no counts by their mean. Equal samples are
    merged into one of their total weight if they are many, so fits with whole weights and of repeated samples are the
    same, bit for bit.

    As long as no combination of the learners lifts the mean score of the positives above the mean of the
    j_beta best negatives, w = 0 is the exact optimum for every nu. Fitting goes on through such rounds.

    There is no `predict_proba`, because only the order of the scores is trained. For probabilities in the same order,
    `CalibratedClassifierCV(model, method="sigmoid", ensemble=False)` of scikit-learn learns them from scores that are
    predicted in cross-validation.

    Examples
    --------
    >>> from paucens import PAUCEnsClassifier, Stump, partial_auc
    >>> from paucens.datasets import load_toy
    >>> X, y = load_toy(random_state=0)
    >>> model = PAUCEnsClassifier((0, 0.2), learner=Stump(), n_estimators=10, nu=10.0, anneal=False).fit(X, y)
    >>> X_new, y_new = load_toy(2000, 2000, random_state=1)
    >>> round(partial_auc(y_new, model.decision_function(X_new), (0, 0.2)), 3)
    0.857

    To search the parameters of the learner, pass one; its parameters have no names while it is None:

    >>> from sklearn.model_selection import GridSearchCV
    >>> from paucens import Tree, pauc_scorer
    >>> model = PAUCEnsClassifier((0, 0.2), learner=Tree(depth=None, max_leaves=31, leaves="real"), n_estimators=10)
    >>> search = GridSearchCV(model, {"learner__max_leaves": [4, 31]}, scoring=pauc_scorer((0, 0.2)), cv=3).fit(X, y)
    >>> search.best_params_
    {'learner__max_leaves': 4}

    Labels in words, with the one to detect:

    >>> import numpy as np
    >>> labels = np.where(y == 1, "cancer", "healthy")
    >>> model = PAUCEnsClassifier(n_estimators=5, pos_label="cancer", random_state=0).fit(X, labels)
    >>> round(partial_auc(labels, -model.decision_function(X), (0, 0.2), pos_label="cancer"), 2)
    0.96

    Categories, by the types of the columns of a frame:

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"x": X[:, 0], "side": pd.Categorical(np.where(X[:, 1] > 0, "left", "right"))})
    >>> model = PAUCEnsClassifier((0, 0.2), n_estimators=5, categorical_features="from_dtype", random_state=0)
    >>> model.fit(frame, y).categories_
    {1: array(['left', 'right'], dtype=object)}
    """

    default_learner = DEFAULT_LEARNER
    _has_training_threshold = True
    _fitted_attributes = HISTORY

    objective_: np.ndarray
    gap_: np.ndarray
    n_cuts_: np.ndarray
    validation_score_: np.ndarray
    stop_reason_: str

    def __init__(
        self,
        fpr_range: tuple[float, float] = (0.0, 0.1),
        *,
        train_range: str | tuple[float, float] | None = None,
        learner: Any = None,
        n_estimators: int = 600,
        nu: float | str = 0.03,
        anneal: bool | str = "auto",
        mixture: str | list[tuple[float, float]] | None = None,
        formulation: str = "tight",
        cut_tolerance: float = 1e-2,
        edge_tolerance: float = 1e-4,
        row_fraction: float = 1.0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        max_bins: int = MAX_BINS,
        categorical_features: Any = None,
        binning: str = "quantile",
        pos_label: Any = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ):
        self.fpr_range = fpr_range
        self.train_range = train_range
        self.learner = learner
        self.n_estimators = n_estimators
        self.nu = nu
        self.anneal = anneal
        self.mixture = mixture
        self.formulation = formulation
        self.cut_tolerance = cut_tolerance
        self.edge_tolerance = edge_tolerance
        self.row_fraction = row_fraction
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.binning = binning
        self.pos_label = pos_label
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Fit the ensemble.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            float32 and float64 are used without a copy. NaN is a missing value; only trees take them.
        y : array-like of shape (n_samples,)
            Two labels; `pos_label` says which one is positive.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each sample counts: a weight of 2 is as two equal samples, and 0 leaves one out. None is 1 each.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the data are infinite, not numeric, sparse or empty, or hold NaN and the learner is not a tree, y has one
            class or more than two, a weight is negative or not finite, a class has no weight, a parameter is out of
            range, or a range with alpha > 0 holds no negative. With early stopping also if a class has one sample, or
            the range holds no negative of those held out.
        """
        self._check_parameters()
        with np.errstate(under="ignore"), Threads(self.n_jobs) as threads:
            training = prepare(self, X, y, threads, sample_weight)
            n = training.weights.totals[1]
            trained, nu = trained_range(self, n), trained_nu(self, sum(training.weights.totals))
            wider = wider_ranges(n, trained, self.mixture)
            anneal = bool(self.anneal) and not wider and not self.early_stopping
            ranges = training_rank_ranges(n, trained, self.n_estimators, anneal)
            m, k, kind = training.n_positives, training.n_negatives, training.trainer.prediction_kind
            master = Master(m, k, nu, self.formulation, kind, self.n_estimators, wider, training.weights.values)
            rounds, self.stop_reason_ = run_rounds(self, training, master, ranges)
        self._set_fit(rounds.learners, rounds.weights, rounds.thresholds)
        self.validation_score_ = np.array(training.validation.scores)
        self.objective_, self.gap_, n_cuts = (np.array(column) for column in zip(*rounds.history, strict=True))
        self.n_cuts_ = n_cuts.astype(np.int64)
        self._warn()
        return self

    def _warn(self):
        with np.errstate(over="ignore"):
            gaps = np.abs(self.gap_) / self.objective_  # rounding errors can make them negative
        if gaps.max() > self.cut_tolerance:
            n_short = np.count_nonzero(gaps > self.cut_tolerance)
            warn_user(
                f"{n_short} of {self.n_iter_} rounds ended early, because of rounding errors or after {MOST_CALLS} "
                f"cuts: the objective may be up to {gaps.max():.2g} of itself above the minimum, more than "
                f"cut_tolerance = {self.cut_tolerance:g}. Lower nu, or raise cut_tolerance.",
                ConvergenceWarning,
            )
        if self.weights_.any() and self.stop_reason_ == "edge":
            self.warn_of_early_end(
                max(self.n_iter_, len(self.validation_score_)),
                "no further learner promises to lower the objective by more than "
                f"edge_tolerance = {self.edge_tolerance:g} of it. If the training samples are separated, simpler "
                "learners (trees of fewer leaves) or more and harder samples help. If not, a larger nu or deeper trees "
                "help.",
            )
        if not self.weights_.any():
            remedy = "mixture='auto'" if self.early_stopping else "anneal=True"
            warn_user(
                f"All weights are 0 in the end (n_iter_ = {self.n_iter_}): no combination of the learners lifts the "
                "positives above the best negatives of the range, so every sample gets the same score. A wider range, "
                f"{remedy}, deeper trees, leaves='real' or more rounds help."
            )

    def _check_parameters(self):
        super()._check_parameters()
        check_fpr_range(self.fpr_range)
        trained = trained_range(self, n_negatives=1)
        trained_nu(self, n_samples=1)
        check_positive("row_fraction", self.row_fraction, most=1)
        check_positive("cut_tolerance", self.cut_tolerance)
        check_positive("edge_tolerance", self.edge_tolerance)
        check_choice("formulation", self.formulation, ("tight", "struct"))
        check_choice("binning", self.binning, ("quantile", "tails"))
        wider = wider_ranges(1, trained, self.mixture)
        if check_choice("anneal", self.anneal, ("auto", True, False)) is True and (trained[0] > 0 or wider):
            raise ValueError(
                "anneal=True narrows [0, 1] to [0, beta], which needs a range that starts at 0, and no mixture; got "
                f"{trained} and mixture={self.mixture!r}. Set anneal='auto' or False."
            )
        self._check_early_stopping()
        if self.early_stopping and check_choice("anneal", self.anneal, ("auto", True, False)) is True:
            raise ValueError(
                "anneal=True trains early rounds for wider ranges than fpr_range, in which early_stopping=True judges "
                "all rounds. Set anneal='auto' or False, and mixture='auto' if the range is narrow."
            )
