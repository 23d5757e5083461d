"""
What a range does to decision regions
=====================================

The toy set of the paper has positives within a disc and negatives on a ring around it, and the two overlap. Ten
horizontal and vertical stumps cannot follow the circle. Which parts of it they get right depends on what they are
trained for.
"""

# %%
# Three ensembles of ten stumps: AdaBoost, and two that maximise the area under the ROC curve between false positive
# rates of 0 and 0.02, and of 0 and 0.5.

import numpy as np
import pandas as pd

from paucens import AdaBoostClassifier, PAUCEnsClassifier, Stump, partial_auc, threshold_at_fpr
from paucens.datasets import load_toy
from paucens.plotting import BLUE, GREEN, VERMILION, draw_points, draw_regions, house_style, new_figure, save_figure

X, y = load_toy(1000, 1000, random_state=0)
X_test, y_test = load_toy(10_000, 10_000, random_state=1)
stumps = {"learner": Stump(), "n_estimators": 10}
models = {
    "AdaBoost": AdaBoostClassifier(**stumps),
    "pAUCEns, [0, 0.02]": PAUCEnsClassifier((0, 0.02), nu=10.0, anneal=False, **stumps),
    "pAUCEns, [0, 0.5]": PAUCEnsClassifier((0, 0.5), nu=10.0, anneal=False, **stumps),
}
areas = {}
for name, model in models.items():
    score = model.fit(X, y).decision_function(X_test)
    areas[name] = {f"on [0, {beta}]": partial_auc(y_test, score, (0, beta)) for beta in (0.02, 0.5)}
print(pd.DataFrame(areas).T.round(3).to_string())

# %%
# On new points, each of the two has the largest partial AUC in its own range. Training for a slice costs something
# elsewhere, and it pays only if the slice is what is wanted.
#
# The regions hold all points whose score is above the threshold of a false positive rate of 0.02. Scores only change at
# the thresholds of the stumps, which are the borders of the cells. The title says which share of the positives lies
# inside.


def borders(model, column):
    """Return the limits of the picture and the thresholds of the stumps on a column between them."""
    splits = model.trees_to_dataframe().query("feature == @column").threshold.unique()
    return np.unique(np.concatenate([[-3, 3], splits[np.abs(splits) < 3]]))


with house_style():
    figure = new_figure(9, 3.4)
    panels = figure.subplots(1, 3, sharey=True)
    for axes, (name, model), colour in zip(panels, models.items(), (VERMILION, BLUE, GREEN), strict=True):
        score = model.decision_function(X_test)
        threshold = threshold_at_fpr(y_test, score, 0.02)
        edges = [borders(model, column) for column in (0, 1)]
        cells = np.stack(np.meshgrid(*[(ends[1:] + ends[:-1]) / 2 for ends in edges]), axis=-1)
        inside = model.decision_function(cells.reshape(-1, 2)).reshape(cells.shape[:2]) > threshold
        draw_regions(axes, *edges, inside, colour)
        draw_points(axes, pd.DataFrame({"x": X[::5, 0], "y": X[::5, 1], "label": y[::5]}))
        found = (score > threshold)[y_test == 1].mean()
        axes.set(title=f"{name}: {100 * found:.0f} % found", aspect="equal", xlabel="first feature")
        axes.grid(visible=False)
    panels[0].set_ylabel("second feature")
    save_figure(figure, "decision_regions")
