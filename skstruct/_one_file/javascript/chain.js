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

  /** The scores of all labels, those of token t from t * L on, by the rows of weights of its features. */
  function emissions(rows, values, scale) {
    const { start: first, column, weight } = states, out = new Float64Array(rows.length * L);
    for (let t = 0; t < rows.length; t++) {
      const mine = rows[t], at = t * L;
      for (let j = 0; j < mine.length; j++) {
        const row = mine[j], stop = first[row + 1];
        if (values === null) for (let k = first[row]; k < stop; k++) out[at + column[k]] += weight[k];
        else for (let k = first[row], x = values[t][j]; k < stop; k++) out[at + column[k]] += x * weight[k];
      }
    }
    if (scale !== 1) for (let k = 0; k < out.length; k++) out[k] *= scale;
    return out;
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

  /** The best scores of prefixes that end in each label of token t, from t * L on. */
  function prefixes(emission, into) {
    const out = new Float64Array(emission.length);
    for (let y = 0; y < L; y++) out[y] = start[y] + emission[y];
    for (let t = 1, now = L; now < out.length; t++, now += L) {
      const scores = into[t];
      for (let y = 0, k = 0; y < L; y++) {
        let best = -Infinity;
        for (let p = now - L; p < now; p++, k++) {
          const reached = out[p] + scores[k];
          if (reached > best) best = reached;
        }
        out[now + y] = best + emission[now + y];
      }
    }
    return out;
  }

  /** [labels, score]: of equal scores the smaller label, from the last token backwards. */
  function decode(emission, into) {
    const scores = prefixes(emission, into), T = emission.length / L, path = new Array(T);
    const [last, score] = best(scores, (T - 1) * L, end, 0);
    path[T - 1] = last;
    for (let t = T - 1; t > 0; t--) [path[t - 1]] = best(scores, (t - 1) * L, into[t], path[t] * L);
    return [path, score];
  }

  /** [first place, value] of the largest sum of two parts of L numbers. */
  function best(one, from, other, at) {
    let place = 0, most = one[from] + other[at];
    for (let p = 1; p < L; p++) {
      const sum = one[from + p] + other[at + p];
      if (sum > most) {
        place = p;
        most = sum;
      }
    }
    return [place, most];
  }

  /** For each token and label, at t * L + y, the best score of labellings that give the label to the token. */
  function bestWithEachLabel(emission, into) {
    const out = prefixes(emission, into);
    for (let t = emission.length / L - 1, behind = end; t >= 0; t--) {
      const rest = behind.map((b, y) => emission[t * L + y] + b);
      for (let y = 0; y < L; y++) out[t * L + y] += behind[y];
      behind = behind.map((_, p) => Math.max(...rest.map((r, y) => into[t][y * L + p] + r)));
    }
    return out;
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
