"""
A detector trained in a minute
==============================

Annotated images go in, and a detector comes out. The images here are rendered, so that nothing has to be downloaded;
with photographs the code is the same.
"""

# %%
# Thirty street scenes with the boxes of people, and ten without people.

import numpy as np

from paucens import AdaBoostClassifier, Tree
from paucens.datasets import synthetic_streets
from paucens.detector import train_detector
from paucens.drawing import COLOURS, draw_boxes
from paucens.evaluation import match_detections, match_images
from paucens.features import ChannelSpec
from paucens.plotting import house_style, new_figure, save_figure

SIZE = (360, 480)
records = synthetic_streets(30, seed=1, size=SIZE)
empty = [record.image for record in synthetic_streets(10, seed=2, people=False, size=SIZE)]

# %%
# Training has three rounds. After each of the first two, the images are searched for windows without people that score
# like people, and these join the negatives of the next round.


def report(done):
    print(f"round {done.number + 1}: {done.n_trees} trees, {done.n_positives} positives, {done.n_negatives} negatives")


detector = train_detector(
    records=records,
    negative_images=empty,
    spec=ChannelSpec.parse("M+O+LUV"),
    classifier=AdaBoostClassifier(learner=Tree(depth=3), shrinkage=0.1),
    n_estimators=(16, 64, 256),
    n_negatives=1000,
    most_negatives=2000,
    on_round=report,
)

# %%
# The threshold comes from twenty other scenes: the least one that gives at most one false alarm per five images.
# `min_height` is below the 100 pixels that people in the training crops are high, so that images are enlarged to find
# smaller ones.

others = synthetic_streets(20, seed=3, size=SIZE)
found = [detector.detect(record.image, threshold=-3, min_height=50) for record in others]
matches = match_images(found, [record.boxes for record in others], [record.ignore for record in others])
threshold = matches.threshold_at(0.2)
print(f"threshold {threshold:.2f}")

# %%
# Four new scenes. Boxes that fit a person are green, false alarms red, and people that no box fits blue. Hardly visible
# people count neither way.

with house_style():
    figure = new_figure(8, 6.4)
    for axes, record in zip(figure.subplots(2, 2).ravel(), synthetic_streets(4, seed=4, size=SIZE), strict=True):
        boxes = detector.detect(record.image, threshold=threshold, min_height=50)
        status, is_found = match_detections(boxes, record.boxes, record.ignore)
        picture = draw_boxes(record.image, record.boxes[~is_found], colour=COLOURS["missed"])
        picture = draw_boxes(picture, boxes[status == 0], colour=COLOURS["false"])
        axes.imshow(draw_boxes(picture, boxes[status == 1], colour=COLOURS["found"]))
        axes.set_title(f"{np.sum(status == 1)} found, {np.sum(status == 0)} false, {np.sum(~is_found)} missed")
        axes.set_axis_off()
    save_figure(figure, "detector")
