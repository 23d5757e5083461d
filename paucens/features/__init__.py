"""Features: images in, numbers for a classifier out. One file per family; nothing here knows a data set.

`ChannelSpec` names and computes the channels of a detector, `channel_pyramid` does so at all scales, and a `Preset`
says how they are computed. `dense_flow` and `flow_channels` describe motion, the functions of `paucens.features.hog`
describe crops. `Centrist` is a scikit-learn transformer; `census_images` computes once what several of its fits share.
"""

from paucens.features.census import CensusImages, census_images
from paucens.features.centrist import Centrist
from paucens.features.flow import dense_flow, flow_channels
from paucens.features.levels import scales
from paucens.features.power_laws import estimate_lambdas
from paucens.features.preset import PRESETS, CovarianceRule, Preset
from paucens.features.pyramid import channel_pyramid
from paucens.features.spec import ChannelSpec

__all__ = [
    "PRESETS",
    "CensusImages",
    "Centrist",
    "ChannelSpec",
    "CovarianceRule",
    "Preset",
    "census_images",
    "channel_pyramid",
    "dense_flow",
    "estimate_lambdas",
    "flow_channels",
    "scales",
]
