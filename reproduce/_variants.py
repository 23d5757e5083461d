"""How the detectors of `ablation.py` differ from those of Table 3: samples, presets, boosters."""

from dataclasses import replace
from unittest import mock

import numpy as np
from sklearn.base import clone

from paucens.detector import train_detector
from paucens.detector.samples import Sampler, pixels_of, repeated_edges
from paucens.features.channels import CELL
from paucens.features.covariance import RULES
from paucens.features.spec import PRESETS
from reproduce._detection import LEARNER, adaboost, held_crops

TEXT, ROBUST = RULES["paper"], RULES["robust"]
VARIANTS = {  # of the preset "robust": its rule of covariance, its other things
    "corner": (replace(ROBUST, centred=False), {}),
    "small": (replace(ROBUST, patch_sizes=(4, 8, 16)), {}),
    "colours": (ROBUST, {"colours": True}),
    "sharp": (ROBUST, {"intensity": 0}),
    "after": (ROBUST, {"last": 1}),
    "no ridges": (TEXT, {}),
}


# -- crops and photographs -------------------------------------------------------------------------


def margins(crops):
    """The repeated edges of crops: top, bottom, left, right, int64 (n, 4)."""
    return np.array([repeated_edges(pixels_of(crop)) for crop in crops])


def without_edged(material):
    """The crops that did not leave their photograph."""
    return replace(material, crops=held_crops(material.crops), content_hash=f"{material.content_hash} without edges")


class AsTheyCame(Sampler):
    """Windows without an object get no edges."""

    def __init__(self, search, places, seed, threads, edges):
        super().__init__(search, places, seed, threads, np.zeros_like(edges))


class Masked(AsTheyCame):
    """And what edges reach in a crop is taken from another crop, one without edges."""

    def positives(self, sources, chosen):
        """Features of the chosen crops, each followed by its mirror."""
        values = super().positives(sources, chosen)
        edges = margins([sources[k] for k in chosen])
        edges = np.stack([edges, edges[:, [0, 1, 3, 2]]], axis=1).reshape(-1, 4)
        whole = np.flatnonzero(~edges.any(axis=1))
        donors = np.random.default_rng([self.seed, chosen[0]]).choice(whole, size=len(edges))
        for row in np.flatnonzero(edges.any(axis=1)):
            reached = self.reached(edges[row])
            values[row, reached] = values[donors[row], reached]
        return values

    def reached(self, edges):
        """Which features depend on a pixel of the edges."""
        window, (top, bottom, left, right) = self.search.window, edges
        first, last = (self.search.spec.supports[self.places[:, 2], k, None] for k in (0, 1))
        cells = window.margin + CELL * self.places[:, :2]
        before, after = np.array([top, left]), np.array(window.crop) - [bottom, right]
        return ((cells + first < before) | (cells + last > after)).any(axis=1)


def train_as_they_came(*args, **named):
    """Train on negatives as they came."""
    with mock.patch("paucens.detector.collection.Sampler", AsTheyCame):
        return train_detector(*args, **named)


def train_masked(*args, **named):
    """Train on positives of which edges tell nothing, and negatives as they came."""
    with mock.patch("paucens.detector.collection.Sampler", Masked):
        return train_detector(*args, **named)


def not_smoothed(material):
    """Photographs as sharp as they are."""
    return replace(material, smooth=0.0)


# -- channels and trees ----------------------------------------------------------------------------


def with_variants(material):
    """Make the presets of `VARIANTS` known in this process; the material stays as it is."""
    for name, (rule, changes) in VARIANTS.items():
        PRESETS[name], RULES[name] = replace(PRESETS["robust"], **changes), rule
    return material


def few_features(seed):
    """The booster with a 64th of the features a node."""
    return adaboost_on(seed, column_fraction=1 / 64)


def real_leaves(seed):
    """The booster on trees whose leaves are not just -1 and 1."""
    return adaboost_on(seed, leaves="real")


def adaboost_on(seed, **changes):
    """The booster on trees that differ."""
    return adaboost(seed).set_params(learner=clone(LEARNER).set_params(**changes))
