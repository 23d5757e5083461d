"""Ways of leaving out windows, trees and channels, and their settings from mild to harsh."""

from dataclasses import dataclass, replace

import numpy as np

from detectors import bing, cascades, stages
from detectors.data import parts
from detectors.fewer_windows import digest_of, kept_file, robust, whole
from detectors.training import n_threads
from paucens.detector import PedestrianDetector
from paucens.detector.first_stage import FirstStage
from paucens.detector.trees import DetectorTrees
from paucens.proposals import Bing

NONE, CONSTANT, TRACES = "no rejection", "constant", "traces"
PAPER, NORMALISED, STAGES = "BING as in the paper", "normalised BING", "two stages"
TRACES_BEHIND, STAGES_BEHIND = "traces behind normalised BING", "two stages behind normalised BING"
EARLY = ("LUV", "M", "O")  # families of channels that are cheap, those of the first stage
QUANTILES = (*cascades.QUANTILES, 0.02)  # of traces
LEFT = (5e-3, 1e-3, 2e-4)  # share of the windows of photographs without people that score as high in the first stage
IN_FRONT = (0.374, 0.654, 0.8)  # shares of windows that BING discards in front of something else


@dataclass(frozen=True, eq=False)
class Setting:
    """A setting of a way: the trees with their cascade, and what is in front of them."""

    way: str
    name: str
    trees: DetectorTrees
    bing: Bing | None = None
    first: FirstStage | None = None

    @property
    def label(self):
        """Way and setting in one."""
        return self.way if self.way == NONE else f"{self.way}: {self.name}"

    def switched_on(self, detector):
        """Return a detector with this setting."""
        return replace(detector, trees=self.trees, proposals=self.bing, first_stage=self.first)

    def behind(self, way, share, bing):
        """Return the same setting behind BING, which discards a share of the windows."""
        return replace(self, way=way, name=f"{self.name}, {_per_cent(share)} away before", bing=bing)


def _per_cent(share):
    return f"{100 * share:g} %"


def settings(run, name, form):
    """List the settings of all ways, each way from mild to harsh; at smoke scale only the harshest of each.

    `form` is that of normalised BING, arguments of `bing.proposals`.
    """
    trees = whole(run, name).trees
    traces = {value: trees.with_rejection(own) for value, own in cascades.traces(run, name, QUANTILES).items()}
    constants = cascades.constants(whole(run, name)).items()
    paper, normalised = (
        dict(zip(bing.SHARES, bing.proposals(run, *own.values()), strict=True)) for own in (bing.AS_THE_PAPER, form)
    )
    with_traces = [Setting(TRACES, f"quantile {_per_cent(value)}", own) for value, own in traces.items()]
    in_stages = [
        Setting(STAGES, f"{_per_cent(share)} left", traces[0.0], first=first)
        for share, first in first_stages(run, name).items()
    ]
    ways = [
        [Setting(NONE, NONE, trees)],
        [Setting(CONSTANT, f"{value}", trees.with_rejection(own)) for value, own in constants],
        with_traces,
        *(
            [Setting(way, f"{_per_cent(share)} away", trees, own) for share, own in models.items() if share > 0]
            for way, models in ((PAPER, paper), (NORMALISED, normalised))
        ),
        [one.behind(TRACES_BEHIND, share, normalised[share]) for one in with_traces for share in IN_FRONT],
        in_stages,
        [one.behind(STAGES_BEHIND, share, normalised[share]) for one in in_stages for share in IN_FRONT],
    ]
    if run.scale == "smoke":
        ways = [own[-1:] for own in ways]
    return [one for own in ways for one in own]


def first_stages(run, name):
    """Return first stages by the share of windows that they are to leave; none for a detector of early channels only.

    Its trees are those of the first stage that the detector comes with. A cascade of traces rejects.
    """
    detector = whole(run, name)
    if set(detector.spec.families) == set(EARLY):
        return {}
    own, (_, held_out) = robust().first_stage, parts(run)
    first = alone(detector, own.trees)

    def find():
        return {"scores": np.array(stages.scores_at_shares(first, held_out.images, LEFT, n_threads(run)))}

    scores = kept_file(run, "scores", name, (digest_of(first), held_out.content_hash, LEFT), find)["scores"]
    found = {}
    for share, score in zip(LEFT, scores.tolist(), strict=True):
        traces = cascades.traces_above(run, f"first stage of {name}", first, score, (0.0,))
        found[share] = replace(own, trees=first.trees.with_rejection(traces[0.0]))
    return found


def alone(detector, trees):
    """Return a detector of the trees of a first stage of another one, which rejects no window."""
    search = replace(detector.search, spec=detector.spec.restricted(EARLY))
    return PedestrianDetector(search, trees.without_rejection())
