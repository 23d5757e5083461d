"""Algorithm 2: the cutting-plane method for the weights of a growing set of learners."""

import numpy as np

from paucens._kernels.dual import append_column, append_row, combine_rows, solve_dual
from paucens._kernels.outputs import add_samples
from paucens.cutting_plane.cut import find_cut, kth_largest
from paucens.cutting_plane.outputs import STORES, project
from paucens.cutting_plane.packing import cuts_from_arrays, cuts_to_arrays
from paucens.cutting_plane.screening import ScreenedScores

IDLE_LIMIT = 20  # dual solutions in which a cut may stay inactive before it is dropped
MOST_STEPS = 100_000  # pairwise steps of one dual solution; reached for nu beyond 1e3 only
# Cuts are made a third of the way from the best point to the minimiser over the working set, which is far off
# while the set is poor: half the oracle calls of full steps (tests/benchmarks/test_speed.py counts them). A line
# search was tried: as many cuts, several calls for each.
STEP = 1 / 3
MOST_AT_ONCE = 10_000  # BLAS shares out dot products of longer vectors, so that they depend on its threads
FINEST = 1e-13  # relative gap below which rounding decides
DUAL_SHARE = 0.1  # of the wanted gap that the dual solution may waste
ROWS = ("losses", "dual", "idle")  # one value a cut


