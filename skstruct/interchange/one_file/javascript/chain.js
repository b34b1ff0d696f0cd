// The first-order chain: scores of labels and of transitions, and the best labelling (Viterbi).
//
// A labelling scores start[y0] + sum of emission[t][y] + sum of transition[t][p][y] + end[y]. Sums run in the
// order of the package that wrote this file, so that scores are the same to the last bit.

PARTS.chain = (header, arrays) => {
  const L = header.labels.length;
  const states = readWeights(header, arrays, "nodes"), edges = readWeights(header, arrays, "edges");
  const allowed = Float64Array.from(arrays.allowed, (ok) => (ok ? 0 : -Infinity));
  const start = allowed.slice(0, L), end = allowed.slice(L, 2 * L);

  /** Scores of the steps into y from p, at y * L + p. */
  function transitionsInto(scale) {
    const into = new Float64Array(L * L);
    for (let p = 0; p < L; p++) for (let y = 0; y < L; y++) into[y * L + p] = allowed[2 * L + p * L + y];
    for (let k = edges.start[0]; k < edges.start[1]; k++) {
      const y = edges.column[k] % L, p = (edges.column[k] - y) / L;
      into[y * L + p] = scale * edges.weight[k] + allowed[2 * L + p * L + y];
    }
    return into;
  }

  /** For each token the scores of all labels, by the rows of weights of its features. */
  function emissions(rows, values, scale) {
    const { start: first, column, weight } = states;
    return rows.map((mine, t) => {
      const score = new Float64Array(L);
      for (let j = 0; j < mine.length; j++) {
        const row = mine[j], stop = first[row + 1];
        if (values === null) for (let k = first[row]; k < stop; k++) score[column[k]] += weight[k];
        else for (let k = first[row], x = values[t][j]; k < stop; k++) score[column[k]] += x * weight[k];
      }
      if (scale !== 1) for (let y = 0; y < L; y++) score[y] *= scale;
      return score;
    });
  }

  /** For each token the transitions into it: plain, and what its own features add. */
  function transitions(rows, plain, T, scale) {
    if (rows === null) return new Array(T).fill(plain);
    return rows.map((mine) => {
      if (!mine.length) return plain;
      const into = plain.slice();
      for (const row of mine) {
        for (let k = edges.start[row]; k < edges.start[row + 1]; k++) {
          const y = edges.column[k] % L;
          into[y * L + (edges.column[k] - y) / L] += scale * edges.weight[k];
        }
      }
      return into;
    });
  }

  /** The best scores of prefixes that end in each label, token by token. */
  function prefixes(emission, into) {
    const out = [start.map((s, y) => s + emission[0][y])];
    for (let t = 1; t < emission.length; t++) {
      const before = out[t - 1], now = new Float64Array(L);
      for (let y = 0, k = 0; y < L; y++) {
        let best = -Infinity;
        for (let p = 0; p < L; p++, k++) {
          const reached = before[p] + into[t][k];
          if (reached > best) best = reached;
        }
        now[y] = best + emission[t][y];
      }
      out.push(now);
    }
    return out;
  }

  /** [labels, score]: of equal scores the smaller label, from the last token backwards. */
  function decode(emission, into) {
    const scores = prefixes(emission, into), T = emission.length;
    const ends = scores[T - 1].map((s, y) => s + end[y]);
    const path = [argmax(ends)];
    for (let t = T - 1; t > 0; t--) {
      const at = path[path.length - 1] * L;
      path.push(argmax(scores[t - 1].map((s, p) => s + into[t][at + p])));
    }
    return [path.reverse(), Math.max(...ends)];
  }

  /** For each token and label the best score of labellings that give the label to the token. */
  function bestWithEachLabel(emission, into) {
    const scores = prefixes(emission, into), out = [];
    for (let t = emission.length - 1, behind = end; t >= 0; t--) {
      out.push(scores[t].map((s, y) => s + behind[y]));
      const rest = emission[t].map((s, y) => s + behind[y]);
      behind = behind.map((_, p) => Math.max(...rest.map((r, y) => into[t][y * L + p] + r)));
    }
    return out.reverse();
  }

  const plain = transitionsInto(1);
  return { L, start, end, states, plain, transitionsInto, emissions, transitions, decode, bestWithEachLabel };
};

/** The first place of the largest number. */
function argmax(values) {
  let best = 0;
  for (let k = 1; k < values.length; k++) if (values[k] > values[best]) best = k;
  return best;
}
