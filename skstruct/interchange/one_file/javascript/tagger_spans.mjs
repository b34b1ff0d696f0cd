export const { predictUtf16 } = tagger;
