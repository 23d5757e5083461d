"""Classify: fit, apply and judge a classifier of a table in CSV, at few false alarms."""

import csv
import io
import warnings

from paucens.cli.failures import CRITERION, DATA_MISSING, DONE, USAGE, Failure
from paucens.cli.models import load_classifier
from paucens.cli.outputs import add_output_arguments, check_output, write_text
from paucens.cli.reporting import add_log_argument, log_to, say
from paucens.cli.tables import Table


def add_arguments(parser):
    """Add what the command takes: three actions."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    fit = _action(actions, "fit", fit_model, "fit a classifier and set a threshold that holds on new rows")
    _add_label(fit)
    fit.add_argument(
        "--drop", metavar="COLUMN,...", default="", help="columns that are no features, such as row numbers"
    )
    fit.add_argument("--categorical", metavar="COLUMN,...", help="columns of categories; default: those that hold text")
    fit.add_argument("--max-fpr", type=float, default=0.01, help="false alarms per negative, default: 0.01")
    fit.add_argument(
        "--confidence", type=float, default=0.95, help="probability that this holds on new rows, default: 0.95"
    )
    fit.add_argument("--test-size", type=float, default=0.3, help="share of rows that set the threshold, default: 0.3")
    fit.add_argument("--trees", type=int, default=600, help="largest number of trees, default: 600")
    fit.add_argument("--seed", type=int, default=0, help="default: 0")
    add_output_arguments(fit, "the model", required=True)
    score = _action(actions, "score", score_rows, "score the rows of a table")
    _add_model(score)
    score.add_argument("--keep", metavar="COLUMN,...", default="", help="columns to copy, such as row numbers")
    add_output_arguments(score, "the scores")
    evaluate = _action(actions, "evaluate", judge, "judge a classifier on rows that it was not fitted to")
    _add_model(evaluate)
    _add_label(evaluate)
    evaluate.add_argument("--min-tpr", type=float, help="exit with 1 if fewer of the positives are found")
    evaluate.add_argument("--max-fpr", type=float, help="exit with 1 if more of the negatives raise an alarm")
    add_output_arguments(evaluate, "the results")


def _action(actions, name, run, summary):
    parser = actions.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
    parser.add_argument("table", metavar="TABLE", help="CSV, names of columns first; - is standard input")
    parser.set_defaults(act=run)
    add_log_argument(parser)
    return parser


def _add_label(parser):
    parser.add_argument("--label", metavar="COLUMN", required=True, help="the column of the two labels")
    parser.add_argument("--positive", metavar="LABEL", help="the label to detect; needed unless labels are numbers")


def _add_model(parser):
    parser.add_argument("-m", "--model", metavar="FILE", required=True, help="a model that fit has written")


def run(options):
    """Do one of the actions."""
    check_output(options.output, options.force)
    with log_to(options.log) as log:
        return options.act(options, log)


# -- the actions -----------------------------------------------------------------------------------


def fit_model(options, log):
    """Fit, set the threshold on rows held out, save, and say what to expect."""
    import numpy as np

    from paucens.ensemble import PAUCEnsClassifier
    from paucens.operating_point import FPRThresholdClassifier

    table = Table.read(options.table)
    left_out = {options.label, *_names(options.drop)}
    for name in left_out:
        table.column(name)  # an unknown one is an error
    names = [name for name in table.names if name not in left_out]
    if not names:
        raise Failure(USAGE, "no column is left as a feature.")
    X, categorical = table.features(names, None if options.categorical is None else _names(options.categorical))
    y, positive = _labels(table, options)
    inner = PAUCEnsClassifier(
        (0, options.max_fpr),
        n_estimators=options.trees,
        categorical_features=[names.index(name) for name in categorical] or None,
        pos_label=positive,
        random_state=options.seed,
    )
    model = FPRThresholdClassifier(
        inner,
        options.max_fpr,
        confidence=options.confidence,
        test_size=options.test_size,
        pos_label=positive,
        random_state=options.seed,
    )
    model.fit(X, y)
    model.estimator_.feature_names_in_ = np.array(names, dtype=object)
    model.save(options.output)
    facts = {
        "rows": len(y),
        "positives": int((y == positive).sum()),
        "features": len(names),
        "categorical": categorical,
        "max_fpr": options.max_fpr,
        "fpr_bound": round(model.fpr_bound_, 6),
        "confidence": options.confidence,
        "negatives_that_set_the_threshold": model.n_negatives_,
        "trees": len(model.estimator_.learners_),
        "model": options.output,
    }
    log("fitted", **facts)
    for name, value in facts.items():
        say(f"{name.replace('_', ' ')}: {', '.join(value) or 'none' if isinstance(value, list) else value}")
    return DONE


def score_rows(options, log):
    """Write a score per row, and whether it raises an alarm."""
    model, table = load_classifier(options.model), Table.read(options.table)
    kept = [table.column(name) for name in _names(options.keep)]
    margins = _scores(model, table)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*_names(options.keep), "score", "alarm"])
    for k, margin in enumerate(margins):
        writer.writerow([*(column[k] for column in kept), f"{margin:.9g}", int(margin > 0)])
    write_text(options.output, text.getvalue())
    log("scored", rows=len(margins), alarms=int((margins > 0).sum()))
    return DONE


def judge(options, log):
    """Write the rates at the threshold and the partial AUC, with intervals."""
    from paucens.metrics import fpr_interval, partial_auc_interval

    model, table = load_classifier(options.model), Table.read(options.table)
    margins, (y, positive) = _scores(model, table), _labels(table, options)
    is_positive = y == positive
    found = {
        "rows": (len(y),),
        "positives": (int(is_positive.sum()),),
        "false alarms per negative": fpr_interval(is_positive, margins, 0.0),
        "positives found": fpr_interval(~is_positive, margins, 0.0),  # the share of the others above the threshold
        f"partial AUC, [0, {model.max_fpr:g}]": partial_auc_interval(is_positive, margins, (0, model.max_fpr)),
    }
    lines = ["what,value,low,high"]
    for name, values in found.items():
        low, value, high = values if len(values) == 3 else ("", *values, "")
        lines.append(f'"{name}",' + ",".join(f"{x:.6g}" if x != "" else "" for x in (value, low, high)))
    write_text(options.output, "\n".join(lines) + "\n")
    log("evaluated", **{name: values[len(values) // 2] for name, values in found.items()})
    return _verdict(options, found["positives found"][1], found["false alarms per negative"][1])


# -- helpers ---------------------------------------------------------------------------------------


def _names(text):
    return [name.strip() for name in text.split(",") if name.strip()]


def _labels(table, options):
    """Return the labels as text, and the positive one."""
    import numpy as np

    y = np.array([cell.strip() for cell in table.column(options.label)], dtype=object)
    labels = sorted(set(y))
    positive = options.positive
    if positive is None:
        if len(labels) != 2 or not set(labels) <= {"0", "1", "-1", "+1"}:
            raise Failure(USAGE, f"labels are {', '.join(labels[:5])}: say which one to detect, --positive LABEL.")
        positive = max(labels, key=float)
    if len(labels) != 2 or positive not in labels:
        raise Failure(
            DATA_MISSING,
            f"{table.path}: the column {options.label!r} must hold two labels, one of them {positive!r}; it holds "
            f"{', '.join(labels[:5])}{', ...' if len(labels) > 5 else ''}.",
        )
    return y, positive


def _scores(model, table):
    """Return how far above the threshold each row scores; the columns are found by their names."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise Failure(USAGE, "the model does not know the names of its features. Fit it with `paucens classify fit`.")
    inner = model.estimator_.estimator
    X, _ = table.features(list(names), {names[k] for k in inner.categories_})
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        margins = model.decision_function(X)
    return margins if model.pos_label == model.classes_[1] else -margins


def _verdict(options, tpr, fpr):
    failed = []
    if options.min_tpr is not None and tpr < options.min_tpr:
        failed.append(f"{tpr:.4g} of the positives are found, fewer than {options.min_tpr:g}")
    if options.max_fpr is not None and fpr > options.max_fpr:
        failed.append(f"{fpr:.4g} of the negatives raise an alarm, more than {options.max_fpr:g}")
    for line in failed:
        say(f"paucens classify: {line}.")
    return CRITERION if failed else DONE
