// The model, and what to call: exports of a module of Node, or a global of a page.

const DATA = "";

const tagger = openModel(DATA);

if (typeof module === "object" && module.exports) {
  exports.labels = tagger.labels;
  exports.about = tagger.about;
  exports.predict = tagger.predict;
  exports.decisionFunction = tagger.decisionFunction;
  exports.predictMarginals = tagger.predictMarginals;
  exports.explain = tagger.explain;
  exports.predictUtf16 = tagger.predictUtf16; // of spans alone, as the next
  exports.tokens = tagger.tokens;
} else { // what a page has already, such as top or name, is not replaced
  const { name } = tagger.about;
  globalThis[Object.prototype.hasOwnProperty.call(globalThis, name) ? "tagger" : name] = tagger;
}
