"""Table 1: what a round of boosting costs, as fitted exponents beside the paper's O(.).

Claim (Sec. 3.2). Training a weak learner (Step 1) takes O((m+n) F K) time, for our method as for AdaBoost; solving
for the weights (Algorithm 2) takes O(r (m+n) (log(m+n) + t_max)), for AdaBoost O(m+n). m+n is the number of samples,
F of features, K of nodes of a tree, t_max of weak learners, r of cutting-plane iterations.

Protocol. Gaussian features from the seed, a tenth of the samples positive, ten columns of theirs shifted by 0.7;
range [0, 0.1], nu = 1, trees of three levels of splits. One size at a time takes the values of a ladder. For each of
them the loop of the ensemble runs as `fit` runs it, and a time is the mean over the second half of its rounds, a part
of Algorithm 2 is also divided by its iterations. The ladder is gone through several times, so that values meet the same
noise; the median counts. A repeat draws new data and has an exponent of its own, the slope of a straight line fitted
to the logarithms by least squares; the interval is of their mean.

Where we depart, and why.
- The paper prints no times, so there is nothing else to compare. Its exponent of m+n leaves a logarithm out, and that
  of t_max is an upper bound, as log(m+n) stands beside it.
- Algorithm 2 is timed twice: as `fit` calls it, which keeps cuts from round to round and the samples that can matter,
  and from an empty working set, as the paper prints it, with all learners of the loop. Time against r is of the
  second, where r goes from about ten to hundreds with nu. It is not divided by r, and the quadratic program in it,
  which the paper's O(.) leaves out (ERRATA.md, E16), is also timed alone.
- beta is not in the paper's O(.), which means an exponent of 0. It is measured because samples outside of the range
  have no weight, and trees skip them.
- Seconds are of the processor, one thread a task, so that other processes of the machine disturb less. They still do:
  caches and memory are shared, and `--jobs 1` is quieter.

    python reproduce/table_1.py --scale paper

12 minutes of processor time, so about 6 on 2 cores; --scale small 35 seconds, so about 20 (measured with --jobs 1).
"""

import sys
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from time import thread_time

import numpy as np
import pandas as pd
from matplotlib.ticker import LogLocator

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from paucens import Tree
from paucens.boosting.rounds import boosting_coefficient, reweighted, train_with_edge
from paucens.cutting_plane import Master, training_rank_range
from paucens.parallel import Threads
from paucens.plotting import BLUE, DARK, GREY, VERMILION, draw_power_law, new_figure
from reproduce._run import Plan, Script, main, random_streams, short_hash
from reproduce._store import Sheet, Task, task_key
from reproduce._tables import NOTHING, MeanInterval, interval_text, markdown, mean_interval, paper_says

NAME = "table_1"
OURS, ADABOOST = "pAUCEnsT", "AdaBoost"
SHARE, N_SHIFTED, SHIFT = 0.1, 10, 0.7  # of the positives
MAX_BINS = 256
CUT_TOLERANCE = 1e-2  # the default of PAUCEnsClassifier
TRAIN, SOLVE, SCRATCH, UPDATE = "weak learner", "weights", "weights, from scratch", "weights, closed form"
QP = "weights, from scratch, the QP"  # is timed within SCRATCH, so it has no rows of its own
STEPS = {OURS: (TRAIN, SOLVE, SCRATCH), ADABOOST: (TRAIN, UPDATE)}
TOLERANCE = 0.1  # within which an exponent is the paper's
COLUMNS = (
    "step",
    "n_samples",
    "n_features",
    "depth",
    "rounds",
    "beta",
    "nu",
    "nodes",
    "active",
    "iterations",
    "round_seconds",
    "qp_seconds",
)


@dataclass(frozen=True)
class Sizes:
    """What one loop is run with."""

    n_samples: int
    n_features: int = 50
    depth: int = 3
    rounds: int = 32
    beta: float = 0.1
    nu: float = 1.0


@dataclass(frozen=True)
class Variable:
    """A size that is varied, the column that is its value in a picture, and the steps that are fitted."""

    size: str
    column: str
    steps: dict[str, tuple[str, ...]]  # by method


