"""The optimum of a conditional random field: objective, kernels, and the solvers of
both stages.
"""
