// The model, and what to call.

const DATA = "";

const tagger = openModel(DATA);

export const { labels, about, predict, decisionFunction, predictMarginals, explain } = tagger;
export const { predictUtf16, tokens } = tagger; // of spans alone
export default tagger;
