"""A fitted model as dictionaries with the oracles' keys: reads the encoder, so that
tests need not.

The names of features come from ``oracles.template_string``; which weight row stands for
which name is read off the encoding of a corpus. A row with two names, or a name with
two rows, is an error.
"""

import numpy as np
from inside import model_of

import oracles
from skstruct._core.compile import kernel
from skstruct._core.noise import EDGE_STREAM, NODE_STREAM, factor, token_masked
from skstruct._data.inputs import as_tokens
from skstruct.features.bag_encoder import BagEncoder


def used_lines(encoder, edge):
    """``{(compound, shift, slot): template line}`` for one side of a template
    encoder.
    """
    plan, channels = encoder.plan, {c: k for k, c in enumerate(encoder.plan.channels)}
    compounds = [c.atoms for c in (plan.edges if edge else plan.nodes)]
    uses = []
    for template in encoder.templates.templates:
        if template.edge != edge or (edge and not template.atoms):
            continue
        atoms = sorted(
            template.atoms or (("const", 0, 0),), key=lambda a: (a[2], a[:2])
        )
        anchor = atoms[0][2]
        placed = tuple((channels[a[:2]], a[2] - anchor) for a in atoms)
        uses.append(
            (compounds.index(placed), -anchor, template.skeleton, template.text)
        )
    lines = {}
    for c in range(len(compounds)):
        slots = {}
        for _, shift, skeleton, text in sorted(use for use in uses if use[0] == c):
            lines[c, shift, slots.setdefault(skeleton, len(slots))] = text
    return lines


def occurrences(encoder, X):
    """(edge, sequence, position, feature name, row) of every feature that has a row,
    one by one.

    A feature of a transition stands at its second token. Rows of transition features
    are combinations.
    """
    X = [list(sequence) for sequence in X]
    given = as_tokens(X)
    token = given.offsets
    found = []
    if isinstance(encoder, BagEncoder):
        start, row, _ = encoder.encode(given, grow=False).bag
        for i, sequence in enumerate(X):
            for t, bag in enumerate(sequence):
                rows = row[start[token[i] + t] : start[token[i] + t + 1]]
                names = [name for name, value in oracles.bag_items(bag)]
                ids = [encoder.nodes.ids.get(name, -1) for name in names]
                rows_of_names = [int(encoder.nodes.row_of[k]) for k in ids]
                assert sorted(r for r in rows.tolist() if r >= 0) == sorted(
                    r
                    for r, (_, value) in zip(rows_of_names, oracles.bag_items(bag))
                    if r >= 0 and value
                )
                found += [
                    (False, i, t, n, r) for n, r in zip(names, rows_of_names) if r >= 0
                ]
        return found
    task = encoder.encode(given, grow=False)
    anchor, node_rows, edge_rows = task.anchor, task.nodes.row, task.edges.row
    for edge, side, rows in (
        (False, encoder.nodes, node_rows),
        (True, encoder.edges, edge_rows),
    ):
        lines = used_lines(encoder, edge)
        for g, group in enumerate(side.groups):
            for i, sequence in enumerate(X):
                for a in range(anchor[i], anchor[i + 1]):
                    for k in range(group.width if rows[g, a] >= 0 else 0):
                        t = int(a - anchor[i]) - encoder.plan.left + group.lo + k
                        row = int(rows[g, a]) + k
                        if int(edge) <= t < len(sequence) and (
                            encoder.min_count == 1 or side.alive[row]
                        ):
                            line = lines[group.compound, group.lo + k, group.slot + k]
                            found.append(
                                (
                                    edge,
                                    i,
                                    t,
                                    oracles.template_string(line, sequence, t),
                                    row,
                                )
                            )
    return found


def rows_by_name(encoder, X):
    """``{(edge, name): row}``, one to one."""
    rows, names = {}, {}
    for edge, _, _, name, row in occurrences(encoder, X):
        assert rows.setdefault((edge, name), row) == row, (
            f"{name} has the rows {row} and {rows[edge, name]}"
        )
        assert names.setdefault((edge, row), name) == name, (
            f"row {row}: {name} and {names[edge, row]}"
        )
    return rows


