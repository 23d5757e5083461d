"""What each choice behind the detectors of Table 3 is worth: one changed at a time, on INRIA test.

Protocol. The first detector of each block is one of Table 3, seed 0. Each of the others differs from it in one thing
and is trained and judged as `reproduce/detectors/__init__.py` says. Differences are paired over images, with 95 %
intervals by bootstrap. Nothing was chosen by this table: it tells what became of choices that were made before.

The crops, on M+O+LUV. 432 of the 1208 crops left their photograph and repeat its border, 222 of them inside the window
(`crop_edges.py`). Our detectors give negatives the same edges. "Negatives unchanged" does without that. "Left out"
trains without those crops. "Masked" leaves negatives unchanged, too, and replaces all values of a crop that depend on
its edges by those of another crop, so that they tell nothing about it.

The rest, on spCov+M+O+LUV (`table_3.py` says what the presets "paper" and "release" are worth as a whole):
- patches with a corner in their cell instead of their middle; patches half as large;
- statistics of the colour of largest gradient instead of L;
- L not smoothed before the statistics; covariance channels smoothed afterwards;
- correlations without ridges (an epsilon);
- a 64th of the features per node, and leaves of real values, both in the last round, of 2048 trees;
- photographs not smoothed.

    python reproduce/ablation.py --scale paper --data DIR

DIR holds the uncompressed INRIA folder of `data/README.md`. A training takes 4 to 34 minutes on two cores.
"""

import sys
from dataclasses import replace
from functools import partial

from detectors import PROTOCOLS, DetectorConfig, adaboost, cases, compare, judge, load, pair_cases, table
from harness import Run, exit_code
from paucens.features import PRESETS
from paucens.plotting import BLUE, ORANGE, draw_forest, house_style, new_figure

CROPS, COVARIANCE = (DetectorConfig(channels, channels) for channels in ("M+O+LUV", "spCov+M+O+LUV"))
ROBUST, RULE = PRESETS["robust"], PRESETS["robust"].covariance
PRESET_OF = {
    "corner in the cell": replace(ROBUST, name="corner", covariance=replace(RULE, centred=False)),
    "patches of 4, 8 and 16": replace(ROBUST, name="small", covariance=replace(RULE, patch_sizes=(4, 8, 16))),
    "statistics of colours": replace(ROBUST, name="colours", colours=True),
    "L not smoothed before": replace(ROBUST, name="sharp", smooth_intensity=0.0),
    "channels smoothed after": replace(ROBUST, name="after", smooth_pooled=1.0),
    "no ridges": replace(ROBUST, name="no ridges", covariance=PRESETS["paper"].covariance),
}
OF_CROPS = [
    replace(CROPS, method="negatives unchanged", repeat_edges=False),
    replace(CROPS, method="crops with edges left out", edged_crops=False),
    replace(CROPS, method="crops with edges masked", repeat_edges="mask"),
]
OF_COVARIANCE = [
    *(replace(COVARIANCE, method=method, preset=preset) for method, preset in PRESET_OF.items()),
    replace(COVARIANCE, method="a 64th of the features", classifier=partial(adaboost, column_fraction=1 / 64)),
    replace(COVARIANCE, method="real leaves", classifier=partial(adaboost, leaves="real")),
    replace(COVARIANCE, method="photographs not smoothed", smooth=False),
]
BLOCKS = {CROPS: OF_CROPS, COVARIANCE: OF_COVARIANCE}
CONFIGS = [CROPS, *OF_CROPS, COVARIANCE, *OF_COVARIANCE]
LOOKS = {CROPS.method: (ORANGE, "s"), COVARIANCE.method: (BLUE, "o")}


def measure(run, case):
    """Train one of the detectors and judge it."""
    return judge(run, case, CONFIGS)


@house_style()
def picture(pairs):
    """Draw what each change is worth with its interval, a colour per block."""
    figure = new_figure(6.0, 1.0 + 0.32 * len(pairs))
    axes, baseline = figure.subplots(), dict(zip(pairs.method, pairs.baseline, strict=True))
    intervals = {row.method: [(100 * row.difference, 100 * row.low, 100 * row.high)] for row in pairs.itertuples()}
    draw_forest(axes, intervals, lambda method: LOOKS[baseline[method]], reference=0)
    for name in pairs.baseline.unique():
        axes.plot([], [], LOOKS[name][1], color=LOOKS[name][0], label=f"against {name}")
    axes.set_xlabel(f"difference of log-average miss rates, points; {pairs.test_set.iloc[0]}")
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def main(argv=None):
    """Judge all detectors, then compare each with the first of its block; one block is enough on rendered streets."""
    run = Run.of(__file__, __doc__, PROTOCOLS, argv)
    named, blocks = load(run, 1), BLOCKS if run.scale == "paper" else {CROPS: OF_CROPS}
    configs = [config for first, others in blocks.items() for config in (first, *others)]
    rows = run.rows("ablation", measure, cases(run, named, configs))
    pairs = [(other, first) for first, others in blocks.items() for other in others]
    pairs = run.rows("ablation_pairs", compare, pair_cases(run, named, pairs))
    return run.write(table(run.name, rows, pairs), picture(pairs))


if __name__ == "__main__":
    sys.exit(exit_code(main))
