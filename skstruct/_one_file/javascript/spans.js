// Labelled spans of texts: texts in, [start, end, label] out.
//
// Texts become tokens by the class of each code point, by a table that the model carries. Tokens make pieces,
// each a sequence of its own. Offsets count code points; predictUtf16 counts as String.slice does.

const BREAK = 2, LETTER = 3, DIGIT = 4, SYMBOL = 6, OTHER = 7, REGIONAL = 9, MARK = 10; // classes; 1 is a space
const LINE = 2, PARAGRAPH = 3;
const SENTENCE_ENDS = ".!?\u2026\u3002\uff01\uff1f\uff61\u061f\u06d4\u0964\u0965";
const ZERO_WIDTH_JOINER = "\u200d";

PARTS.spans = (header, arrays) => {
  const { tokenizer, pieces: kind, max_length: most, layout, opens, closes, types, classes } = header.spans;
  const bounds = startsOf(header.spans.bounds).slice(1), known = new Map();
  const least = { lines: LINE, paragraphs: PARAGRAPH }[kind] || PARAGRAPH + 1;

  /** The class of a character, remembered. */
  function classOf(c) {
    let found = known.get(c);
    if (found === undefined) {
      found = classes[above(bounds, c.codePointAt(0)) - 1];
      known.set(c, found);
    }
    return found;
  }

  /** The pieces of a text, lists of [start, end, token]. */
  function piecesIn(text, i) {
    if (typeof text !== "string") refuse(i, null, `expected a text (str), got ${shown(text)}`);
    const characters = Array.from(text), kinds = characters.map(classOf);
    let tokens = [];
    if (tokenizer === "words") tokens = wordsIn(characters, kinds);
    else kinds.forEach((each, k) => { if (each > BREAK) tokens.push([k, k + 1]); });
    const before = layoutBefore(characters, kinds, tokens);
    let begins = tokens.map((_, k) => k).filter((k) => !k || before[k] >= least);
    if (most !== null) {
      const gaps = gapsBefore(characters, tokens, before);
      const stops = [...begins.slice(1), tokens.length];
      begins = begins.flatMap((a, k) => cutsBetween(gaps, a, stops[k], most));
    }
    return begins.map((a, k) => tokens.slice(a, begins[k + 1]).map(([start, end], j) => {
      const word = characters.slice(start, end).join("").normalize("NFC");
      return [start, end, layout ? [word, String(before[a + j])] : word];
    }));
  }

  /** The tokens of each piece of a text. */
  function parts(text, i) {
    return piecesIn(text, i).map((piece) => [piece.map(([, , token]) => token), null]);
  }

  /** [first token, token behind, label] of the segments that labels spell. */
  function chunks(path) {
    const found = [];
    let start = -1;
    path.forEach((y, t) => {
      const before = t ? path[t - 1] : y;
      if (start >= 0 && (opens[y] || closes[before] || types[y] !== types[before])) {
        found.push([start, t, types[before]]);
        start = -1;
      }
      if (start < 0 && types[y] !== null) start = t;
    });
    if (start >= 0) found.push([start, path.length, types[path[path.length - 1]]]);
    return found;
  }

  /** The spans [start, end, label] of each text, in order. */
  function predict(X) {
    return listOf(X, "texts").map((text, i) => piecesIn(text, i).flatMap((piece) => {
      const [path] = tagger.bestOf(piece.map(([, , token]) => token), i, null);
      return chunks(path).map(([a, b, label]) => [piece[a][0], piece[b - 1][1], label]);
    }));
  }

  /** The same with offsets in UTF-16 units, as of String.slice. */
  function predictUtf16(X) {
    return predict(X).map((spans, i) => {
      const at = startsOf(Array.from(X[i], (c) => c.length));
      return spans.map(([start, end, label]) => [at[start], at[end], label]);
    });
  }

  /** Where the tokens of a text are: [start, end], in code points. */
  function tokens(text) {
    return piecesIn(text, 0).flat().map(([start, end]) => [start, end]);
  }

  const tagger = makeTagger(header, arrays, parts);
  return { ...tagger.api, predict, predictUtf16, tokens };
};

/** Where words begin and end.
 *
 * Runs of letters, runs of digits, and other characters one by one, equal ones together. Marks belong to what they
 * follow, joiners join symbols, and regional indicators go in pairs.
 */
function wordsIn(text, kinds) {
  const starts = [];
  let previous = -1, paired = false;
  kinds.forEach((kind, k) => {
    if (kind >= MARK && k && kinds[k - 1] > BREAK) return;
    let inside = false;
    if (previous >= 0 && kinds[previous] === kind) {
      if (kind === LETTER || kind === DIGIT) inside = true;
      else if (kind === REGIONAL) inside = !paired;
      else if (kind === SYMBOL || kind === OTHER) {
        inside = text[k] === text[previous] || (kind === SYMBOL && text[k - 1] === ZERO_WIDTH_JOINER);
      }
    }
    paired = inside;
    previous = k;
    if (!inside) starts.push(k);
  });
  return starts.map((start, j) => [start, j + 1 < starts.length ? starts[j + 1] : text.length]).filter(([start]) => kinds[start] > BREAK);
}

/** What is before each token: 0 nothing, 1 a space, 2 a line break, 3 a blank line, or the text starts. */
function layoutBefore(text, kinds, tokens) {
  return tokens.map(([start], j) => {
    if (!j) return PARAGRAPH;
    let breaks = 0, spaces = 0;
    for (let k = tokens[j - 1][1]; k < start; k++) {
      if (kinds[k] <= BREAK) spaces = 1;
      if (kinds[k] === BREAK && !(text[k] === "\n" && text[k - 1] === "\r")) breaks++;
    }
    return breaks ? Math.min(breaks + 1, PARAGRAPH) : spaces;
  });
}

/** How well a text can be cut before each token. */
function gapsBefore(text, tokens, before) {
  return before.map((n, k) => {
    if (!k) return 2 * n;
    const last = text[tokens[k - 1][1] - 1];
    const ends = SENTENCE_ENDS.includes(last) && (n || last.codePointAt(0) > 127); // "U.S." goes on
    return ends ? Math.max(2 * n, 3) : 2 * n; // better than a space, worse than a line break
  });
}

/** Where the pieces of the tokens a ... b - 1 begin: each ends at the largest gap of its second half. */
function cutsBetween(gaps, a, b, most) {
  const out = [a];
  while (b - a > most) {
    const first = a + Math.max(1, most >> 1);
    let best = a + most;
    for (let k = best; k >= first; k--) if (gaps[k] > gaps[best]) best = k;
    a = best;
    out.push(a);
  }
  return out;
}
