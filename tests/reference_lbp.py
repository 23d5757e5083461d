"""Slow twins of local binary patterns and flow channels, in float64 NumPy, and the source of the golden file."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

NEIGHBOURS = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)]  # E, SE, .. NE; down, across


def label_pixels(plane, table):
    labels = np.full(plane.shape, 58)
    for y in range(1, plane.shape[0] - 1):
        for x in range(1, plane.shape[1] - 1):
            larger = [plane[y + down, x + across] > plane[y, x] for down, across in NEIGHBOURS]
            labels[y, x] = table[sum(2**bit for bit in range(8) if larger[bit])]
    return labels


def pool_patches(labels, patch, pooled):
    rows, cols = labels.shape[0] // 4, labels.shape[1] // 4
    out = np.zeros((rows, cols, 58))
    is_label = labels[..., None] == np.arange(58)
    centres = range(-2, 6) if pooled else [2]
    for i, j, down, across in np.ndindex(rows, cols, len(centres), len(centres)):
        top, left = 4 * i + centres[down] - patch // 2, 4 * j + centres[across] - patch // 2
        if min(top, left) >= 0 and top + patch <= labels.shape[0] and left + patch <= labels.shape[1]:
            shares = is_label[top : top + patch, left : left + patch].mean(axis=(0, 1))
            out[i, j] = np.maximum(out[i, j], shares)
    return out


def histogram_cells(labels):
    rows, cols = labels.shape[0] // 4, labels.shape[1] // 4
    away = [np.abs(np.arange(4 * n) - 4 * np.arange(n)[:, None] - 1.5) for n in (rows, cols)]  # of pixels from cells
    near = [np.maximum(1 - pixels / 4, 0) for pixels in away]
    is_label = (labels[: 4 * rows, : 4 * cols, None] == np.arange(58)).astype(float)
    histograms = np.einsum("iy,jx,yxl->ijl", *near, is_label)
    return np.sqrt(histograms) / (np.sqrt(histograms.sum(axis=2, keepdims=True)) + 1e-10)


def pool_cells(cells):
    out = np.zeros_like(cells)
    for i, j in np.ndindex(cells.shape[:2]):
        out[i, j] = cells[i : i + 4, j : j + 4].max(axis=(0, 1))
    return out


def flow_channels(flow):
    rows, cols = flow.shape[0] // 4, flow.shape[1] // 4
    flow, padded = np.clip(flow, -20, 20) / 20, np.zeros((4 * rows + 4, 4 * cols + 4, 2))
    padded[: 4 * rows, : 4 * cols] = flow[: 4 * rows, : 4 * cols]
    out = np.zeros((rows, cols, 18))
    for group, (down, across) in enumerate([(4, 0), (0, 4), (4, 4)]):
        for y, x in np.ndindex(4 * rows, 4 * cols):
            u, v = padded[y + down, x + across] - padded[y, x]
            low, share = divmod(np.arctan2(v, u) / (np.pi / 3), 1)
            for direction, weight in ((low, 1 - share), (low + 1, share)):
                out[y // 4, x // 4, 6 * group + int(direction) % 6] += weight * np.hypot(u, v) / 16
    return out


# -- golden numbers --------------------------------------------------------------------------------

GOLDEN = Path(os.environ.get("PAUCENS_DATA", "nowhere")).parent / "reference" / "detection_golden.json"
needs_golden = pytest.mark.skipif(not GOLDEN.is_file(), reason=f"{GOLDEN} is not there")


def golden_values():
    """Return numbers of the release on two images: channel means, and two cells."""
    return json.loads(GOLDEN.read_text())["release_features"]["values"]


def golden_image(name):
    r, c, k = np.ogrid[:64, :48, :3]
    if name == "quadratic":
        return ((3 * r * r + 5 * c * c + 7 * (k + 1) * r * c + 11 * k * r) % 256).astype(np.uint8)
    down, across = r * (k + 1) / 37 + c / (13 + 4 * k), (r - 2 * c) / (29 + k)
    return np.floor(127.5 * (1 + np.sin(2 * np.pi * down) * np.cos(2 * np.pi * across))).astype(np.uint8)


def golden_lightness(image):
    """Return L from a table of 1025 entries of Y."""
    y = np.arange(1025) / 1024
    table = np.where(y > (6 / 29) ** 3, 116 * np.cbrt(y) - 16, (29 / 3) ** 3 * y) / 270
    return table[np.floor(1024 * (image / 255 @ [0.222015, 0.706655, 0.071330])).astype(int)].astype(np.float32)


def finished(channels):
    """Smooth by [1 7.6 1] / 9.6 in both directions, and pad with two cells."""
    for axis in (0, 1):
        n = channels.shape[axis]
        padded = np.concatenate([channels.take([0], axis), channels, channels.take([-1], axis)], axis)
        channels = sum(w / 9.6 * padded.take(range(k, k + n), axis) for k, w in enumerate([1, 7.6, 1]))
    return np.pad(channels, ((2, 2), (2, 2), (0, 0)))
