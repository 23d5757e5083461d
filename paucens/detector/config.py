"""The checked arguments of a training."""

import hashlib
import itertools
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from sklearn.base import clone

from paucens.base import WeightedEnsemble, ensemble_settings
from paucens.detector.samples import stream
from paucens.detector.scan import Search
from paucens.detector.stages import checked_stages, stage_columns
from paucens.detector.window import Window
from paucens.features import ChannelSpec
from paucens.features.motion import is_pair, sources_for
from paucens.images import check_sources
from paucens.learners.binning import MAX_BINS
from paucens.persistence import plain, settings_of
from paucens.validation import check_choice, check_integer, check_verbose

REPLACED = ("n_estimators", "max_bins")  # parameters of the classifiers: those of the training count
OWN_NOTES = ("hard", "negatives")  # the score above which a window is hard; the number of negatives of the last round


@dataclass(frozen=True, eq=False)
class TrainingConfig:
    """The arguments of `train_detector`, checked; see there.

    Records have become `positives`, `negative_images` and `regions`, boxes in each of these images that no negative may
    overlap; None without records.
    """

    positives: list
    negative_images: list
    spec: ChannelSpec
    classifier: WeightedEnsemble | list
    window: Window
    n_estimators: tuple
    n_negatives: int
    most_negatives: int
    per_image: int
    scales: int
    smooth: float
    repeat_edges: bool | str
    mirrors: bool
    stages: dict | None
    random_state: int
    notes: dict
    verbose: int
    regions: list | None = None

    def __post_init__(self) -> None:
        check_sources("positives", self.positives)
        check_sources("negative_images", self.negative_images)
        for name, kind, example in (
            ("spec", ChannelSpec, 'ChannelSpec.parse("M+O+LUV")'),
            ("window", Window, "Window()"),
            ("notes", dict, '{"data": "INRIA Person"}'),
        ):
            if not isinstance(getattr(self, name), kind):
                raise TypeError(f"{name} must be a {kind.__name__}, such as {example}; got {getattr(self, name)!r}.")
        for name in ("positives", "negative_images"):
            self._set(name, sources_for(self.spec, name, getattr(self, name)))
        if not isinstance(self.n_estimators, list | tuple) or len(self.n_estimators) == 0:
            raise ValueError(
                f"n_estimators must be a tuple of numbers of trees, one per round; got {self.n_estimators!r}."
            )
        self._set("n_estimators", tuple(check_integer("n_estimators", n, 1) for n in self.n_estimators))
        for name, least in (
            ("n_negatives", 1),
            ("most_negatives", self.n_negatives),
            ("per_image", 1),
            ("random_state", 0),
        ):
            self._set(name, check_integer(name, getattr(self, name), least))
        for name, allowed in (("repeat_edges", (True, False, "mask")), ("mirrors", (True, False))):
            self._set(name, check_choice(name, getattr(self, name), allowed))
        check_verbose(self.verbose)
        _check_notes(self.notes)
        if len(self.places) == 0:
            window = self.search.window
            raise ValueError(
                f"All cells of {window} depend on pixels outside its crop. Give the window a larger margin."
            )
        for first, columns in self.stage_columns:
            if len(columns) == 0:
                raise ValueError(
                    f"All cells of {self.stage_families[first]}, stages[{first}], depend on pixels outside the crop of "
                    "the window. Give the window a larger margin, or the stage other channels."
                )

    def _set(self, name, value):
        object.__setattr__(self, name, value)  # the class is frozen for everybody else

    @cached_property
    def max_bins(self):
        """Maximum number of bins of a feature: that of the first classifier, since all rounds have the same bins."""
        return check_integer("max_bins", self.classifiers[0].max_bins, 2, MAX_BINS)

    @cached_property
    def search(self):
        """The search of the detector, and of images for negatives."""
        return Search(self.spec, self.window, self.scales, self.smooth)

    @cached_property
    def places(self):
        """Row, column and channel of each feature of a window, int32 (n_features, 3)."""
        return self.window.features(self.spec)

    @cached_property
    def stage_families(self):
        """The stages of the last round, {first tree: families in the order of the spec}; empty without stages."""
        return {} if self.stages is None else checked_stages(self.stages, self.spec, self.n_estimators[-1])

    @cached_property
    def stage_columns(self):
        """The first tree of each stage of the last round and the features that its trees may use; see `fit_binned`."""
        return stage_columns(self.stage_families, self.spec, self.places)

    @cached_property
    def classifiers(self):
        """The ensemble of each round. One without a seed gets one, or its training could not be resumed."""
        n_rounds = len(self.n_estimators)
        classifiers = self.classifier if isinstance(self.classifier, list | tuple) else [self.classifier] * n_rounds
        for one in classifiers:
            if not isinstance(one, WeightedEnsemble):
                raise TypeError(
                    f"classifier must be an ensemble of this package, or a list of them; got {one!r}. "
                    "AdaBoostClassifier(shrinkage=0.1) is the paper's."
                )
        if len(classifiers) != n_rounds:
            raise ValueError(
                f"{len(classifiers)} classifiers do not fit the {n_rounds} rounds of n_estimators; give one, "
                "or one per round."
            )
        return [self._seeded(one, k) for k, one in enumerate(classifiers)]

    def _seeded(self, classifier, k):
        if classifier.random_state is not None:
            return classifier
        return clone(classifier).set_params(random_state=int(stream(self.random_state, 4, k).integers(2**31)))

    def settings(self):
        """Return all that the result depends on as JSON values; images are represented by digests."""
        settings = {
            "channels": self.spec.text,
            "preset": settings_of(self.spec.preset, plain=True),
            "window": settings_of(self.window),
            "scales": self.scales,
            "smooth": self.smooth,
            "classifiers": [ensemble_settings(one, REPLACED) for one in self.classifiers],
            "max_bins": self.max_bins,
            "n_estimators": self.n_estimators,
            "n_negatives": self.n_negatives,
            "most_negatives": self.most_negatives,
            "per_image": self.per_image,
            "repeat_edges": self.repeat_edges,
            "mirrors": self.mirrors,
            "random_state": self.random_state,
            "positives": _fingerprint(self.positives),
            "negative_images": _fingerprint(self.negative_images),
            "notes": self.notes,
        }
        if self.stages is not None:  # or trainings from before there were stages could not go on
            settings["stages"] = {str(first): families for first, families in self.stage_families.items()}
        if self.regions is not None:
            settings["regions"] = _fingerprint(self.regions)
        return plain(settings, "settings")


def _check_notes(notes):
    """Raise an error if notes are not JSON values or use a name that training itself uses."""
    for name in OWN_NOTES:
        if name in notes:
            raise ValueError(f"notes[{name!r}] is set by training itself; choose another name for yours.")
    plain(notes, "notes")


def _fingerprint(sources):
    """Return the number of images and a digest of their files or pixels."""
    digest, parts = hashlib.sha256(), (source if is_pair(source) else (source,) for source in sources)
    for source in itertools.chain.from_iterable(parts):
        if isinstance(source, str | Path):
            digest.update(hashlib.sha256(Path(source).read_bytes()).digest())
        else:
            pixels = np.ascontiguousarray(source)
            digest.update(f"{pixels.shape} {pixels.dtype}".encode() + pixels.tobytes())
    return f"{len(sources)} {digest.hexdigest()[:16]}"
