"""Slow twins of the kernels of channels and pooling, in NumPy and float64."""

import numpy as np

XYZ = np.array([[0.430574, 0.341550, 0.178325], [0.222015, 0.706655, 0.071330], [0.020183, 0.129553, 0.939180]])


def luv(rgb, table=False):
    """Return the planes L, U, V of an image of floats in [0, 1] (linear RGB)."""
    X, Y, Z = np.moveaxis(np.asarray(rgb, dtype=np.float64) @ XYZ.T, 2, 0)
    y = np.floor(1024 * Y) / 1024 if table else Y
    L = np.where(y > (6 / 29) ** 3, 116 * np.cbrt(y) - 16, (29 / 3) ** 3 * y) / 270
    d = X + 15 * Y + 3 * Z + 1e-35
    return np.stack([L, 13 * L * (4 * X / d - 0.197833) + 88 / 270, 13 * L * (9 * Y / d - 0.468331) + 134 / 270])


def triangle(radius):
    if radius == 0:
        return np.ones(1)
    p = 12 / (radius * (radius + 2)) - 2
    taps = [1, p, 1] if radius <= 1 else np.r_[1 : radius + 1, radius + 1 : 0 : -1]
    return np.array(taps) / np.sum(taps)


def smooth(plane, radius):
    """Smooth a plane in both directions, with mirrored borders."""
    taps = triangle(radius)
    for axis in (0, 1):
        plane = np.apply_along_axis(
            lambda line: np.convolve(np.pad(line, len(taps) // 2, "symmetric"), taps, "valid"), axis, plane
        )
    return plane


def gradient(planes):
    """Return M and O of the plane of largest gradient at each pixel."""
    gy, gx = (np.stack([np.gradient(plane, axis=axis) for plane in planes]) for axis in (0, 1))
    squares = gx**2 + gy**2
    best = squares.argmax(axis=0)[None]
    gx, gy, magnitude = (np.take_along_axis(g, best, 0)[0] for g in (gx, gy, np.sqrt(squares)))
    cosine = np.divide(np.where(gy < 0, -gx, gx), magnitude, out=np.zeros_like(gx), where=magnitude > 0)
    return magnitude, np.minimum(np.arccos(np.clip(cosine, -1, 1)), np.pi - 1e-6)


def normalise_and_bin(magnitude, orientation):
    """Return normalised M and its shares in six orientations, planes of full size."""
    normal = magnitude / (smooth(magnitude, 5) + 0.005)
    position = orientation * 6 / np.pi
    below = np.floor(position)
    upper = position - below
    return normal, np.array([normal * ((below == k) * (1 - upper) + ((below + 1) % 6 == k) * upper) for k in range(6)])


def pool(planes, cell=4):
    """Return means over cells, (rows, columns, n_planes)."""
    n, h, w = planes.shape
    cells = planes[:, : h // cell * cell, : w // cell * cell].reshape(n, h // cell, cell, w // cell, cell)
    return cells.mean(axis=(2, 4)).transpose(1, 2, 0)


def shares(n_cells, cell):
    """Return the matrix (n_cells, n_pixels) by which pixels are shared among the two nearest cells along one side."""
    middles, pixels = np.arange(n_cells)[:, None] + 0.5, (np.arange(n_cells * cell) + 0.5) / cell
    matrix = np.maximum(1 - np.abs(middles - pixels), 0) / cell
    matrix[0] *= 8 / 7
    matrix[-1] *= 8 / 7
    return matrix


def blend(planes, cell):
    """Return sums over cells whose pixels are shared, (rows, columns, n_planes)."""
    rows, columns = (shares(side // cell, cell) for side in planes.shape[1:])
    return np.einsum("yi,kij,xj->yxk", rows, planes, columns)


def acf(rgb, first=1, after=1, table=False, cell=4, blended=False):
    h, w = (side // cell * cell for side in rgb.shape[:2])
    planes = np.stack([smooth(plane, first) for plane in luv(rgb[:h, :w], table)])
    normal, bins = normalise_and_bin(*gradient(planes))
    cells = pool(np.concatenate([planes, normal[None]]), cell)
    cells = np.concatenate([cells, blend(bins, cell) if blended else pool(bins, cell)], axis=2)
    return np.stack([smooth(channel, after) for channel in np.moveaxis(cells, 2, 0)], axis=2)


def weights(n_old, n_new):
    """Return the matrix (n_new, n_old) of `resize` along one side."""
    matrix = np.zeros((n_new, n_old))
    for i in range(n_new):
        if n_new <= n_old:
            for j in range(n_old):
                overlap = min((i + 1) * n_old, (j + 1) * n_new) - max(i * n_old, j * n_new)
                matrix[i, j] = max(overlap, 0) / n_old
        else:
            at = min(max((i + 0.5) * n_old / n_new - 0.5, 0), n_old - 1)
            matrix[i, int(at)] += 1 - at % 1
            matrix[i, min(int(at) + 1, n_old - 1)] += at % 1
    return matrix


def resize(pixels, shape):
    rows, columns = (weights(old, new) for old, new in zip(pixels.shape, shape, strict=False))
    return np.einsum("yi,ijk,xj->yxk", rows, pixels.astype(np.float64), columns)
