export const { predictUtf16, tokens } = tagger;
