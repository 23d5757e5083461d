"""Slow twins of the kernels of boxes, and of the matching in KITTI."""

import numpy as np


def overlap(a, b, denominator="union"):
    w = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    h = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    common, first, second = max(w, 0) * max(h, 0), a[2] * a[3], b[2] * b[3]
    if common == 0:
        return 0.0
    return common / {"union": first + second - common, "first": first, "smaller": min(first, second)}[denominator]


def suppress(boxes, limit, denominator):
    leader = []
    for box in range(len(boxes)):
        kept = [k for k in range(box) if leader[k] == k and overlap(boxes[k], boxes[box], denominator) > limit]
        leader.append(min(kept, default=box))
    return leader


def match(detections, truth, ignore, limit, ignore_overlap="first", ignore_once=False):
    status = np.zeros(len(detections), dtype=int)
    matched, used = np.zeros(len(truth), dtype=bool), np.zeros(len(ignore), dtype=bool)
    for d in np.argsort(-detections[:, 4], kind="stable"):
        shared = np.array([overlap(detections[d], person) for person in truth]) * ~matched
        excuses = np.array([overlap(detections[d], region, ignore_overlap) for region in ignore]) * ~used
        if shared.size and shared.max() >= limit:
            matched[np.flatnonzero(shared == shared.max())[-1]] = True
            status[d] = 1
        elif excuses.size and excuses.max() >= limit:
            used[excuses.argmax()] = ignore_once
            status[d] = -1
    return status, matched


def assign(scores, is_short, shared, excused, threshold=None):
    """Return the scores that KITTI finds and the detections it uses: the best (no threshold) or the nearest each."""
    found, taken = [], set()
    for place in range(shared.shape[1]):
        best = None
        for d in sorted(set(np.flatnonzero(shared[:, place])) - taken):
            if threshold is None:
                best = d if best is None or scores[d] > scores[best] else best
            elif scores[d] >= threshold:
                rank = is_short[d], -shared[d, place]
                best = d if best is None or rank < (is_short[best], -shared[best, place]) else best
        taken |= set() if best is None else {best}
        if not (best is None or excused[place] or is_short[best]):
            found.append(scores[best])
    return found, taken


def standardize(boxes, aspect=0.41, scale=1.0):
    def one(x, y, w, h, *score):
        height = h * scale
        return [x + w / 2 - aspect * height / 2, y + h / 2 - height / 2, aspect * height, height, *score]

    return [one(*box) for box in boxes]


def prepare(detections, truths, ignores, heights, scale):
    low, high = heights
    shaped = [standardize(boxes, scale=scale) for boxes in detections]
    return (
        [[box for box in boxes if low / 1.25 <= box[3] < high * 1.25] for boxes in shaped],
        [standardize(box for box in boxes if low <= box[3] < high) for boxes in truths],
        [
            [*map(list, regions), *(list(box) for box in boxes if not low <= box[3] < high)]
            for regions, boxes in zip(ignores, truths, strict=True)
        ],
    )


def curve(detections, truths, ignores, limit):
    counted = []
    for boxes, truth, ignore in zip(detections, truths, ignores, strict=True):
        status, _ = match(boxes, truth, ignore, limit)
        counted += [(box[4], s == 1) for box, s in zip(boxes, status, strict=True) if s >= 0]
    found, wrong, points = 0, 0, [(0.0, 1.0)]
    for _, is_true in sorted(counted, key=lambda pair: -pair[0]):
        found, wrong = found + is_true, wrong + (not is_true)
        points.append((wrong / len(truths), 1 - found / sum(map(len, truths))))
    return points


def log_average(points):
    misses = [next((miss for fppi, miss in reversed(points) if fppi <= 10.0 ** (k / 4)), 1.0) for k in range(-8, 1)]
    return np.prod(misses) ** (1 / 9)