class Master:
    """The restricted master over the learners so far: weights, working set and dual variables.

        minimise  |w|^2 / 2 + nu max(0, max over cuts of (loss - s . H' w))

    Parameters
    ----------
    n_positives, n_negatives : int
    nu : float
    formulation : {"tight", "struct"}
    store : {"sign", "value", "dense", "column"}
        How outputs are kept, see `outputs`.
    n_learners : int
        As many as there will ever be.

    Attributes
    ----------
    weights : ndarray of shape (n_learners so far,)
        The best point seen, w.
    objective, bound : float
        Its primal value in the range last solved for, and the largest dual value.
    cuts : list of Cut
        The working set; it lives across rounds and ranges.
    """

    def __init__(self, n_positives, n_negatives, nu, formulation, store, n_learners):
        self.n_positives, self.n_negatives = n_positives, n_negatives
        self.nu, self.formulation = nu, formulation
        self.screen = ScreenedScores(STORES[store](n_learners, n_positives + n_negatives), n_positives, formulation)
        self.weights = np.zeros(0)
        self.objective, self.bound = nu, 0.0  # of w = 0, whose risk is 1
        self.cuts = []
        self._features = np.zeros((32, n_learners))  # Phi: s . h, a row a cut
        self._gram = np.zeros((32, 32))  # G = Phi Phi'
        self._losses, self._dual = np.zeros(32), np.zeros(32)
        self._idle = np.zeros(32, dtype=np.int64)  # dual solutions without a part in them
        self._n_solved = 0

    def signed_weights(self):
        """lambda' S, the weights of the next learner; nu/m and -nu/n before the first cut."""
        m, n = self.n_positives, self.n_negatives
        out = np.zeros(m + n)
        if not self.cuts:
            out[:m], out[m:] = self.nu / m, -self.nu / n
        for cut, dual in zip(self.cuts, self._dual, strict=False):
            if dual > 0:
                add_samples(cut.samples, cut.counts, cut.tied_count, dual / cut.normaliser, out)
        return out

    def scores(self, j_beta):
        """Scores at `weights`: of all positives, and of the j_beta + 1 best negatives at least."""
        n_wanted = min(j_beta + 1, self.n_negatives)
        if not self.weights.any():  # all tie: nothing to screen, and no reason to lose the screen
            return np.zeros(self.n_positives), np.zeros(n_wanted)
        while True:
            positives, negatives = self.screen.scores(self.weights, n_wanted)
            if self.screen.certifies(kth_largest(negatives, n_wanted), self.weights):
                return positives, negatives
            self.screen.renew(self.weights, n_wanted)

    def append(self, outputs):
        """Add a learner of weight 0: a column of Phi, a rank-one update of G."""
        self._drop_idle()
        self.screen.append(outputs)
        dense = outputs.dense
        column = np.array([project(cut, dense) for cut in self.cuts])
        append_column(self._features, self._gram, column, len(self.weights))
        self.weights = np.append(self.weights, 0.0)
        self.bound = -np.inf

    def solve(self, j_alpha, j_beta, tolerance, new_range=False):
        """Minimise over the weights until objective - bound <= tolerance * objective.

        Parameters
        ----------
        j_alpha, j_beta : int
            The range, in negatives. From call to call it may only narrow, or the bound would not hold.
        tolerance : float
        new_range : bool
            Whether the objective of the present weights is of another range and must be computed.

        Returns
        -------
        n_cuts : int
            How often the oracle was called.
        """
        n_calls = 1
        if new_range:
            self.objective, n_calls = np.inf, 2
            self._try(self.weights, j_alpha, j_beta)
        while not self._improve(j_alpha, j_beta, tolerance):
            n_calls += 1
        return n_calls

    def step(self, j_alpha, j_beta, tolerance):
        """Call the oracle once on the way of `solve`; return whether the tolerance is reached.

        For learners that are all there from the start: it drops idle cuts, as `append` does between solutions.
        """
        self._drop_idle()
        return self._improve(j_alpha, j_beta, tolerance)

    def _improve(self, j_alpha, j_beta, tolerance):
        tolerance = max(tolerance, FINEST)
        minimiser = self._solve_dual(tolerance)
        self._try(self.weights + STEP * (minimiser - self.weights), j_alpha, j_beta)
        return self.objective - self.bound <= tolerance * self.objective

    def _solve_dual(self, tolerance):
        """Improve the dual variables and raise the bound; return the minimiser over the working set, Phi' lambda."""
        k = len(self.cuts)
        dual, gradient, weights = self._dual[:k], np.empty(k), np.empty(len(self.weights))
        allowed = DUAL_SHARE * tolerance * self.objective
        bound, _ = solve_dual(self._gram, self._losses[:k], self.nu, dual, gradient, allowed, MOST_STEPS)
        self.bound = max(self.bound, bound)
        self._n_solved += 1
        combine_rows(self._features, dual, weights)
        return weights

    def _try(self, weights, j_alpha, j_beta):
        """Evaluate a point, keep it if it is the best, and add the cut that is most violated there."""
        cut = self._oracle(weights, j_alpha, j_beta)
        row = self.screen.project(cut)
        risk = max(0.0, cut.loss - _dot(row, weights))
        objective = 0.5 * _dot(weights, weights) + self.nu * risk
        if objective < self.objective:
            self.objective, self.weights = objective, weights
        self._add(self.screen.unscreened(cut), row)

    def _oracle(self, weights, j_alpha, j_beta):
        while True:
            positives, negatives = self.screen.scores(weights, j_beta)
            cut, lowest = find_cut(positives, negatives, j_alpha, j_beta, self.formulation)
            if self.screen.certifies(lowest, weights):
                return cut
            self.screen.renew(weights, j_beta)

    # -- interruptions -----------------------------------------------------------------------------

    def state(self):
        """All that the past has left here but for the outputs, a dict of arrays."""
        k, t = len(self.cuts), len(self.weights)
        state = {
            "weights": self.weights,
            "values": np.array([self.objective, self.bound, self._n_solved]),
            "features": self._features[:k, :t],
            "gram": self._gram[:k, :k],
            **{name: getattr(self, f"_{name}")[:k] for name in ROWS},
        }
        state |= {f"cuts/{name}": array for name, array in cuts_to_arrays(self.cuts).items()}
        return state | {f"screen/{name}": array for name, array in self.screen.state().items()}

    def restore(self, state, outputs):
        """Take up a `state`, given the outputs of the learners of then."""
        self.cuts = cuts_from_arrays(_part(state, "cuts/"), self.n_positives + self.n_negatives)
        self.screen.restore(_part(state, "screen/"), outputs)
        k, t = len(self.cuts), len(state["weights"])
        while len(self._losses) < k:
            self._grow()
        self.weights = state["weights"]
        self.objective, self.bound = state["values"][:2].tolist()
        self._n_solved = int(state["values"][2])
        self._features[:k, :t], self._gram[:k, :k] = state["features"], state["gram"]
        for name in ROWS:
            getattr(self, f"_{name}")[:k] = state[name]

    # -- the working set ---------------------------------------------------------------------------

    def _add(self, cut, row):
        k = len(self.cuts)
        if k == len(self._losses):
            self._grow()
        self.cuts.append(cut)
        append_row(self._features, self._gram, row, k)
        self._losses[k], self._dual[k], self._idle[k] = cut.loss, 0.0, 0

    def _drop_idle(self):
        """Forget the cuts that took no part in the last IDLE_LIMIT dual solutions or more."""
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


def _part(state, prefix):
    return {name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)}


def _dot(a, b):
    """Sum of products, the same whatever the number of BLAS threads."""
    return sum(float(a[i : i + MOST_AT_ONCE] @ b[i : i + MOST_AT_ONCE]) for i in range(0, len(a), MOST_AT_ONCE))
