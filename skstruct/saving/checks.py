"""What readers ask of a file."""

from .container import ModelFileError


def require(condition, reason):
    """Raise a ModelFileError with the reason unless the condition holds."""
    if not condition:
        raise ModelFileError(f"malformed: {reason}")


def within(array, low, high):
    """Whether all elements are in [low, high)."""
    return not array.size or bool(array.min().item() >= low and array.max().item() < high)
