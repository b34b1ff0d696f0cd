"""Why a model cannot be written."""


def refuse(reason):
    """Raise the error that a model cannot be written as one file."""
    raise ValueError(f"the model cannot be written as one file: {reason}")
