"""The second-order chain: transitions look two labels back (Collins 2002)."""

from .chain import Chain, best_before
from .reading import PARTS, Weights


class Pairs(Chain):
    """Weights, constraints and decoding of order 2; prefixes are told apart by their last two labels."""

    def __init__(self, header, arrays):
        super().__init__(header, arrays)
        L, trigrams = self.L, Weights(header, arrays, "trigrams")
        self.trigram = [[[0.0] * L for _ in range(L)] for _ in range(L)]  # [p][y][a]: y behind p behind a
        self.second = [[0.0] * L for _ in range(L)]  # [p][y]: y behind p, the first label
        for p in range(L):
            for a in range(-1, L):
                for y, w in trigrams[p * (L + 1) + a + 1]:
                    if a < 0:
                        self.second[p][y] = w
                    else:
                        self.trigram[p][y][a] = w
        self.most = [list(map(max, by_label)) for by_label in self.trigram]

    def pair_prefixes(self, emission, transitions):
        """For each token from the second on the best scores [p][y] of prefixes that end in p, y."""
        first = [a + b for a, b in zip(self.start, emission[0])]
        out = [[first]]
        for t in range(1, len(emission)):
            before, into, now = out[-1], transitions[t][0], []
            for p in range(self.L):
                if t == 1:
                    row = [first[p] + w for w in self.second[p]]
                else:
                    row = best_before([scores[p] for scores in before], self.trigram[p], self.most[p])
                now.append([s + (emission[t][y] + into[y][p]) for y, s in enumerate(row)])
            out.append(now)
        return out

    def decode(self, emission, transitions):
        """(labels, score): of equal scores the smaller labels, from the last token backwards."""
        prefixes, T = self.pair_prefixes(emission, transitions), len(emission)
        total, y, p = max(
            ((s + self.end[y], -y, -p) for p, row in enumerate(prefixes[-1]) for y, s in enumerate(row))
        )
        path, y, p = [-y], -y, -p
        for t in range(T - 1, 0, -1):
            path.append(p)
            if t > 1:
                reached = [scores[p] + self.trigram[p][y][a] for a, scores in enumerate(prefixes[t - 1])]
                y, p = p, max(range(self.L), key=reached.__getitem__)
        return path[::-1], total

    def best_with_each_label(self, emission, transitions):
        """For each token and label the best score of labellings that give the label to the token."""
        prefixes, T, labels = self.pair_prefixes(emission, transitions), len(emission), range(self.L)
        if T == 1:
            return [[a + b for a, b in zip(prefixes[0][0], self.end)]]
        behind, out = [self.end] * self.L, []  # [p][y]: the best that can follow p, y
        for t in range(T - 1, 0, -1):
            whole = [[a + b for a, b in zip(*rows)] for rows in zip(prefixes[t], behind)]
            out.append([max(column) for column in zip(*whole)])
            if t == 1:
                out.append([max(row) for row in whole])
            into = transitions[t][0]
            rest = [[into[y][p] + emission[t][y] + behind[p][y] for y in labels] for p in labels]
            behind = [
                [max(self.trigram[p][y][a] + rest[p][y] for y in labels) for p in labels] for a in labels
            ]
        return out[::-1]


PARTS["pairs"] = Pairs
