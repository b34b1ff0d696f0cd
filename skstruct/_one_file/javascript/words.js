// Word segmentation: texts in, words out. Characters are labelled; white space always ends a word.

const WHITE_SPACE = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/; // as of str.split

/** The characters of each piece of a text between white space. */
function piecesOf(text, i) {
  if (typeof text !== "string") refuse(i, null, `expected a text (str), got ${shown(text)}`);
  return text.split(WHITE_SPACE).filter((piece) => piece).map((piece) => Array.from(piece));
}

PARTS.words = (header, arrays) => {
  const { opens, closes, ends, tags } = header.words;
  const numbers = (yes) => new Set(header.labels.map((_, y) => y).filter(yes));
  const first = numbers((y) => opens[y]), last = numbers((y) => ends[y]), both = numbers((y) => opens[y] && ends[y]);

  /** The characters of a text without its white space, and what that leaves of the labels. */
  function parts(text, i) {
    const pieces = piecesOf(text, i);
    const choices = (piece) => piece.map((_, k) => {
      if (k === 0) return piece.length === 1 ? both : first;
      return k === piece.length - 1 ? last : null;
    });
    return [[pieces.flat(), pieces.length > 1 && both.size ? pieces.flatMap(choices) : null]];
  }

  /** The words of a text, by the labels of its characters. */
  function cut(pieces, path) {
    const out = [];
    let t = 0;
    for (const piece of pieces) {
      for (let k = 0, begin = 0; k < piece.length; k++) {
        if (k + 1 < piece.length && !opens[path[t + k + 1]] && !closes[path[t + k]]) continue;
        const word = piece.slice(begin, k + 1).join("");
        out.push(tags === null ? word : [word, tags[path[t + begin]]]);
        begin = k + 1;
      }
      t += piece.length;
    }
    return out;
  }

  /** The words of each text, or [word, tag] if the model has tags. */
  function predict(X) {
    return listOf(X, "texts").map((text, i) => cut(piecesOf(text, i), tagger.bestOfAll(text, i)[0]));
  }

  const tagger = makeTagger(header, arrays, parts);
  return { ...tagger.api, predict };
};