VARIABLES = {
    "m+n": Variable("n_samples", "n_samples", STEPS),
    "F": Variable("n_features", "n_features", {OURS: (TRAIN,), ADABOOST: (TRAIN,)}),
    "K": Variable("depth", "nodes", {OURS: (TRAIN,), ADABOOST: (TRAIN,)}),
    "t_max": Variable("rounds", "rounds", {OURS: (SOLVE, SCRATCH)}),
    "r": Variable("nu", "iterations", {OURS: (SOLVE, SCRATCH, QP)}),
    "beta": Variable("beta", "beta", {OURS: (TRAIN, SOLVE, SCRATCH)}),
}
LEFT_OUT = "the quadratic program, which the paper leaves out, grows faster than r"
COMMENTS = {  # by step, variable and verdict
    (TRAIN, "m+n", "below"): "a tree has a fixed cost: calls, and 256 bins to search in each column and node",
    (TRAIN, "F", "below"): "rounding and packing the weights and applying the tree take no notice of F",
    (TRAIN, "K", "below"): "a node costs what its rows cost, and the nodes of a level share the rows",
    (TRAIN, "beta", "above"): "samples out of reach of the range have no weight, and trees skip them",
    (SOLVE, "m+n", "below"): "a bound on the scores leaves out samples that cannot matter",
    (SOLVE, "t_max", "below"): "adding a learner takes no notice of t_max, and eight of them share a byte",
    (SOLVE, "r", "above"): LEFT_OUT,
    (SOLVE, "beta", "above"): "only the negatives in the range are ranked and enter a cut",
    (SCRATCH, "m+n", "below"): "an iteration has a fixed cost",
    (SCRATCH, "t_max", "below"): "eight learners share a byte, and log(m+n) stands beside t_max",
    (SCRATCH, "r", "above"): LEFT_OUT,
    (SCRATCH, "beta", "above"): "only the negatives in the range are ranked and enter a cut",
    (UPDATE, "m+n", "below"): "a round has a fixed cost",
}


@dataclass(frozen=True)
class Protocol:
    """What a scale stands for: repeats, loops a value and repeat, sizes that are not varied, and the ladders."""

    repeats: int
    calls: int
    base: Sizes
    ladders: dict[str, tuple] = field(default_factory=dict)


def doublings(first, n, factor=2):
    """Make a ladder of n values from the first.

    Examples
    --------
    >>> doublings(1000, 3)
    (1000, 2000, 4000)
    """
    return tuple(first * factor**k for k in range(n))


PROTOCOLS = {
    "smoke": Protocol(
        2,
        1,
        Sizes(2000, n_features=12, rounds=8),
        {
            "m+n": doublings(2000, 3),
            "F": doublings(12, 3),
            "K": (1, 2, 3),
            "t_max": doublings(8, 3),
            "r": doublings(1, 3, 10),
            "beta": (0.05, 0.1, 0.2),
        },
    ),
    "small": Protocol(
        3,
        1,
        Sizes(16_000),
        {
            "m+n": doublings(8000, 4),
            "F": doublings(16, 4),
            "K": (1, 2, 3, 4, 5, 6),
            "t_max": doublings(16, 4),
            "r": doublings(1, 4, 10),
            "beta": (0.02, 0.05, 0.1, 0.2, 0.5, 1.0),
        },
    ),
    "paper": Protocol(
        8,
        3,
        Sizes(32_000),
        {
            "m+n": doublings(32_000, 5),
            "F": doublings(16, 6),
            "K": (1, 2, 3, 4, 5, 6, 7, 8),
            "t_max": doublings(16, 6),
            "r": doublings(1, 7, 10**0.5),
            "beta": (0.02, 0.05, 0.1, 0.2, 0.5, 1.0),
        },
    ),
}


# ---------------------------------------------------------------------------------- computing


def plan(arguments):
    """List the tasks: variables x methods x repeats, each a whole ladder."""
    protocol = PROTOCOLS[arguments.scale]
    hashes = [short_hash(*sample(protocol.base, arguments.seed, repeat)) for repeat in range(protocol.repeats)]
    tasks = [
        make_task(name, method, repeat, hashes[repeat], arguments)
        for name, variable in VARIABLES.items()
        for method in variable.steps
        for repeat in range(protocol.repeats)
    ]
    return Plan([Sheet(NAME, COLUMNS, tasks)], protocol)


