// The second-order chain: transitions look two labels back (Collins 2002).
//
// Most prefixes cannot be the start of a best labelling. What can follow a label is bounded by a first-order
// chain: a step scores the most that it can behind any label before. A beam finds a score to beat.

const BEAM = 3; // prefixes of each token that are kept to find the score to beat

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
  const most = new Float64Array(L * L), size = largest(weight);
  for (let k = 0; k < L * L; k++) most[k] = Math.max(...weight.subarray(k * (L + 1), (k + 1) * (L + 1)));
  const plainLimits = limitsOf(chain.plain);

  /** At p * L + y at least what a step to y adds, and the size of its terms. */
  function limitsOf(into) {
    const limits = most.slice();
    for (let y = 0, k = 0; y < L; y++) for (let p = 0; p < L; p++, k++) limits[p * L + y] += into[k];
    return [limits, size + largest(into)];
  }

  /**
   * [behind, limits, error]: at t * L + y at least what can follow, and for each token its limits.
   * A prefix and what can follow score at least what a labelling that begins with it scores, but for rounding:
   * they may be error below it.
   */
  function boundsOf(emission, into) {
    const T = emission.length / L, behind = new Float64Array(emission.length), limits = new Array(T);
    behind.set(end, (T - 1) * L);
    let total = T * largest(emission);
    for (let t = T - 1; t > 0; t--) {
      const [limit, terms] = into[t] === chain.plain ? plainLimits : limitsOf(into[t]);
      limits[t] = limit;
      total += terms;
      for (let p = 0; p < L; p++) {
        let best = -Infinity;
        for (let y = 0, k = t * L; y < L; y++, k++) {
          best = Math.max(best, limit[p * L + y] + (emission[k] + behind[k]));
        }
        behind[(t - 1) * L + p] = best;
      }
    }
    // nine roundings for each token, of at most 2^-53 of the sum of all terms
    return [behind, limits, 1e-15 * (T + 1) * total];
  }

  /** The score of a labelling, most often the best; a beam keeps the prefixes of the highest bounds. */
  function scoreToBeat(emission, into, behind) {
    let beam = [[-Infinity, 0, -1, -1]]; // [score and what can follow, score, label before the last, last label]
    for (let t = 0; t * L < emission.length; t++) {
      const before = beam;
      beam = [];
      for (const [, s, a, p] of before) {
        for (let y = 0; y < L; y++) {
          const k = t * L + y;
          const score = t === 0
            ? start[y] + emission[y]
            : s + weight[(p * L + y) * (L + 1) + a + 1] + (emission[k] + into[t][y * L + p]);
          const bound = score + behind[k];
          if (beam.length === BEAM && !(bound > beam[BEAM - 1][0])) continue;
          let rank = Math.min(beam.length, BEAM - 1);
          for (; rank > 0 && bound > beam[rank - 1][0]; rank--) beam[rank] = beam[rank - 1];
          beam[rank] = [bound, score, p, y];
        }
      }
    }
    return beam[0][0];
  }

  /**
   * For each token from the second on the best scores, at p * L + y, of prefixes that end in p, y; minus infinity
   * for those that cannot become a labelling of the score beat.
   */
  function prefixes(emission, into, [behind, limits], beat) {
    const out = [start.map((s, y) => (s + emission[y] + behind[y] < beat ? -Infinity : s + emission[y]))];
    const some = new Int32Array(L); // a + 1 of the prefixes that end in a, p
    for (let t = 1; t * L < emission.length; t++) {
      const before = out[t - 1], now = new Float64Array(L * L).fill(-Infinity), limit = limits[t];
      for (let p = 0; p < L; p++) {
        const from = t === 1 ? p : p - L; // the place of the score of a, p is from + (a + 1) * L
        let n = 0, top = -Infinity;
        for (let a = t === 1 ? 0 : 1, stop = t === 1 ? 0 : L; a <= stop; a++) {
          const reached = before[from + a * L];
          if (reached === -Infinity) continue;
          some[n++] = a;
          if (reached > top) top = reached;
        }
        for (let y = 0, k = t * L; n && y < L; y++, k++) {
          if (top + (limit[p * L + y] + (emission[k] + behind[k])) < beat) continue;
          const at = (p * L + y) * (L + 1);
          let best = -Infinity;
          for (let j = 0; j < n; j++) {
            const reached = before[from + some[j] * L] + weight[at + some[j]];
            if (reached > best) best = reached;
          }
          best += emission[k] + into[t][y * L + p];
          if (!(best + behind[k] < beat)) now[p * L + y] = best;
        }
      }
      out.push(now);
    }
    return out;
  }

  /** [labels, score]: of equal scores the smaller labels, from the last token backwards. */
  function decode(emission, into) {
    const bounds = boundsOf(emission, into), beat = scoreToBeat(emission, into, bounds[0]) - bounds[2];
    const scores = prefixes(emission, into, bounds, beat), T = emission.length / L, last = scores[T - 1];
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
    const scores = prefixes(emission, into, boundsOf(emission, into), -Infinity), T = emission.length / L;
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

/** The largest absolute value of those that are finite. */
function largest(values) {
  let most = 0;
  for (const x of values) if (Math.abs(x) > most && Math.abs(x) < Infinity) most = Math.abs(x);
  return most;
}
