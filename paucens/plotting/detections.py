"""What a detector finds: curves of its miss rate, and sheets of its errors."""

import numpy as np

from paucens.drawing import error_sheet
from paucens.evaluation import log_average_miss_rate
from paucens.plotting.figures import BLUE, GREEN, ORANGE, PURPLE, VERMILION

CYCLE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE)
TITLES = {"false": "False alarms", "missed": "Misses", "found": "Found", "ignored": "Ignored"}
LEAST_MISS, FPPI = 0.01, (1e-3, 10)  # the parts of the axes that are shown


def draw_miss_rates(axes, curves):
    """Draw miss rates against false positives per image, both on logarithmic axes, the best detector first.

    Parameters
    ----------
    axes : Axes
    curves : dict of str to (fppi, miss)
        By name, as `miss_rate_curve` returns them. The legend has the log-average miss rates.
    """
    rates = {name: log_average_miss_rate(*curve) for name, curve in curves.items()}
    for k, name in enumerate(sorted(rates, key=rates.get)):
        fppi, miss = curves[name]
        shown = np.maximum(fppi, FPPI[0]), np.maximum(miss, LEAST_MISS / 10)
        label = f"{100 * rates[name]:.1f} % {name}"
        axes.plot(*shown, drawstyle="steps-post", color=CYCLE[k % len(CYCLE)], label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(*FPPI)
    axes.set_ylim(LEAST_MISS, 1)
    axes.set_xlabel("false positives per image")
    axes.set_ylabel("miss rate")
    axes.legend()


def draw_errors(axes, results, sources, outcome="false", **options):
    """Draw a contact sheet of false alarms or misses, best score first; see `paucens.drawing.error_sheet`.

    Parameters
    ----------
    axes : Axes
    results, sources, outcome, **options
        As for `error_sheet`.
    """
    axes.imshow(error_sheet(results, sources, outcome, **options))
    axes.set_axis_off()
    axes.set_title(TITLES[outcome])
