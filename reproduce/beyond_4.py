"""Beyond the paper, 4: trained for one range, judged on another. What is training for the slice worth?

Question (ours, no table of the paper). A model is trained for [0, beta] and judged by its partial AUC on [0, beta'].
If training for the slice pays, the largest number for each beta' is that of the model trained for it.

Protocol. The default of the package, and compact models of ten trees on two levels with a mixture of ranges, nu = 10
and a ridge of 20, none of it tuned. They are trained for [0, 1], [0, 0.1], [0, 0.01] and [0, 0.001], and judged on each
of these that holds at least 20 test negatives. Sets, parts and seeds are those of beyond_3.py: train on one half, score
the other, 10 repeats. Differences are to the model trained for [0, 1], paired over the repeats; intervals allow for the
overlap of the halves (Nadeau and Bengio 2003).

Where we depart, and why.
- A range that holds less than one training negative is one negative wide.
- Sets that are not on the disk are left out.

    python reproduce/beyond_4.py --scale paper

48 minutes of processor time, 38 of them for hiv_ecfp4 and yeast_pairs.
"""

import itertools
import sys
import warnings
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from beyond_3 import DATA_SETS, LEAST, split

import boosters
from harness import Run, exit_code
from paucens import PAUCEnsClassifier
from paucens.metrics import mean_interval, partial_auc
from paucens.plotting import GREEN, GREY, ORANGE, VERMILION, house_style, new_figure
from report import differences, interval_text, markdown, mean_sd

BETAS = (1.0, 0.1, 0.01, 0.001)  # of the ranges [0, beta]
WHOLE = BETAS[0]
COMPACT = partial(boosters.make_paucens, depth=2, trees=10, nu=10.0, leaf_ridge=20.0)
MODELS = {
    "default": lambda seed, beta: PAUCEnsClassifier((0.0, beta), n_jobs=1, random_state=seed),
    "ten trees": lambda seed, beta: COMPACT(seed, beta=beta),
}
COLOURS = dict(zip(BETAS, (GREY, GREEN, ORANGE, VERMILION), strict=True))


@dataclass(frozen=True)
class Protocol:
    """What a scale means."""

    data_sets: int
    repeats: int
    betas: tuple
    models: tuple
    folds: int = 3  # of `beyond_3.split`, which draws them too


PROTOCOLS = {
    "smoke": Protocol(1, 1, (1.0, 0.1), ("ten trees",)),
    "small": Protocol(2, 2, BETAS, ("ten trees",)),
    "paper": Protocol(6, 10, BETAS, tuple(MODELS)),
}


def measure(run, case):
    """Train for one range and judge on all."""
    bunch, beta = run.load(case["data_set"]), case["trained"]
    train, test, _ = split(run, bunch, case["repeat"])
    X, X_test = (bunch.data[part].astype(np.float32) for part in (train, test))  # the sets hold no finer values
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # ranges narrower than one negative
        model = MODELS[case["model"]](case["repeat"], beta).fit(X, bunch.target[train])
    y, scores = bunch.target[test], model.decision_function(X_test)
    judged = [beta for beta in run.protocol.betas if beta * np.count_nonzero(y == 0) >= LEAST]
    sizes = {"n_train": len(train), "n_test": len(test)}
    return [{"judged": beta} | sizes | {"pauc": round(partial_auc(y, scores, (0.0, beta)), 6)} for beta in judged]


def gains(rows):
    """Yield the judged range of each set, and for each trained one the interval of its difference to [0, 1]."""
    for judged, own in rows.groupby("judged", sort=False):
        gaps, overlap = -differences(own, WHOLE, by="trained"), own.n_test.iloc[0] / own.n_train.iloc[0]
        yield judged, {trained: mean_interval(gap, overlap) for trained, gap in gaps.items()}


