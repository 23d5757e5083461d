"""Slow twin of KITTI's average precision of moderate pedestrians, and images to compare on."""

import numpy as np
import reference_boxes as reference
from sklearn.utils import Bunch

PERSON = [0, 0, 20, 50]


def label_of(*objects):
    """Objects as (name, box) or (name, box, occlusion, truncation)."""
    rows = [(*entry, 0, 0.0)[:4] for entry in objects]
    names, boxes, occlusion, truncation = zip(*rows, strict=True) if rows else ([], [], [], [])
    return Bunch(names=list(names), boxes=np.reshape(boxes, (-1, 4)), occlusion=occlusion, truncation=truncation)


def draw_labels(rng, n_images):
    """Draw detections and labels of images: near objects, twice and beside them; the first image has one person."""
    kinds = ["Pedestrian", "Pedestrian", "Pedestrian", "Person_sitting", "Cyclist"]
    labels, detections = [label_of(("Pedestrian", PERSON))], [np.array([[*PERSON, 0.5]])]
    for _ in range(n_images):
        rows = [
            (rng.choice(kinds), [10 * rng.randint(8), 0, 20, rng.choice([20, 25, 50])], rng.randint(3), 0.0)
            for _ in range(rng.randint(5))
        ]
        labels.append(label_of(*rows))
        boxes = np.array([[*box, rng.randint(9) / 8] for _, box, *_ in rows]).reshape(-1, 5)
        boxes = np.concatenate([boxes, boxes, [[10 * rng.randint(30), 0, 20, 50, rng.rand()]]])
        boxes = boxes[rng.permutation(len(boxes))]
        boxes[:, 0] += rng.randint(-4, 5, size=len(boxes))
        boxes[:, 3] += rng.randint(-3, 4, size=len(boxes))
        detections.append(boxes)
    return detections, labels


def average_precision(detections, labels, n_points):
    images, scores, n_objects = [], [], 0
    for boxes, label in zip(detections, labels, strict=True):
        objects = [k for k, name in enumerate(label.names) if name in ("Pedestrian", "Person_sitting")]
        excused = [label.names[k] != "Pedestrian" or label.boxes[k][3] < 25 or label.occlusion[k] > 1 for k in objects]
        shared = np.array([[reference.overlap(box, label.boxes[k]) for k in objects] for box in boxes])
        shared = shared.reshape(len(boxes), len(objects)) * (shared.reshape(len(boxes), len(objects)) > 0.5)
        image = boxes[:, 4], boxes[:, 3] < 25, shared, excused
        images.append(image)
        scores += reference.assign(*image)[0]
        n_objects += len(objects) - sum(excused)
    chosen, recall = [], 0.0
    for i, score in enumerate(sorted(scores, reverse=True)):
        if i == len(scores) - 1 or not (i + 2) / n_objects - recall < recall - (i + 1) / n_objects:
            chosen.append(score)
            recall += 1 / 40
    values = np.zeros(41)
    for place, threshold in enumerate(chosen):
        found = [reference.assign(*image, threshold) for image in images]
        n_right = sum(len(right) for right, _ in found)
        n_wrong = sum(
            (image[0] >= threshold)[d] and not image[1][d] and d not in taken
            for image, (_, taken) in zip(images, found, strict=True)
            for d in range(len(image[0]))
        )
        values[place] = n_right / max(n_right + n_wrong, 1)
    values = [values[place:].max() for place in range(41)]
    return np.mean(values[1:] if n_points == 40 else values[::4])
