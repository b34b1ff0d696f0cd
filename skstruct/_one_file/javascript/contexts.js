// Functions of more than a token: lexicons, and accessor variety (how freely a string is used in a text).

/** "name column" -> function that gives the values along a column of a sequence. */
PARTS.contexts = (header, arrays) => {
  const out = new Map();
  for (const { name, column, entries } of header.lexicons) out.set(`${name} ${column}`, lexiconFunction(entries));
  for (const variety of header.varieties) {
    const strings = stringsOf(variety, arrays);
    for (let n = 1; n <= variety.longest; n++) out.set(`av${n} ${variety.column}`, varietyFunction(strings, n));
  }
  return out;
};

/** Marks of the longest entries, from left to right: B, I, E, or S alone, O elsewhere. */
function lexiconFunction(entries) {
  const root = { next: new Map(), ends: false };
  for (const entry of entries) {
    let node = root;
    for (const token of entry) {
      if (!node.next.has(token)) node.next.set(token, { next: new Map(), ends: false });
      node = node.next.get(token);
    }
    node.ends = entry.length > 0;
  }
  return (column) => {
    const out = column.map(() => "O");
    for (let t = 0; t < column.length; ) {
      let longest = 0;
      for (let k = t, node = root; k < column.length && (node = node.next.get(column[k])); k++) {
        if (node.ends) longest = k + 1 - t;
      }
      if (longest === 1) out[t] = "S";
      else if (longest) {
        out.fill("I", t, t + longest);
        out[t] = "B";
        out[t + longest - 1] = "E";
      }
      t += longest || 1;
    }
    return out;
  };
}

/** Strings of one to four tokens: numbers of tokens, what finds a longer string, buckets. */
function stringsOf(variety, arrays) {
  const numbers = new Map(variety.tokens.map((s, k) => [s, k + 1]));
  const longer = [], buckets = [];
  for (let n = 1; n <= variety.longest; n++) {
    const name = `varieties.${variety.column}.${n}`;
    buckets.push(arrays[`${name}.bucket`]);
    if (n > 1) longer.push({ start: startsOf(arrays[`${name}.left`]), last: arrays[`${name}.right`] });
  }
  return { numbers, longer, buckets };
}

/** For each token the place in, and the bucket of, the most varied string of n tokens around it. */
function varietyFunction({ numbers, longer, buckets }, n) {
  return (column) => {
    const ids = column.map((token) => numbers.get(token) || 0);
    let nodes = ids;
    for (let length = 2; length <= n; length++) {
      const step = (node, t) => (node && ids[t + length - 1] ? find(longer[length - 2], node, ids[t + length - 1]) : 0);
      nodes = nodes.map(step);
    }
    const begins = nodes.map((node) => (node ? buckets[n - 1][node - 1] : 0));
    return column.map((_, t) => {
      const inside = Math.max(0, ...begins.slice(Math.max(0, t - n + 2), Math.max(0, t)));
      const last = t >= n - 1 ? begins[t - n + 1] : 0;
      const best = Math.max(begins[t], inside, last);
      // Of equal ones the token rather begins a string than ends it, and rather that than stands inside.
      return best ? (begins[t] === best ? "B" : last === best ? "E" : "I") + best : "0";
    });
  };
}
