"""Training loops in Python over compiled epochs; they know nothing of strings."""