def table(rows):
    """List the partial AUC for each pair of ranges, and what training for the judged range gains over [0, 1]."""
    first, blocks = rows.iloc[0], []
    for model, of_model in rows.groupby("model", sort=False):
        body, gained, named = [], [], [f"on [0, {judged:g}]" for judged in of_model.judged.unique()]
        for name, own in of_model.groupby("data_set", sort=False):
            wide = own.groupby(["trained", "judged"]).pauc.agg(mean_sd).unstack()
            wide = wide.reindex(index=own.trained.unique(), columns=of_model.judged.unique())
            body += [
                [name, f"[0, {trained:g}]", *cells] for trained, cells in zip(wide.index, wide.values, strict=True)
            ]
            for judged, intervals in gains(own):
                if judged in intervals:
                    mean, *ends = intervals[judged]
                    best = own[own.judged == judged].groupby("trained").pauc.mean().idxmax()
                    gained.append([name, f"[0, {judged:g}]", f"{mean:+.3f}", interval_text(*ends), f"[0, {best:g}]"])
        blocks += [
            f"## {model[0].upper()}{model[1:]}",
            markdown(body, ["set", "trained for", *named]),
            "Trained for the range that is judged, minus trained for [0, 1]; and the training range of the largest "
            "mean.",
            markdown(gained, ["set", "judged on", "gain", "95 % interval", "best trained for"]),
        ]
    title = (
        f"Partial AUC, normalised, on test parts of {rows.repeat.nunique()} random splits from seed {first.seed}, "
        f"scale {first.scale}: mean (standard deviation)."
    )
    return "\n\n".join(["# Trained for one range, judged on another", title, *blocks]) + "\n"


@house_style()
def picture(rows):
    """Draw the gain over training for [0, 1] against the judged range; a row per model, a column per set."""
    models, names = rows.model.unique(), rows.data_set.unique()
    figure = new_figure(1.6 + 2.0 * len(names), 0.9 + 2.2 * len(models))
    panels = figure.subplots(len(models), len(names), sharex=True, squeeze=False)
    for axes, (model, name) in zip(panels.flat, itertools.product(models, names), strict=True):
        draw_panel(axes, rows[(rows.model == model) & (rows.data_set == name)])
    for axes, name in zip(panels[0], names, strict=True):
        axes.set_title(name)
    for axes, model in zip(panels[:, 0], models, strict=True):
        axes.set_ylabel(model)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", title="trained for")
    figure.supxlabel("judged on [0, beta]", color=GREY, fontsize=9)
    figure.supylabel("partial AUC minus that of training for [0, 1]", color=GREY, fontsize=9)
    return figure


def draw_panel(axes, rows):
    """Draw a line per training range, with the interval where it is the judged one."""
    frame = pd.DataFrame(
        [(judged, trained, *interval) for judged, own in gains(rows) for trained, interval in own.items()],
        columns=["judged", "trained", "mean", "low", "high"],
    )
    axes.axhline(0, color=COLOURS[WHOLE], linewidth=0.8)
    for trained, own in frame.groupby("trained", sort=False):
        axes.plot(own.judged, own["mean"], color=COLOURS[trained], marker=".", label=f"[0, {trained:g}]")
        right = own[own.judged == trained]
        axes.vlines(right.judged, right.low, right.high, color=COLOURS[trained], linewidth=1)
        axes.plot(right.judged, right["mean"], "o", color=COLOURS[trained], markeredgecolor="white", zorder=3)
    axes.set_xscale("log")
    axes.locator_params(axis="y", nbins=5)


def main(argv=None):
    """Train for each range and judge on all."""
    run = Run.of(__file__, __doc__, PROTOCOLS, argv)
    protocol = run.protocol
    cases = [
        {"data_set": name, "model": model, "trained": beta, "repeat": repeat}
        for name, model, beta, repeat in itertools.product(
            run.data(*DATA_SETS[: protocol.data_sets]), protocol.models, protocol.betas, range(protocol.repeats)
        )
    ]
    rows = run.rows("beyond_4", measure, cases)
    return run.write(table(rows), picture(rows))


if __name__ == "__main__":
    sys.exit(exit_code(main))
