// Functions of characters by tables that the model carries: what Unicode says differs between engines.
//
// A table of code points is a list of places at which being in it begins, ends, begins ...: the first, and then
// how far it is to the next. Characters are code points.

const NUMERALS = 
  "\u3007\u96f6\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341\u767e\u5343\u4e07\u4ebf\u5146\u4e24\u58f9\u8d30\u53c1\u8086\u4f0d\u9646\u67d2\u634c\u7396\u62fe\u4f70\u4edf";
const SIGMA = "\u03a3", SMALL_SIGMA = "\u03c3", FINAL_SIGMA = "\u03c2";

/** A function that says whether a character is in a table; answers are remembered. */
function memberOf(table) {
  const bounds = startsOf(table).slice(1), known = new Map();
  return (c) => {
    if (!known.has(c)) known.set(c, above(bounds, c.codePointAt(0)) % 2 === 1);
    return known.get(c);
  };
}

PARTS.characters = (name, tables) => {
  const test = {};
  for (const key of Object.keys(tables)) if (key !== "mapping") test[key] = memberOf(tables[key]);
  if (name === "lower") return lowerCase(test.cased, test.ignorable, tables.mapping);
  if (name === "shape") return (s) => shape(s, test);
  if (name === "type") return (s) => characterType(s, test);
  const inside = name === "hyphen" ? (c) => c === "-" : test[name];
  return (s) => (Array.from(s).some(inside) ? "yes" : "no");
};

/** Upper case to X, lower case to x, digits to 9; runs longer than two cut to two. */
function shape(token, test) {
  const out = [];
  for (let c of Array.from(token)) {
    c = test.upper(c) ? "X" : test.lower(c) ? "x" : test.digit(c) ? "9" : c;
    const n = out.length;
    if (n < 2 || out[n - 1] !== c || out[n - 2] !== c) out.push(c);
  }
  return out.join("");
}

/** The type of the first character: digit, numeral, letter, punctuation or other. */
function characterType(token, test) {
  let [c] = Array.from(token);
  if (c === undefined) return "other";
  if (c >= "\uff01" && c <= "\uff5e" && c.length === 1) c = String.fromCodePoint(c.codePointAt(0) - 0xfee0); // full width
  if (test.digit(c)) return "digit";
  if (NUMERALS.includes(c)) return "numeral";
  if (/^[A-Za-z]$/.test(c)) return "letter";
  return test.punctuation(c) ? "punctuation" : "other";
}

/** Lower case as Python has it; mapping has code points and what is added to them, both as distances. */
function lowerCase(cased, ignorable, mapping) {
  const to = new Map(Object.entries(mapping.long));
  let code = 0, difference = 0;
  mapping.places.forEach((distance, k) => {
    code += distance;
    difference += mapping.differences[k];
    to.set(String.fromCodePoint(code), String.fromCodePoint(code + difference));
  });

  return (s) => {
    const characters = Array.from(s), out = characters.map((c) => (to.has(c) ? to.get(c) : c));
    if (!s.includes(SIGMA)) return out.join("");
    // A sigma ends a word if a letter is before it and none behind, marks aside.
    const followed = [];
    let letter = false;
    for (let k = characters.length - 1; k >= 0; k--) {
      followed[k] = letter;
      if (!ignorable(characters[k])) letter = cased(characters[k]);
    }
    letter = false;
    characters.forEach((c, k) => {
      if (c === SIGMA) out[k] = letter && !followed[k] ? FINAL_SIGMA : SMALL_SIGMA;
      if (!ignorable(c)) letter = cased(c);
    });
    return out.join("");
  };
}
