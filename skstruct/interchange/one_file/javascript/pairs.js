// The second-order chain: transitions look two labels back (Collins 2002).

PARTS.pairs = (header, arrays) => {
  const chain = PARTS.chain(header, arrays);
  const { L, start, end } = chain, trigrams = readWeights(header, arrays, "trigrams");
  const weight = new Float64Array(L * L * (L + 1)); // [p][y][a + 1]: y behind p behind a; a = -1 is the start
  for (let row = 0; row < L * (L + 1); row++) {
    const a = row % (L + 1), p = (row - a) / (L + 1);
    for (let k = trigrams.start[row]; k < trigrams.start[row + 1]; k++) {
      weight[(p * L + trigrams.column[k]) * (L + 1) + a] = trigrams.weight[k];
    }
  }

  /** For each token from the second on the best scores, at p * L + y, of prefixes that end in p, y. */
  function prefixes(emission, into) {
    const out = [start.map((s, y) => s + emission[y])];
    for (let t = 1; t * L < emission.length; t++) {
      const before = out[t - 1], now = new Float64Array(L * L);
      for (let p = 0; p < L; p++) {
        for (let y = 0; y < L; y++) {
          const at = (p * L + y) * (L + 1);
          let best = t === 1 ? before[p] + weight[at] : -Infinity;
          for (let a = 0; t > 1 && a < L; a++) {
            const reached = before[a * L + p] + weight[at + a + 1];
            if (reached > best) best = reached;
          }
          now[p * L + y] = best + (emission[t * L + y] + into[t][y * L + p]);
        }
      }
      out.push(now);
    }
    return out;
  }

  /** [labels, score]: of equal scores the smaller labels, from the last token backwards. */
  function decode(emission, into) {
    const scores = prefixes(emission, into), T = emission.length / L, last = scores[T - 1];
    let total = last[0] + end[0], y = 0, p = 0;
    for (let z = 0; z < L; z++) {
      for (let q = 0; q < last.length / L; q++) {
        if (last[q * L + z] + end[z] > total) [total, y, p] = [last[q * L + z] + end[z], z, q];
      }
    }
    const path = [y];
    for (let t = T - 1; t > 0; t--) {
      path.push(p);
      if (t === 1) break;
      const at = (p * L + y) * (L + 1) + 1, before = scores[t - 1], q = p;
      p = argmax(Float64Array.from({ length: L }, (_, a) => before[a * L + q] + weight[at + a]));
      y = q;
    }
    return [path.reverse(), total];
  }

  /** For each token and label, at t * L + y, the best score of labellings that give the label to the token. */
  function bestWithEachLabel(emission, into) {
    const scores = prefixes(emission, into), T = emission.length / L;
    if (T === 1) return scores[0].map((s, y) => s + end[y]);
    const labels = Array.from({ length: L }, (_, y) => y), out = [];
    let behind = Float64Array.from({ length: L * L }, (_, k) => end[k % L]);
    for (let t = T - 1; t > 0; t--) {
      const whole = scores[t].map((s, k) => s + behind[k]);
      out.push(labels.map((y) => Math.max(...labels.map((p) => whole[p * L + y]))));
      if (t === 1) out.push(labels.map((p) => Math.max(...labels.map((y) => whole[p * L + y]))));
      const rest = behind.map((b, k) => into[t][(k % L) * L + Math.floor(k / L)] + emission[t * L + (k % L)] + b);
      behind = behind.map((_, k) => {
        const p = k % L, a = Math.floor(k / L) + 1;
        return Math.max(...labels.map((y) => weight[(p * L + y) * (L + 1) + a] + rest[p * L + y]));
      });
    }
    return out.reverse().flat();
  }

  return { ...chain, decode, bestWithEachLabel };
};
