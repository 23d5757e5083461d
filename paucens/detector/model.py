"""A trained detector: images in, boxes out."""

import copy
from pathlib import Path

import numpy as np

from paucens import persistence
from paucens.detector.samples import check_sources
from paucens.detector.scan import Search
from paucens.detector.suppression import non_maximum_suppression
from paucens.detector.trees import DetectorTrees
from paucens.detector.window import Window
from paucens.features import ChannelSpec
from paucens.features.pyramid import estimate_lambdas
from paucens.images import as_rgb
from paucens.parallel import Threads
from paucens.validation import check_number, check_positive

KIND = "PedestrianDetector"
DEFAULT = Path(__file__).parents[1] / "models" / "pedestrian.npz"


class PedestrianDetector:
    """Find upright people in images; made by `train_detector`, `load` or `default`.

    Attributes
    ----------
    spec : ChannelSpec
        The channels.
    window : Window
        The sliding window and the box in it.
    scales : int
        Sizes at which an image is searched in a factor of two.
    smooth : float
        Radius of the triangle by which every size is smoothed before it is searched.
    threshold : float
        Detections score above it where `detect` is given none.
    lambdas : dict or None
        Power laws of the channels, of a detector that `approximated` made.
    trees : DetectorTrees
    notes : dict
        Where the model comes from: training data, their terms, settings.

    Notes
    -----
    An image is enlarged by its own border before it is searched, so that people at the border are found; a box may
    leave the image. Levels whose channels take more than 256 MB are searched in bands of rows: beside the image and
    the copy of it at the size that is searched, memory stays below three times that.

    Examples
    --------
    >>> from paucens.datasets import synthetic_streets
    >>> scene = synthetic_streets(1)[0].image
    >>> PedestrianDetector.default().detect(scene, threshold=-5).shape[1]
    5
    """

    def __init__(self, spec, window, trees, *, scales=8, smooth=0.0, threshold=0.0, lambdas=None, notes=None):
        self.spec, self.window, self.trees = spec, window, trees
        self.scales, self.smooth = scales, smooth
        self.threshold = threshold
        self.lambdas = lambdas
        self.notes = dict(notes or {})

    def __repr__(self):
        return f"<PedestrianDetector of {len(self.trees.rejection)} trees on {self.spec}>"

    def detect(self, image, *, threshold=None, min_height=None, max_height=None, n_jobs=None):
        """Find people.

        Parameters
        ----------
        image : array-like or PIL image
            RGB, uint8 of shape (height, width, 3) or float in [0, 1]; or grey, of shape (height, width).
        threshold : float, optional
            Detections score above it; `self.threshold` where None.
        min_height, max_height : float, optional
            Heights in pixels to look for; from the height that the model was trained for, and to that of the image.
            Below the model's height the image is enlarged.
        n_jobs : int, optional
            Threads, as in joblib. Results do not depend on it.

        Returns
        -------
        boxes : ndarray of shape (k, 5), float64
            x, y, w, h, score, in continuous pixels from 0, best first.

        Raises
        ------
        TypeError, ValueError
            For what is no image (`paucens.images.as_rgb`), a threshold that is nan, heights that are not positive or
            between which there is none, and an image that would be enlarged beyond 400 million pixels.
        """
        self._check_heights(min_height, max_height)
        threshold = check_number("threshold", self.threshold if threshold is None else threshold)
        rgb = as_rgb(image)
        levels = self.search.levels(rgb.shape[:2], min_height, max_height)
        with Threads(n_jobs) as threads:
            boxes, _ = self.candidates(rgb, levels, threshold, threads, n_jobs)
        return non_maximum_suppression(boxes)

    def _check_heights(self, min_height, max_height):
        for name, height in (("min_height", min_height), ("max_height", max_height)):
            if height is not None:
                check_positive(name, height)
        least = self.window.target[0] if min_height is None else min_height
        if max_height is not None and max_height < least:
            raise ValueError(
                f"max_height is {max_height:g}, and nothing below {least:g} pixels is looked for; give a "
                "min_height below it."
            )

    @property
    def search(self):
        """Which windows are looked at, a Search."""
        return Search(self.spec, self.window, self.scales, self.smooth, self.lambdas)

    def candidates(self, rgb, levels, threshold, threads, n_jobs=None):
        """All windows that score above a threshold, nothing suppressed, in an image that is RGB by `as_rgb`.

        Returns
        -------
        boxes : ndarray of shape (k, 5), float64
            As `detect` returns them, level by level and row by row.
        places : ndarray of shape (k, 3), int64
            Place of the level in the list, row and column of the window among those of the level.
        """
        boxes, places = [np.empty((0, 5))], [np.empty((0, 3), dtype=np.int64)]
        for k, band in self.search.bands(rgb, levels, threads, n_jobs):
            scores = self.search.scores(band, self.trees, threads)
            cells = np.argwhere(scores > threshold)
            of_level = cells + np.array([band.first_row, 0])
            boxes.append(np.column_stack([self.window.boxes(of_level, band.level.ratio), scores[tuple(cells.T)]]))
            places.append(np.column_stack([np.full(len(cells), k), of_level]))
        return np.concatenate(boxes), np.concatenate(places)

    def approximated(self, images, n_jobs=None):
        """The same detector with channels computed for one size in an octave and resampled for the others.

        Parameters
        ----------
        images : list of images
            Typical ones, tens to hundreds, to estimate power laws of the channels from
            (`paucens.features.estimate_lambdas`); their shorter side is 64 pixels or more.
        n_jobs : int, optional

        Returns
        -------
        detector : PedestrianDetector

        Notes
        -----
        Meant for M, O and LUV. Channels are computed for one size in `scales`; the scan takes as long as before, and
        for so few channels that is most of the time (tests/benchmarks/test_detector_speed.py). A level is one band,
        whatever its size, so that memory grows with the image.
        """
        faster = copy.copy(self)
        faster.lambdas = estimate_lambdas(images, self.spec, n_jobs=n_jobs)
        return faster

    def threshold_at_fppi(self, images, fppi=0.1, *, n_jobs=None):
        """The least score that gives at most so many false positives an image.

        Parameters
        ----------
        images : list of images, not of files
            Without people, as many and as alike to those to come as can be.
        fppi : float, default=0.1
            False positives an image; at least one image in 1 / fppi is needed.
        n_jobs : int, optional

        Returns
        -------
        threshold : float
            For `detect`, or to be kept as `threshold`; the least score of all where there are too few false positives.

        Raises
        ------
        ValueError
            Where so few images cannot tell, or where the trees find nothing in any.
        """
        check_sources("images", images)
        check_positive("fppi", fppi)
        allowed = int(fppi * len(images) + 1e-9)
        if allowed < 1:
            raise ValueError(
                f"{len(images)} images cannot tell about {fppi:g} false positives an image; bring "
                f"{int(np.ceil(1 / fppi))} or more."
            )
        found = [self.detect(image, threshold=-np.inf, n_jobs=n_jobs)[:, 4] for image in images]
        scores = np.sort(np.concatenate(found))[::-1]
        if len(scores) == 0:
            raise ValueError(
                f"No window of {len(images)} images gets through all trees, so no score is that of "
                f"{fppi:g} false positives an image; bring larger images, or more."
            )
        return float(scores[min(allowed, len(scores) - 1)])

    # -- files -------------------------------------------------------------------------------------

    def save(self, path):
        """Write the detector to one `.npz` file, without pickle; written completely or not at all."""
        header = {
            "kind": KIND,
            "spec": {"families": "+".join(self.spec.families), "preset": self.spec.preset},
            "window": {"shape": self.window.shape, "target": self.window.target, "margin": self.window.margin},
            "scales": self.scales,
            "smooth": self.smooth,
            "threshold": self.threshold,
            "lambdas": self.lambdas,
            "notes": self.notes,
        }
        persistence.save(path, header, self.trees.arrays())

    @classmethod
    def default(cls):
        """The detector that comes with the package: people of 100 pixels and more, trained on INRIA Person.

        Its `notes`, and the licence note beside the file, tell the terms of the training data: research use.

        Examples
        --------
        >>> import numpy as np
        >>> detector = PedestrianDetector.default()
        >>> detector.detect(np.zeros((240, 320, 3), dtype=np.uint8)).shape
        (0, 5)
        """
        return cls.load(DEFAULT)

    @classmethod
    def load(cls, path):
        """Read a detector written by `save`; it scores the same, bit for bit.

        Raises
        ------
        ValueError
            Where the file is damaged, of another kind or version, or holds an index or a setting out of range.
        """
        header, arrays = persistence.load(path, KIND)
        try:
            spec = ChannelSpec.parse(header["spec"]["families"], preset=header["spec"]["preset"])
            window = Window(
                **{name: tuple(size) if isinstance(size, list) else size for name, size in header["window"].items()}
            )
            trees = DetectorTrees(**arrays)
            search = Search(spec, window, header["scales"], header["smooth"], header["lambdas"])
            model = cls(
                spec,
                window,
                trees,
                scales=search.per_octave,
                smooth=search.smooth,
                lambdas=search.lambdas,
                threshold=check_number("threshold", header["threshold"]),
                notes=header["notes"],
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path} is not a complete detector: {error}. Save the model again.") from error
        check_trees(trees, window, spec)
        return model


