"""What heat maps of labels share."""

import numpy as np


def heat_map(ax, values, rows, columns, values_format, written, colorbar, style):
    """Draw a matrix with the names of its rows and columns.

    Parameters
    ----------
    ax : matplotlib Axes
    values : ndarray of shape (n, m)
    rows, columns : list of str
    values_format : str
    written : ndarray of shape (n, m), bool, or None
        The cells whose values are written.
    colorbar : bool
    style : dict
        For ``Axes.imshow``.

    Returns
    -------
    im : matplotlib AxesImage
    text : ndarray of shape (n, m) of matplotlib Text or None, or None
    """
    im = ax.imshow(values, **{"aspect": "equal", **style})
    text = None
    if written is not None:
        text = np.full(values.shape, None, dtype=object)
        for i, j in zip(*np.nonzero(written)):
            red, green, blue, _ = im.cmap(im.norm(values[i, j]))
            dark = 0.3 * red + 0.6 * green + 0.1 * blue < 0.5
            text[i, j] = ax.text(
                j, i, format(values[i, j], values_format), ha="center", va="center", fontsize="small",
                color="white" if dark else "black",
            )  # fmt: skip
    names = [[_short(name) for name in each] for each in (columns, rows)]
    ax.set_xticks(range(len(columns)), names[0], rotation=45, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(len(rows)), names[1])
    if colorbar:
        ax.figure.colorbar(im, ax=ax)
    return im, text


def _short(name):
    """A label that matplotlib does not take for mathematics, in at most 20 characters."""
    name = name if len(name) <= 20 else name[:19] + "…"
    return name.replace("$", r"\$")
