"""House style: tables and curves in, figures out. The only package of ours that needs matplotlib.

A method has the same colour and marker in every picture. Figures are made without pyplot, so that no screen is needed
and nothing stays open; make and save them inside `house_style()`. Boxes on photographs are drawn by `paucens.drawing`,
which needs neither.
"""

try:
    import matplotlib  # noqa: F401
except ImportError as error:
    raise ImportError(
        "paucens.plotting needs matplotlib, which is not installed: pip install matplotlib pandas. paucens.drawing "
        "draws boxes and contact sheets without it."
    ) from error

from paucens.plotting.detections import draw_errors, draw_miss_rates
from paucens.plotting.figures import (
    BLUE,
    DARK,
    GREEN,
    GREY,
    METHOD_STYLES,
    ORANGE,
    PURPLE,
    VERMILION,
    draw_forest,
    draw_intervals,
    draw_mean_curves,
    draw_paired_dots,
    draw_points,
    draw_power_law,
    draw_regions,
    house_style,
    label_ends,
    method_style,
    new_figure,
    save_figure,
    settle,
    spread_out,
)

__all__ = [
    "BLUE",
    "DARK",
    "GREEN",
    "GREY",
    "METHOD_STYLES",
    "ORANGE",
    "PURPLE",
    "VERMILION",
    "draw_errors",
    "draw_forest",
    "draw_intervals",
    "draw_mean_curves",
    "draw_miss_rates",
    "draw_paired_dots",
    "draw_points",
    "draw_power_law",
    "draw_regions",
    "house_style",
    "label_ends",
    "method_style",
    "new_figure",
    "save_figure",
    "settle",
    "spread_out",
]
