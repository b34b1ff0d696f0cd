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
} else {
  globalThis[tagger.about.name] = tagger;
}
