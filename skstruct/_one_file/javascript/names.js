// Ready-made features: tokens that are objects (or Maps), or arrays of names.

PARTS.names = (header) => {
  const row = new Map(header.names.map((name, k) => [name, k]));

  /** [name, value] of each feature of a token, in its order. */
  function featuresOf(token) {
    if (token instanceof Set) return featuresOf(Array.from(token).sort(byCodePoints));
    if (Array.isArray(token)) {
      return token.map((name) => {
        if (typeof name !== "string") throw new Error(`a feature must be a str, got ${shown(name)}`);
        return [name, 1];
      });
    }
    if (!isDict(token)) throw new Error(`expected a dict or a list of features, got ${shown(token)}`);
    const out = [];
    addFeatures("", token, out);
    return out;
  }

  /** By token the rows of its features, their values, and no rows of transitions; i is for errors. */
  function rows(sequence, i) {
    const found = sequence.map((token, t) => {
      try {
        return featuresOf(token).filter(([name]) => row.has(name));
      } catch (error) {
        return refuse(i, t, error.message);
      }
    });
    return [found.map((each) => each.map(([name]) => row.get(name))), found.map((each) => each.map(([, x]) => x)), null];
  }

  return { rows, name: (row) => header.names[row] };
};

/** Whether a value is an object that can hold features. */
function isDict(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof Set);
}

/** Add [name, value] of what a dict holds: strings, booleans, numbers, and collections of these. */
function addFeatures(before, token, out) {
  for (const [key, value] of token instanceof Map ? token : Object.entries(token)) {
    if (typeof key !== "string") throw new Error(`a feature name must be a str, got ${shown(key)}`);
    const name = before + key;
    if (typeof value === "string") out.push([`${name}:${value}`, 1]);
    else if (typeof value === "boolean") {
      if (value) out.push([name, 1]);
    } else if (typeof value === "number") {
      if (!Number.isFinite(value)) throw new Error(`feature '${name}' must be finite, got ${value}`);
      if (value) out.push([name, value]);
    } else if (isDict(value)) addFeatures(`${name}:`, value, out);
    else if (Array.isArray(value) || value instanceof Set) {
      const several = Array.from(value);
      for (const inner of several) {
        if (typeof inner !== "string") throw new Error(`feature '${name}': a list must hold str, got ${shown(inner)}`);
      }
      for (const inner of value instanceof Set ? several.sort(byCodePoints) : several) out.push([`${name}:${inner}`, 1]);
    } else {
      const expected = "a str, a bool, a number, or a list or dict of these";
      throw new Error(`feature '${name}' must be ${expected}, got ${shown(value)}`);
    }
  }
}

/** The order of Python's strings. */
function byCodePoints(one, other) {
  const a = Array.from(one), b = Array.from(other);
  for (let k = 0; k < Math.min(a.length, b.length); k++) {
    if (a[k] !== b[k]) return a[k].codePointAt(0) - b[k].codePointAt(0);
  }
  return a.length - b.length;
}
