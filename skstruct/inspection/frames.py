"""Tables for pandas."""


def new_frame(data, who, **options):
    """A DataFrame; raise, with a sentence that helps, if there is no pandas."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            f"{who}.to_frame needs pandas: pip install pandas; to_dict needs nothing"
        ) from error
    return pandas.DataFrame(data, **options)
