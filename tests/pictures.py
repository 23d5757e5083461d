"""What tests ask of a picture."""

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from paucens import plotting


def texts_outside(figure):
    """List the visible texts of a figure that reach beyond its edge when it is saved.

    Returns
    -------
    texts : list of str
        Empty if no text is cut. The labels of an axis and its ticks are listed as "x axis of <title>".
    """
    canvas = FigureCanvasAgg(figure)
    plotting.settle(figure)
    canvas.draw()
    renderer, boxes, not_asked = canvas.get_renderer(), [], set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            not_asked |= set(map(id, axis.findobj(Text)))
            if axes.get_visible() and axes.axison and (box := axis.get_tightbbox(renderer)) is not None:
                boxes.append((f"{axis.axis_name} axis of {axes.get_title(loc='left')!r}", box))
        if not axes.get_visible():
            not_asked |= set(map(id, axes.findobj(Text)))
    boxes += [
        (text.get_text(), text.get_window_extent(renderer))
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and id(text) not in not_asked
    ]
    width, height = figure.bbox.size
    return [name for name, box in boxes if min(box.x0, box.y0) < -1 or box.x1 > width + 1 or box.y1 > height + 1]
