"""Epochs of any structure, with their parameters, early stopping, checkpoints, Ctrl-C
and files.
"""
