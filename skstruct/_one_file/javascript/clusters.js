// Clusters of words, which the model carries.

/** The cluster of a word, or of its lower-cased form, or of its normal form C. */
PARTS.clusters = ({ clusters, unicode }) => {
  const of = new Map(), lower = PARTS.characters("lower", unicode);
  for (const [label, words] of Object.entries(clusters)) for (const word of words) of.set(word, label);
  const known = (s) => of.get(s) || of.get(lower(s));
  return (s) => known(s) || known(s.normalize("NFC")) || "_";
};
