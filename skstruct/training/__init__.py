"""Epochs of any structure, and what goes with them: parameters, early stopping, checkpoints, Ctrl-C, files."""
