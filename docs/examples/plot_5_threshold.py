"""
A threshold with a guarantee
============================

"At most 2 % false alarms" can be meant for the samples at hand or for those to come. A threshold that keeps the rate on
the samples at hand breaks it on new ones about half of the time.
"""

# %%
# A classifier is fitted once. Then its threshold is set again and again, each time on 2000 fresh samples, of which nine
# tenths are negatives. Since samples can be drawn at will here, the false positive rate of each threshold is known from
# 180 000 other negatives.

import numpy as np
from sklearn.frozen import FrozenEstimator

from paucens import FPRThresholdClassifier, PAUCEnsClassifier
from paucens.plotting import BLUE, DARK, VERMILION, house_style, new_figure, save_figure

rng = np.random.default_rng(0)
MAX_FPR, DRAWS = 0.02, 500


def draw(n):
    """Draw samples of five features, a tenth of them positive."""
    y = (rng.random(n) < 0.1).astype(int)
    return rng.normal(size=(n, 5)) + y[:, None], y


model = PAUCEnsClassifier((0, MAX_FPR), n_estimators=30, random_state=0).fit(*draw(4000))
X_new, y_new = draw(200_000)
new_scores = np.sort(model.decision_function(X_new[y_new == 0]))


def rates(confidence):
    """Return the false positive rates, on new samples, of thresholds that are set on `DRAWS` sets of samples."""
    alarm = FPRThresholdClassifier(FrozenEstimator(model), max_fpr=MAX_FPR, confidence=confidence)
    thresholds = [alarm.fit(*draw(2000)).threshold_ for _ in range(DRAWS)]
    return 1 - np.searchsorted(new_scores, thresholds, side="right") / len(new_scores)


results = {"without confidence": rates(None), "confidence 0.95": rates(0.95)}
for name, fpr in results.items():
    print(f"{name}: mean rate {fpr.mean():.4f}, above {MAX_FPR} in {100 * (fpr > MAX_FPR).mean():.1f} % of the draws")

# %%
# With a confidence of 0.95, at most one threshold in twenty is expected to break the bound, whatever the scores are
# like. The price is a lower rate, and so a lower detection rate; it falls as more negatives set the threshold.

with house_style():
    figure = new_figure(7.5, 3.2)
    axes = figure.subplots()
    bins = np.linspace(0.005, 0.035, 31)
    for (name, fpr), colour in zip(results.items(), (VERMILION, BLUE), strict=True):
        label = f"{name}: {100 * (fpr > MAX_FPR).mean():.1f} % above"
        axes.hist(fpr, bins, color=colour, alpha=0.25)
        axes.hist(fpr, bins, color=colour, histtype="step", linewidth=1.6, label=label)
    axes.axvline(MAX_FPR, color=DARK, linewidth=1)
    axes.set_ylim(top=1.15 * axes.get_ylim()[1])
    axes.annotate("allowed", (MAX_FPR, axes.get_ylim()[1]), xytext=(4, -8), textcoords="offset points", color=DARK)
    axes.set(xlabel="false positive rate on new samples", ylabel=f"thresholds, of {DRAWS}", xlim=bins[[0, -1]])
    axes.legend(loc="upper right", bbox_to_anchor=(1, 0.9))
    save_figure(figure, "threshold")
