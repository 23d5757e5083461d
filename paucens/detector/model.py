"""A trained detector: images in, boxes out."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from paucens import persistence
from paucens._types import PathLike
from paucens.detector.bands import windows_where
from paucens.detector.files import KIND, attributes_of_file, header_and_arrays
from paucens.detector.first_stage import FirstStage, check_first_stage, two_stages
from paucens.detector.scan import Search
from paucens.detector.suppression import non_maximum_suppression
from paucens.detector.toolbox import attributes_of_toolbox
from paucens.detector.trees import DetectorTrees, floats_at_most
from paucens.detector.window import with_heights
from paucens.features import estimate_lambdas
from paucens.features.motion import frame, frame_at, rgb_of
from paucens.images import check_sources
from paucens.parallel import Threads
from paucens.proposals import Bing
from paucens.validation import check_flag, check_jobs, check_number, check_positive

if TYPE_CHECKING:
    from paucens.detector.window import Window
    from paucens.features.levels import Level
    from paucens.features.spec import ChannelSpec

DEFAULT = Path(__file__).parent / "weights" / "pedestrian.npz"
PARTS = {"search": Search, "trees": DetectorTrees, "first_stage": FirstStage | None, "proposals": Bing | None}


@dataclass(eq=False, repr=False)
class PedestrianDetector:
    """Find upright people in images; made by `train_detector`, `load` or `default`.

    Attributes
    ----------
    search : Search
        The windows that are looked at, and their channels.
    trees : DetectorTrees
        The trees that score the windows.
    threshold : float, default=0.0
        Detections score above it, unless `detect` is given another one.
    notes : dict
        Where the model comes from: training data, their terms, settings.
    first_stage : FirstStage or None, default=None
        What all windows go through before channels other than its own are computed (`with_first_stage`).
    proposals : Bing or None, default=None
        Discards windows by their gradients before anything else (`paucens.proposals.train_bing`).

    Notes
    -----
    An image is enlarged by its own border before it is searched, so that people at the border are found; a box may
    leave the image. Levels whose channels take more than 256 MB are searched in bands of rows. Memory stays below three
    times that, beside the image and its copy at the size that is searched.

    Variations are made by `dataclasses.replace`, for example a detector that scores every window by all trees:
    `replace(detector, trees=detector.trees.without_rejection())`.

    Examples
    --------
    >>> from paucens.datasets import synthetic_streets
    >>> scene = synthetic_streets(1)[0].image
    >>> PedestrianDetector.default().detect(scene, threshold=-5).shape[1]
    5
    """

    search: Search
    trees: DetectorTrees
    threshold: float = 0.0
    notes: dict[str, Any] = field(default_factory=dict)
    first_stage: FirstStage | None = None
    proposals: Bing | None = None

    def __post_init__(self) -> None:
        for name, kind in PARTS.items():
            part = getattr(self, name)
            if not isinstance(part, kind):
                raise TypeError(
                    f"{name} of a detector must be {getattr(kind, '__name__', kind)}; got {part!r:.100}. "
                    "`train_detector`, `PedestrianDetector.load` and `PedestrianDetector.default` make detectors."
                )
        self.notes = dict(self.notes)
        if self.proposals is not None:
            self.proposals.check_search(self.search)
        if self.first_stage is not None:
            check_first_stage(self.first_stage, self.search)

    def __repr__(self) -> str:
        return f"<PedestrianDetector of {len(self.trees.rejection)} trees on {self.spec}>"

    @property
    def spec(self) -> "ChannelSpec":
        """The channels, a ChannelSpec."""
        return self.search.spec

    @property
    def window(self) -> "Window":
        """The sliding window and the box in it, a Window."""
        return self.search.window

    @property
    def scales(self) -> int:
        """Number of sizes per factor of two at which an image is searched."""
        return self.search.per_octave

    @property
    def smooth(self) -> float:
        """Radius of the triangle filter that smooths every size before it is searched."""
        return self.search.smooth

    @property
    def lambdas(self) -> dict[str, float] | None:
        """Power laws of the channels of a detector that `approximated` made, otherwise None."""
        return self.search.lambdas

    def detect(
        self,
        image: Any,
        *,
        threshold: float | None = None,
        min_height: float | None = None,
        max_height: float | None = None,
        previous: Any = None,
        n_jobs: int | None = None,
    ) -> np.ndarray:
        """Find people.

        Parameters
        ----------
        image : array-like or PIL image
            RGB, uint8 of shape (height, width, 3) or float in [0, 1]; or grey, of shape (height, width). Floats are
            rounded to bytes (`paucens.images.as_bytes`).
        threshold : float, optional
            Detections score above it. Default: `self.threshold`.
        min_height, max_height : float, optional
            Heights of the people to look for, in pixels. Default: from the height that the model was trained for to the
            height of the image. The image is enlarged if `min_height` is below the model's height. The image is
            searched at whole cells, so sizes are a little off; a box whose height leaves the range that is asked for
            gets the nearest height in it, around its middle. At least one size is searched.
        previous : array-like or PIL image, or ndarray of shape (height, width, 2), optional
            The image before, of the same size; or the flow to it in pixels across and down, float, if another program
            has found it. A detector with Flow among its channels needs one of them; others do not look at it.
        n_jobs : int, optional
            Number of threads, as in joblib. Results do not depend on it.

        Returns
        -------
        boxes : ndarray of shape (k, 5), float64
            x, y, w, h, score, in continuous pixels from 0, best first.

        Raises
        ------
        TypeError, ValueError
            If the argument is not an image (`paucens.images.as_bytes`), the threshold is nan, a height is not positive,
            no height lies between the two, or the image would be enlarged beyond 400 million pixels; if `previous` is
            missing or of another size.
        ImportError
            If flow is to be computed, and OpenCV is not installed.
        """
        heights = self.window.checked_heights(min_height, max_height)
        threshold = check_number("threshold", self.threshold if threshold is None else threshold)
        return self._found(frame(self.spec, image, previous), threshold, heights, check_jobs(n_jobs))

    def _found(self, pixels, threshold, heights, n_jobs):
        """Return what `detect` does, from the pixels of an image by `paucens.features.motion.frame`."""
        levels = self.search.levels(pixels.shape[:2], *heights)
        with Threads(n_jobs) as threads:
            boxes, _ = self.candidates(pixels, levels, floats_at_most(threshold), threads)
        return non_maximum_suppression(with_heights(boxes, *heights))

    def candidates(
        self, pixels: np.ndarray, levels: "list[Level]", threshold: float, threads: Threads
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find all windows that score above a threshold, without suppression.

        Parameters
        ----------
        pixels : ndarray
            Of the image, by `paucens.features.motion.frame`.
        levels : list of Level
            From `search.levels`.
        threshold : float
        threads : paucens.parallel.Threads

        Returns
        -------
        boxes : ndarray of shape (k, 5), float64
            As returned by `detect`, but level by level and row by row.
        windows : ndarray of shape (k, 3), int64
            Index of the level in the list, row and column of the window in the grid of the level.
        """
        boxes, windows = [np.empty((0, 5))], [np.empty((0, 3), dtype=np.int64)]
        for k, cells, scores in self._scored(pixels, levels, threshold, threads):
            boxes.append(np.column_stack([self.window.boxes(cells, levels[k].ratio), scores]))
            windows.append(np.column_stack([np.full(len(cells), k), cells]))
        return np.concatenate(boxes), np.concatenate(windows)

    def _scored(self, pixels, levels, threshold, threads):
        """Yield level, windows and scores above a threshold; see `TwoStages.scored`."""
        if self.first_stage is not None:
            stages = two_stages(self.search, self.trees, self.first_stage)
            yield from stages.scored(pixels, levels, threshold, self.first_sums, threads)
            return

        def scored(k, band, threads):
            start = self.first_sums(band, self.trees.bias, threads)
            if start is not None and not (start > -np.inf).any():
                return k, np.empty((0, 2), dtype=np.int64), np.empty(0)
            scores = self.search.scores(band, self.trees, threads, start)
            windows = windows_where(scores > threshold)
            return k, windows + np.array([band.first_row, 0]), scores[tuple(windows.T)]

        yield from self.search.over_bands(scored, pixels, levels, threads)

    def first_sums(self, band: Any, bias: float, threads: Threads) -> np.ndarray | None:
        """Return the sums that windows of a band start from: the bias, or -inf for windows that are not proposed.

        None without proposals, which means the bias for all; see `Search.scores`.
        """
        if self.proposals is None:
            return None
        height = self.window.height_in_image(band.level.ratio)
        passes = self.proposals.passes(rgb_of(band.pixels), band.shape, self.window.margin, height, threads)
        return np.where(passes, np.float32(bias), np.float32(-np.inf))

    def with_first_stage(self, detector: "PedestrianDetector", *, within: float = np.inf) -> "PedestrianDetector":
        """Return this detector behind another one, which looks at fewer channels and rejects most windows.

        Parameters
        ----------
        detector : PedestrianDetector
            Searches the same windows at the same sizes, on some families of the channels of this one. It rejects by
            its soft cascade; its threshold does not matter.
        within : float, default=inf
            Of windows that overlap as in non-maximum suppression, only those go on whose score in the other detector is
            within this distance of the best one.

        Returns
        -------
        detector : PedestrianDetector
            Windows that the other one leaves have the score of this one, bit for bit. The remaining channels are
            computed around them only.

        Raises
        ------
        ValueError
            If the two do not search the same windows, or the other one needs channels that this one lacks.
        """
        spec = self.spec.restricted(detector.spec.families)
        if detector.search != replace(self.search, spec=spec):
            raise ValueError(
                f"The first stage must search the same windows at the same sizes, on some channels of {self.spec}; it "
                f"has {detector.search}, and this detector {self.search}."
            )
        return replace(self, first_stage=FirstStage(spec.families, detector.trees, within))

    def without_stages(self) -> Self:
        """Return a detector that computes all channels for all windows, as when hard negatives are mined."""
        return replace(self, first_stage=None, proposals=None)

    def approximated(self, images: Sequence[Any], n_jobs: int | None = None) -> "PedestrianDetector":
        """Return a detector that computes channels for one size per octave and resamples them for the others.

        Parameters
        ----------
        images : list of images, or of pairs (image, previous) for a detector with Flow
            Typical images, tens to hundreds, from which the power laws of the channels are estimated
            (`paucens.features.estimate_lambdas`). Their shorter side is at least 64 pixels.
        n_jobs : int, optional
            Number of threads, as in joblib. Results do not depend on it.

        Returns
        -------
        detector : PedestrianDetector

        Notes
        -----
        Meant for M, O and LUV. The scan takes as long as before, and for so few channels that is most of the time
        (tests/benchmarks/test_detector_speed.py). A level is one band, whatever its size, so memory grows with the
        image.
        """
        lambdas = estimate_lambdas(images, self.spec, n_jobs=n_jobs)
        return replace(self.without_stages(), search=replace(self.search, lambdas=lambdas))

    def threshold_at_fppi(
        self, images: Sequence[Any], fppi: float = 0.1, *, staged: bool = False, n_jobs: int | None = None
    ) -> float:
        """Find the least threshold with at most so many false positives per image, on images without people.

        People bring false positives of their own, doubles and parts of them, so that there are more per image with
        people. `Matches.threshold_at` of `paucens.evaluation` finds the threshold on annotated images.

        Parameters
        ----------
        images : list of images or of files, or of pairs (image, previous) of them for a detector with Flow
            Images without people, as many and as similar to future ones as possible.
        fppi : float, default=0.1
            False positives per image; at least 1 / fppi images are needed.
        staged : bool, default=False
            Whether the first stage may reject windows. By default all windows get a score, so that the threshold does
            not depend on the stages.
        n_jobs : int, optional
            Number of threads, as in joblib. Results do not depend on it.

        Returns
        -------
        threshold : float
            For `detect` or the attribute `threshold`; the lowest score of all if there are too few false positives.

        Raises
        ------
        ValueError
            If there are too few images, or no window of any image gets through all trees.
        """
        check_sources("images", images)
        fppi = check_positive("fppi", fppi)
        allowed = np.floor(fppi * len(images) + 1e-9)
        if allowed < 1:
            raise ValueError(
                f"{len(images)} images are too few to measure {fppi:g} false positives per image; give "
                f"{np.ceil(1 / fppi):.10g} or more."
            )
        detector = self if check_flag("staged", staged) else self.without_stages()
        n_jobs, heights = check_jobs(n_jobs), (None, None)
        frames = (frame_at("images", images, k, self.spec) for k in range(len(images)))
        found = [detector._found(pixels, -np.inf, heights, n_jobs)[:, 4] for pixels in frames]
        scores = np.sort(np.concatenate(found))[::-1]
        if len(scores) == 0:
            raise ValueError(
                f"No window of {len(images)} images gets through all trees, so no score corresponds to "
                f"{fppi:g} false positives per image; give larger images, or more."
            )
        return float(scores[int(min(allowed, len(scores) - 1))])

    # -- files -------------------------------------------------------------------------------------

    def save(self, path: PathLike) -> None:
        """Write the detector to one `.npz` file, without pickle.

        Parameters
        ----------
        path : path-like
            The file is written exactly there, completely or not at all: "model" gets no suffix, an existing file is
            replaced, and a link is followed.

        Raises
        ------
        ValueError, TypeError
            If the threshold is nan, or the notes are not JSON values.
        OSError
            If the folder is missing or cannot be written to, or the disk is full.
        """
        persistence.save(path, *header_and_arrays(self))

    @classmethod
    def default(cls) -> Self:
        """Load the detector that comes with the package: people of 100 pixels and more, trained on INRIA Person.

        Its `notes`, and the licence note beside the file, state the terms of the training data: research use.

        Examples
        --------
        >>> import numpy as np
        >>> detector = PedestrianDetector.default()
        >>> detector.detect(np.zeros((240, 320, 3), dtype=np.uint8)).shape
        (0, 5)
        """
        return cls.load(DEFAULT)

    @classmethod
    def load(cls, path: PathLike) -> Self:
        """Read a detector written by `save`; it scores the same, bit for bit.

        Parameters
        ----------
        path : path-like

        Returns
        -------
        detector : PedestrianDetector

        Raises
        ------
        ValueError
            If the file is damaged, of another kind or version, or holds a number or a setting that is out of range. The
            message names the file.
        OSError
            If it does not exist or cannot be read.
        """
        with persistence.opened(path, KIND) as (header, arrays):
            return cls(**attributes_of_file(header, arrays))

    @classmethod
    def from_toolbox(cls, path: PathLike) -> "PedestrianDetector":
        """Read a detector of Dollar's toolbox, ACF or LDCF.

        Parameters
        ----------
        path : path-like
            A `.mat` file with a variable "detector", as `acfTrain` writes it; it may be gzipped.

        Returns
        -------
        detector : PedestrianDetector
            It searches and scores as `acfDetect` does: pyramid, channels, filters, constant cascade. Boxes count pixels
            from 0. Their width and height follow from the sides of a level in whole cells; those of the toolbox follow
            from its scale, which differs by up to a quarter of a cell per side of the level.

        Raises
        ------
        ValueError
            If the file is damaged or of another kind, or has a setting that is not supported. The message names the
            file.
        OSError
            If it does not exist or cannot be read.

        Examples
        --------
        >>> detector = PedestrianDetector.from_toolbox("models/AcfInriaDetector.mat")  # doctest: +SKIP
        >>> detector  # doctest: +SKIP
        <PedestrianDetector of 2048 trees on LUV+M+O (toolbox)>
        """
        return cls(**attributes_of_toolbox(path))
