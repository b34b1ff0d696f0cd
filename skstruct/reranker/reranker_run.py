"""A training run of the re-ranker: what epochs and held-out sequences need to know of it."""

import numpy as np

from ..training.held_out import HeldOut
from ..training.run import Run, TrainingState
from .lattice import RIGHT, lattices_of, make_task, paths, view_of
from .reranker_epoch import epoch, new_model, new_work
from .reranker_model import final_model


def f1_of(task, chosen, n_items):
    """F1 of chosen nodes against ``n_items`` right ones."""
    right = np.count_nonzero(task.right[chosen] == RIGHT)
    return 2.0 * right / max(np.count_nonzero(chosen) + n_items, 1)


class RerankRun(Run):
    """A training run of a re-ranker."""

    epoch = staticmethod(epoch)
    score_name = "F1"

    def __init__(self, estimator, state, task, words, tags, base, oracle, held_out):
        super().__init__(estimator, state, task, held_out)
        self.words, self.tags = words, tags
        self.base, self.oracle = base, oracle

    def finished(self, model, reuse=False):
        """See ``training.run.Run``."""
        return final_model(model, self.state.rule, self.words, self.tags)

    def fitted(self):
        """See ``training.run.Run``."""
        return {"base_": self.base, "oracle_": self.oracle}

    def scratch(self):
        """See ``training.run.Run``."""
        return new_work(self.task)

    def held_out_part(self, X, y):
        """See ``training.run.Run``."""
        base, view = self.base, view_of(self.base)
        X, y = view.check(X, y)
        known = view.tags(base)
        others = dict.fromkeys(tag for items in view.gold(X, y) for *_, tag in items if tag is not None)
        lattices = lattices_of(view, base, X, self.estimator.k)
        task = make_task(lattices, view.lengths(X), self.words, self.tags)
        return HeldOut(X, y, True, (task, lattices)), [tag for tag in others if tag not in known]

    def held_out_score(self, model):
        """What ``score`` returns; for sequences that ``fit`` has split off, the F1 of the nodes chosen."""
        if self.held_out.given:
            base, view = self.base, view_of(self.base)
            task, lattices = self.held_out.encoded
            found = paths(lattices, model.choose(task)[0])
            predicted = [view.decode(base, items) for items in found]
            return float(view.score(self.held_out.y, predicted, None))
        task, n_items = self.held_out.encoded
        return f1_of(task, model.choose(task)[0], n_items)

    def fresh(self, key):
        """See ``training.run.Run``."""
        model = new_model(self.state.model.features.min_count, self.state.rule)
        return TrainingState(model, self.state.rule, key)
