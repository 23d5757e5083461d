"""Channels, pyramids and detectors of random presets on odd images: all builds alike, and as their slow twins.

    PYTHONPATH=tests python tests/fuzz/fuzz_channels.py 1000 0

Input k of a seed does not depend on the number of inputs, so that an error is repeated by `check(seed, k)`.
"""

import contextlib
import sys
from collections import Counter
from dataclasses import replace
from importlib import import_module
from unittest import mock

import numpy as np
import reference
import reference_boxes
import reference_channels
import reference_covariance
import reference_lbp
from image_cases import draw_image, draw_radius, draw_spec, pick

from paucens import parallel
from paucens._kernels.builds import chosen
from paucens.detector import PedestrianDetector, Window, cascade, first_stage, scan
from paucens.detector.first_stage import FirstStage
from paucens.detector.scan import Search
from paucens.detector.trees import DetectorTrees
from paucens.features import PRESETS, ChannelSpec, channels, covariance, lbp, pyramid
from paucens.features.covariance import ENTRIES, STATISTICS
from paucens.images import as_bytes, as_rgb
from paucens.parallel import Threads

ONE = Threads(1)
USERS = {  # attributes that hold a build of a kernel
    "channels": [(channels, "kernels")],
    "pooling": [(channels, "pooling"), (pyramid, "kernels")],
    "covariance": [(covariance, "kernels")],
    "lbp": [(lbp, "kernels")],
    "windows": [(module, "kernels") for module in (scan, first_stage, cascade)],
}
WINDOW = Window((16, 16), (12.0, 12.0), 8)


# -- builds ----------------------------------------------------------------------------------------


