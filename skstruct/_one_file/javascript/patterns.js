// Patterns of CRF++ and Wapiti: features are the strings that they write from tokens.

PARTS.patterns = (header) => {
  const lines = [header.patterns.nodes, header.patterns.edges];
  const rowOf = [new Map(header.names.map((name, k) => [name, k])), new Map(header.edge_names.map((name, k) => [name, k + 1]))];

  /** What stands for the token so far before (negative) or behind a sequence. */
  function outside(distance) {
    const sign = distance > 0 ? "+" : "";
    if (header.patterns.syntax !== "wapiti") return `_B${sign}${distance}`;
    return Math.abs(distance) <= 4 ? `_x${sign}${distance}` : distance > 0 ? "_x+#" : "_x-#";
  }

  /** The string of a pattern at a token. */
  function write([literals, macros], sequence, t) {
    const T = sequence.length, isTuple = Array.isArray(sequence[0]);
    return literals[0] + macros.map(([position, absolute, column, lower], k) => {
      const at = absolute ? (position >= 0 ? position : T + position) : t + position;
      let value = outside(at < 0 ? at : at - T + 1);
      if (at >= 0 && at < T) value = isTuple ? sequence[at][column] : sequence[at];
      return (lower ? value.replace(/[A-Z]/g, (c) => c.toLowerCase()) : value) + literals[k + 1];
    }).join("");
  }

  /** By token the rows of state features, null (their values are all 1), and those of transitions. */
  function rows(sequence, i) {
    checkTokens(sequence, i, header);
    const [nodes, edges] = lines.map((patterns, side) => sequence.map((_, t) => {
      if (side && !t) return []; // no transition leads to the first token
      return patterns.map((pattern) => rowOf[side].get(write(pattern, sequence, t))).filter((row) => row !== undefined);
    }));
    return [nodes, null, lines[1].length ? edges : null];
  }

  return { rows, name: (row) => header.names[row] };
};
