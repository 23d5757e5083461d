"""Beyond the paper, 1: does it beat a gradient booster where false alarms are few?

Claim (ours, no table of the paper). On tables of features, the strong default of `PAUCEnsClassifier`, untuned,
is at or above the best of five tuned boosters in partial AUC on [0, 0.01] and on [0, 0.1], on at least three of
four sets: the upper end of the 95 % interval of its difference to the best of them is not below 0.

Protocol. Four sets with 2 to 9 % of positives. Halves drawn at random within each class: train on one half,
score the other; 10 repeats. Each method chooses one of eight settings, listed in `METHODS` for all to see, by
the mean partial AUC of three folds (drawn within the classes too, the same for all methods), once for each set
and range, on the training half of the first repeat. Methods whose training looks at the range are fitted for
each range anew. Every fit uses one thread. Intervals are of paired differences over the repeats and allow for
the overlap of the halves (Nadeau and Bengio 2003).

The rival to beat is "LightGBM, top pairs": LightGBM with the gradient of the logistic loss over pairs of a
positive and one of the best-scored negatives (`_boosters.TopPairs`).

Where we depart, and why.
- The training half on which settings are chosen shares samples with the test halves of later repeats; choosing
  in every repeat would cost ten times as much. It is the same for all methods but our default, which is not
  tuned at all. Its values were settled on other sets, see defaults.py.
- The best booster is named by its mean on the test halves, which favours it over ours.
- A library that is not installed is a row that says so.

Sets that are not on the disk are left out, with what they are and how to get them.

    python reproduce/beyond_1.py --scale paper

85 minutes on 2 cores, measured as processor time; most of it is hiv_ecfp4 with its 1024 columns, where one fit of
scikit-learn's histogram boosting takes two minutes.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from paucens.metrics import partial_auc, tpr_at_fpr
from paucens.plotting import GREY, method_style, new_figure
from reproduce._boosters import (
    fit_adaboost,
    fit_histogram_boosting,
    fit_lightgbm,
    fit_paucens,
    fit_published,
    fit_top_pairs,
    fit_xgboost,
    installed,
)
from reproduce._run import (
    Plan,
    Script,
    candidates_may_stall,
    load_available,
    main,
    output_folder,
    random_streams,
    short_hash,
)
from reproduce._store import Sheet, Task, read_frame, task_key
from reproduce._tables import NOTHING, interval_text, markdown, mean_interval, mean_sd, yes_no

NAME = "beyond_1"
TUNING = f"{NAME}_tuning"
DATA_SETS = ("mammography", "htru2", "sylva", "hiv_ecfp4")
RANGES = ((0.0, 0.01), (0.0, 0.1))
FPR = 0.01  # at which the detection rate is given too
OURS, DEFAULT, TUNED = "pAUCEnsT", "default", "tuned"
WANTED = 3  # sets, of four, on which the claim is to hold
TUNING_COLUMNS = ("beta", "fold", "pauc", "fit_seconds")
COLUMNS = ("beta", "choice", "n_train", "n_test", "split_hash", "pauc", "tpr", "fit_seconds", "score_seconds")


@dataclass(frozen=True)
class Method:
    """A method and the settings that it is tuned over.

    Attributes
    ----------
    fit : callable
        (X, y, fpr_range, seed, **setting) -> scoring function.
    settings : tuple of dict
        The first wins ties.
    ranged : bool
        Whether training looks at the range; otherwise one fit serves all ranges.
    distributions : tuple of str
        Of which one must be installed; empty where nothing is needed.
    """

    fit: Callable
    settings: tuple[dict, ...]
    ranged: bool = False
    distributions: tuple[str, ...] = ()

    @property
    def is_here(self):
        """Whether the library is installed."""
        return not self.distributions or bool(installed(*self.distributions))


GRADIENT_BOOSTERS = (  # the same for all of them
    {"rate": 0.05, "trees": 300, "leaves": 31, "columns": 1.0},
    {"rate": 0.05, "trees": 300, "leaves": 31, "columns": 1 / 3},
    {"rate": 0.05, "trees": 300, "leaves": 15, "columns": 1 / 3},
    {"rate": 0.05, "trees": 300, "leaves": 15, "columns": 1 / 3, "ridge": 10.0},
    {"rate": 0.02, "trees": 600, "leaves": 31, "columns": 1 / 3},
    {"rate": 0.02, "trees": 600, "leaves": 7, "columns": 1 / 3},
    {"rate": 0.02, "trees": 300, "leaves": 15, "columns": 1 / 3},
    {"rate": 0.1, "trees": 300, "leaves": 7, "columns": 1.0},
)
TOP_PAIRS = tuple(  # every second one on a tenth of the negatives, even where the range is narrower
    setting | {"share": share}
    for setting, share in zip(GRADIENT_BOOSTERS, (0.1, 0.1, 0.1, None, 0.1, None, 0.1, None), strict=True)
)
PAUCENS = (  # what differs from the default of the package
    {},
    {"nu": 0.01},
    {"nu": 0.1},
    {"max_leaves": 15},
    {"max_leaves": 63},
    {"leaf_ridge": 60},
    {"column_fraction": 2 / 3},
    {"power": 0.5},
)
PUBLISHED = tuple(
    {"depth": depth, "rounds": rounds, "nu": nu}
    for depth, rounds, nu in (
        (3, 100, 1.0),
        (3, 100, 0.1),
        (3, 100, 10.0),
        (3, 300, 1.0),
        (3, 300, 0.1),
        (2, 300, 1.0),
        (5, 300, 1.0),
        (5, 300, 0.1),
    )
)
ADABOOST = tuple(
    {"depth": depth, "rounds": rounds, "shrinkage": shrinkage}
    for depth, rounds, shrinkage in (
        (3, 100, 1.0),
        (3, 300, 1.0),
        (3, 300, 0.3),
        (3, 300, 0.1),
        (2, 300, 0.3),
        (5, 300, 1.0),
        (5, 300, 0.3),
        (5, 300, 0.1),
    )
)
METHODS = {
    OURS: Method(fit_paucens, PAUCENS, ranged=True),
    "as published": Method(fit_published, PUBLISHED, ranged=True),
    "AdaBoost": Method(fit_adaboost, ADABOOST),
    "LightGBM": Method(fit_lightgbm, GRADIENT_BOOSTERS, distributions=("lightgbm",)),
    "XGBoost": Method(fit_xgboost, GRADIENT_BOOSTERS, distributions=("xgboost", "xgboost-cpu")),
    "scikit-learn HGB": Method(fit_histogram_boosting, GRADIENT_BOOSTERS),
    "LightGBM, top pairs": Method(fit_top_pairs, TOP_PAIRS, ranged=True, distributions=("lightgbm",)),
}
BOOSTERS = ("AdaBoost", "LightGBM", "XGBoost", "scikit-learn HGB", "LightGBM, top pairs")


def peers():
    """Name the versions of the optional libraries that are installed."""
    wanted = {name for method in METHODS.values() for name in method.distributions}
    return {name: installed(name) for name in sorted(wanted) if installed(name)}


@dataclass(frozen=True)
class Protocol:
    """What a scale stands for."""

    data_sets: int
    repeats: int
    settings: int
    folds: int
    peers: dict = field(default_factory=peers)


PROTOCOLS = {"smoke": Protocol(1, 1, 2, 2), "small": Protocol(2, 2, 2, 3), "paper": Protocol(4, 10, 8, 3)}


def setting_text(setting):
    """Write a setting for the CSV.

    Examples
    --------
    >>> setting_text({"rate": 0.05, "columns": 1 / 3}), setting_text({})
    ('rate=0.05, columns=0.333', 'default')
    """
    return (
        ", ".join(f"{name}={value:.3g}" if value is not None else f"{name}=beta" for name, value in setting.items())
        or DEFAULT
    )


# ---------------------------------------------------------------------------------- computing


def plan(arguments):
    """List the tasks of both sheets; those of the second depend on what the first one finds."""
    protocol = PROTOCOLS[arguments.scale]
    data_sets = load_available(DATA_SETS[: protocol.data_sets], arguments.data)
    return Plan(sheets(data_sets, protocol, arguments), protocol, data_sets)


def sheets(data_sets, protocol, arguments):
    """Yield the sheet of the tuning and, when that is complete, the one of the results."""
    here = {name: method for name, method in METHODS.items() if method.is_here}
    yield Sheet(
        TUNING,
        TUNING_COLUMNS,
        [
            tuning_task(data, name, setting, arguments)
            for data in data_sets
            for name, method in here.items()
            for setting in method.settings[: protocol.settings]
        ],
    )
    tuned = best_settings(read_frame(output_folder(arguments) / f"{TUNING}.csv"))
    yield Sheet(
        NAME,
        COLUMNS,
        [
            task
            for data in data_sets
            for name in here
            for choice in ((DEFAULT, TUNED) if name == OURS else (TUNED,))
            for task in result_tasks(data, name, choice, tuned[data.title, name], protocol, arguments)
        ],
    )


def tuning_task(data, name, setting, arguments):
    """Make the task of scoring a setting by cross-validation on the first training half."""
    method, n_folds = METHODS[name], PROTOCOLS[arguments.scale].folds
    train, _, folds = split_halves(data.y, arguments.seed, 0, n_folds)
    key = task_key(data.title, data.content_hash, name, setting_text(setting), 0, arguments)
    return Task(key, n_folds * len(RANGES), partial(cross_validate, data.X, data.y, train, folds, method, setting))


def best_settings(frame):
    """Return {(data set, method): {beta: text of the setting of the largest mean over the folds}}."""
    means = frame.groupby(["data_set", "method", "beta", "setting"], sort=False).pauc.mean()
    best = {}
    for (data_set, method, beta), paucs in means.groupby(level=[0, 1, 2], sort=False):
        best.setdefault((data_set, method), {})[beta] = paucs.idxmax()[-1]  # the first of equals
    return best


def result_tasks(data, name, choice, tuned, protocol, arguments):
    """Make the tasks of a method: one for each repeat and setting, which may serve several ranges."""
    chosen = dict.fromkeys(tuned, DEFAULT) if choice == DEFAULT else tuned
    settings = {setting_text(setting): setting for setting in METHODS[name].settings}
    for text in dict.fromkeys(chosen.values()):
        ranges = [fpr_range for fpr_range in RANGES if chosen[fpr_range[1]] == text]
        for repeat in range(protocol.repeats):
            setting = text if choice == TUNED else f"{text}, untuned"
            key = task_key(data.title, data.content_hash, name, setting, repeat, arguments)
            split = split_halves(data.y, arguments.seed, repeat, protocol.folds)[:2]
            work = partial(measure, data.X, data.y, split, METHODS[name], settings[text], ranges, choice, repeat)
            yield Task(key, len(ranges), work)


def split_halves(y, seed, repeat, n_folds):
    """Draw halves within the classes, as sorted indices, and a fold for each training sample, within them too."""
    halves, folds = random_streams(seed, repeat, 2)
    in_train, fold = np.zeros((2, len(y)), dtype=int)
    for label in (0, 1):
        shuffled = halves.permutation(np.flatnonzero(y == label))
        drawn = shuffled[: len(shuffled) // 2]
        in_train[drawn] = 1
        fold[drawn] = folds.permutation(len(drawn)) % n_folds
    train = np.flatnonzero(in_train)
    return train, np.flatnonzero(in_train == 0), fold[train]


def cross_validate(X, y, train, folds, method, setting):
    """Score each fold by a model of the others in every range; a row each."""
    rows = []
    for fold in range(folds.max() + 1):
        inside, outside = train[folds != fold], train[folds == fold]
        fitted = fit_ranges(X, y, inside, method, setting, RANGES, fold)
        rows += [
            {
                "beta": fpr_range[1],
                "fold": fold,
                "fit_seconds": round(seconds, 3),
                "pauc": round(partial_auc(y[outside], score(features(X, outside)), fpr_range), 6),
            }
            for fpr_range, (score, seconds) in fitted.items()
        ]
    return rows


def fit_ranges(X, y, rows, method, setting, ranges, seed):
    """Fit for each range; a method that does not look at it is fitted once. {range: (scoring function, seconds)}."""
    fitted = {}
    for fpr_range in ranges:
        if method.ranged or not fitted:
            start = perf_counter()
            with candidates_may_stall():
                score = method.fit(features(X, rows), y[rows], fpr_range, seed, **setting)
            last = score, perf_counter() - start
        fitted[fpr_range] = last
    return fitted


def features(X, rows):
    """Take rows as float32, which all libraries read; the sets hold no finer values."""
    return np.asarray(X[rows], dtype=np.float32)


def measure(X, y, split, method, setting, ranges, choice, seed):
    """Fit on one half, score the other; one row a range."""
    train, test = split
    rows = []
    for fpr_range, (score, seconds) in fit_ranges(X, y, train, method, setting, ranges, seed).items():
        start = perf_counter()
        scores = score(features(X, test))
        rows.append(
            {
                "beta": fpr_range[1],
                "choice": choice,
                "n_train": len(train),
                "n_test": len(test),
                "split_hash": short_hash(train, test),
                "pauc": round(partial_auc(y[test], scores, fpr_range), 6),
                "tpr": round(tpr_at_fpr(y[test], scores, FPR), 6),
                "fit_seconds": round(seconds, 3),
                "score_seconds": round(perf_counter() - start, 3),
            }
        )
    return rows


# ---------------------------------------------------------------------------------- table


def table(frames):
    """Write who wins where, the numbers behind it and what was chosen."""
    frame = with_labels(frames[NAME])
    first = frame.iloc[0]
    blocks = [
        "# Where false alarms are few",
        f"Partial AUC on test halves, mean (standard deviation) over {frame.repeat.nunique()} random halves from seed "
        f'{first.seed}, scale {first.scale}. "{OURS}, {DEFAULT}" is not tuned; every other method chose among '
        "the settings of its table. Differences are paired; their intervals allow for the overlap of the halves.",
        verdict(frame),
        *(range_block(frame[frame.beta == beta], beta) for _, beta in RANGES),
        cells_block(
            frame[frame.beta == FPR],
            "tpr",
            f"Detection rate at a false positive rate of {FPR:g}, trained or tuned for [0, {FPR:g}].",
        ),
        settings_block(frame),
    ]
    return "\n\n".join(blocks) + "\n"


def with_labels(frame):
    """Add the column that tells our default from our tuned form."""
    ours = frame.method == OURS
    return frame.assign(label=frame.method.where(~ours, frame.method + ", " + frame.choice))


def labels():
    """All rows of the table, installed or not, ours first."""
    return [f"{OURS}, {DEFAULT}", f"{OURS}, {TUNED}", *(name for name in METHODS if name != OURS)]


def values(rows, label, column="pauc"):
    """Return a column of a method, by repeat."""
    return rows[rows.label == label].set_index("repeat")[column].sort_index()


def best_booster(rows):
    """Name the booster of the largest mean on the test halves; ours do not count."""
    return rows[rows.label.isin(BOOSTERS)].groupby("label", sort=False).pauc.mean().idxmax()


def difference(rows, label, other):
    """Estimate the mean paired difference of two methods on one set and range."""
    return mean_interval(values(rows, label) - values(rows, other), rows.n_test.iloc[0] / rows.n_train.iloc[0])


def verdict(frame):
    """Say on which sets the default is above, level with and below the best booster, a sentence a range."""
    sentences = []
    for _, beta in RANGES:
        found = {}
        for data_set, rows in frame[frame.beta == beta].groupby("data_set", sort=False):
            rival = best_booster(rows)
            interval = difference(rows, labels()[0], rival)
            found.setdefault(standing(interval), []).append(f"{data_set} ({interval.mean:+.3f} to {rival})")
        n_held = sum(len(names) for place, names in found.items() if place != "below")
        parts = "; ".join(f"{place} the best booster on {', '.join(names)}" for place, names in found.items())
        n_sets = frame.data_set.nunique()
        sentences.append(
            f"On [0, {beta:g}] our default is {parts}. At or above it on {n_held} of {n_sets} sets "
            f"(wanted: {WANTED} of {len(DATA_SETS)})."
        )
    return "\n".join(f"- {sentence}" for sentence in sentences)


def standing(interval):
    """Put a difference into a word: above or below where its interval leaves out 0; one repeat decides nothing.

    Examples
    --------
    >>> from reproduce._tables import MeanInterval
    >>> standing(MeanInterval(0.01, -0.01, 0.03)), standing(MeanInterval(-0.02, -0.03, -0.01))
    ('level with', 'below')
    """
    if np.isnan(interval.low):
        return "not told apart (one repeat) from"
    if interval.low > 0:
        return "above"
    return "below" if interval.high < 0 else "level with"


def range_block(rows, beta):
    """Give the areas of one range, and the differences of our default to every other method."""
    compared = []
    for data_set, own in rows.groupby("data_set", sort=False):
        rival = best_booster(own)
        for label in labels()[1:]:
            if (own.label == label).any():
                interval = difference(own, labels()[0], label)
                above = (values(own, labels()[0]) > values(own, label)).sum()
                compared.append(
                    [
                        data_set,
                        f"{label}{' (best)' if label == rival else ''}",
                        f"{interval.mean:+.3f}",
                        interval_text(interval),
                        f"{above} of {own.repeat.nunique()}",
                        yes_no(not interval.high < 0),
                    ]
                )
    header = ["set", f"{labels()[0]} minus", "mean", "95 % interval", "repeats above", "at or above"]
    return f"{cells_block(rows, 'pauc', f'## [0, {beta:g}]')}\n\n{markdown(header, compared)}"


def cells_block(rows, column, title):
    """Set methods against data sets."""
    data_sets = list(dict.fromkeys(rows.data_set))
    body = []
    for label in labels():
        own = rows[rows.label == label]
        cells = [mean_sd(own[own.data_set == name][column]) if len(own) else NOTHING for name in data_sets]
        body.append([label if len(own) else f"{label}: not installed", *cells])
    return f"{title}\n\n{markdown(['method', *data_sets], body)}"


def settings_block(frame):
    """List what was chosen, with the time of a fit."""
    body = [
        [data_set, f"[0, {beta:g}]", label, rows.setting.iloc[0], f"{rows.fit_seconds.mean():.1f}"]
        for (data_set, beta, label), rows in frame.groupby(["data_set", "beta", "label"], sort=False)
    ]
    header = ["set", "range", "method", "setting", "seconds a fit"]
    return f"Settings, and the time of a fit on one thread.\n\n{markdown(header, body)}"


# ---------------------------------------------------------------------------------- picture


def picture(frames):
    """Draw every method's difference to our default; a row a range, a column a set."""
    frame = with_labels(frames[NAME])
    data_sets = list(dict.fromkeys(frame.data_set))
    shown = [label for label in labels()[1:] if (frame.label == label).any()]
    figure = new_figure(1.6 + 2.1 * len(data_sets), 1.4 + 0.44 * len(shown) * len(RANGES))
    panels = figure.subplots(len(RANGES), len(data_sets), sharey=True, squeeze=False)
    for (_, beta), line in zip(RANGES, panels, strict=True):
        for data_set, axes in zip(data_sets, line, strict=True):
            rows = frame[(frame.data_set == data_set) & (frame.beta == beta)]
            draw_differences(axes, rows, shown)
            axes.set_title(f"{data_set}, [0, {beta:g}]\ndefault: {values(rows, labels()[0]).mean():.3f}")
        line[0].set_yticks(range(len(shown)), shown)
        line[0].set_ylim(len(shown) - 0.5, -0.5)
    figure.supxlabel(
        f"partial AUC minus that of {labels()[0]}\n(95 % intervals; left of 0 ours is better)", color=GREY, fontsize=8
    )
    return figure


def draw_differences(axes, rows, shown):
    """Draw the difference of each method to our default as a point with its interval."""
    for place, label in enumerate(shown):
        interval = difference(rows, label, labels()[0])
        colour, marker = method_style(label.split(",")[0] if label.startswith(OURS) else label)
        axes.hlines(place, interval.low, interval.high, color=colour, linewidth=1)
        axes.plot(interval.mean, place, marker, color=colour, markersize=4.5)
    axes.axvline(0, color=GREY, linewidth=0.8, zorder=1)
    axes.locator_params(axis="x", nbins=4)
    axes.grid(False, axis="y")


SCRIPT = Script(NAME, __doc__, (TUNING, NAME), plan, table, picture)

if __name__ == "__main__":
    sys.exit(main(SCRIPT))
