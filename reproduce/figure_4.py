"""Figure 4: decision regions of ten stumps on the toy set, and partial AUC on [0, 0.2].

Claim (Sec. 4.2). Trained for the partial AUC, ten horizontal and vertical stumps rank positives above the
hardest negatives better than those of AdaBoost and of two cost-sensitive boosters; AdaBoost's are worst.

Protocol. Positives with a uniform radius in [0, 1.5], negatives with a normal one (mean 2, standard deviation
0.4). 200 + 200 points to train on, 200 + 200 to choose the parameter on by partial AUC, 2000 + 2000 to test.
Ten stumps a method, split by classification error. AdaBoost has no parameter. CS-AdaBoost: k = C1 / C2 from {0.5, 0.6,
..., 2.5} with C1 + C2 = 2; AsymBoost: k from {2^-1, 2^-0.8, ..., 2^2}.

Where we depart, and why.
- The paper shows one draw of the points; we have 50, since one decides nothing.
- The paper's grid of nu, 10^-5 to 10^-3, belongs to another scaling of the objective: with ours no hinge
  reaches its margin there, and one nu is as good as another (ERRATA.md, E14). nu is chosen from that grid and
  from 10^-2 to 10^3 in half decades together; the choice from the paper's grid alone is a setting of its own.
  Ties go to the smallest nu.
- Below nu = 1 the tolerances shrink with nu. They are relative to the objective, of which fitting can gain a
  share of the order of nu only; with the default ones it would stop at weights of 0 from the outset.
- The paper does not say on which points its threshold has a false positive rate of 0.2. Ours is set on the
  test points, those of the pAUC in the title. Ten stumps give few distinct scores, so the rate falls short.
- CS-AdaBoost seeks the coefficient that the source seeks, but for the stump of largest edge only.

The picture shows the regions and the training points of the first draw, and the pAUC of all draws.

    python reproduce/figure_4.py --scale paper

About 40 seconds on 2 cores, --scale small about 10 seconds (both measured).
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from paucens import AdaBoostClassifier, AsymBoostClassifier, CSAdaBoostClassifier, PAUCEnsClassifier, Stump
from paucens.datasets import load_toy
from paucens.metrics import partial_auc, threshold_at_fpr
from paucens.plotting import draw_paired_dots, draw_points, draw_regions, method_style, new_figure
from reproduce._run import Plan, Script, candidates_may_stall, main, random_streams, short_hash
from reproduce._store import Sheet, Task, task_key
from reproduce._tables import choices_text, interval_text, markdown, mean_interval, mean_sd, paper_says, yes_no

FPR_RANGE = (0.0, 0.2)
N_STUMPS = 10
N_TRAIN, N_TEST = 200, 2000  # of each class; as many to validate as to train
PAPER_GRID = tuple(float(f"{10 ** (k / 5):.4g}") for k in range(-25, -14))  # 10^-5, 10^-4.8, ..., 10^-3
WIDE_GRID = tuple(float(f"{10 ** (k / 2):.4g}") for k in range(-4, 7))  # 10^-2, 10^-1.5, ..., 10^3
COST_RATIOS = tuple(k / 10 for k in range(5, 26))  # 0.5, 0.6, ..., 2.5
ASYMMETRIES = tuple(float(f"{2 ** (k / 5):.4g}") for k in range(-5, 11))  # 2^-1, 2^-0.8, ..., 2^2
NAME = "figure_4"
OURS = "pAUCEnsT"
STUMPS, POINTS = f"{NAME}_stumps", f"{NAME}_points"
COLUMNS = ("parameter", "validation_pauc", "pauc", "fpr", "tpr", "choose_seconds", "fit_seconds")
STUMP_COLUMNS = ("round", "feature", "threshold", "below", "above", "weight", "cut")
POINT_COLUMNS = ("x", "y", "label")
EXTENT = 3.4  # of the picture to each side; a negative in 2000 lies outside


@dataclass(frozen=True)
class Protocol:
    """What a scale stands for."""

    repeats: int


PROTOCOLS = {"smoke": Protocol(2), "small": Protocol(5), "paper": Protocol(50)}


@dataclass(frozen=True)
class Method:
    """How to build a method from its parameter, and by setting what that is chosen from, main one first."""

    build: Callable
    grids: dict[str, tuple] = field(default_factory=lambda: {"10 stumps": (None,)})

    @property
    def setting(self):
        """The setting that is shown beside those of other methods."""
        return next(iter(self.grids))


def build_adaboost(_):
    """AdaBoost as the paper has it."""
    return AdaBoostClassifier(learner=Stump(), n_estimators=N_STUMPS, n_jobs=1)


def build_cost_sensitive(k):
    """CS-AdaBoost with costs of ratio k and mean 1."""
    costs = (2 * k / (1 + k), 2 / (1 + k))
    return CSAdaBoostClassifier(*costs, learner=Stump(), n_estimators=N_STUMPS, n_jobs=1)


def build_asymboost(k):
    """AsymBoost with asymmetry k."""
    return AsymBoostClassifier(k, learner=Stump(), n_estimators=N_STUMPS, n_jobs=1)


def build_paucens(nu):
    """The published method, spelt out, with tolerances in units of what a small nu leaves to gain."""
    share = min(1.0, nu)
    return PAUCEnsClassifier(
        FPR_RANGE,
        learner=Stump(),
        n_estimators=N_STUMPS,
        nu=nu,
        anneal=False,
        cut_tolerance=1e-2 * share,
        edge_tolerance=1e-4 * share,
        n_jobs=1,
    )


METHODS = {  # in the order of the picture; the last is the paper's method
    "AdaBoost": Method(build_adaboost),
    "CS-AdaBoost": Method(build_cost_sensitive, {"10 stumps; k from the paper's grid": COST_RATIOS}),
    "AsymBoost": Method(build_asymboost, {"10 stumps; k from the paper's grid": ASYMMETRIES}),
    "pAUCEnsT": Method(
        build_paucens,
        {"10 stumps; nu from both grids": PAPER_GRID + WIDE_GRID, "10 stumps; nu from the paper's grid": PAPER_GRID},
    ),
}


class Draw(NamedTuple):
    """The points of a repeat, each part as (X, y)."""

    train: tuple[np.ndarray, np.ndarray]
    validation: tuple[np.ndarray, np.ndarray]
    test: tuple[np.ndarray, np.ndarray]


# ---------------------------------------------------------------------------------- computing


def plan(arguments):
    """List the tasks: methods x settings x repeats; of repeat 0 also the stumps and the training points."""
    protocol = PROTOCOLS[arguments.scale]
    draws = [sample_points(arguments.seed, repeat) for repeat in range(protocol.repeats)]
    hashes = [short_hash(*(array for part in draw for array in part)) for draw in draws]

    def task(method, setting, repeat, n_rows, work, *given):
        key = task_key("toy", hashes[repeat], method, setting, repeat, arguments)
        return Task(key, n_rows, partial(work, draws[repeat], *given))

    results = [
        task(name, setting, repeat, 1, measure, method.build, grid)
        for name, method in METHODS.items()
        for setting, grid in method.grids.items()
        for repeat in range(protocol.repeats)
    ]
    stumps = [
        task(name, method.setting, 0, N_STUMPS, stumps_of, method.build, method.grids[method.setting])
        for name, method in METHODS.items()
    ]
    points = [task("", "training points", 0, 2 * N_TRAIN, training_points)]
    contents = {NAME: (COLUMNS, results), STUMPS: (STUMP_COLUMNS, stumps), POINTS: (POINT_COLUMNS, points)}
    return Plan([Sheet(name, *content) for name, content in contents.items()], protocol)


def sample_points(seed, repeat):
    """Draw the points of a repeat, each part from a stream of its own."""
    streams = random_streams(seed, repeat, 3)
    sizes = (N_TRAIN, N_TRAIN, N_TEST)
    return Draw(*(load_toy(n, n, random_state=rng) for n, rng in zip(sizes, streams, strict=True)))


def measure(draw, build, grid):
    """Choose the parameter, test the model; one row."""
    model, chosen = fit_chosen(draw, build, grid)
    X, y = draw.test
    scores = model.decision_function(X)
    above = scores > threshold_at_fpr(y, scores, FPR_RANGE[1])
    fpr, tpr = (round(float(np.mean(above[y == label])), 6) for label in (0, 1))
    return [chosen | {"pauc": round(partial_auc(y, scores, FPR_RANGE), 6), "fpr": fpr, "tpr": tpr}]


def fit_chosen(draw, build, grid):
    """Fit all candidates and keep the one best on the validation points, the first of equals.

    Returns
    -------
    model : fitted estimator
    chosen : dict
        Its columns of the CSV; `fit_seconds` is the mean over the candidates.
    """
    start = perf_counter()
    with candidates_may_stall():
        models = [build(parameter).fit(*draw.train) for parameter in grid]
    fitted = perf_counter()
    X, y = draw.validation
    paucs = [partial_auc(y, model.decision_function(X), FPR_RANGE) for model in models]
    best = int(np.argmax(paucs))
    return models[best], {
        "parameter": "" if grid[best] is None else grid[best],
        "validation_pauc": round(paucs[best], 6),
        "fit_seconds": round((fitted - start) / len(grid), 4),
        "choose_seconds": round(perf_counter() - start, 3),
    }


def stumps_of(draw, build, grid):
    """Describe the chosen model by its stumps and the cut of false positive rate 0.2, one row a stump.

    Weights sum to 1 in magnitude. A fit that stopped early is filled up with stumps of weight 0.
    """
    model, _ = fit_chosen(draw, build, grid)
    X, y = draw.test
    total = np.abs(model.weights_).sum() or 1.0
    cut = cut_between(y, (model.decision_function(X) + model.threshold_) / total, FPR_RANGE[1])
    rows = [
        stump_of(learner) | {"round": t + 1, "weight": float(weight / total), "cut": cut}
        for t, (learner, weight) in enumerate(zip(model.learners_, model.weights_, strict=True))
    ]
    idle = stump_of(model.learners_[0]) | {"weight": 0.0, "cut": cut}
    return rows + [idle | {"round": t + 1} for t in range(len(rows), N_STUMPS)]


def stump_of(learner):
    """Describe a fitted stump: up to `threshold` of `feature` it answers `below`, beyond it `above`."""
    nodes = learner.nodes_
    child = int(nodes.child[0])  # 0 where the stump did not split
    return {
        "feature": int(nodes.column[0]) if child else 0,
        "threshold": float(nodes.threshold[0]) if child else 0.0,
        "below": float(nodes.value[child]),
        "above": float(nodes.value[child + 1 if child else 0]),
    }


def cut_between(y, scores, fpr):
    """Return a threshold of at most the given false positive rate, halfway to the next higher score."""
    threshold = threshold_at_fpr(y, scores, fpr)
    above = scores[scores > threshold + 1e-9]  # rounding apart, the score of the same cell
    return float((threshold + above.min()) / 2) if len(above) else float(threshold)


def training_points(draw):
    """List the training points, one row each."""
    X, y = draw.train
    return [
        {"x": round(float(point[0]), 4), "y": round(float(point[1]), 4), "label": int(label)}
        for point, label in zip(X, y, strict=True)
    ]


# ---------------------------------------------------------------------------------- table


def table(frames):
    """Write all settings, the paper's claim, and paired differences to our method."""
    frame, paper = frames[NAME], paper_says(NAME)
    first, n_draws = frame.iloc[0], frame.repeat.nunique()
    blocks = [
        "# Figure 4 on toy",
        f"{paper['caption']} (Sec. {paper['section']}). Scale {first.scale}: {n_draws} draws from seed "
        f"{first.seed}, where the paper has one; mean (standard deviation) over the draws, on 2000 + 2000 "
        "test points.",
        settings_block(frame),
        ranking_text(frame, paper),
        paired_block(frame),
    ]
    return "\n\n".join(blocks) + "\n"