def table(store):
    """(R, C) array of the weights of a store without bookkeeping."""
    if not store.sparse:
        return store.value.reshape(-1, store.columns)
    out = np.zeros((store.first.shape[0], store.columns))
    for row in range(out.shape[0]):
        for k in range(store.first[row], store.first[row] + store.count[row]):
            out[row, store.column[k]] = store.value[k]
    return out


def weights_of(estimator, X):
    """The model's weights that are not zero, by the oracles' keys; ``X`` holds the
    training sequences.
    """
    model = model_of(estimator)
    labels, L = model.labels.values, len(model.labels)
    nodes, edges = table(model.nodes), table(model.edges).reshape(-1, L, L)
    names = {
        (edge, row): name
        for (edge, name), row in rows_by_name(model.encoder, X).items()
    }
    names[True, 0] = oracles.BIGRAM
    found = {}
    for row, y in zip(*np.nonzero(nodes)):
        found[names[False, int(row)], labels[y]] = float(nodes[row, y])
    for e, p, y in zip(*np.nonzero(edges)):
        found[names[True, int(e)], labels[p], labels[y]] = float(edges[e, p, y])
    if model.trigrams is not None:
        trigrams = table(model.trigrams).reshape(L, L + 1, L)
        for p, a, y in zip(*np.nonzero(trigrams)):
            key = (
                oracles.TRIGRAM,
                None if a == 0 else labels[a - 1],
                labels[p],
                labels[y],
            )
            found[key] = float(trigrams[p, a, y])
    return found


def assert_same_weights(found, expected, rtol=1e-9, atol=1e-12):
    """Compare two dictionaries of weights; absent is zero."""
    for key in sorted({*found, *expected}, key=repr):
        a, b = found.get(key, 0.0), expected.get(key, 0.0)
        assert abs(a - b) <= atol + rtol * abs(b), (
            f"weight {key}: {a!r}, expected {b!r}"
        )


# ---------------------------------------------------------------------- replaying noise


@kernel
def _factor(noise, code, stream, step, item):
    return factor(noise, code, stream, step, item)


@kernel
def _masked(noise, step, position, column):
    return token_masked(noise, step, position, column)


class Corruption:
    """The noise of each visit, for ``oracle_training.train(corrupt=...)``.

    Which features there are and what masks them is the oracles' business; only the
    draws are the package's: one for each feature and visit, one for each (position,
    column) and visit, one for each pair of labels of the label bigram and visit, and
    for each three labels of the label trigram.
    """

    def __init__(self, encoder, X, labels, noise, lines=None):
        self.rows, self.X, self.noise, self.lines = (
            rows_by_name(encoder, X),
            X,
            noise,
            lines,
        )
        self.pairs = {
            (p, q): np.int64(-1 - (i * len(labels) + j))
            for i, p in enumerate(labels)
            for j, q in enumerate(labels)
        }
        L = len(labels)
        self.triples = {
            (a, p, y): np.int64(-1 - L * L - ((i * (L + 1) + k) * L + j))
            for k, a in enumerate([None, *labels])
            for i, p in enumerate(labels)
            for j, y in enumerate(labels)
        }

    def __call__(self, step, i, features):
        noise, step = self.noise, np.int64(step)

        def masked(position, column):
            return bool(_masked(noise, step, np.int64(position), np.int64(column)))

        def factor_of(edge, name):
            code, stream = (
                (noise.edge, EDGE_STREAM) if edge else (noise.feature, NODE_STREAM)
            )
            return float(
                _factor(noise, code, stream, step, np.int64(self.rows[edge, name]))
            )

        if self.lines is None:  # a masked bag is an empty bag
            nodes = [
                {} if masked(t, 0) else node for t, node in enumerate(features.nodes)
            ]
            edges = features.edges
        else:
            fresh = oracles.template_features(self.lines, self.X[i], masked)
            nodes, edges = fresh.nodes, fresh.edges
        nodes = [
            {n: v * factor_of(False, n) for n, v in node.items()} for node in nodes
        ]
        edges = [
            {
                n: v if n == oracles.BIGRAM else v * factor_of(True, n)
                for n, v in edge.items()
            }
            for edge in edges
        ]
        bigram, trigram = (
            {
                key: float(_factor(noise, noise.edge, EDGE_STREAM, step, item))
                for key, item in items.items()
            }
            for items in (self.pairs, self.triples)
        )
        return oracles.Features(nodes, edges, bigram, features.order, trigram)
