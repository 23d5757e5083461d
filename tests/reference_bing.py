"""Slow twins of the kernels of BING, in plain NumPy: same names, results returned instead of written."""

import numpy as np

WINDOW = (16, 8)


def sum_cells(pixels):
    rows, columns = pixels.shape[0] // 4, pixels.shape[1] // 4
    cells = pixels[: 4 * rows, : 4 * columns].reshape(rows, 4, columns, 4, 3).astype(int)
    return cells.sum(axis=(1, 3)).transpose(0, 2, 1)


def average_boxes(sums, step):
    boxes = np.lib.stride_tricks.sliding_window_view(sums, (step, step), axis=(0, 2)).sum(axis=(3, 4), dtype=int)
    area = 16 * step**2
    return (boxes + area // 2) // area


def normed_gradients(averages, step):
    rows, _, columns = averages.shape
    out = np.empty((rows, columns), dtype=int)
    for y, x in np.ndindex(rows, columns):
        above, below = averages[max(y - step, 0), :, x], averages[min(y + step, rows - 1), :, x]
        left, right = averages[y, :, max(x - step, 0)], averages[y, :, min(x + step, columns - 1)]
        across, down = (np.abs(a.astype(int) - b).max() for a, b in ((left, right), (above, below)))
        out[y, x] = min(across + down, 255)
    return out


def windows_of(gradients, step):
    """Return the gradients of all windows, int (rows, columns, 16, 8)."""
    span = [(n - 1) * step + 1 for n in WINDOW]
    return np.lib.stride_tricks.sliding_window_view(gradients.astype(int), span)[..., ::step, ::step]


def score_gradients(gradients, weights, normalised, step):
    windows = windows_of(gradients, step)
    scores = np.zeros(windows.shape[:2], dtype=np.float32)
    for y, x in np.ndindex(WINDOW):
        scores += weights[y, x] * windows[..., y, x].astype(np.float32)
    mean = windows.mean(axis=(2, 3)).astype(np.float32)
    return scores / (mean + np.float32(4)) if normalised else scores


def word_of(bits):
    """Pack 64 truth values, the first one into the highest bit."""
    return int("".join("01"[int(bit)] for bit in np.ravel(bits)), 2)


def pack_words(gradients, step):
    span = 7 * step + 1
    patches = np.lib.stride_tricks.sliding_window_view(gradients, (span, span))[..., ::step, ::step]
    words = np.empty((patches.shape[0], 4, patches.shape[1]), dtype=np.uint64)
    for y, k, x in np.ndindex(words.shape):
        words[y, k, x] = word_of(patches[y, x] >> (4 + k) & 1)
    return words


def score_words(words, bases, coefficients, normalised, step):
    rows, columns = words.shape[0] - 8 * step, words.shape[2]
    scores, totals = np.zeros((2, rows, columns), dtype=np.float32)
    for y, x in np.ndindex(rows, columns):
        halves = [[int(words[top, k, x]) for k in range(4)] for top in (y, y + 8 * step)]
        totals[y, x] = sum(2**k * word.bit_count() for half in halves for k, word in enumerate(half))
        for base, coefficient in zip(bases.tolist(), coefficients, strict=True):
            parts = zip(base, halves, strict=True)
            some = sum(2**k * (mask & word).bit_count() for mask, half in parts for k, word in enumerate(half))
            scores[y, x] += coefficient * np.float32(2 * some - totals[y, x])
    return scores / (totals / np.float32(8) + np.float32(4)) if normalised else scores