def settings_block(frame):
    """List all settings with what was chosen."""
    body = []
    for (method, setting), rows in frame.groupby(["method", "setting"], sort=False):
        chosen = rows.parameter.dropna()
        choices = choices_text(chosen) if len(chosen) else ""
        body.append([method, setting, mean_sd(rows.pauc), mean_sd(rows.tpr), choices])
    return markdown(["method", "setting", "pAUC", "TPR at FPR ≤ 0.2", "chosen (draws)"], body)


def ranking_text(frame, paper):
    """Say whether the methods that the paper calls best and worst are so here."""
    means = main_rows(frame).groupby("method").pauc.mean()
    best, worst = (yes_no(means.idxmax() == paper["best"]), yes_no(means.idxmin() == paper["worst"]))
    return (
        f"The paper prints the scores only inside its picture. It calls {paper['best']} best (here: {best}) "
        f"and {paper['worst']} worst (here: {worst})."
    )


def main_rows(frame):
    """Keep the main setting of each method."""
    wanted = {name: method.setting for name, method in METHODS.items()}
    return frame[frame.setting == frame.method.map(wanted)]


def paired_block(frame):
    """Compare each setting of the paper's method with every other method, draw by draw."""
    others = main_rows(frame[frame.method != OURS])
    body = [
        paired_row(setting, own.set_index("repeat").pauc, method, rows.set_index("repeat").pauc)
        for setting, own in frame[frame.method == OURS].groupby("setting", sort=False)
        for method, rows in others.groupby("method", sort=False)
    ]
    text = "Paired differences; draws are independent, so the interval is the ordinary t interval."
    return f"{text}\n\n{markdown(['difference', 'setting', 'mean', '95 % interval', 'draws above'], body)}"


