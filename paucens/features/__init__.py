"""Features: images in, numbers for a classifier out. One file per family; nothing here knows a data set.

`ChannelSpec` names and computes the channels of a detector, `channel_pyramid` does so at all scales, and a `Preset`
says how they are computed. `dense_flow` and `flow_channels` describe motion, the functions of `paucens.features.hog`
describe crops. `Centrist` is a scikit-learn transformer; `census_images` computes once what several of its fits share.
"""

from paucens._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
