"""Beyond the paper, 3: compact models. Who detects most at few false alarms, if only few small trees are allowed?

Question (ours, no table of the paper). An ensemble of many trees may order all samples well, whatever it is trained
for. One of few trees has to choose what it is good at. How much does training for [0, 0.01] buy with 5 to 100 trees of
2, 4 or 8 leaves?

Protocol. All ensembles have trees of at most 2^depth leaves on at most depth levels, and scores after 5, 10, 20, 50 and
100 trees are those of one fit. Ours is `PAUCEnsClassifier` with real leaves and a mixture of ranges. Peers are
AdaBoost, LightGBM, XGBoost and scikit-learn's histogram boosting. What the slice buys is seen from ours trained for
[0, 1], what the objective buys from the published one (sign leaves, the risk in [0, beta] alone). LightGBM with the
loss of top pairs (`boosters.TopPairs`) is another way to train for the slice, and no peer here. Logistic regression of
standardised features has no trees; it is a line to compare with. Measures are partial AUC on [0, 0.01] and on
[0, 0.001], each if at least 20 test negatives are in it, and the detection rate at a false positive rate of 0.01
(strict). Train on one half, score the other; 10 repeats. Each method chooses one of six configurations by the mean
partial AUC of three folds of the first training half, for each set, depth, number of trees and range. All that were
tried are in `beyond_3_tuning.csv`. Every fit uses one thread. Intervals are of paired differences over the repeats and
allow for the overlap of the halves (Nadeau and Bengio 2003).

Where we depart, and why.
- Halves and folds are those of beyond_1.py: configurations are chosen on samples that later repeats test on, the same
  for all methods. Choosing in every repeat would cost five times as much.
- Pairs of one complex of `yeast_pairs` are never in both parts or in two folds. Complexes with more than 5 % of the
  positives are always tested. A quarter of the set is trained on: half would hold nearly all other complexes each time.
- The best peer is named by its mean on the test parts, which favours it over ours.
- Detection rates are those of the configurations that partial AUC on [0, 0.01] chose.
- Lists of configurations come from first trials on one draw of each population of defaults.py, on which neither a part
  of the rows per tree (`row_fraction`) nor a wider range (`train_range`) gained.
- Sets that are not on the disk are left out; a library that is not installed is named.

    python reproduce/beyond_3.py --scale paper

The fits took 133 minutes together, 110 of them on hiv_ecfp4 and yeast_pairs. `fit_seconds` is wall time beside other
work; some fits of hiv_ecfp4 while tuning were paused for minutes.
"""

import itertools
import sys
import warnings
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter

import beyond_1
import numpy as np
import pandas as pd
from beyond_1 import NEEDS, TOP_PAIRS, listed

import boosters
from harness import MissingData, Run, exit_code
from paucens.metrics import mean_interval, partial_auc, tpr_at_fpr
from paucens.plotting import BLUE, DARK, GREEN, GREY, ORANGE, PURPLE, VERMILION, house_style, new_figure
from report import differences, interval_text, markdown, mean_sd, yes_no
from splits import group_folds, group_split, streams

DATA_SETS = ("mammography", "htru2", "sylva", "hiv_ecfp4", "usps", "yeast_pairs")
BETAS = (0.01, 0.001)  # of the ranges [0, beta]
LEAST = 20  # test negatives that a range must hold
GROUPED_SHARE = 0.25  # of the samples to train on, if positives come in groups; half of them otherwise
DRAWN_DEPTH = 2  # of the trees in the picture
OURS, WHOLE, PUBLISHED, LOGISTIC = "pAUCEnsT", "pAUCEnsT on [0, 1]", "as published", "logistic regression"

