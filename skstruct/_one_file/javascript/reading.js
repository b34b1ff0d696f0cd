// The data of a model: a header, arrays, and tables of weights.
//
// The constant is base64 of a raw-deflated block: the length of the header (4 bytes, lowest first), the header
// (JSON in UTF-8), and the arrays, one behind the other. Of an array the bytes of equal rank stand together,
// lowest first.

const PARTS = {}; // what the header of a model names, by that name; each part of this program enters itself
const REMEMBERED = 100000; // entries of a memory at most

/** The header and the arrays of the constant. */
function readBlock(data) {
  const block = inflate(Uint8Array.from(atob(data), (c) => c.charCodeAt(0)));
  let at = 4 + new DataView(block.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(block.subarray(4, at)));
  const arrays = {};
  for (const [name, kind, n] of header.sections) {
    const size = n * Number(kind[1]);
    arrays[name] = readArray(block.subarray(at, at + size), kind, n);
    at += size;
  }
  return [header, arrays];
}

/** The n numbers of a section, whose kind is u, z or f and the bytes of a number. */
function readArray(data, kind, n) {
  const size = Number(kind[1]);
  if (kind[0] === "f") {
    const mixed = new DataView(new ArrayBuffer(n * size));
    for (let k = 0; k < size; k++) for (let j = 0; j < n; j++) mixed.setUint8(j * size + k, data[k * n + j]);
    const read = size === 4 ? mixed.getFloat32 : mixed.getFloat64;
    return Float64Array.from({ length: n }, (_, j) => read.call(mixed, j * size, true));
  }
  const values = new Uint32Array(n);
  for (let k = 0; k < size; k++) for (let j = 0; j < n; j++) values[j] += data[k * n + j] * 256 ** k;
  if (kind[0] === "u") return values;
  return Float64Array.from(values, (v) => (v % 2 ? -(v + 1) / 2 : v / 2)); // 0, -1, 1, -2 ... as 0, 1, 2, 3 ...
}

/** A table of weights: those of a row are at start[row] ... start[row + 1] - 1. */
function readWeights(header, arrays, name) {
  const weight = arrays[name + ".weight"];
  const whole = header.sections.find((section) => section[0] === name + ".weight")[1][0] === "z";
  if (whole) for (let k = 0; k < weight.length; k++) weight[k] /= header.divisor;
  return { start: startsOf(arrays[name + ".count"]), column: arrays[name + ".column"], weight };
}

/** Where each of several lists begins that stand one behind the other, and where the last one ends. */
function startsOf(counts) {
  const start = new Uint32Array(counts.length + 1);
  for (let k = 0; k < counts.length; k++) start[k + 1] = start[k] + counts[k];
  return start;
}

/** How many of the ascending numbers are at most a value. */
function above(numbers, value) {
  let low = 0, high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Throw the error about a token, or with t null about a sequence. */
function refuse(i, t, text) {
  throw new Error(`X: sequence ${i}${t === null ? "" : `, position ${t}`}: ${text}`);
}

/** A value for an error. */
function shown(value) {
  return typeof value === "string" ? `'${value}'` : JSON.stringify(value) || String(value);
}

/** What raw deflate (RFC 1951) made of some bytes. */
function inflate(source) {
  let out = new Uint8Array(4 * source.length + 1024);
  let at = 0, bits = 0, held = 0, n = 0;

  function take(count) {
    for (; held < count; held += 8) bits |= source[at++] << held;
    const value = bits & ((1 << count) - 1);
    bits >>>= count;
    held -= count;
    return value;
  }

  function symbol(table) {
    for (; held < 15; held += 8) bits |= source[at++] << held;
    const found = table[bits & (table.length - 1)];
    bits >>>= found & 15;
    held -= found & 15;
    return found >> 4;
  }

  function room(count) {
    if (n + count <= out.length) return;
    const longer = new Uint8Array(2 * out.length + count);
    longer.set(out);
    out = longer;
  }

  for (let last = 0; !last; ) {
    last = take(1);
    const kind = take(2);
    if (kind === 0) {
      at -= held >> 3; // whole bytes that were read ahead
      bits = held = 0;
      const count = source[at] | (source[at + 1] << 8);
      room(count);
      out.set(source.subarray(at + 4, at + 4 + count), n);
      at += 4 + count;
      n += count;
      continue;
    }
    const [letters, distances] = kind === 1 ? fixedTables() : readTables(take, symbol);
    for (let s = symbol(letters); s !== 256; s = symbol(letters)) {
      room(258);
      if (s < 256) {
        out[n++] = s;
        continue;
      }
      const length = LENGTHS[s - 257] + take(LENGTH_BITS[s - 257]);
      const d = symbol(distances);
      const back = DISTANCES[d] + take(DISTANCE_BITS[d]);
      for (let k = 0; k < length; k++, n++) out[n] = out[n - back];
    }
  }
  return out.slice(0, n);
}

const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const LENGTHS = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258];
const DISTANCE_BITS = Array.from({ length: 30 }, (_, k) => Math.max(0, (k >> 1) - 1));
const DISTANCES = DISTANCE_BITS.map((_, k) => DISTANCE_BITS.slice(0, k).reduce((sum, b) => sum + 2 ** b, 1));
const LENGTH_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** The table of a prefix code, by the next bits: symbol * 16 + length of its code. */
function codeTable(lengths) {
  const most = Math.max(1, ...lengths);
  const table = new Uint16Array(1 << most);
  let code = 0;
  for (let length = 1; length <= most; length++, code <<= 1) {
    for (let s = 0; s < lengths.length; s++) {
      if (lengths[s] !== length) continue;
      let reversed = 0;
      for (let b = 0; b < length; b++) reversed |= ((code >> b) & 1) << (length - 1 - b);
      for (let k = reversed; k < table.length; k += 1 << length) table[k] = s * 16 + length;
      code++;
    }
  }
  return table;
}

function fixedTables() {
  const lengths = Array.from({ length: 288 }, (_, s) => (s < 144 ? 8 : s < 256 ? 9 : s < 280 ? 7 : 8));
  return [codeTable(lengths), codeTable(new Array(30).fill(5))];
}

function readTables(take, symbol) {
  const nLetters = take(5) + 257, nDistances = take(5) + 1, nLengths = take(4) + 4;
  const first = new Array(19).fill(0);
  for (let k = 0; k < nLengths; k++) first[LENGTH_ORDER[k]] = take(3);
  const table = codeTable(first);
  const lengths = [];
  while (lengths.length < nLetters + nDistances) {
    const s = symbol(table);
    if (s < 16) lengths.push(s);
    else {
      const [value, times] = s === 16 ? [lengths[lengths.length - 1], 3 + take(2)] : [0, s === 17 ? 3 + take(3) : 11 + take(7)];
      for (let k = 0; k < times; k++) lengths.push(value);
    }
  }
  return [codeTable(lengths.slice(0, nLetters)), codeTable(lengths.slice(nLetters))];
}
