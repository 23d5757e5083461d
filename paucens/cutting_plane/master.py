"""Algorithm 2: the cutting-plane method for the weights of a growing set of learners."""

from time import thread_time

import numpy as np

from paucens._kernels.dual import append_column, append_row, combine_rows, solve_dual
from paucens.cutting_plane.active_set import solve_by_active_set
from paucens.cutting_plane.cut import cuts_from_arrays, cuts_to_arrays, find_cut, kth_largest
from paucens.cutting_plane.screening import ScreenedScores
from paucens.cutting_plane.stores import add, make_store, project
from paucens.metrics.ranges import RATE_TOLERANCE
from paucens.validation import check_within

IDLE_LIMIT = 20  # dual solutions for which a cut may stay inactive before it is dropped
MAX_STEPS = 100_000  # pairwise steps of one dual solution; reached for nu beyond 1e3 or unscaled features only
ROUNDING = 1e-14  # rounding error of pairwise steps, relative to the largest product that they sum
# Cuts are made a third of the way from the best point to the minimiser over the working set, which is far off
# while the set is poor. This takes half the oracle calls of full steps (tests/benchmarks/test_speed.py counts
# them). A line search was tried: it needs as many cuts, and several calls for each.
STEP = 1 / 3
MAX_AT_ONCE = 10_000  # BLAS splits dot products of longer vectors, so that they depend on its threads
FINEST = 1e-13  # relative gap below which rounding decides
COARSEST = 1e100  # larger tolerances, times an objective, would overflow
DUAL_SHARE = 0.1  # share of the required gap that the dual solution may use up
NOISE = 1e-15  # rounding error of a risk
STUCK = 10  # iterations without gain that rounding errors must explain
MOST_CALLS = 5000  # of the oracle in one `solve`; ten times as many as were ever needed
LEAST_SHARE = 0.01  # of the narrower ranges, below which none of it is left
LEAST_NU, LARGEST_NU = 1e-50, 1e50  # the squares of weights, which nu and the features bound, are finite
ROWS = ("losses", "dual", "idle")  # arrays with one value per cut


