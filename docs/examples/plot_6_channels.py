"""
Channels of an image
====================

A detector does not look at pixels but at channels, each of which has one number per cell of 4 x 4 pixels.
"""

# %%
# Families of channels are named and joined by "+". These are Dollar's ten, and the covariance and local binary patterns
# of the paper, pooled over 4 x 4 neighbours.

import numpy as np

from paucens.datasets import synthetic_streets
from paucens.features import ChannelSpec
from paucens.plotting import house_style, new_figure, save_figure

scene = synthetic_streets(1, seed=13)[0].image
spec = ChannelSpec.parse("M+O+LUV+spCov+spLBP", preset="robust")
channels = spec.compute(scene)
print(f"{scene.shape[0]} x {scene.shape[1]} pixels become {channels.shape[0]} x {channels.shape[1]} cells.")
for family, places in spec.groups.items():
    print(f"channels of {family}: {len(np.arange(spec.n_channels)[places])}")

# %%
# One or two of most families. M is the magnitude of the gradient. O is M of gradients of about so many degrees: 0 shows
# vertical edges and 90 horizontal ones. An LBP channel counts how often one pattern of brighter and darker neighbours
# occurs. Covariance channels, here of patches of 16 pixels, tell how strongly two low-level statistics vary together.

shown = ["L", "M", "O 0", "O 90", "lbp8 E4", "cov16 corr(|Ix|, |Iy|)", "cov16 corr(M, |Ixx|)", "cov16 var(|Iy|)"]
with house_style():
    figure = new_figure(8.5, 6.4)
    panels = figure.subplots(3, 3).ravel()
    panels[0].imshow(scene)
    panels[0].set_title("picture")
    for axes, name in zip(panels[1:], shown, strict=True):
        channel = channels[:, :, spec.names.index(name)]
        low, high = np.quantile(channel, [0.01, 0.99])
        axes.imshow(channel, cmap="cividis", vmin=low, vmax=high)
        axes.set_title(f"{name}, {low:.2g} to {high:.2g}")
    for axes in panels:
        axes.set_axis_off()
    save_figure(figure, "channels")
