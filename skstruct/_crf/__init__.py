"""The conditional random field with an L1 penalty: estimator, search, shards, over
``solver``.
"""