def make_task(name, method, repeat, data_hash, arguments):
    """Make the task of one ladder."""
    protocol = PROTOCOLS[arguments.scale]
    ladder = [replace(protocol.base, **{VARIABLES[name].size: value}) for value in protocol.ladders[name]]
    key = task_key("Gaussian", data_hash, method, name, repeat, arguments)
    work = partial(measure, method, ladder, arguments.seed, repeat, protocol.calls)
    return Task(key, len(ladder) * len(STEPS[method]), work)


def sample(sizes, seed, repeat):
    """Draw X and the number of positives, which come first."""
    (rng,) = random_streams(seed, repeat, 1)
    X = rng.normal(size=(sizes.n_samples, sizes.n_features)).astype(np.float32)
    m = round(SHARE * sizes.n_samples)
    X[:m, :N_SHIFTED] += SHIFT
    return X, m


def measure(method, ladder, seed, repeat, n_calls):
    """Run the loop for each value of a ladder in turn, `n_calls` times; one row a value and step, medians of times."""
    with Threads(1) as threads:
        loops = [prepare(sizes, *sample(sizes, seed, repeat), threads) for sizes in ladder]
        pairs = list(zip(loops, ladder, strict=True))
        calls = [[LOOPS[method](*loop, sizes) for loop, sizes in pairs] for _ in range(n_calls)]
    return [
        {"step": step} | asdict(sizes) | medians([call[k][step] for call in calls])
        for k, sizes in enumerate(ladder)
        for step in STEPS[method]
    ]


def prepare(sizes, X, m, threads):
    """Bin the features, once for all loops; return a trainer and the numbers of positives and negatives."""
    order = np.arange(len(X), dtype=np.int32)
    return Tree(depth=sizes.depth).make_trainer(X, order, MAX_BINS, threads, 0), m, len(X) - m


def medians(calls):
    """Take the median of times that were measured several times, and all else from the first call."""
    return {
        name: round(float(np.median([call[name] for call in calls])), 9) if name.endswith("_seconds") else value
        for name, value in calls[0].items()
    }


def paucens_loop(trainer, m, n, sizes):
    """Fit as `PAUCEnsClassifier(anneal=False)` does, stopping rule aside, then solve for all weights from scratch."""
    master = Master(m, n, sizes.nu, "tight", trainer.prediction_kind, sizes.rounds)
    rank_range = training_rank_range(n, (0.0, sizes.beta))
    rounds, outputs = [], []
    for t in range(sizes.rounds):
        signed_weights, qp_before = master.signed_weights(), master.qp_seconds
        start = thread_time()
        learner, answers = trainer.train(signed_weights, t)
        trained = thread_time()
        master.append(answers)
        iterations = master.solve(rank_range, CUT_TOLERANCE)
        solved = thread_time()
        outputs.append(answers)
        rounds.append(
            (
                split_nodes(learner),
                np.count_nonzero(signed_weights) / (m + n),
                iterations,
                trained - start,
                solved - trained,
                master.qp_seconds - qp_before,
            )
        )
    nodes, active, iterations, train, solve, qp = late_mean(rounds)
    return {
        TRAIN: row(nodes, active, 1, train, 0.0),
        SOLVE: row(nodes, active, iterations, solve, qp),
        SCRATCH: row(nodes, active, *solve_from_scratch(m, n, sizes, trainer.prediction_kind, outputs, rank_range)),
    }


def solve_from_scratch(m, n, sizes, prediction_kind, outputs, rank_range):
    """Algorithm 2 as printed, from an empty working set; return iterations, seconds, and those of the QP."""
    master = Master(m, n, sizes.nu, "tight", prediction_kind, sizes.rounds)
    for answers in outputs:
        master.append(answers)
    start = thread_time()
    iterations = master.solve(rank_range, CUT_TOLERANCE)
    return iterations, thread_time() - start, master.qp_seconds


