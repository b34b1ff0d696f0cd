"""The conditional random field with an L1 penalty."""
