"""Model files: which class loads one."""

from paucens.cli.failures import MODEL_UNUSABLE, Failure, failing_with

DEFAULT = "default"  # the detector that comes with the package
OF_TOOLBOX = (".mat", ".mat.gz")  # how files of Dollar's toolbox end


def load_model(path):
    """Load a model of any class; raise Failure if that is impossible."""
    from paucens import persistence

    if path == DEFAULT or path.endswith(OF_TOOLBOX):
        return load_detector(path)
    with failing_with(MODEL_UNUSABLE):
        kind = persistence.kind_of(path)
    return load_detector(path) if kind == "PedestrianDetector" else load_classifier(path, kind)


def load_detector(path):
    """Load a detector from its file, from one of Dollar's toolbox, or the one that comes with the package."""
    from paucens.detector import PedestrianDetector

    with failing_with(MODEL_UNUSABLE):
        if path == DEFAULT:
            return PedestrianDetector.default()
        return (PedestrianDetector.from_toolbox if path.endswith(OF_TOOLBOX) else PedestrianDetector.load)(path)


def load_classifier(path, kind="FPRThresholdClassifier"):
    """Load a classifier of a kind."""
    from paucens.operating_point import SAVED, FPRThresholdClassifier

    kinds = SAVED | {FPRThresholdClassifier.__name__: FPRThresholdClassifier}
    if kind not in kinds:
        raise Failure(MODEL_UNUSABLE, f"{path} holds a {kind}, which no command knows.")
    with failing_with(MODEL_UNUSABLE):
        return kinds[kind].load(path)