def adaboost_loop(trainer, m, n, sizes):
    """Boost as `AdaBoostClassifier` does."""
    signed_weights = np.concatenate([np.full(m, 0.5 / m), np.full(n, -0.5 / n)])
    rounds = []
    for t in range(sizes.rounds):
        start = thread_time()
        learner, answers, edge = train_with_edge(trainer, signed_weights, t)
        trained = thread_time()
        coefficient = boosting_coefficient(edge)
        signed_weights = reweighted(signed_weights, m, answers, coefficient)
        rounds.append((split_nodes(learner), trained - start, thread_time() - trained))
    nodes, train, solve = late_mean(rounds)
    return {TRAIN: row(nodes, 1.0, 1, train, 0.0), UPDATE: row(nodes, 1.0, 1, solve, 0.0)}


LOOPS = {OURS: paucens_loop, ADABOOST: adaboost_loop}


def split_nodes(learner):
    """K: the nodes of a tree for which a split was sought and found."""
    return np.count_nonzero(learner.nodes_.child)


def late_mean(rounds):
    """Average the columns over the second half of the rounds."""
    return np.mean(rounds[len(rounds) // 2 :], axis=0)


def row(nodes, active, iterations, seconds, qp_seconds):
    """Name what was measured as the columns of the CSV do."""
    return {
        "nodes": round(float(nodes), 4),
        "active": round(float(active), 6),  # share of the samples whose weight is not 0
        "iterations": round(float(iterations), 4),
        "round_seconds": seconds,
        "qp_seconds": qp_seconds,
    }


# ---------------------------------------------------------------------------------- fitting


@dataclass(frozen=True)
class Fit:
    """A power law: its times by repeat, the exponent with its interval, that of the largest two values, the paper's."""

    variable: str
    method: str
    step: str
    times: pd.DataFrame  # columns repeat, x, seconds
    exponent: MeanInterval
    at_the_top: float
    paper: float | None  # None where the paper has no such entry

    @property
    def verdict(self):
        """Where the exponent lies: "as the paper" is an interval within `TOLERANCE`, "open" one too wide to tell."""
        if self.paper is None:
            return "not in it"
        low, high = self.exponent.low - self.paper, self.exponent.high - self.paper
        if low >= -TOLERANCE and high <= TOLERANCE:
            return "as the paper"
        return "below" if high < 0 else "above" if low > 0 else "open"


def fits(frame, printed):
    """Fit all that is to be fitted, in the order of `VARIABLES`."""
    return [
        fit(times_of(frame, name, method, step), name, method, step, printed)
        for name, variable in VARIABLES.items()
        for method, steps in variable.steps.items()
        for step in steps
    ]


def fit(times, name, method, step, printed):
    """Fit one power law."""
    repeats = [(np.log(rows.x.to_numpy()), np.log(rows.seconds.to_numpy())) for _, rows in times.groupby("repeat")]
    exponent = mean_interval([slope(x, y) for x, y in repeats])
    at_the_top = float(np.mean([slope(x[-2:], y[-2:]) for x, y in repeats]))
    paper = None if step == QP else printed[TRAIN if step == TRAIN else SOLVE][name]
    return Fit(name, method, step, times, exponent, at_the_top, paper)


def slope(x, y):
    """Slope of the straight line of least squares.

    Examples
    --------
    >>> slope(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0]))
    2.0
    """
    centred = x - x.mean()
    return float(centred @ y / (centred @ centred))


def times_of(frame, name, method, step):
    """Return the times of a step against a variable; of Algorithm 2 for one iteration, but against r for all."""
    rows = frame[(frame.setting == name) & (frame.method == method) & (frame.step == (SCRATCH if step == QP else step))]
    seconds = rows.qp_seconds if step == QP else rows.round_seconds
    divisor = 1.0 if name == "r" else rows.iterations
    return pd.DataFrame({"repeat": rows.repeat, "x": rows[VARIABLES[name].column], "seconds": seconds / divisor})


# ---------------------------------------------------------------------------------- table


def table(frames):
    """Write the exponents beside the paper's, and what a round costs."""
    frame, paper = frames[NAME], paper_says(NAME)
    first, n_repeats = frame.iloc[0], frame.repeat.nunique()
    blocks = [
        "# Table 1 on Gaussian features",
        f"{paper['caption']} (Sec. {paper['section']}). Scale {first.scale}: {n_repeats} repeats from seed "
        f"{first.seed}.",
        entries_block(paper["complexity"]),
        exponents_block(fits(frame, paper["exponents"])),
        round_block(frame),
        quadratic_text(frame),
        beta_text(frame),
    ]
    return "\n\n".join(blocks) + "\n"


def entries_block(printed):
    """Quote the paper's table."""
    body = [[step, entries[OURS], entries[ADABOOST]] for step, entries in printed.items()]
    return markdown(["the paper's entry", OURS, ADABOOST], body)


def exponents_block(fitted):
    """Set the paper's exponents and ours side by side."""
    body = [exponent_row(fit) for fit in fitted]
    header = [
        "step",
        "method",
        "against",
        "from",
        "to",
        "paper",
        "ours",
        "95 % interval",
        "at the top",
        "ours is",
        "because",
    ]
    text = (
        f'Exponents of the time, of "{SOLVE}" for one cutting-plane iteration, but against r for all of them. "From '
        'scratch" is Algorithm 2 as printed, from an empty working set. "At the top" is the slope between the two '
        f"largest values, where fixed costs weigh least. An interval within {TOLERANCE} of the paper's exponent counts "
        "as the paper's; one that is not, and holds it, is open. beta is not in its O(.), hence 0; above means that "
        "a smaller beta is cheaper."
    )
    return f"{text}\n\n{markdown(header, body)}"


def exponent_row(fit):
    """Write one row of the comparison."""
    ends = fit.times.groupby("x").x.first()
    return [
        fit.step,
        fit.method,
        fit.variable,
        size_text(ends.min()),
        size_text(ends.max()),
        NOTHING if fit.paper is None else f"{fit.paper:g}",
        f"{fit.exponent.mean:.2f}",
        interval_text(fit.exponent, ".2f"),
        f"{fit.at_the_top:.2f}",
        fit.verdict,
        COMMENTS.get((fit.step, fit.variable, fit.verdict), ""),
    ]


def size_text(value):
    """Write a size; one that is a mean over rounds in whole numbers.

    Examples
    --------
    >>> size_text(512000), size_text(164.125), size_text(0.02)
    ('512000', '164', '0.02')
    """
    return f"{value:.0f}" if value >= 10 else f"{value:g}"


def round_block(frame):
    """Give the times of a round at the largest m+n."""
    rows = frame[(frame.setting == "m+n") & (frame.n_samples == frame.n_samples.max())]
    body = []
    for (step, method), own in rows.groupby(["step", "method"], sort=False):
        qp = f"{own.qp_seconds.sum() / own.round_seconds.sum():.1%}" if own.qp_seconds.any() else ""
        body.append(
            [
                step,
                method,
                f"{1e3 * own.round_seconds.mean():.2f}",
                f"{own.iterations.mean():.1f}",
                qp,
                f"{own.active.mean():.0%}",
            ]
        )
    header = ["step", "method", "ms a round", "iterations", "of it the QP", "samples with weight"]
    first = rows.iloc[0]
    text = (
        f"A round at m+n = {first.n_samples}, F = {first.n_features}, {first.depth} levels of splits, t_max = "
        f"{first.rounds}, beta = {first.beta:g}, nu = {first.nu:g}."
    )
    return f"{text}\n\n{markdown(header, body)}"


def quadratic_text(frame):
    """Say what share the QP has, which the paper's entry leaves out."""
    rows = frame[(frame.setting == "r") & (frame.step == SCRATCH)]
    means = rows.groupby("nu")[["iterations", "qp_seconds", "round_seconds"]].mean()
    few, many = (
        f"{row.qp_seconds / row.round_seconds:.0%} of the time at r = {row.iterations:.0f}"
        for row in means.iloc[[0, -1]].itertuples()
    )
    return f"The paper's entry leaves out the quadratic program (ERRATA.md, E16): from scratch {few}, {many}."


def beta_text(frame):
    """Say what the samples without weight save."""
    rows = frame[(frame.setting == "beta") & (frame.step == TRAIN)].groupby("beta")[["active", "round_seconds"]].mean()
    ends = [
        f"{row.active:.0%} of the samples have weight and a weak learner takes {1e3 * row.round_seconds:.2f} ms"
        for row in rows.iloc[[0, -1]].itertuples()
    ]
    low, high = (f"{beta:g}" for beta in (rows.index[0], rows.index[-1]))
    return f"At beta = {low}, {ends[0]}; at {high}, {ends[1]}. The paper has one cost for both."


# ---------------------------------------------------------------------------------- picture


SERIES = {  # how a step of a method is called and drawn: colour, marker, its filling
    (OURS, TRAIN): (OURS, BLUE, "o", BLUE),
    (ADABOOST, TRAIN): (ADABOOST, VERMILION, "s", VERMILION),
    (OURS, SOLVE): (OURS, BLUE, "o", BLUE),
    (OURS, SCRATCH): ("from scratch", BLUE, "o", "white"),
    (OURS, QP): ("QP alone", DARK, "x", DARK),
    (ADABOOST, UPDATE): (ADABOOST, VERMILION, "s", VERMILION),
}
ROWS = {  # of the picture: what is drawn against what; the last panel is of all iterations of a round
    "training a weak learner; numbers are exponents of the time": ((TRAIN,), ("m+n", "F", "K", "beta")),
    "solving for the weights": ((SOLVE, SCRATCH, QP, UPDATE), ("m+n", "t_max", "beta", "r")),
}
UNITS = ("ms a round", "ms an iteration", "ms, all iterations")
LABELS = {
    "m+n": "samples, m+n",
    "F": "features, F",
    "K": "nodes of a tree, K",
    "t_max": "weak learners, $t_{max}$",
    "beta": "upper end of the range, β",
    "r": "iterations, r",
}
HEADROOM = 8  # for the legends, on a logarithmic axis


def picture(frames):
    """Draw times against each size, with the fitted exponents and the paper's."""
    fitted = fits(frames[NAME], paper_says(NAME)["exponents"])
    figure = new_figure(10, 5.6)
    panels = figure.subplots(2, 4)
    for (title, (steps, names)), line in zip(ROWS.items(), panels, strict=True):
        for name, axes in zip(names, line, strict=True):
            draw_panel(axes, [fit for fit in fitted if fit.variable == name and fit.step in steps])
            axes.set_xlabel(LABELS[name])
        line[0].set_title(title)
    share_heights(panels[0])
    share_heights(panels[1, :3])
    share_heights(panels[1, 3:])
    for axes, unit in zip((panels[0, 0], panels[1, 0], panels[1, 3]), UNITS, strict=True):
        axes.set_ylabel(unit)
    return figure


def draw_panel(axes, fitted):
    """Draw the power laws of one variable; the legend gives their exponents, the paper's last."""
    axes.set(xscale="log", yscale="log")
    for fit in fitted:
        name, colour, marker, filling = SERIES[fit.method, fit.step]
        x, y = mean_times(fit.times)
        draw_power_law(axes, x, y, fit.exponent.mean, colour, linewidth=1.2)
        axes.plot(
            x, y, marker, color=colour, markersize=4.5, markerfacecolor=filling, label=f"{name} {fit.exponent.mean:.2f}"
        )
    first = fitted[0]
    draw_power_law(
        axes,
        *mean_times(first.times),
        first.paper,
        GREY,
        linewidth=4,
        alpha=0.3,
        zorder=1,
        label=f"paper {first.paper:g}",
    )
    for axis in (axes.xaxis, axes.yaxis):
        axis.set(major_locator=LogLocator(subs=(1, 3)), major_formatter=short)
    axes.minorticks_off()
    axes.legend(loc="upper left", fontsize=8, handlelength=1.2, borderpad=0, labelspacing=0.3)


def mean_times(times):
    """Average values and times (in ms) over the repeats, in logarithms as they are fitted."""
    means = np.log(times[["x", "seconds"]]).groupby(times.groupby("repeat").cumcount()).mean()
    return np.exp(means.x.to_numpy()), 1e3 * np.exp(means.seconds.to_numpy())


def share_heights(panels):
    """Give panels one scale of times, with room for the legends above."""
    limits = np.array([axes.get_ylim() for axes in panels])
    for axes in panels:
        axes.set_ylim(limits[:, 0].min(), limits[:, 1].max() * HEADROOM)


def short(value, _):
    """Write the value of a tick.

    Examples
    --------
    >>> short(300_000, None), short(0.03, None)
    ('300k', '0.03')
    """
    return f"{value / 1000:g}k" if value >= 1000 else f"{value:g}"


SCRIPT = Script(NAME, __doc__, (NAME,), plan, table, picture)

if __name__ == "__main__":
    sys.exit(main(SCRIPT))
