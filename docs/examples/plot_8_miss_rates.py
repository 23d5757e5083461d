"""
Miss rates with intervals
=========================

Is one detector better than another, or did it only have luck with the test images? Intervals over images tell.
"""

# %%
# Training searches for hard negatives and then learns from them, several times. Here we look at what the last time is
# worth: a detector of 64 trees and its successor of 256 trees, which has also seen what the first one got wrong.

from paucens import AdaBoostClassifier, Tree
from paucens.datasets import synthetic_streets
from paucens.detector import train_detector
from paucens.evaluation import match_images, miss_rate_difference, miss_rate_interval, prepare_images
from paucens.features import ChannelSpec
from paucens.plotting import BLUE, DARK, VERMILION, draw_forest, draw_miss_rates, house_style, new_figure, save_figure

SIZE = (360, 480)
rounds = []
train_detector(
    records=synthetic_streets(20, seed=1, size=SIZE),
    spec=ChannelSpec.parse("M+O+LUV"),
    classifier=AdaBoostClassifier(learner=Tree(depth=3), shrinkage=0.1),
    n_estimators=(16, 64, 256),
    n_negatives=1000,
    most_negatives=2000,
    on_round=rounds.append,
)
detectors = {f"{done.n_trees} trees": done.detector for done in rounds[1:]}

# %%
# Both run on the same 40 scenes, with thresholds low enough for a few false positives per image; scores grow with the
# number of trees. The log-average miss rate is the geometric mean of the miss rates at nine numbers of false positives
# per image between 0.01 and 1.

test = synthetic_streets(40, seed=3, size=SIZE)
truths, ignores = [record.boxes for record in test], [record.ignore for record in test]
matches = {}
for (name, detector), threshold in zip(detectors.items(), (-1.5, -5), strict=True):
    found = [detector.detect(record.image, threshold=threshold, min_height=50) for record in test]
    matches[name] = match_images(*prepare_images(found, truths, ignores))
intervals = {name: miss_rate_interval(own) for name, own in matches.items()}
for name, (low, value, high) in intervals.items():
    print(f"{name}: {100 * value:.1f} % missed, 95 % interval {100 * low:.1f} to {100 * high:.1f}")
difference = miss_rate_difference(matches["64 trees"], matches["256 trees"])
print(f"difference: {100 * difference[0]:.1f} points, {100 * difference[1]:.1f} to {100 * difference[2]:.1f}")

# %%
# The larger detector misses fewer people, but the interval of the difference contains 0: forty scenes are too few to
# say that it is better. The difference is paired, that is, both are judged on the same draws of images. So its interval
# is narrower than one from two separate sets of images would be.

looks = {"64 trees": (VERMILION, "s"), "256 trees": (BLUE, "o"), "difference": (DARK, "D")}
with house_style():
    figure = new_figure(8.5, 3.8)
    panels = figure.subplot_mosaic([["curves", "rates"], ["curves", "difference"]], width_ratios=(1.2, 1))
    draw_miss_rates(panels["curves"], {name: own.curve() for name, own in matches.items()})
    panels["curves"].set_ylim(0.1, 1)
    rates = {name: [(value, low, high)] for name, (low, value, high) in intervals.items()}
    draw_forest(panels["rates"], rates, looks.get)
    draw_forest(panels["difference"], {"difference": [difference]}, looks.get, reference=0)
    panels["rates"].set(title="95 % intervals over images", xlim=(0, 1))
    panels["difference"].set(xlabel="log-average miss rate", xlim=(-0.5, 0.5))
    save_figure(figure, "miss_rates")
