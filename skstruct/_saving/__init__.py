"""Model files: a checked container, JSON values, and the registry of what can be
saved.
"""