class Master:
    """The restricted master over the learners so far: weights, working set and dual variables.

    It is the problem ::

        minimise  |w|^2 / 2 + nu max(0, max over cuts of (loss - s . H' w))

    Parameters
    ----------
    n_positives, n_negatives : int
    nu : float
    formulation : {"tight", "struct"}
    prediction_kind : {"sign", "few", "value", "dense", "column"}
        Kind of the store of predictions, see `make_store`.
    n_learners : int
        Maximum number of learners.
    wider : list of (float, tuple of two ints), default=()
        Shares of the risk that are of further rank ranges, the widest first; the rest is of the range that `solve` is
        given. A mean of risks has a mean of cuts as its cut, so a cut has a part for each range.
    sample_weights : ndarray of shape (n_positives + n_negatives,), default=None
        How much each sample counts; 1 by default. Ranks are then of the total weight of the negatives.

    Attributes
    ----------
    weights : ndarray of shape (n_learners so far,)
        The best point seen, w.
    objective, bound : float
        The primal value of `weights` in the range last solved for, and the largest dual value.
    cuts : list of tuple of Cut
        The working set, a part per range; it is kept across rounds, ranges and shares.
    qp_seconds : float
        CPU time of the quadratic programs (the dual) so far, in this thread.
    """

    def __init__(
        self, n_positives, n_negatives, nu, formulation, prediction_kind, n_learners, wider=(), sample_weights=None
    ):
        self.n_positives, self.n_negatives = n_positives, n_negatives
        self.nu, self.formulation = nu, formulation
        store = make_store(prediction_kind, n_learners, n_positives + n_negatives)
        self.sample_weights = sample_weights
        self.screen = ScreenedScores(store, n_positives, formulation, sample_weights)
        self.weights = np.zeros(0)
        self.objective, self.bound = nu, 0.0  # of w = 0, whose risk is 1
        self.wider_ranges = [rank_range for _, rank_range in wider]
        self.shares = np.array([*(share for share, _ in wider), 1 - sum(share for share, _ in wider)])
        self.cuts = []
        self.qp_seconds = 0.0
        self._features = np.zeros((32, n_learners))  # Phi: s . h, one row per cut
        self._gram = np.zeros((32, 32))  # G = Phi Phi'
        self._losses, self._dual = np.zeros(32), np.zeros(32)
        self._idle = np.zeros(32, dtype=np.int64)  # number of dual solutions in which the cut is inactive
        self._n_solved = 0
        self._patience = MAX_STEPS  # pairwise steps before the active set takes over; less after each time it did
        self._n_stuck = 0

    @property
    def stuck(self):
        """Whether rounding errors kept the last `solve`, or the steps so far, from their tolerance."""
        return self._n_stuck >= STUCK

    def signed_weights(self):
        """Return lambda' S, the weights for the next learner; nu/m and -nu/n before the first cut."""
        m, n = self.n_positives, self.n_negatives
        out = np.zeros(m + n)
        if not self.cuts:
            out[:m], out[m:] = self.nu / m, -self.nu / n
            if self.sample_weights is not None:
                counts = self.sample_weights
                out[:m], out[m:] = self.nu / counts[:m].sum() * counts[:m], -self.nu / counts[m:].sum() * counts[m:]
        for parts, dual in zip(self.cuts, self._dual, strict=False):
            for share, cut in zip(self.shares, parts, strict=True):
                if share * dual > 0:
                    add(cut, share * dual / cut.normaliser, out)
        return out

    def scores(self, j_beta):
        """Return the scores at `weights` of all positives, and of at least the j_beta + 1 best negatives.

        The weights of these samples are `screen.weights`.
        """
        n_wanted = self._next_rank(j_beta)
        if not self.weights.any():  # all scores are tied: the screen can stay
            n_tied = n_wanted if self.sample_weights is None else len(self.screen.weights[1])
            return np.zeros(self.n_positives), np.zeros(n_tied)
        while True:
            positives, negatives = self.screen.scores(self.weights, n_wanted)
            if self.screen.certifies(kth_largest(negatives, n_wanted, self.screen.weights[1]), self.weights):
                return positives, negatives
            self.screen.renew(self.weights, n_wanted)

    def _next_rank(self, j_beta):
        """Return a rank that belongs to the negative after the one that ends at j_beta, or the last rank."""
        if self.sample_weights is None:
            return min(j_beta + 1, self.n_negatives)
        beyond = np.nextafter(j_beta * (1 + RATE_TOLERANCE), np.inf)  # FPR are compared up to the tolerance
        return min(beyond, self.sample_weights[self.n_positives :].sum())

    def append(self, predictions):
        """Add a learner of weight 0: a column of Phi, a rank-one update of G."""
        self._drop_idle()
        self.screen.append(predictions)
        dense = predictions.dense
        of_ranges = zip(*self.cuts, strict=True) if self.cuts else [()] * len(self.shares)
        column = self._mean(np.array([project(cut, dense) for cut in cuts]) for cuts in of_ranges)
        append_column(self._features, self._gram, column, len(self.weights))
        self.weights = np.append(self.weights, 0.0)
        self.bound = -np.inf

    def solve(self, rank_range, tolerance, new_range=False):
        """Minimise over the weights until objective - bound <= tolerance * objective.

        It ends before that if it is `stuck`, or after 5000 calls of the oracle.

        Parameters
        ----------
        rank_range : tuple of two ints
            j_alpha and j_beta. From call to call the range may only narrow, or the bound would not hold.
        tolerance : float
        new_range : bool
            Whether `objective` belongs to another range and must be computed again.

        Returns
        -------
        n_cuts : int
            Number of calls of the oracle.
        """
        n_calls, self._n_stuck = 1, 0
        if new_range:
            self.objective, n_calls = np.inf, 2
            self._evaluate(self.weights, rank_range)
        while not self._improve(rank_range, tolerance) and n_calls < MOST_CALLS:
            n_calls += 1
        return n_calls

    def step(self, rank_range, tolerance):
        """Do one iteration of `solve`, with one call of the oracle; return whether it was the last.

        This is for learners that are all known from the start: idle cuts are dropped here, not in `append`.
        """
        self._drop_idle()
        return self._improve(rank_range, tolerance)

    def widen(self):
        """Move half of the shares of narrower ranges to the widest one, and forget the objective and the bound.

        For a small share of the widest range w = 0 can be optimal, with the same score for every sample.

        Returns
        -------
        bool
            Whether the shares have changed; they do not if the widest range has all of them.
        """
        others = self.shares[1:].sum()
        if others == 0:
            return False
        self.shares[1:] *= 0.5 if others > LEAST_SHARE else 0.0
        self.shares[0] = 1 - self.shares[1:].sum()
        parts, self.cuts = self.cuts, []
        for cut in parts:
            self._add_cut(cut, self._mean(self.screen.project_all(part) for part in cut))
        self.objective, self.bound = self.nu, 0.0
        return True

    def _improve(self, rank_range, tolerance):
        """Move towards the minimiser over the working set and add a cut; return whether to end.

        If the dual was solved well enough, the objective falls or the new cut is violated, by a share of the gap. So
        without either, rounding errors decide.
        """
        tolerance, before = min(max(tolerance, FINEST), COARSEST), self.objective
        allowed = DUAL_SHARE * tolerance * self.objective
        minimiser, gap = self._solve_dual(allowed)
        self._evaluate(self.weights + STEP * (minimiser - self.weights), rank_range)
        left = self.objective - self.bound
        reached, fell = left <= tolerance * self.objective, self.objective < before * (1 - FINEST)
        gains = fell or (gap <= allowed and left > NOISE * self.nu)
        self._n_stuck = 0 if reached or gains else self._n_stuck + 1
        return reached or self.stuck

    def _solve_dual(self, allowed):
        """Improve the dual variables to an allowed gap and raise the bound.

        Pairwise steps are tried first. They are many if nu is huge or features are large or of unequal scale; then
        an active set takes over, and next time sooner.

        Returns
        -------
        weights : ndarray of shape (n_learners,)
            The minimiser over the working set, Phi' lambda.
        gap : float
        """
        start = thread_time()
        k = len(self.cuts)
        dual, losses, weights, gap = self._dual[:k], self._losses[:k], np.empty(len(self.weights)), np.inf
        if ROUNDING * self.nu * self._gram.diagonal()[:k].max(initial=0.0) * self.nu < allowed:
            bound, gap, _ = solve_dual(self._gram, losses, self.nu, dual, np.empty(k), allowed, self._patience)
        if gap <= allowed:
            self._patience = min(2 * self._patience, MAX_STEPS)
            combine_rows(self._features, dual, weights)
        else:
            self._patience = max(self._patience // 2, 1)
            features = self._features[:k, : len(weights)]
            weights, bound, gap = solve_by_active_set(features, losses, self.nu, dual, allowed)
        self.bound = max(self.bound, bound)
        self._n_solved += 1
        self.qp_seconds += thread_time() - start
        return weights, gap

    def _evaluate(self, weights, rank_range):
        """Evaluate a point, keep it if it is the best so far, and add the cut that is most violated there."""
        parts = self._find_cut(weights, rank_range)
        row = self._mean(self.screen.project(cut) for cut in parts)
        risk = max(0.0, self._mean(cut.loss for cut in parts) - _dot(row, weights))
        objective = 0.5 * _dot(weights, weights) + self.nu * risk
        if objective < self.objective:
            self.objective, self.weights = objective, weights
        self._add_cut(tuple(self.screen.unscreened(cut) for cut in parts), row)

    def _find_cut(self, weights, rank_range):
        """Find the most violated cut among the kept samples, which are renewed until they certify it."""
        ranges = [*self.wider_ranges, rank_range]
        deepest = max(j_beta for _, j_beta in ranges)
        while True:
            positives, negatives = self.screen.scores(weights, deepest)
            found = [find_cut(positives, negatives, one, self.formulation, self.screen.weights) for one in ranges]
            if self.screen.certifies(min(lowest for _, lowest in found), weights):
                return tuple(cut for cut, _ in found)
            self.screen.renew(weights, deepest)

    def _mean(self, values):
        """Return the mean of one value per range, by their shares."""
        first, *others = (share * value for share, value in zip(self.shares, values, strict=True))
        return sum(others, first)

    # -- interruptions -----------------------------------------------------------------------------

    def state(self):
        """Return the state except for the predictions, a dict of arrays."""
        k, t = len(self.cuts), len(self.weights)
        state = {
            "weights": self.weights,
            "values": np.array([self.objective, self.bound, self._n_solved, self._patience]),
            "shares": self.shares,
            "features": self._features[:k, :t],
            "gram": self._gram[:k, :k],
            **{name: getattr(self, f"_{name}")[:k] for name in ROWS},
        }
        parts = [cut for parts in self.cuts for cut in parts]
        state |= {f"cuts/{name}": array for name, array in cuts_to_arrays(parts).items()}
        return state | {f"screen/{name}": array for name, array in self.screen.state().items()}

    def restore(self, state, predictions):
        """Restore a `state`, given the predictions of its learners."""
        parts = iter(cuts_from_arrays(_part(state, "cuts/"), self.n_positives + self.n_negatives))
        self.cuts = list(zip(*[parts] * len(self.shares), strict=True))
        self.shares = state["shares"]
        self.screen.restore(_part(state, "screen/"), predictions)
        k, t = len(self.cuts), len(state["weights"])
        while len(self._losses) < k:
            self._grow()
        self.weights = state["weights"]
        self.objective, self.bound = state["values"][:2].tolist()
        self._n_solved, self._patience = (int(value) for value in state["values"][2:])
        self._features[:k, :t], self._gram[:k, :k] = state["features"], state["gram"]
        for name in ROWS:
            getattr(self, f"_{name}")[:k] = state[name]

    # -- the working set ---------------------------------------------------------------------------

    def _add_cut(self, parts, row):
        k = len(self.cuts)
        if k == len(self._losses):
            self._grow()
        self.cuts.append(parts)
        append_row(self._features, self._gram, row, k)
        self._losses[k], self._dual[k], self._idle[k] = self._mean(cut.loss for cut in parts), 0.0, 0

    def _drop_idle(self):
        """Drop the cuts that were inactive for more than IDLE_LIMIT dual solutions."""
        k = len(self.cuts)
        self._idle[:k] = np.where(self._dual[:k] > 0, 0, self._idle[:k] + self._n_solved)
        self._n_solved = 0
        kept = self._idle[:k] <= IDLE_LIMIT
        if kept.all():
            return
        self.cuts = [cut for cut, keep in zip(self.cuts, kept, strict=True) if keep]
        n = len(self.cuts)
        self._features[:n] = self._features[:k][kept]
        self._gram[:n, :n] = self._gram[:k, :k][np.ix_(kept, kept)]
        for values in (self._losses, self._dual, self._idle):
            values[:n] = values[:k][kept]

    def _grow(self):
        k = len(self._losses)
        self._features = np.pad(self._features, ((0, k), (0, 0)))
        self._gram = np.pad(self._gram, ((0, k), (0, k)))
        self._losses, self._dual, self._idle = (
            np.pad(values, (0, k)) for values in (self._losses, self._dual, self._idle)
        )


def check_nu(nu):
    """Raise ValueError unless nu is a finite number that the arithmetic can take."""
    check_within("nu", nu, LEAST_NU, LARGEST_NU, "0.01 to 100")


def _part(state, prefix):
    """Return the arrays whose names begin with a prefix, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)}


def _dot(a, b):
    """Return the dot product, the same whatever the number of BLAS threads."""
    return sum(float(a[i : i + MAX_AT_ONCE] @ b[i : i + MAX_AT_ONCE]) for i in range(0, len(a), MAX_AT_ONCE))
