"""Table 1: the cost of a boosting round, as fitted exponents beside the paper's O(.).

Claim (Sec. 3.2). Training a weak learner (Step 1) takes O((m+n) F K) time, for our method as for AdaBoost; solving
for the weights (Algorithm 2) takes O(r (m+n) (log(m+n) + t_max)), for AdaBoost O(m+n). m+n is the number of samples,
F of features, K of nodes of a tree, t_max of weak learners, r of cutting-plane iterations.

Protocol. Gaussian features from the seed; a tenth of the samples are positive, with ten columns shifted by 0.7; range
[0, 0.1], nu = 1, trees with three levels of splits. One size at a time takes the values of a ladder. For each value the
loop of the ensemble runs as in `fit`; a time is the mean over the second half of its rounds and, for Algorithm 2, is
divided by its iterations. Ladders are repeated, so that all values meet the same noise, and medians count. Each repeat
draws new data and has its own exponent, the slope of the least-squares line of the logarithms; intervals are for means.

Where we depart, and why.
- The paper prints no times, so there is nothing else to compare. Its exponent of m+n leaves out a logarithm, and that
  of t_max is an upper bound, because log(m+n) stands beside it.
- Algorithm 2 is timed twice: as `fit` calls it, which keeps cuts from round to round and only the samples that can
  matter, and as the paper prints it, from an empty working set with all learners of the loop. Time against r is for the
  second, where nu moves r from about ten to hundreds. It is not divided by r, and its quadratic program, which the
  paper's O(.) leaves out (ERRATA.md, E16), is also timed alone.
- beta is not in the paper's O(.), which means an exponent of 0. It is measured because samples outside of the range
  have no weight, and trees skip them.
- Seconds are CPU time of one thread. Other processes share caches and memory, so `--jobs 1` is quieter.

    python reproduce/table_1.py --scale paper    (12 minutes of CPU time, measured with --jobs 1; --scale small: 35 s)
"""

import sys
from collections import namedtuple
from dataclasses import asdict, dataclass, replace
from time import thread_time

import numpy as np
from matplotlib.ticker import LogLocator

from harness import Run, exit_code
from paucens import Tree
from paucens.boosting.rounds import boosting_coefficient, reweighted, train_with_edge
from paucens.cutting_plane import Master, training_rank_range
from paucens.metrics import mean_interval
from paucens.parallel import Threads
from paucens.plotting import DARK, GREY, draw_power_law, house_style, method_style, new_figure
from report import interval_text, markdown, paper_says
from splits import streams

OURS, ADABOOST = "pAUCEnsT", "AdaBoost"
TRAIN, SOLVE, SCRATCH, UPDATE = "weak learner", "weights", "weights, from scratch", "weights, closed form"
QP = "weights, from scratch, the QP"  # is timed within SCRATCH, so it has no rows of its own
STEPS, TRAINING = {OURS: (TRAIN, SOLVE, SCRATCH), ADABOOST: (TRAIN, UPDATE)}, {OURS: (TRAIN,), ADABOOST: (TRAIN,)}
TOLERANCE, CUT_TOLERANCE = 0.1, 1e-2  # within which an exponent is the paper's; the default of PAUCEnsClassifier
DIGITS = {"nodes": 4, "active": 6, "iterations": 4, "round_seconds": 9, "qp_seconds": 9}  # nodes with a split: K