def paired_row(setting, own, method, other):
    """Compare two methods over the draws."""
    difference = own - other
    interval = mean_interval(difference)
    above = f"{(difference > 0).sum()} of {len(difference)}"
    return [f"{OURS} − {method}", setting, f"{interval.mean:+.3f}", interval_text(interval), above]


# ---------------------------------------------------------------------------------- picture


def picture(frames):
    """Draw the decision regions of the first draw side by side, and the scores over all draws."""
    frame = main_rows(frames[NAME])
    first = frame[frame.repeat == 0]
    figure = new_figure(2.3 * (len(first) + 1), 2.9)
    *panels, distribution = figure.subplots(1, len(first) + 1)
    for result, axes in zip(first.itertuples(), panels, strict=True):
        colour, _ = method_style(result.method)
        stumps = frames[STUMPS]
        draw_decision(axes, stumps[stumps.method == result.method], frames[POINTS], colour)
        axes.set_title(f"{result.method}: pAUC {result.pauc:.3f}", color=colour, fontweight="bold")
        axes.set_xlabel(f"inside: {result.tpr:.0%} of ○, {result.fpr:.0%} of ×")
    draw_paired_dots(distribution, frame, "pauc")
    distribution.set_title(f"pAUC on [0, 0.2], {frame.repeat.nunique()} draws")
    distribution.set_box_aspect(1)
    distribution.locator_params(axis="y", nbins=5)
    return figure


