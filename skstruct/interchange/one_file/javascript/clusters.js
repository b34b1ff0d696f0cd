// Clusters of words, which the model carries.

/** The cluster of a word, or else of its lower-cased form. */
PARTS.clusters = ({ clusters, unicode }) => {
  const of = new Map(), lower = PARTS.characters("lower", unicode);
  for (const [label, words] of Object.entries(clusters)) for (const word of words) of.set(word, label);
  return (s) => of.get(s) || of.get(lower(s)) || "_";
};