def check_trees(trees, window, spec):
    """Refuse trees of a file that are not whole or look outside of the window; raises ValueError."""
    n_trees, n_nodes = len(trees.rejection), len(trees.child)
    shapes = {"first": (n_trees + 1,), "place": (n_nodes, 3), "bias": (), "rejection": (n_trees,)}
    for name, array in trees.arrays().items():
        kind = "i4" if name in ("first", "place", "child") else "f4"
        if array.shape != shapes.get(name, (n_nodes,)) or array.dtype.str[1:] != kind:
            raise ValueError(f"{name} is {array.dtype} of shape {array.shape}. The file is damaged.")
        if kind == "f4" and np.isnan(array).any():
            raise ValueError(f"{name} holds nan. The file is damaged.")
    sizes = np.diff(trees.first)
    if n_trees == 0 or trees.first[0] != 0 or trees.first[-1] != n_nodes or (sizes < 1).any():
        raise ValueError("The trees do not follow each other. The file is damaged.")
    own = np.arange(n_nodes) - np.repeat(trees.first[:-1], sizes)
    inner = trees.child != 0
    if (trees.child[inner] <= own[inner]).any() or (trees.child[inner] + 1 >= np.repeat(sizes, sizes)[inner]).any():
        raise ValueError("A node is its own ancestor, or a child lies outside of its tree. The file is damaged.")
    for column, (name, upper) in enumerate(
        zip(("row", "column", "channel"), (*window.cells, spec.n_channels), strict=True)
    ):
        persistence.check_index(name, trees.place[:, column], upper)
