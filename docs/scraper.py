"""Pictures of the gallery: those that an example saves by `paucens.plotting.save_figure` beside itself."""

from pathlib import Path

from sphinx_gallery.scrapers import figure_rst


def _get_sg_image_scraper():
    """Return what sphinx-gallery calls after each block of an example."""
    return take_saved_figures


def take_saved_figures(block, block_vars, gallery_conf):
    """Move the pictures that a block has saved into the gallery, and return their place on the page."""
    taken = []
    for picture in sorted(Path(block_vars["src_file"]).parent.glob("*.png")):
        path = next(block_vars["image_path_iterator"])
        picture.rename(path)
        picture.with_suffix(".pdf").unlink()
        taken.append((str(path), picture.stem.replace("_", " ")))
    return "".join(figure_rst([path], gallery_conf["src_dir"], title) for path, title in taken)
