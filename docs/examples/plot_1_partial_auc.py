"""
What partial AUC is
===================

Two scores of the same samples can have the same area under the whole ROC curve and yet differ where it matters: at few
false alarms. Partial AUC is the area under the part of the curve above a range of false positive rates.
"""

# %%
# The first score lifts all positives by the same amount. The second one lifts them more on average, but spreads them
# out: many are far above all negatives, and some are far below. By construction both have an AUC of 0.85.

import numpy as np
from sklearn.metrics import roc_auc_score

from paucens import partial_auc, roc_points, tpr_at_fpr
from paucens.plotting import BLUE, GREY, VERMILION, house_style, new_figure, save_figure

rng = np.random.default_rng(0)
n = 20_000
y = np.repeat([0, 1], n)
noise = rng.normal(size=2 * n)
scores = {"lifted": np.where(y == 1, 1.466 + noise, noise), "spread out": np.where(y == 1, 2.317 + 2 * noise, noise)}

# %%
# Divided by the width of the range, partial AUC is the mean detection rate over the range. A constant score has half
# the sum of the ends of the range, here 0.05, and a perfect one has 1.

wanted = (0, 0.1)
for name, score in scores.items():
    print(
        f"{name}: AUC {roc_auc_score(y, score):.3f}, partial AUC on [0, 0.1] {partial_auc(y, score, wanted):.3f}, "
        f"detection rate at 1 % false alarms {tpr_at_fpr(y, score, 0.01):.3f}"
    )

# %%
# On the left are the whole curves, which cross; on the right is the slice alone.

with house_style():
    figure = new_figure(7.5, 3.4)
    whole, part = figure.subplots(1, 2)
    for (name, score), colour in zip(scores.items(), (VERMILION, BLUE), strict=True):
        fpr, tpr, _ = roc_points(y, score)
        whole.plot(fpr, tpr, color=colour, label=f"{name}: AUC {roc_auc_score(y, score):.2f}")
        part.plot(fpr, tpr, color=colour, label=f"{name}: partial AUC {partial_auc(y, score, wanted):.2f}")
        part.fill_between(fpr, tpr, where=fpr <= wanted[1], color=colour, alpha=0.15, linewidth=0)
    whole.axvspan(*wanted, color=GREY, alpha=0.15, linewidth=0)
    whole.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle="--")
    whole.set(title="The whole curve", xlim=(0, 1), ylim=(0, 1))
    part.set(title="The slice [0, 0.1]", xlim=wanted, ylim=(0, 1))
    for axes in (whole, part):
        axes.set(xlabel="false positive rate", ylabel="true positive rate")
        axes.legend(loc="lower right")
    save_figure(figure, "partial_auc")