@contextlib.contextmanager
def using(build):
    """Let every module use one build of the kernels, and cut work into as many blocks as there are threads."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(parallel, "WORTH_A_THREAD", 1))
        for name, users in USERS.items():
            for module, attribute in users:
                stack.enter_context(mock.patch.object(module, attribute, build(name)))
        yield


def baseline(name):
    return import_module(f"paucens._kernels.{name}")


def assert_builds_agree(compute, expected):
    """Compare a result with those of both builds in one, two and three threads, bit for bit."""
    for build in (baseline, chosen):
        with using(build):
            for n_jobs in (1, 2, 3):
                same = np.array_equal(compute(n_jobs), expected)
                assert same, f"{build.__name__} with n_jobs={n_jobs} differs"


# -- channels --------------------------------------------------------------------------------------


def check_channels(rng):
    """Both builds, any layout and a part of a larger array give the same bits; each family is close to its twin."""
    spec, image = draw_spec(rng), draw_image(rng, pick(rng, [6, 20, 20, 70]))
    before, rgb = image.tobytes(), as_rgb(image)
    found = spec.compute(image)
    assert found.shape == (rgb.shape[0] // 4, rgb.shape[1] // 4, spec.n_channels) and found.dtype == np.float32
    assert np.isfinite(found).all(), "not finite"
    assert image.tobytes() == before, "the image was changed"
    assert_builds_agree(lambda n_jobs: spec.compute(rgb, n_jobs=n_jobs), found)
    strips = np.full((found.shape[0] + 2, spec.n_channels + 3, found.shape[1] + 3), -7, dtype=np.float32)
    inside = strips[1:-1, 2:-1, 1:-2]
    spec.fill(rgb, spec.families, ONE, inside)
    np.testing.assert_array_equal(np.moveaxis(inside, 1, 2), found)
    inside[:] = -7
    assert (strips == -7).all(), "wrote beyond its part"
    for family, part in spec.groups.items():
        compare(family, spec.preset, rgb, found[..., part])


def compare(family, preset, rgb, found):
    """Compare a family with its twin, which gets the planes of the package: their rounding decides about ties."""
    rgb = np.ascontiguousarray(rgb[: rgb.shape[0] // 4 * 4, : rgb.shape[1] // 4 * 4])
    if not found.size or max(rgb.shape) > (20 if family.endswith("LBP") else 44):  # twins are slow
        return
    if family in ("LUV", "M", "O"):
        compare_simple(family, preset, rgb, found)
        return
    planes = channels.luv(rgb, ONE, table=preset.lightness_table)[: 3 if preset.colours else 1]
    exact = reference_channels.luv(unit(rgb), preset.lightness_table)[: len(planes)]
    np.testing.assert_allclose(planes, exact, atol=1e-2 if preset.lightness_table else 2e-6)
    if family.endswith("LBP"):
        expected, error, share = lbp_twin(planes[0], preset.lbp, family == "spLBP"), 1e-6, 0
    else:
        smoothed = channels.smooth_planes(planes, preset.smooth_intensity, ONE)
        exact = [reference_channels.smooth(plane, preset.smooth_intensity) for plane in planes]
        np.testing.assert_allclose(smoothed, exact, atol=1e-6)
        # Rounding decides whether a tiny variance counts, and blurs correlations of nearly flat patches.
        expected, error, share = covariance_twin(smoothed, preset.covariance, family == "spCov"), 2e-4, 0.02
    for k in range(expected.shape[2]):
        expected[..., k] = reference_channels.smooth(expected[..., k], preset.smooth_pooled)
    far = np.abs(found - expected) > error
    assert far.mean() <= share, f"{family}: {far.mean():.2g} of the values differ by more than {error}"


def unit(rgb):
    return rgb / np.float32(255) if rgb.dtype == np.uint8 else rgb


def compare_simple(family, preset, rgb, found):
    """L, U, V and M are close; a direction that rounding decides puts a share into other orientations."""
    radii = preset.smooth_luv, preset.smooth_channels
    expected = reference_channels.acf(unit(rgb), *radii, preset.lightness_table)
    part = {"LUV": slice(3), "M": slice(3, 4), "O": slice(4, 10)}[family]
    error = {"LUV": 1e-5, "M": 5e-4, "O": 5e-2}[family]
    if not preset.lightness_table:  # else rounding decides which entry of the table is taken
        far = np.abs(found - expected[..., part]) > error
        assert far.mean() <= (0.05 if family == "O" else 0), f"{family}: {np.abs(found - expected[..., part]).max()}"
    if family == "O":
        whole = ChannelSpec.parse("M", preset=replace(preset, families=("M",))).compute(rgb)
        np.testing.assert_allclose(found.sum(axis=2), whole[..., 0], rtol=1e-5, atol=1e-6)


def lbp_twin(plane, form, pooled):
    labels = reference_lbp.label_pixels(plane, lbp.UNIFORM)
    if form == "histograms":
        cells = reference_lbp.histogram_cells(labels)
        return np.dstack([cells, reference_lbp.pool_cells(cells)] if pooled else [cells])
    return np.dstack([reference_lbp.pool_patches(labels, patch, pooled) for patch in lbp.PATCH_SIZES])


def covariance_twin(planes, rule, pooled):
    shape, statistics = (planes.shape[1] // 4, planes.shape[2] // 4), reference_covariance.statistics(planes)
    ridge = np.array([rule.orientation_ridge if "O" in name else rule.ridge for name in STATISTICS])
    parts = [reference_covariance.pool(statistics, 0, shape, True, False, False)]
    for size in rule.patch_sizes:
        if min(planes.shape[1:]) < size:
            parts.append(np.zeros((*shape, len(ENTRIES))))
            continue
        patches = reference_covariance.patch_covariances(statistics, size, np.full(7, rule.min_variance), ridge)
        clipped, centred = pooled and rule.clip_negatives, rule.centred and size > 4
        parts.append(reference_covariance.pool(patches, size, shape, pooled, centred, clipped))
    return np.concatenate(parts, axis=-1)


# -- pyramids --------------------------------------------------------------------------------------


def check_pyramid(rng):
    """Levels are the channels of the resampled image, or resampled channels."""
    spec, image = ChannelSpec.parse(pick(rng, ["LUV", "M", "LUV+O", "M+Cov"]), "paper"), draw_image(rng, 70)
    rgb = as_bytes(image)
    options = {
        "per_octave": pick(rng, [1, 2, 3, 8, 1.5]),
        "octaves_up": pick(rng, [0, 0, 0.5, 1, -0.5]),
        "min_shape": pick(rng, [(1, 1), (16, 16), (30.5, 12)]),
        "n_approximated": pick(rng, [0, 0, 1, 3]),
        "lambdas": dict.fromkeys(spec.groups, 0.3),
    }

    def flat(n_jobs):
        return np.concatenate(
            [np.zeros(0)]
            + [level.channels.ravel() for level in pyramid.channel_pyramid(image, spec, **options, n_jobs=n_jobs)]
        )

    assert_builds_agree(flat, flat(1))
    levels = list(pyramid.channel_pyramid(image, spec, **options))
    step, computed = options["n_approximated"] + 1, {}
    for k, level in enumerate(levels):
        assert level.channels.shape[:2] == tuple(side // 4 for side in level.shape)
        pixels = pyramid.level_pixels(rgb, level.shape, ONE)
        exact = reference_channels.resize(rgb, level.shape)
        np.testing.assert_allclose(pixels, exact, atol=0.501)
        if k % step == 0:
            computed[k] = level
            np.testing.assert_array_equal(level.channels, spec.compute(pixels))
    for k, level in enumerate(levels):
        source = computed[min(computed, key=lambda index, k=k: (abs(index - k), index))]
        gain = (level.scale / source.scale) ** -0.3
        if level is not source:
            expected = reference_channels.resize(source.channels, level.channels.shape[:2]) * gain
            np.testing.assert_allclose(level.channels, expected, rtol=1e-4, atol=1e-5)


# -- detectors -------------------------------------------------------------------------------------


def draw_trees(rng, spec, image):
    """Draw stumps and trees of depth two on values that do not depend on anything outside the crop of a window."""
    places, n = WINDOW.features(spec), int(rng.integers(1, 30))
    values = spec.compute(image).ravel() if min(image.shape[:2]) >= 4 else np.zeros(1)
    first, child = [0], []
    for _ in range(n):
        child += pick(rng, [[1, 0, 0], [0], [1, 3, 0, 0, 0]])
        first.append(len(child))
    child = np.array(child, dtype=np.int32)
    place = np.where(child[:, None] > 0, places[rng.integers(len(places), size=len(child))], 0)
    rejection = np.where(rng.random(n) < 0.3, rng.normal(size=n) - 1, -np.inf)
    return DetectorTrees(
        first=np.array(first, dtype=np.int32),
        place=place.astype(np.int32),
        threshold=rng.choice(values, size=len(child)).astype(np.float32),
        child=child,
        value=rng.normal(size=len(child)).astype(np.float32),
        rejection=rejection.astype(np.float32),
        bias=np.float32(rng.normal()),
    )


def check_detector(rng):
    """The boxes are those of a slow search, whatever the build, and stages change none."""
    spec = ChannelSpec.parse(pick(rng, ["LUV", "M+LUV", "LUV+O"]), replace(PRESETS["acf"], smooth_channels=0.0))
    image = draw_image(rng, 60)
    rgb = as_bytes(image)
    search = Search(spec, replace(WINDOW, inside=bool(rng.integers(2))), int(rng.integers(1, 4)), draw_radius(rng))
    detector = PedestrianDetector(search, draw_trees(rng, spec, rgb))
    least = pick(rng, [None, None, 8, 11.5])
    largest = pick(rng, [None, None, None, 12.0, (least or 12) * 1.01, 20])
    options = {"threshold": pick(rng, [-np.inf, 0.0, 0.5]), "min_height": least, "max_height": largest}
    boxes = detector.detect(image, **options)
    assert_builds_agree(lambda n_jobs: detector.detect(image, **options, n_jobs=n_jobs), boxes)
    np.testing.assert_allclose(boxes, slow_boxes(detector, rgb, **options), rtol=1e-12)
    if len(spec.families) > 1:
        staged = replace(detector, first_stage=FirstStage((pick(rng, spec.families),)))
        np.testing.assert_array_equal(staged.detect(image, **options), boxes, "of two stages")


def slow_boxes(detector, rgb, threshold, min_height, max_height):
    """Score window after window, tree after tree, and suppress box by box."""
    search, trees, found = detector.search, detector.trees, [np.empty((0, 5))]
    down, across = search.window.overhang
    for level in search.levels(rgb.shape[:2], min_height, max_height):
        pixels = pyramid.level_pixels(rgb, level.shape, ONE, search.smooth, search.window.padding)
        margin = search.window.margin // 4
        strips = np.moveaxis(search.spec.compute(pixels), 2, 1)
        strips = np.ascontiguousarray(strips[margin : len(strips) - margin, :, margin : strips.shape[2] - margin])
        shape = tuple(max(side - cells + 1, 0) for side, cells in zip(strips.shape[::2], (4, 4), strict=True))
        sums = reference.partial_sums(strips, *trees.layout(strips.shape[1])[:6], trees.bias, shape)
        alive = (sums > trees.rejection).all(axis=2) & (sums[..., -1] > threshold)
        for row, column in np.argwhere(alive):
            corner = 4 * column - across + 2, 4 * row - down + 2  # the object is 2 pixels from the border of the window
            x, y, width, height = np.array([*corner, 12, 12]) / np.tile(level.ratio[::-1], 2)
            inside = min(max(height, min_height or 0), max_height or np.inf)
            found.append([[x, y + (height - inside) / 2, width, inside, sums[row, column, -1]]])
    boxes = np.concatenate(found)
    boxes = boxes[np.argsort(-boxes[:, 4], kind="stable")]
    leader = reference_boxes.suppress(boxes, 0.65, "smaller")
    return boxes[np.array(leader, dtype=int) == np.arange(len(boxes))]


# -- the loop --------------------------------------------------------------------------------------

CHECKS = (check_channels, check_channels, check_pyramid, check_detector)


def check(seed, k):
    """Check input k of a seed; return the name of the check, or raise AssertionError."""
    what = CHECKS[k % len(CHECKS)]
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            what(np.random.default_rng([seed, k]))
    except Exception as error:
        raise AssertionError(f"seed {seed}, input {k}, {what.__name__}: {error!r}") from error
    return what.__name__


def run(n_inputs, seed):
    """Check drawn images; raise AssertionError at the first that is not as it should be.

    Returns
    -------
    counts : Counter
        Number of inputs of each check.
    """
    return Counter(check(seed, k) for k in range(n_inputs))


if __name__ == "__main__":
    print(dict(run(*map(int, sys.argv[1:]))))
