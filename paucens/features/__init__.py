"""Features: images in, numbers a classifier can use out. One file a family; nothing here knows a data set.

`ChannelSpec` names and computes the channels of a detector, `channel_pyramid` does so at all scales; `dense_flow` and
`flow_channels` describe motion, the functions of `paucens.features.hog` crops. `Centrist` is a scikit-learn
transformer; `census_images` does once what several of its fits share.
"""

from paucens.features.census import CensusImages, census_images
from paucens.features.centrist import Centrist
from paucens.features.flow import dense_flow, flow_channels
from paucens.features.pyramid import channel_pyramid, estimate_lambdas, scales
from paucens.features.spec import ChannelSpec

__all__ = [
    "CensusImages",
    "Centrist",
    "ChannelSpec",
    "census_images",
    "channel_pyramid",
    "dense_flow",
    "estimate_lambdas",
    "flow_channels",
    "scales",
]
