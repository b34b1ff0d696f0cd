"""Compiled building blocks that know nothing of sequences: hashing, noise, weights,
updates.
"""