SLICE = listed("nu leaf_ridge binning", "3 20, 10 20, 30 20, 100 20, 3 1, 10 20 tails")
SIGN_LEAVES = listed("nu", "0.1, 0.3, 1, 3, 10, 30")
ADABOOST = listed("leaves shrinkage leaf_ridge", "sign 1, sign 0.5, sign 0.2, real 1, real 0.5, real 1 20")
GRADIENT = listed("rate ridge columns", "0.1 0, 0.3 3, 0.3 10, 0.5 3, 1 10, 0.3 3 2/3")
STRENGTHS = listed("C", "0.0001, 0.001, 0.01, 0.1, 1, 10")
SHARES = ["0.1", "beta"] * 3  # of the negatives that count as highest
PAIRS = [f"{own}, share={share}" for own, share in zip(GRADIENT, SHARES, strict=True)]
METHODS = {  # how to make it from a seed, a size and perhaps beta; what it is tuned over; its looks
    OURS: (boosters.make_paucens, SLICE, (BLUE, "-")),
    WHOLE: (partial(boosters.make_paucens, beta=1.0), SLICE, (BLUE, "--")),
    PUBLISHED: (partial(boosters.make_paucens, leaves="sign", mixture=None), SIGN_LEAVES, (BLUE, ":")),
    "AdaBoost": (boosters.make_adaboost, ADABOOST, (VERMILION, "-")),
    "LightGBM": (boosters.make_lightgbm, GRADIENT, (ORANGE, "-")),
    "XGBoost": (boosters.make_xgboost, GRADIENT, (GREEN, "-")),
    "scikit-learn HGB": (boosters.make_histogram_boosting, GRADIENT, (PURPLE, "-")),
    TOP_PAIRS: (boosters.make_top_pairs, PAIRS, (ORANGE, "--")),
    LOGISTIC: (boosters.make_logistic_regression, STRENGTHS, (GREY, "-.")),
}
RANGED = {OURS, PUBLISHED, TOP_PAIRS}  # training looks at the range; otherwise one fit serves all ranges
PEERS = ("AdaBoost", "LightGBM", "XGBoost", "scikit-learn HGB")
OTHERS = (WHOLE, PUBLISHED, TOP_PAIRS)  # no peers: what the slice buys, what the objective buys, another objective


@dataclass(frozen=True)
class Protocol:
    """What a scale means."""

    data_sets: int
    repeats: int
    configurations: int
    folds: int
    depths: tuple
    trees: tuple
    peers: dict = field(default_factory=lambda: beyond_1.PEERS)


PROTOCOLS = {
    "smoke": Protocol(1, 1, 2, 2, (2,), (2, 4)),
    "small": Protocol(2, 2, 2, 3, (2,), (5, 10, 20, 50, 100)),
    "paper": Protocol(6, 10, 6, 3, (1, 2, 3), (5, 10, 20, 50, 100)),
}


def split(run, bunch, repeat):
    """Draw the parts of a repeat, as sorted indices, and a fold for each training sample; groups stay together."""
    y, groups = bunch.target, bunch.get("groups")
    if groups is None:
        return beyond_1.split(run, y, repeat)
    parts, folds = streams(run.seed, repeat, 2)
    train, test = group_split(y, groups, GROUPED_SHARE, parts)
    return train, test, group_folds(y[train], groups[train], run.protocol.folds, folds)


