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
