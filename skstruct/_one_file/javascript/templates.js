// Features by templates: which rows of weights apply to which token.
//
// A channel is a function of a column of the tokens, such as suffix3 of column 0; its values have numbers, 0 for
// what is unknown. A compound is some channels at fixed distances. Its combinations of values are found one
// value at a time: those that begin alike stand together, sorted by their last value. A combination stands at an
// anchor, and speaks of tokens some places from it: each such place is a slot, with a row of weights.

PARTS.templates = (header, arrays) => {
  const { left, right, channels } = header;
  const isTuple = header.token === "tuple";
  const behind = 1 + left + right; // 0 is unknown, then come the places outside of a sequence
  const numbers = header.values.map((strings) => new Map(strings.map((s, k) => [s, behind + k])));
  const contexts = header.lexicons ? PARTS.contexts(header, arrays) : new Map();
  const functions = []; // by column [[channel, function, numbers of its values]]
  for (let c = 0; c < header.columns; c++) {
    functions.push([]);
    channels.forEach(([name, column], k) => {
      if (column !== c || name === "const" || contexts.has(`${name} ${column}`)) return;
      functions[c].push([k, columnFunction(name, header), numbers[k]]);
    });
  }
  const known = functions.map(() => new Map()); // by column: string -> numbers of its values
  const sides = ["nodes", "edges"].map((name) => makeSide(header, arrays, name, numbers, behind));
  const outside = Array.from({ length: behind }, (_, k) => k);
  const before = outside.slice(1, left + 1).reverse(), after = outside.slice(left + 1);

  function columnsOf(sequence) {
    return isTuple ? functions.map((_, c) => sequence.map((token) => token[c])) : [sequence];
  }

  /** For each channel its values along the sequence, those outside of it included. */
  function channelValues(columns, T) {
    const out = channels.map(() => new Int32Array(left + T + right));
    for (let c = 0; c < functions.length; c++) {
      for (let t = 0; t < T; t++) {
        const s = columns[c][t];
        let found = known[c].get(s);
        if (found === undefined) {
          found = functions[c].map(([, of, values]) => values.get(of(s)) || 0);
          if (known[c].size < REMEMBERED) known[c].set(s, found);
        }
        for (let j = 0; j < found.length; j++) out[functions[c][j][0]][left + t] = found[j];
      }
    }
    channels.forEach(([name, column], k) => {
      if (name === "const") return out[k].fill(1, left, left + T);
      const context = contexts.get(`${name} ${column}`);
      if (context) out[k].set(context(columns[column]).map((s) => numbers[k].get(s) || 0), left);
      out[k].set(before);
      out[k].set(after, left + T);
    });
    return out;
  }

  /** By token the rows of state features, null (their values are all 1), and those of transitions. */
  function rows(sequence, i) {
    checkTokens(sequence, i, header);
    const values = channelValues(columnsOf(sequence), sequence.length);
    const [nodes, edges] = sides.map((side) => (side.steps.length ? side.rows(values, sequence.length) : null));
    return [nodes || sequence.map(() => []), null, edges];
  }

  /** The state feature of a row, as CRF++ writes it. */
  function name(row) {
    const [[literals, order], values] = sides[0].atoms(row), written = [];
    order.forEach((k, j) => { written[k] = text(...values[j]); });
    return literals[0] + literals.slice(1).map((literal, k) => written[k] + literal).join("");
  }

  /** A value of a channel as a string. */
  function text(channel, value) {
    const [of] = channels[channel];
    if (of === "const") return "";
    if (value < behind) return value <= left ? `_B-${value}` : `_B+${value - left}`;
    const found = header.values[channel][value - behind];
    const words = of === "cluster" ? (header.clusters[found] || []).slice(0, 3).join(", ") : "";
    return words ? `${found} (${words}, ...)` : found;
  }

  return { rows, name };
};