# the size that is varied, the column with its values, its label in the picture, the steps that are fitted, by method
Variable = namedtuple("Variable", "size column label steps")
VARIABLES = {
    "m+n": Variable("n_samples", "n_samples", "samples, m+n", STEPS),
    "F": Variable("n_features", "n_features", "features, F", TRAINING),
    "K": Variable("depth", "nodes", "nodes of a tree, K", TRAINING),
    "t_max": Variable("rounds", "rounds", "weak learners, $t_{max}$", {OURS: (SOLVE, SCRATCH)}),
    "r": Variable("nu", "iterations", "iterations, r", {OURS: (SOLVE, SCRATCH, QP)}),
    "beta": Variable("beta", "beta", "upper end of the range, β", {OURS: (TRAIN, SOLVE, SCRATCH)}),
}
COMMENTS = {  # by step, variable and verdict
    (TRAIN, "m+n", "below"): "a tree has a fixed cost: calls, and 256 bins to search per column and node",
    (TRAIN, "F", "below"): "rounding and packing the weights and applying the tree do not depend on F",
    (TRAIN, "K", "below"): "a node costs as much as its rows, and the nodes of a level share the rows",
    (TRAIN, "beta", "above"): "samples out of reach of the range have no weight, and trees skip them",
    (SOLVE, "m+n", "below"): "a bound on the scores leaves out samples that cannot matter",
    (SOLVE, "t_max", "below"): "adding a learner does not depend on t_max, and eight learners share a byte",
    (SOLVE, "r", "above"): "the quadratic program, which the paper leaves out, grows faster than r",
    (SOLVE, "beta", "above"): "only the negatives in the range are ranked and enter a cut",
    (SCRATCH, "m+n", "below"): "an iteration has a fixed cost",
    (SCRATCH, "t_max", "below"): "eight learners share a byte, and log(m+n) stands beside t_max",
    (UPDATE, "m+n", "below"): "a round has a fixed cost",
}
COMMENTS |= {(SCRATCH, name, "above"): COMMENTS[SOLVE, name, "above"] for name in ("r", "beta")}


@dataclass(frozen=True)
class Sizes:
    """What a loop is run with."""

    n_samples: int
    n_features: int = 50
    depth: int = 3
    rounds: int = 32
    beta: float = 0.1
    nu: float = 1.0


@dataclass(frozen=True)
class Protocol:
    """What a scale means: repeats, loops per value and repeat, sizes that are not varied, and a ladder per variable."""

    repeats: int
    calls: int
    base: Sizes
    ladders: dict[str, tuple]


def ladders(samples, features, depths, rounds, nus, betas=(0.02, 0.05, 0.1, 0.2, 0.5, 1.0)):
    """Name the ladders by variable; all but depths and betas are given as (first value, number of values, factor)."""
    powers = [tuple(first * factor**k for k in range(n)) for first, n, factor in (samples, features, rounds, nus)]
    return dict(zip(VARIABLES, (*powers[:2], depths, *powers[2:], betas), strict=True))


SMOKE = ladders((2000, 3, 2), (12, 3, 2), (1, 2, 3), (8, 3, 2), (1, 3, 10), (0.05, 0.1, 0.2))
SMALL = ladders((8000, 4, 2), (16, 4, 2), (1, 2, 3, 4, 5, 6), (16, 4, 2), (1, 4, 10))
PAPER = ladders((32_000, 5, 2), (16, 6, 2), (1, 2, 3, 4, 5, 6, 7, 8), (16, 6, 2), (1, 7, 10**0.5))
PROTOCOLS = {
    "smoke": Protocol(2, 1, Sizes(2000, n_features=12, rounds=8), SMOKE),
    "small": Protocol(3, 1, Sizes(16_000), SMALL),
    "paper": Protocol(8, 3, Sizes(32_000), PAPER),
}


def measure(run, case):
    """Run the loop for each value of a ladder in turn, several times; one row per value and step, medians of times."""
    protocol, variable, method = run.protocol, case["variable"], case["method"]
    ladder = [replace(protocol.base, **{VARIABLES[variable].size: value}) for value in protocol.ladders[variable]]
    with Threads(1) as threads:
        loops = [(*prepare(sizes, *sample(sizes, run.seed, case["repeat"]), threads), sizes) for sizes in ladder]
        calls = [[LOOPS[method](*loop) for loop in loops] for _ in range(protocol.calls)]
    medians = np.median(calls, axis=0).tolist()  # all but the times is the same in all calls
    return [
        {"step": step} | asdict(sizes) | dict(zip(DIGITS, map(round, found, DIGITS.values()), strict=True))
        for sizes, steps in zip(ladder, medians, strict=True)
        for step, found in zip(STEPS[method], steps, strict=True)
    ]


