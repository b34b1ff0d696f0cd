// What users call: functions of a tagger.

/** A tagger; parts(x, i) cuts what is labelled into [tokens, for each a Set of numbers of labels, or null]. */
function makeTagger(header, arrays, parts) {
  const { labels, step } = header, L = labels.length, what = header.task === "labels" ? "sequences" : "texts";
  const features = PARTS[header.features](header, arrays), chain = PARTS[header.chain](header, arrays);

  /** [numbers of labels, score] of one sequence; options has for each token a Set of numbers, or null for all. */
  function bestOf(sequence, i, options) {
    const [rows, values, edges] = features.rows(sequence, i);
    if (!rows.length) return [[], 0];
    const emission = restricted(chain.emissions(rows, values, 1), options);
    const [path, score] = chain.decode(emission, chain.transitions(edges, chain.plain, rows.length, 1));
    if (score === -Infinity) refuse(i, null, "the constraints and the labels allowed leave no labelling");
    return [path, score * step];
  }

  /** Labels that a token must not get have the score minus infinity. */
  function restricted(emission, options) {
    for (let t = 0; options && t < options.length; t++) {
      for (let y = 0; options[t] && y < L; y++) if (!options[t].has(y)) emission[t * L + y] = -Infinity;
    }
    return emission;
  }

  /** For each token the numbers of the labels that it may get. */
  function optionsOf(sequence, i, allowed) {
    if (allowed.length !== sequence.length) {
      refuse(i, null, `expected ${sequence.length} entries in allowed, got ${allowed.length}`);
    }
    return allowed.map((choice, t) => {
      if (choice === null || choice === undefined) return null;
      const some = Array.isArray(choice) || choice instanceof Set ? Array.from(choice) : [choice];
      for (const label of some) if (!labels.includes(label)) refuse(i, t, `${shown(label)} is not a label of the model`);
      return new Set(some.map((label) => labels.indexOf(label)));
    });
  }

  /** The best labels of each sequence; allowed: for each token null (any label), a label, or several labels. */
  function predict(X, allowed = null) {
    listOf(X, what);
    if (allowed && (!Array.isArray(allowed) || allowed.length !== X.length)) {
      throw new Error("X and allowed must hold the same number of sequences");
    }
    return X.map((x, i) => {
      const [[tokens]] = parts(x, i);
      return bestOf(tokens, i, allowed && optionsOf(tokens, i, allowed[i]))[0].map((y) => labels[y]);
    });
  }

  /** [numbers of labels, score] of all parts of the i-th sequence. */
  function bestOfAll(x, i) {
    const found = parts(x, i).map(([tokens, options]) => bestOf(tokens, i, options));
    return [found.flatMap(([path]) => path), found.reduce((sum, [, score]) => sum + score, 0)];
  }

  /** The score of the best labelling of each sequence. */
  function decisionFunction(X) {
    return listOf(X, what).map((x, i) => bestOfAll(x, i)[1]);
  }

  /** For each token of each sequence the probabilities of all labels. */
  function predictMarginals(X) {
    if (header.probabilities === null) {
      const text = header.chain === "chain" ? "calibrate it, or train an L1CRF" : "its order is 2";
      throw new Error(`the model has no probabilities: ${text}`);
    }
    const scale = header.probabilities * step;
    const sums = (tokens, i) => PARTS.sums(chain, scale, features.rows(tokens, i));
    return listOf(X, what).map((x, i) => parts(x, i).flatMap(([tokens]) => sums(tokens, i)));
  }

  /**
   * Why each token has its label. For each token: label; runnerUp, its label in the best labelling that gives it
   * another one; margin, how far that is behind; features, as [name, weight for the label, weight for the
   * runner-up]; and neighbours, what the labels around add to the margin.
   */
  function explain(sequence) {
    return parts(sequence, 0).flatMap(([tokens, options]) => explained(tokens, options));
  }

  function explained(sequence, options) {
    const [rows, values, edges] = features.rows(sequence, 0);
    if (!rows.length) return [];
    const [path] = bestOf(sequence, 0, options);
    const emission = restricted(chain.emissions(rows, values, 1), options);
    const into = chain.transitions(edges, chain.plain, rows.length, 1);
    const reached = chain.bestWithEachLabel(emission, into);
    return path.map((y, t) => {
      const best = Array.from(reached.slice(t * L, (t + 1) * L)), token = sequence[t];
      const other = argmax(best.map((s, k) => (k === y ? -Infinity : s)));
      const found = other !== y && best[other] > -Infinity;
      const reasons = [];
      rows[t].forEach((row, j) => {
        const x = step * (values === null ? 1 : values[t][j]);
        const mine = x * weightOf(chain.states, row, y), its = x * weightOf(chain.states, row, other);
        if (mine || (found && its)) reasons.push([features.name(row), mine, found ? its : null]);
      });
      return {
        token,
        label: labels[y],
        runnerUp: found ? labels[other] : null,
        margin: found ? (best[y] - best[other]) * step : null,
        features: reasons,
        neighbours: found ? (best[y] - emission[t * L + y] - (best[other] - emission[t * L + other])) * step : null,
      };
    });
  }

  const api = { labels, about: header.about, predict, decisionFunction, predictMarginals, explain };
  return { api, bestOf, bestOfAll };
}

PARTS.labels = (header, arrays) => makeTagger(header, arrays, (sequence, i) => {
  if (!Array.isArray(sequence)) refuse(i, null, `expected a list of tokens, got ${shown(sequence)}`);
  return [[sequence, null]];
}).api;

/** What is an array; an error if it is none. */
function listOf(X, what) {
  if (Array.isArray(X)) return X;
  throw new Error(`X must be a list of ${what}, got ${shown(X)}${what === "texts" ? "; use [text] for one text" : ""}`);
}

/** The weight of a row for a label. */
function weightOf({ start, column, weight }, row, y) {
  for (let k = start[row]; k < start[row + 1]; k++) if (column[k] === y) return weight[k];
  return 0;
}

/** What a file offers, by its constant. */
function openModel(data) {
  const [header, arrays] = readBlock(data);
  return PARTS[header.task](header, arrays);
}
