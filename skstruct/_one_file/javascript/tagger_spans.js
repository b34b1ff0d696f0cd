if (typeof module === "object" && module.exports) {
  exports.predictUtf16 = tagger.predictUtf16;
  exports.tokens = tagger.tokens;
}
