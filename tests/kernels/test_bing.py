"""The kernels of BING against their twins, to the bit, in both builds and however the rows are divided."""

import importlib
import itertools

import numpy as np
import pytest
import reference_bing as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from paucens._kernels.cpu import has_avx2

BUILDS = ["paucens._kernels.bing"]
if has_avx2() and importlib.util.find_spec("paucens._kernels.avx2.bing"):
    BUILDS.append("paucens._kernels.avx2.bing")
both_builds = pytest.mark.parametrize("build", BUILDS)
quick = settings(deadline=None, max_examples=40, derandomize=True)
seeds, steps, pieces = st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 3)
contrasts = st.sampled_from([2, 32, 256])


def run(build, name, arguments, make_scratch, out, n_pieces):
    """Call a kernel on rows of `out`, cut into pieces; inputs are read-only."""
    kernel = getattr(importlib.import_module(build), name)
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            argument.flags.writeable = False
    edges = np.linspace(0, len(out), n_pieces + 1).astype(int)
    for start, stop in itertools.pairwise(edges):
        kernel(*arguments, make_scratch(), out, start, stop)
    return out


def random_bytes(random, shape, contrast):
    return random.integers(contrast, size=shape).astype(np.uint8)


@both_builds
@given(seed=seeds, height=st.integers(0, 21), width=st.integers(4, 90), contrast=contrasts, n_pieces=pieces)
@quick
def test_sum_cells(build, seed, height, width, contrast, n_pieces):
    pixels = 255 - random_bytes(np.random.default_rng(seed), (height, width, 3), contrast)
    sums = np.empty((height // 4, 3, width // 4), dtype=np.uint16)
    run(build, "sum_cells", [pixels], lambda: np.empty(3 * width, dtype=np.uint16), sums, n_pieces)
    np.testing.assert_array_equal(sums, reference.sum_cells(pixels))


@both_builds
@given(seed=seeds, step=steps, rows=st.integers(1, 5), columns=st.integers(1, 70), n_pieces=pieces)
@quick
def test_average_boxes(build, seed, step, rows, columns, n_pieces):
    random = np.random.default_rng(seed)
    sums = random.integers(16 * 255 + 1, size=(rows + step - 1, 3, columns + step - 1)).astype(np.uint16)
    sums[random.random(sums.shape) < 0.5] = 16 * 255
    averages = np.empty((rows, 3, columns), dtype=np.uint8)
    run(build, "average_boxes", [sums, step], lambda: np.empty(columns + step, dtype=np.uint16), averages, n_pieces)
    np.testing.assert_array_equal(averages, reference.average_boxes(sums, step))


@pytest.mark.parametrize("step", [1, 2, 3, 4])
@both_builds
def test_single_precision_rounds_all_sums_as_integers_do(build, step):
    n_cells = step**2
    totals = np.arange(16 * 255 * n_cells + 1)
    cells = totals // n_cells + (np.arange(n_cells)[:, None] < totals % n_cells)  # (n_cells, n): their sum is the total
    rows = cells.reshape(step, step, -1).transpose(0, 2, 1).reshape(step, 1, -1)
    sums = np.ascontiguousarray(np.broadcast_to(rows, (step, 3, rows.shape[2])).astype(np.uint16))
    averages = np.empty((1, 3, rows.shape[2] - step + 1), dtype=np.uint8)
    run(build, "average_boxes", [sums, step], lambda: np.empty(sums.shape[2], dtype=np.uint16), averages, 1)
    expected = (totals + 8 * n_cells) // (16 * n_cells)
    np.testing.assert_array_equal(averages[0, :, ::step], np.broadcast_to(expected, (3, len(totals))))


@both_builds
@given(seed=seeds, step=steps, rows=st.integers(1, 12), columns=st.integers(1, 70), contrast=contrasts, n_pieces=pieces)
@quick
def test_normed_gradients(build, seed, step, rows, columns, contrast, n_pieces):
    averages = random_bytes(np.random.default_rng(seed), (rows, 3, columns), contrast)
    gradients = np.empty((rows, columns), dtype=np.uint8)
    scratch = 3 * (columns + 2 * step)
    run(build, "normed_gradients", [averages, step], lambda: np.empty(scratch, dtype=np.uint8), gradients, n_pieces)
    np.testing.assert_array_equal(gradients, reference.normed_gradients(averages, step))


def windows(seed, step, rows, columns, contrast):
    """Return a generator and the gradients of a grid of windows, cut out of a larger array."""
    random = np.random.default_rng(seed)
    shape = (rows + 15 * step + 2, columns + 7 * step + 3)
    return random, random_bytes(random, shape, contrast)[2:, 3:]


@both_builds
@given(seed=seeds, step=steps, rows=st.integers(1, 9), columns=st.integers(1, 40), contrast=contrasts, n_pieces=pieces)
@quick
def test_pack_words(build, seed, step, rows, columns, contrast, n_pieces):
    _, gradients = windows(seed, step, rows, columns, contrast)
    words = np.empty((rows + 8 * step, 4, columns), dtype=np.uint64)
    scratch = (2, columns + 7 * step)
    run(build, "pack_words", [gradients, step], lambda: np.empty(scratch, dtype=np.uint8), words, n_pieces)
    np.testing.assert_array_equal(words, reference.pack_words(gradients, step))


@both_builds
@given(seed=seeds, step=steps, rows=st.integers(1, 3), columns=st.integers(1, 40), normalised=st.booleans())
@quick
def test_score_gradients(build, seed, step, rows, columns, normalised):
    random, gradients = windows(seed, step, rows, columns, 256)
    weights = random.normal(size=(16, 8)).astype(np.float32)
    scores = np.empty((rows, columns), dtype=np.float32)
    arguments = [gradients, weights, normalised, step]
    run(build, "score_gradients", arguments, lambda: np.empty(columns, dtype=np.int32), scores, 2)
    np.testing.assert_array_equal(scores, reference.score_gradients(gradients, weights, normalised, step))


@both_builds
@given(
    seed=seeds,
    step=steps,
    rows=st.integers(1, 3),
    columns=st.integers(1, 40),
    n_bases=st.integers(0, 3),
    normalised=st.booleans(),
    full=st.booleans(),
)
@quick
def test_score_words(build, seed, step, rows, columns, n_bases, normalised, full):
    random = np.random.default_rng(seed)
    words, bases = (
        random.integers(2**64, size=shape, dtype=np.uint64) for shape in ((rows + 8 * step, 4, columns), (n_bases, 2))
    )
    if full:  # the largest counts
        words, bases = words | ~np.uint64(0), bases | ~np.uint64(0)
    coefficients = random.random(n_bases).astype(np.float32)
    scores = np.empty((rows, columns), dtype=np.float32)
    arguments = [words, bases, coefficients, normalised, step]
    run(build, "score_words", arguments, lambda: np.empty((2, columns), dtype=np.int32), scores, 2)
    expected = reference.score_words(words, bases, coefficients, normalised, step)
    np.testing.assert_array_equal(scores, expected)
