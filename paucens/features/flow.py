"""Motion: dense optical flow between two images, and orientation histograms of flow differences.

The flow is computed by OpenCV (the extra `opencv`); the channels are computed from any flow.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from paucens._kernels import flow as kernels
from paucens.features.channels import CELL
from paucens.features.opencv import from_opencv
from paucens.images import as_bytes

if TYPE_CHECKING:
    from paucens.parallel import Threads

LARGEST = 20.0  # pixels: flow is clipped to +-LARGEST and divided by it
OFFSETS = ("below", "right", "diagonal")  # by a cell
N_BINS = 6
STEPS_PER_PIXEL = 50  # and direction, in the inner steps that `Threads.run` counts


def dense_flow(first: Any, second: Any) -> np.ndarray:
    """Estimate where each pixel of the first image has moved to in the second.

    Parameters
    ----------
    first, second : array-like or PIL image
        RGB or grey images of the same size, see `paucens.images.as_bytes`.

    Returns
    -------
    flow : ndarray of shape (height, width, 2), float32
        Displacement across and down, in pixels.

    Raises
    ------
    ImportError
        If OpenCV is not installed.
    ValueError
        If the images differ in size or have a side below 16 pixels.

    Notes
    -----
    This is OpenCV's dense inverse search (Kroeger, Timofte, Dai and Van Gool, ECCV 2016), preset medium. It is in
    OpenCV's main modules, and both faster and more accurate than Farneback's flow there: on a photograph that moves by
    (-2, 3) pixels (`tests/benchmarks/test_flow_speed.py`), it is off by 0.11 pixels on average and Farneback's by 1.05,
    in 0.6 of the time. The authors' release uses Liu's program of 2009.
    """
    create = from_opencv("DISOpticalFlow_create")
    to_grey, code = from_opencv("cvtColor"), from_opencv("COLOR_RGB2GRAY")
    first, second = (to_grey(as_bytes(image), code) for image in (first, second))
    if first.shape != second.shape or min(first.shape) < 16:
        raise ValueError(
            f"the images have {first.shape[0]} x {first.shape[1]} and {second.shape[0]} x {second.shape[1]} pixels; "
            "expected the same size, at least 16 x 16. Crop or resize one to the other's."
        )
    return create(from_opencv("DISOPTICAL_FLOW_PRESET_MEDIUM")).calc(first, second, None)


def flow_channels(flow: np.ndarray, threads: "Threads", out: np.ndarray) -> np.ndarray:
    """Compute orientation histograms of differences of the flow between neighbouring cells.

    Parameters
    ----------
    flow : ndarray of shape (height, width, 2)
        Displacement across and down, in pixels. Pixels beyond whole cells of 4 x 4 pixels are left out.
    threads : paucens.parallel.Threads
    out : ndarray of shape (height // 4, width // 4, 18), float32
        Written; `flow_names` lists the names of the channels.

    Notes
    -----
    As in the authors' release, except for its last smoothing. The flow is clipped to +-20 pixels and divided by 20. At
    each pixel it is subtracted from the flow 4 pixels below, right, and below right (0 outside the image). The
    magnitude of the difference is shared between the two nearest of six directions, 0, 60, .. 300 degrees from right
    through down. A channel is the mean over a cell. The release leaves its last channel at 0 by mistake.
    """
    rows, cols = out.shape[:2]
    flow = np.ascontiguousarray(flow[: CELL * rows, : CELL * cols], dtype=np.float32)

    def kernel(start, stop):
        kernels.bin_differences(flow, LARGEST, out, start, stop)

    if out.size:
        threads.run(kernel, rows, STEPS_PER_PIXEL * flow.size)


def flow_names() -> list:
    """Name the channels; "flow right 60" means differences to the right that point 60 degrees below right.

    Examples
    --------
    >>> names = flow_names()
    >>> len(names), names[0], names[7]
    (18, 'flow below 0', 'flow right 60')
    """
    return [f"flow {where} {k * 360 // N_BINS}" for where in OFFSETS for k in range(N_BINS)]


def flow_supports() -> np.ndarray:
    """Return the supports of the channels (see `ChannelSpec`) in pixels of the flow.

    The flow of a pixel depends on pixels around it in turn, without a fixed bound. So a detector computes it once for a
    whole image, and cuts and resamples the flow together with the pixels.
    """
    return np.tile([0, 2 * CELL], (len(OFFSETS) * N_BINS, 1))
