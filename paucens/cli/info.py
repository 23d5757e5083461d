"""Info: what a model file holds, which data sets are here, and which versions run."""

import json
import platform

from paucens.cli.failures import DONE
from paucens.cli.models import DEFAULT, load_model


def add_arguments(parser):
    """Add what the command takes."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("model", nargs="?", metavar="MODEL", help="a model file, or the word default")
    what.add_argument("--data", action="store_true", help="say which data sets are here, and where to get the others")
    what.add_argument("--version", action="store_true", help="say which versions of what run")


def run(options):
    """Print what was asked for."""
    if options.version:
        print("\n".join(versions()))
    elif options.data:
        print("\n\n".join(data_sets()))
    else:
        print("\n".join(lines_of(load_model(options.model))))
        if options.model == DEFAULT:
            print(f"terms: for research; not under the licence of the code, see {terms_of_default()}")
    return DONE


def versions():
    """Yield a line per package."""
    from importlib.metadata import version

    from paucens._kernels.builds import chosen
    from paucens._version import __version__

    build = "AVX2" if ".avx2." in chosen("channels").__name__ else "any processor"
    yield f"paucens {__version__}, kernels built for {build}"
    yield f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    yield ", ".join(f"{name} {version(name)}" for name in ("NumPy", "SciPy", "scikit-learn"))


def data_sets():
    """Yield what is known of each data set, with the place where it was found."""
    from paucens.datasets import REGISTRY, whereabouts

    for name, about in REGISTRY.items():
        yield f"{about.describe()}\n  {'here:':<14}{whereabouts(name)}"


def terms_of_default():
    """Return the path of the terms of the default detector."""
    from paucens.detector.model import DEFAULT as FILE

    return FILE.with_name("LICENSE")


def lines_of(model):
    """Return the facts of a model, a line each."""
    return lines_of_detector(model) if hasattr(model, "detect") else lines_of_classifier(model)


def lines_of_detector(detector):
    """Return window, channels, trees, threshold and notes."""
    window, trees = detector.window, len(detector.trees.rejection)
    lines = [
        f"a detector of {trees} trees on {detector.spec}, {detector.spec.n_channels} channels",
        f"window: {window}",
        f"threshold: {detector.threshold:g}",
    ]
    if detector.first_stage is not None:
        lines.append(
            f"first stage: {len(detector.first_stage.trees.rejection)} trees on "
            f"{'+'.join(detector.first_stage.families)}"
        )
    if detector.proposals is not None:
        lines.append("proposals: BING")
    return lines + [f"{name}: {_text(value)}" for name, value in detector.notes.items()]


def lines_of_classifier(model):
    """Return class, parameters, features and what the fit found."""
    inner = getattr(model, "estimator", None)
    lines = [type(model).__name__]
    if inner is not None:
        lines += [
            f"threshold: {model.threshold_:.6g}, for at most {model.fpr_bound_:.4g} false alarms per negative "
            f"(asked for: {model.max_fpr:g}, confidence: {model.confidence}), set on {model.n_negatives_} negatives",
            *lines_of_classifier(model.estimator_.estimator),
        ]
        return lines
    names = getattr(model, "feature_names_in_", None)
    lines += [
        f"classes: {', '.join(map(str, model.classes_))}",
        f"features: {model.n_features_in_}" + (f" ({', '.join(names)})" if names is not None else ""),
    ]
    if hasattr(model, "learners_"):
        lines.append(f"learners: {len(model.learners_)}")
    return lines + [f"{name}: {value}" for name, value in sorted(model.get_params(deep=False).items())]


def _text(value):
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