def sample(sizes, seed, repeat):
    """Draw X and the number of positives, which come first."""
    (random,) = streams(seed, repeat, 1)
    X = random.normal(size=(sizes.n_samples, sizes.n_features)).astype(np.float32)
    m = round(0.1 * sizes.n_samples)
    X[:m, :10] += 0.7
    return X, m


def prepare(sizes, X, m, threads):
    """Bin the features, once for all loops; return a trainer and the numbers of positives and negatives."""
    order = np.arange(len(X), dtype=np.int32)
    return Tree(depth=sizes.depth).make_trainer(X, order, 256, threads, 0), m, len(X) - m


def paucens_loop(trainer, m, n, sizes):
    """Fit as `PAUCEnsClassifier(anneal=False)` does, without its stopping rule, then solve for all weights at once."""
    rounds, learned, rank_range = [], [], training_rank_range(n, (0.0, sizes.beta))
    master, scratch = (Master(m, n, sizes.nu, "tight", trainer.prediction_kind, sizes.rounds) for _ in range(2))
    for t in range(sizes.rounds):
        signed_weights, qp_before = master.signed_weights(), master.qp_seconds
        start = thread_time()
        learner, predictions = trainer.train(signed_weights, t)
        trained = thread_time()
        master.append(predictions)
        iterations = master.solve(rank_range, CUT_TOLERANCE)
        times = trained - start, thread_time() - trained, master.qp_seconds - qp_before
        active = np.count_nonzero(signed_weights) / (m + n)  # share of the samples that have weight
        rounds.append((np.count_nonzero(learner.nodes_.child), active, iterations, *times))
        learned.append(predictions)
    for predictions in learned:
        scratch.append(predictions)
    start = thread_time()
    from_scratch = scratch.solve(rank_range, CUT_TOLERANCE), thread_time() - start, scratch.qp_seconds
    nodes, active, iterations, train, solve, qp = np.mean(rounds[len(rounds) // 2 :], axis=0)
    return [(nodes, active, *rest) for rest in ((1, train, 0), (iterations, solve, qp), from_scratch)]


def adaboost_loop(trainer, m, n, sizes):
    """Boost as `AdaBoostClassifier` does."""
    rounds, signed_weights = [], np.concatenate([np.full(m, 0.5 / m), np.full(n, -0.5 / n)])
    for t in range(sizes.rounds):
        start = thread_time()
        learner, predictions, edge = train_with_edge(trainer, signed_weights, t)
        trained = thread_time()
        signed_weights = reweighted(signed_weights, m, predictions, boosting_coefficient(edge))
        rounds.append((np.count_nonzero(learner.nodes_.child), trained - start, thread_time() - trained))
    nodes, *times = np.mean(rounds[len(rounds) // 2 :], axis=0)
    return [(nodes, 1, 1, time, 0) for time in times]


LOOPS = {OURS: paucens_loop, ADABOOST: adaboost_loop}  # each returns, by step, the values that DIGITS names


# -- table and picture -----------------------------------------------------------------------------

# x and y are logarithms of sizes and times, one row per repeat; `paper` is None if the paper's O(.) lacks the step
Fit = namedtuple("Fit", "variable method step x y exponent paper")


def fits(rows):
    """Yield all power laws, in the order of `VARIABLES`; times of Algorithm 2 per iteration, but against r for all."""
    printed = paper_says("table_1")["exponents"]
    for name, variable in VARIABLES.items():
        for method, step in ((method, step) for method, steps in variable.steps.items() for step in steps):
            own = rows[(rows.variable == name) & (rows.method == method) & (rows.step == {QP: SCRATCH}.get(step, step))]
            seconds = (own.qp_seconds if step == QP else own.round_seconds) / (1 if name == "r" else own.iterations)
            x, y = (np.log(np.reshape(part, (own.repeat.nunique(), -1))) for part in (own[variable.column], seconds))
            paper = None if step == QP else printed[TRAIN if step == TRAIN else SOLVE][name]
            yield Fit(name, method, step, x, y, mean_interval(slopes(x, y)), paper)


def slopes(x, y):
    """Return the slope of the least-squares line of each row."""
    centred = x - x.mean(axis=1, keepdims=True)
    return (centred * y).sum(axis=1) / (centred**2).sum(axis=1)


def verdict(exponent, paper):
    """Tell where an interval lies: "as the paper" is within `TOLERANCE` of its exponent, "open" too wide to tell."""
    if paper is None:
        return "not in it"
    low, high = exponent.low - paper, exponent.high - paper
    if low >= -TOLERANCE and high <= TOLERANCE:
        return "as the paper"
    return "below" if high < 0 else "above" if low > 0 else "open"


def table(rows):
    """List the exponents beside the paper's, then the costs of a round, of the quadratic program and of beta."""
    largest = rows[(rows.variable == "m+n") & (rows.n_samples == rows.n_samples.max())]
    paper, first, top = paper_says("table_1"), rows.iloc[0], largest.iloc[0]
    entries = [[step, own[OURS], own[ADABOOST]] for step, own in paper["complexity"].items()]
    few, many = ends(rows, "r", SCRATCH)
    low, high = ends(rows, "beta", TRAIN)
    return f"""# Table 1 on Gaussian features

{paper["caption"]} (Sec. {paper["section"]}). Scale {first.scale}: {rows.repeat.nunique()} repeats from \
seed {first.seed}.

{markdown(entries, ["the paper's entry", OURS, ADABOOST])}

Exponents of the time, for "{SOLVE}" per cutting-plane iteration, but against r for all iterations. "From scratch" is \
Algorithm 2 as printed, from an empty working set. "At the top" is the slope between the two largest values, where \
fixed costs weigh least. An interval within {TOLERANCE} of the paper's exponent counts as the paper's; another that \
contains it is open. beta is not in the paper's O(.), hence 0; above means that a smaller beta is cheaper.

{exponents(rows)}

A round at m+n = {top.n_samples}, F = {top.n_features}, {top.depth} levels of splits, t_max = {top.rounds}, beta = \
{top.beta:g}, nu = {top.nu:g}.

{round_costs(largest)}

The paper's entry leaves out the quadratic program (ERRATA.md, E16): from scratch it takes {few.qp_share:.0%} of the \
time at r = {few.iterations:.0f}, {many.qp_share:.0%} of the time at r = {many.iterations:.0f}.

At beta = {low.Index:g}, {low.active:.0%} of the samples have weight and a weak learner takes {low.ms:.2f} ms; at \
{high.Index:g}, {high.active:.0%} of the samples have weight and a weak learner takes {high.ms:.2f} ms. The paper has \
one cost for both.
"""


def ends(rows, variable, step):
    """Return the means over the repeats at the smallest and at the largest value of a variable."""
    own = rows[(rows.variable == variable) & (rows.step == step)].groupby(VARIABLES[variable].size)
    means = own[["iterations", "active", "round_seconds", "qp_seconds"]].mean().iloc[[0, -1]]
    return means.assign(ms=1e3 * means.round_seconds, qp_share=means.qp_seconds / means.round_seconds).itertuples()


def exponents(rows):
    """Set the paper's exponents and ours side by side."""
    cells = []
    for fit in fits(rows):
        lowest, highest = (f"{size:.0f}" if size >= 10 else f"{size:g}" for size in np.exp([fit.x.min(), fit.x.max()]))
        paper = None if fit.paper is None else f"{fit.paper:g}"
        ours = f"{fit.exponent.mean:.2f}", interval_text(fit.exponent.low, fit.exponent.high, ".2f")
        top, found = slopes(fit.x[:, -2:], fit.y[:, -2:]).mean(), verdict(fit.exponent, fit.paper)
        because = COMMENTS.get((fit.step, fit.variable, found), "")
        cells.append([fit.step, fit.method, fit.variable, lowest, highest, paper, *ours, f"{top:.2f}", found, because])
    names = ["step", "method", "against", "from", "to", "paper", "ours"]
    return markdown(cells, [*names, "95 % interval", "at the top", "ours is", "because"])


def round_costs(rows):
    """List the times of a round."""
    cells = []
    for (step, method), own in rows.groupby(["step", "method"], sort=False):
        qp = f"{own.qp_seconds.sum() / own.round_seconds.sum():.1%}" if own.qp_seconds.any() else None
        time = f"{1e3 * own.round_seconds.mean():.2f}"
        cells.append([step, method, time, f"{own.iterations.mean():.1f}", qp, f"{own.active.mean():.0%}"])
    return markdown(cells, ["step", "method", "ms per round", "iterations", "share of the QP", "samples with weight"])


@house_style()
def picture(rows):
    """Draw times against each size, with the fitted exponents and the paper's; in the upper row those of training."""
    fitted, figure = list(fits(rows)), new_figure(10, 5.6)
    upper, lower = figure.subplots(2, 4)
    for panels, names in ((upper, ("m+n", "F", "K", "beta")), (lower, ("m+n", "t_max", "beta", "r"))):
        for axes, name in zip(panels, names, strict=True):
            is_upper = panels is upper
            draw_panel(axes, [fit for fit in fitted if fit.variable == name and (fit.step == TRAIN) == is_upper])
            axes.set_xlabel(VARIABLES[name].label)
    upper[0].set_title("training a weak learner; numbers are exponents of the time")
    lower[0].set_title("solving for the weights")
    units = ("ms per round", "ms per iteration", "ms, all iterations")
    for panels, unit in zip((upper, lower[:3], lower[3:]), units, strict=True):
        limits = np.array([axes.get_ylim() for axes in panels])
        for axes in panels:  # one scale, with room for the legends
            axes.set_ylim(limits[:, 0].min(), limits[:, 1].max() * 8)
        panels[0].set_ylabel(unit)
    return figure


def draw_panel(axes, fitted):
    """Draw the power laws of one variable; the legend gives their exponents, the paper's last."""
    axes.set(xscale="log", yscale="log")
    points = [(np.exp(fit.x.mean(axis=0)), 1e3 * np.exp(fit.y.mean(axis=0))) for fit in fitted]
    for fit, (x, y) in zip(fitted, points, strict=True):
        colour, marker = (DARK, "x") if fit.step == QP else method_style(fit.method)
        name = {SCRATCH: "from scratch", QP: "QP alone"}.get(fit.step, fit.method)
        look = {"markersize": 4.5, "markerfacecolor": "white" if fit.step == SCRATCH else colour}
        draw_power_law(axes, x, y, fit.exponent.mean, colour, linewidth=1.2)
        axes.plot(x, y, marker, color=colour, label=f"{name} {fit.exponent.mean:.2f}", **look)
    paper = fitted[0].paper
    draw_power_law(axes, *points[0], paper, GREY, linewidth=4, alpha=0.3, zorder=1, label=f"paper {paper:g}")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set(major_locator=LogLocator(subs=(1, 3)), major_formatter=short)
    axes.minorticks_off()
    axes.legend(loc="upper left", fontsize=8, handlelength=1.2, borderpad=0, labelspacing=0.3)


def short(value, _):
    """Write the value of a tick, thousands with a k."""
    return f"{value / 1000:g}k" if value >= 1000 else f"{value:g}"


def main(argv=None):
    """Run a ladder per variable, method and repeat."""
    run = Run.of(__file__, __doc__, PROTOCOLS, argv)
    loops = [(name, method) for name, variable in VARIABLES.items() for method in variable.steps]
    cases = [{"variable": name, "method": m, "repeat": k} for name, m in loops for k in range(run.protocol.repeats)]
    rows = run.rows("table_1", measure, cases)
    return run.write(table(rows), picture(rows))


if __name__ == "__main__":
    sys.exit(exit_code(main))
