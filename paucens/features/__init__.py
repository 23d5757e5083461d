"""Features: images in, numbers a classifier can use out. One file a family; nothing here knows a data set.

`Centrist` is a scikit-learn transformer. `census_images` does once what several of its fits share.
"""

from paucens.features.census import CensusImages, census_images
from paucens.features.centrist import Centrist

__all__ = ["CensusImages", "Centrist", "census_images"]
