"""An estimator that is fitted from the start, with weights that were found elsewhere."""

import numpy as np

from ..chain.chain_model import ChainModel
from ..taggers.constraints import constraint_arrays
from .crf_run import store_of
from .l1crf import L1CRF


def ready_crf(encoder, labels, nodes, edges, **parameters):
    """An :class:`L1CRF` with given weights.

    It predicts, and goes on learning under ``warm_start``; attributes about a training, such as
    ``objective_``, it has only after a ``fit``.

    Parameters
    ----------
    encoder : encoder
    labels : Labels
    nodes, edges : SparseWeights
        As in :class:`.result.CRFResult`.
    **parameters
        Of the estimator.
    """
    crf = L1CRF(**parameters)
    constraints = constraint_arrays(None, labels)
    model = ChainModel(
        encoder, labels, store_of(nodes, save_memory=True), store_of(edges, save_memory=True), constraints
    )
    n_active = int(np.count_nonzero(nodes.values) + np.count_nonzero(edges.values))
    vars(crf).update({"_model": model, "classes_": labels.array, "n_active_features_": n_active})
    return crf
