// Probabilities of labels: sums over all labellings of a chain, by logarithms.

/** For each token the probabilities of its labels, given the whole sequence (forward-backward). */
PARTS.sums = (chain, scale, [rows, values, edges]) => {
  const T = rows.length, { L, start, end } = chain, row = new Float64Array(L);
  if (!T) return [];
  const all = chain.emissions(rows, values, scale), emission = rows.map((_, t) => all.slice(t * L, (t + 1) * L));
  const into = chain.transitions(edges, chain.transitionsInto(scale), T, scale);
  const forward = [start.map((s, y) => s + emission[0][y])];
  for (let t = 1; t < T; t++) {
    forward.push(emission[t].map((added, y) => {
      for (let p = 0; p < L; p++) row[p] = forward[t - 1][p] + into[t][y * L + p];
      return logSum(row) + added;
    }));
  }
  const out = [];
  for (let t = T - 1, behind = end; t >= 0; t--) {
    const both = forward[t].map((s, y) => s + behind[y]), total = logSum(both);
    out.push(Array.from(both, (s) => (total > -Infinity ? Math.exp(s - total) : 0)));
    const rest = emission[t].map((s, y) => s + behind[y]);
    behind = behind.map((_, p) => {
      for (let y = 0; y < L; y++) row[y] = into[t][y * L + p] + rest[y];
      return logSum(row);
    });
  }
  return out.reverse();
};

/** log of the sum of exp of scores, none of which can overflow. */
function logSum(scores) {
  const top = Math.max(...scores);
  if (top === -Infinity) return top;
  let total = 0;
  for (let k = 0; k < scores.length; k++) total += Math.exp(scores[k] - top);
  return top + Math.log(total);
}
