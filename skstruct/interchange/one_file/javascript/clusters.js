// Clusters of words, which the model carries.

/** The cluster of a word, or else of its lower-cased form. */
PARTS.clusters = ({ clusters, unicode }) => {
  const of = new Map(), lower = PARTS.characters("lower", unicode);
  for (const [label, words] of Object.entries(clusters)) for (const word of words) of.set(word, label);
  const label = (s) => of.get(s) || of.get(lower(s)) || "_";
  label.shown = (s) => {
    const found = label(s), words = (clusters[found] || []).slice(0, 3).join(", ");
    return words ? `${found} (${words}, ...)` : found; // as explain names it
  };
  return label;
};