def draw_decision(axes, stumps, points, colour):
    """Draw the region called positive, exactly: the score is constant on the cells between the stumps."""
    edges = [cell_edges(stumps[stumps.feature == feature].threshold) for feature in (0, 1)]
    centres = np.meshgrid(*((borders[1:] + borders[:-1]) / 2 for borders in edges))
    draw_regions(axes, *edges, stump_scores(stumps, centres) > stumps.cut.iloc[0], colour)
    draw_points(axes, points)
    axes.set(aspect="equal", xticks=[-2, 0, 2], yticks=[-2, 0, 2])
    axes.grid(False)


def stump_scores(stumps, features):
    """Score points, given as one array a feature, by the weighted stumps of the CSV."""
    return sum(
        stump.weight * np.where(features[stump.feature] <= stump.threshold, stump.below, stump.above)
        for stump in stumps.itertuples()
    )


def cell_edges(thresholds):
    """Return the borders of the cells along one axis, from one limit of the picture to the other."""
    inner = np.unique(thresholds)
    return np.concatenate([[-EXTENT], inner[np.abs(inner) < EXTENT], [EXTENT]])


SCRIPT = Script(NAME, __doc__, (NAME, STUMPS, POINTS), plan, table, picture)

if __name__ == "__main__":
    sys.exit(main(SCRIPT))