def ranges(y):
    """Return the betas of the ranges that hold enough negatives of half the samples."""
    return [beta for beta in BETAS if beta * (np.count_nonzero(y == 0) // 2) >= LEAST]


def fit_and_score(case, bunch, train, test, wanted, seed):
    """Yield a row per range and number of trees; `wanted` has the numbers of trees of each range."""
    make, own, model = METHODS[case["method"]][0], boosters.parameters(case["configuration"]), None
    if case["depth"]:
        own |= {"depth": case["depth"], "trees": max(itertools.chain(*wanted.values()))}
    X, X_test = (bunch.data[part].astype(np.float32) for part in (train, test))  # the sets hold no finer values
    y = bunch.target[test]
    for beta, numbers in wanted.items():
        if model is None or case["method"] in RANGED:
            start, to_look_at = perf_counter(), {"beta": beta} if case["method"] in RANGED else {}
            with warnings.catch_warnings(action="ignore", category=UserWarning):  # weights of 0: one candidate of many
                model = make(seed, **own, **to_look_at).fit(X, bunch.target[train])
            seconds = round(perf_counter() - start, 3)
        for n in numbers:
            scores = boosters.scores_after(model, X_test, n)
            pauc, tpr = partial_auc(y, scores, (0.0, beta)), tpr_at_fpr(y, scores, beta)
            row = {"beta": beta, "trees": n, "pauc": round(pauc, 6), "tpr": round(tpr, 6)}
            yield row | {"distinct": len(np.unique(scores)), "fit_seconds": seconds}


def try_out(run, case):
    """Score each fold of the first training half by a model of the others; rows are means over the folds."""
    bunch = run.load(case["data_set"])
    train, _, folds = split(run, bunch, 0)
    wanted = dict.fromkeys(ranges(bunch.target), run.protocol.trees if case["depth"] else (0,))
    found = [
        row
        for fold in range(run.protocol.folds)
        for row in fit_and_score(case, bunch, train[folds != fold], train[folds == fold], wanted, fold)
    ]
    means = pd.DataFrame(found).groupby(["beta", "trees"], sort=False)[["pauc", "fit_seconds"]].mean().round(6)
    return means.reset_index().to_dict("records")


def measure(run, case):
    """Fit on one half and score the other."""
    bunch, wanted = run.load(case["data_set"]), {}
    for beta, n in (cell.split("/") for cell in case["chosen_for"].split()):
        wanted.setdefault(float(beta), []).append(int(n))
    train, test, _ = split(run, bunch, case["repeat"])
    sizes = {"n_train": len(train), "n_test": len(test)}
    return [sizes | row for row in fit_and_score(case, bunch, train, test, wanted, case["repeat"])]


def chosen(run, tried):
    """Yield the cases: each configuration with the ranges and numbers of trees for which its mean is the largest."""
    best = tried.loc[tried.groupby(["data_set", "method", "depth", "beta", "trees"], sort=False).pauc.idxmax()]
    names = ["data_set", "method", "depth", "configuration"]
    for key, own in best.groupby(names, sort=False):
        chosen_for = " ".join(f"{row.beta}/{row.trees}" for row in own.itertuples())
        for repeat in range(run.protocol.repeats):
            yield dict(zip(names, key, strict=True), chosen_for=chosen_for, repeat=repeat)


def cells(rows):
    """Yield the set, depth and number of trees of each cell with its rows; logistic regression is in all of a set."""
    for name, of_set in rows.groupby("data_set", sort=False):
        for (depth, n), own in of_set[of_set.depth > 0].groupby(["depth", "trees"]):
            yield (name, depth, n), pd.concat([own, of_set[of_set.depth == 0]])


def compared(rows, value):
    """Compare ours with the best peer in each cell of one range: a DataFrame with a row per cell."""
    lines = []
    for (name, depth, n), own in cells(rows):
        means = own.groupby("method", sort=False)[value].mean()
        rival = means[means.index.isin(PEERS)].idxmax()
        gap = differences(own, OURS, value=value)[rival]
        interval = mean_interval(gap, own.n_test.iloc[0] / own.n_train.iloc[0])
        line = {"data_set": name, "depth": depth, "trees": n, "ours": means[OURS], "peer": rival}
        line |= {"theirs": means[rival], "logistic": means[LOGISTIC], "ahead": f"{(gap > 0).sum()} of {len(gap)}"}
        lines.append(line | interval._asdict())
    return pd.DataFrame(lines)


def counts(frame, title):
    """Count, for each depth and number of trees, the sets on which ours is above every peer's mean."""
    for depth, own in frame.groupby("depth", sort=False):
        line = [title, depth]
        for _, cell in own.groupby("trees"):
            above, below = (cell.low > 0).sum(), (cell.high < 0).sum()
            line.append(f"{(cell['mean'] > 0).sum()} of {len(cell)} (+{above}, −{below})")
        yield line


def details(frame):
    """List every cell."""
    lines = []
    for row in frame.itertuples():
        about = [row.data_set, row.depth, row.trees, f"{row.ours:.3f}", row.peer, f"{row.theirs:.3f}"]
        about += [f"{row.mean:+.3f}", interval_text(row.low, row.high), row.ahead, yes_no(row.mean > 0)]
        lines.append([*about, f"{row.logistic:.3f}"])
    columns = ["set", "depth", "trees", "ours", "best peer", "its mean", "difference", "95 % interval"]
    return markdown(lines, [*columns, "repeats above", "above every peer", LOGISTIC])


def table(rows):
    """Count the sets on which ours is above its peers; list the numbers, what the slice buys, and constant scores."""
    first, counted, blocks = rows.iloc[0], [], []
    measures = {
        "Partial AUC on [0, 0.01]": (0.01, "pauc"),
        "Detection rate at a false positive rate of 0.01": (0.01, "tpr"),
        "Partial AUC on [0, 0.001]": (0.001, "pauc"),
    }
    for title, (beta, value) in measures.items():
        if beta in set(rows.beta):
            frame = compared(rows[rows.beta == beta], value)
            counted += counts(frame, title.lower().replace("auc", "AUC"))
            blocks += [f"## {title}", details(frame)]
    drawn = rows[(rows.beta == BETAS[0]) & rows.depth.isin((0, DRAWN_DEPTH))]
    missing = [f"{name} is not installed." for name in METHODS if name not in set(rows.method)]
    blocks = [
        "# Compact models: the best detection rate with few trees",
        f"Test parts of {rows.repeat.nunique()} random splits from seed {first.seed}, scale {first.scale}. Trees have "
        "at most 2^depth leaves. All methods are tuned alike, on the first training part. Peers are "
        f"{', '.join(PEERS)}. {' '.join(missing)}".strip(),
        "Sets on which the mean of ours is above that of every peer; in brackets, on how many sets the 95 % interval "
        "of the difference to the best peer is above 0 (+) and below 0 (−). Differences are paired; their intervals "
        "allow for the overlap of the parts.",
        markdown(counted, ["measure", "depth", *(f"{n} trees" for n in sorted(set(rows.trees[rows.depth > 0])))]),
        *blocks,
        "## What the slice buys, and what the objective buys",
        f"Partial AUC on [0, {BETAS[0]:g}], depth {DRAWN_DEPTH}: ours minus ours trained for [0, 1], minus the "
        "published objective, and minus LightGBM with the loss of top pairs, with 95 % intervals.",
        gains(drawn),
        f"All methods, partial AUC on [0, {BETAS[0]:g}], depth {DRAWN_DEPTH}: mean (standard deviation).",
        all_means(drawn),
        "Models that give every test sample the same score, over all sets, depths, numbers of trees and repeats.",
        constant_scores(rows),
    ]
    return "\n\n".join(blocks) + "\n"


def gains(rows):
    """List ours minus the methods that are no peers."""
    lines, others = [], [name for name in OTHERS if name in set(rows.method)]
    for (name, _, n), own in cells(rows):
        gaps, overlap = differences(own, OURS)[others], own.n_test.iloc[0] / own.n_train.iloc[0]
        intervals = [mean_interval(gaps[other], overlap) for other in others]
        lines.append([name, n, *(f"{one.mean:+.3f} ({interval_text(one.low, one.high)})" for one in intervals)])
    return markdown(lines, ["set", "trees", *(f"{OURS} − {other}" for other in others)])


def all_means(rows):
    """List the means of all methods."""
    wide = rows.groupby(["data_set", "method", "trees"], sort=False).pauc.agg(mean_sd).unstack().sort_index(axis=1)
    names = ["no trees" if n == 0 else f"{n} trees" for n in wide]
    return markdown(wide.reset_index().values, ["set", "method", *names])


def constant_scores(rows):
    """Count the models whose scores are constant."""
    lines = [[name, f"{(own == 1).sum()} of {len(own)}"] for name, own in rows.groupby("method", sort=False).distinct]
    return markdown(lines, ["method", "constant"])


@house_style()
def picture(rows):
    """Draw partial AUC against the number of trees, a panel per set."""
    rows = rows[(rows.beta == BETAS[0]) & rows.depth.isin((0, DRAWN_DEPTH))]
    names, handles = rows.data_set.unique(), {}
    n_columns = min(3, len(names))
    n_rows = -(-len(names) // n_columns)
    figure = new_figure(2.1 + 2.5 * n_columns, 0.6 + 2.5 * n_rows)
    panels = figure.subplots(n_rows, n_columns, squeeze=False).flat
    for axes, name in zip(panels, names, strict=False):
        handles |= draw_panel(axes, rows[rows.data_set == name])
        axes.set_title(name)
    for axes in panels[len(names) :]:
        axes.set_visible(False)
    figure.supylabel(f"partial AUC on [0, {BETAS[0]:g}]", color=DARK, fontsize=9)
    figure.supxlabel(f"trees of at most {2**DRAWN_DEPTH} leaves", color=DARK, fontsize=9)
    note = "dot: above every peer\nband: 95 % interval of the\ndifference to the best peer"
    order = [name for name in METHODS if name in handles]
    look = {"loc": "outside right center", "title": note, "alignment": "left", "title_fontproperties": {"size": 8}}
    figure.legend([handles[name] for name in order], order, **look).get_title().set_color(BLUE)
    return figure


def draw_panel(axes, rows):
    """Draw a line per method and return them by name; ours has a band, and dots where it is above every peer's mean.

    The band is as wide as the interval of the difference to the best peer, whose line is outside if that excludes 0.
    """
    lines = {}
    for method, own in rows.groupby("method", sort=False):
        (colour, dashes), means = METHODS[method][2], own.groupby("trees").pauc.mean()
        style = {"color": colour, "linestyle": dashes, "linewidth": 2.6 if method == OURS else 1.2}
        if method == LOGISTIC:
            lines[method] = axes.axhline(means.iloc[0], **style)
        else:
            (lines[method],) = axes.plot(means.index, means, zorder=3 if method == OURS else 2, **style)
    low, high = axes.get_ylim()
    frame = compared(rows, "pauc")
    half = frame.high - frame["mean"]
    axes.fill_between(frame.trees, frame.ours - half, frame.ours + half, color=BLUE, alpha=0.13, linewidth=0)
    above = frame[frame["mean"] > 0]
    axes.plot(above.trees, above.ours, "o", color=BLUE, markersize=7, markeredgecolor="white", zorder=4)
    axes.set(xscale="log", ylim=(low, high))
    axes.set_xticks(frame.trees, list(map(str, frame.trees)))
    axes.minorticks_off()
    return lines


def main(argv=None):
    """Choose configurations once for each cell, then measure every repeat."""
    run = Run.of(__file__, __doc__, PROTOCOLS, argv)
    found = run.data(*DATA_SETS[: run.protocol.data_sets])
    data = [name for name, bunch in found.items() if ranges(bunch.target)]
    if found and not data:
        raise MissingData(
            f"None of {', '.join(found)} has enough negatives; data/README.md says where others are from."
        )
    methods = [name for name in METHODS if name not in NEEDS or NEEDS[name] & set(run.protocol.peers)]
    cases = [
        {"data_set": name, "method": method, "depth": depth, "configuration": own}
        for name, method in itertools.product(data, methods)
        for depth in ((0,) if method == LOGISTIC else run.protocol.depths)
        for own in METHODS[method][1][: run.protocol.configurations]
    ]
    tried = run.rows("beyond_3_tuning", try_out, cases)
    rows = run.rows("beyond_3", measure, list(chosen(run, tried)))
    return run.write(table(rows), picture(rows))


if __name__ == "__main__":
    sys.exit(exit_code(main))
