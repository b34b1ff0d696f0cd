// The model, and what to call.

const DATA = "";

const tagger = openModel(DATA);

export const { labels, about, predict, decisionFunction, predictMarginals, explain } = tagger;
export default tagger;
