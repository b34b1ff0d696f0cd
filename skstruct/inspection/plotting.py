"""What the displays share."""


def check_matplotlib(who):
    """Raise, with a sentence that helps, if there is no matplotlib."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{who} needs matplotlib: pip install 'skstruct[plot]'") from error


def new_axes(ax, who):
    """``ax``, or that of a new figure; ``who`` needs matplotlib."""
    check_matplotlib(who)
    from matplotlib import pyplot

    return pyplot.subplots()[1] if ax is None else ax
