"""Slow twins of the covariance kernel, in float64 NumPy: statistics, patches and pools."""

import numpy as np


def derivatives(plane):
    """Return Ix, Iy, |Ixx|, |Iyy|: central differences, one-sided ones at the border."""
    found = []
    for axis in (1, 0):
        edge = [(1, 1) if k == axis else (0, 0) for k in range(2)]
        padded = np.moveaxis(np.pad(plane, edge, mode="edge"), axis, 0)
        slope = np.full((plane.shape[axis], 1), 0.5, dtype=plane.dtype)
        slope[[0, -1]] = 1
        first = (padded[2:] - padded[:-2]) * slope
        second = np.abs((padded[2:] + padded[:-2]) - 2 * padded[1:-1]) * slope
        found += [np.moveaxis(first, 0, axis), np.moveaxis(second, 0, axis)]
    return np.array(found)[[0, 2, 1, 3]]


def statistics(planes):
    """Return M, O2, O1, |Ix|, |Iy|, |Ixx|, |Iyy| of the plane of largest gradient at each pixel."""
    each = np.array([derivatives(plane) for plane in planes])  # in the dtype of the planes, so that ties remain ties
    best = np.argmax(each[:, 0] ** 2 + each[:, 1] ** 2, axis=0)
    ix, iy, ixx, iyy = np.take_along_axis(each, best[None, None], axis=0)[0].astype(float)
    magnitude = np.hypot(ix, iy)
    cosine = np.divide(np.where(iy < -1e-6, -ix, ix), magnitude, out=np.zeros_like(ix), where=magnitude > 0)
    signed = np.minimum(np.arccos(np.clip(cosine, -1, 1)), np.pi - 1e-6)
    unsigned = np.where(magnitude > 0, np.arctan2(np.abs(iy), np.abs(ix)), np.pi / 2)
    return np.array([magnitude, signed, unsigned, np.abs(ix), np.abs(iy), ixx, iyy])


def patch_covariances(features, size, floor, ridge):
    """Return the 42 channels of every patch of size x size pixels, by its top-left pixel."""
    h, w = features.shape[1:]
    where = np.broadcast_to(np.mgrid[:h, :w][::-1], (2, h, w))
    windows = np.lib.stride_tricks.sliding_window_view(np.concatenate([where, features]), (size, size), axis=(1, 2))
    values = windows.reshape(*windows.shape[:3], -1)
    values = values - values.mean(axis=-1, keepdims=True)
    out = np.empty((42, *values.shape[1:3]))
    for i in range(2, 9):
        for j in range(i + 1):
            covariance = (values[i] * values[j]).sum(axis=-1) / (size * size - 1)
            out[i * (i + 1) // 2 + j - 3] = covariance
    return correlations(out, np.var(values[:2], axis=-1, ddof=1), np.r_[0, 0, floor], np.r_[0, 0, ridge])


def correlations(covariances, of_position, floor, ridge):
    """Divide covariances by the roots of the variances, in place; 0 if a variance is at most `floor`."""
    diagonal = [i * (i + 1) // 2 + i - 3 for i in range(2, 9)]
    variances = np.concatenate([of_position, covariances[diagonal]])
    with np.errstate(divide="ignore"):
        scale = np.where(variances > floor[:, None, None], 1 / np.sqrt(variances + ridge[:, None, None]), 0)
    for i in range(2, 9):
        for j in range(i):
            covariances[i * (i + 1) // 2 + j - 3] *= scale[i] * scale[j]
    return covariances


def pool(values, size, shape, pooled, centred, clipped):
    """Put the maxima over 4 x 4 patches into cells, (rows, columns, k); without pooling, the patch in the middle."""
    out = np.zeros((*shape, len(values)))
    for row, column in np.ndindex(*shape):
        if pooled:
            top, left = (4 * k - (size // 2 if centred else 0) for k in (row, column))
            places = [(y, x) for y in range(top, top + 4) for x in range(left, left + 4)]
        else:
            places = [(4 * row + 2 - size // 2, 4 * column + 2 - size // 2)]
        inside = [values[:, y, x] for y, x in places if 0 <= y < values.shape[1] and 0 <= x < values.shape[2]]
        if inside:
            out[row, column] = np.max(inside, axis=0)
    return np.maximum(out, 0) if clipped else out