/** Throw unless the tokens are strings, or arrays of enough of them; if the model takes both, the first token decides. */
function checkTokens(sequence, i, { token: kind, either, columns }) {
  const isTuple = either ? Array.isArray(sequence[0]) : kind === "tuple";
  sequence.forEach((token, t) => {
    if (!isTuple) {
      if (typeof token !== "string") refuse(i, t, `expected a str, got ${shown(token)}`);
      return;
    }
    if (!Array.isArray(token) || token.length < columns) {
      refuse(i, t, `expected a tuple of ${columns} str, got ${shown(token)}`);
    }
    for (let c = 0; c < columns; c++) {
      if (typeof token[c] !== "string") refuse(i, t, `expected a str, got ${shown(token[c])}`);
    }
  });
}

/** The function of a string that a channel names. */
function columnFunction(name, header) {
  const affix = /^(prefix|suffix)(\d+)$/.exec(name);
  if (affix) {
    const n = Number(affix[2]);
    return affix[1] === "prefix" ? (s) => Array.from(s).slice(0, n).join("") : (s) => Array.from(s).slice(-n).join("");
  }
  if (name === "cluster") return PARTS.clusters(header);
  return name === "x" ? (s) => s : PARTS.characters(name, header.unicode);
}

/** The compounds of state features, or those of transitions. */
function makeSide(header, arrays, name, numbers, behind) {
  const { compounds, groups } = header[name];
  const first = name === "edges" ? 1 : 0; // no transition leads to the first token
  const base = [], begins = [], tables = [], steps = [];
  let row = first; // row 0 of the transitions is the label bigram
  compounds.forEach(([prefix, channel, , shifts], c) => {
    let n = header.channels[channel][0] === "const" ? 1 : behind + numbers[channel].size - 1;
    if (prefix >= 0) {
      const last = arrays[`${name}.${c}.right`];
      tables[c] = { start: startsOf(arrays[`${name}.${c}.left`]), last };
      n = last.length;
    }
    begins.push(row);
    base.push(row - shifts.length); // combinations count from 1
    row += n * shifts.length;
  });
  for (const [c, slot, low, width] of groups) {
    for (let s = width - 1; s >= 0; s--) {
      steps.push({ c, slots: compounds[c][3].length, row: base[c] + slot + s, at: header.left - low - s });
    }
  }

  /** For each compound its combinations along the sequence, 0 where there is none. */
  function combinations(values) {
    const found = [];
    compounds.forEach(([prefix, channel, distance], c) => {
      const own = values[channel];
      if (prefix < 0) return found.push(own);
      const out = new Int32Array(own.length), shorter = found[prefix];
      for (let a = 0; a + distance < own.length; a++) {
        if (shorter[a] && own[a + distance]) out[a] = find(tables[c], shorter[a], own[a + distance]);
      }
      return found.push(out);
    });
    return found;
  }

  function rows(values, T) {
    const out = new Array(T), found = combinations(values);
    for (let t = 0; t < T; t++) out[t] = [];
    for (let k = 0; k < steps.length; k++) {
      const { c, slots, row, at } = steps[k], numbers = found[c];
      for (let t = first; t < T; t++) if (numbers[at + t]) out[t].push(row + numbers[at + t] * slots);
    }
    return out;
  }

  /** [how the feature of a row is written, the [channel, value] that it is made of]. */
  function atoms(row) {
    let c = above(begins, row) - 1;
    const slots = compounds[c][3].length, slot = (row - begins[c]) % slots, values = [];
    let number = (row - begins[c] - slot) / slots + 1;
    const form = compounds[c][4][slot];
    for (; tables[c]; [c] = compounds[c]) {
      const { start, last } = tables[c];
      values.unshift([compounds[c][1], last[number - 1]]);
      number = above(start, number - 1);
    }
    return [form, [[compounds[c][1], number], ...values]];
  }

  return { steps, rows, atoms };
}

/** The number of the combination of the one numbered before and a value, 0 if there is none. */
function find({ start, last }, before, value) {
  let low = start[before - 1], high = start[before];
  const stop = high;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (last[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low < stop && last[low] === value ? low + 1 : 0;
}
