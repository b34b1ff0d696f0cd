// The page of a tagger or a segmenter: what is typed is labelled, and a click on a token says why.

const DATA = "";

const [header, arrays] = readBlock(DATA);
const tagger = PARTS[header.task](header, arrays);

const MOST_FEATURES = 12; // that an explanation shows
const MOST_KINDS = 20; // labels that are named at the top
const MOST_TOKENS = 4000; // that are shown at first
const SLOW = 100; // milliseconds of labelling from which on a pause in typing is waited for

const byId = (id) => document.getElementById(id);

/** An element with a class and children. */
function element(name, className, ...children) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

/** Put children, any number of them, in the place of those that an element has. */
function fill(node, children) {
  const held = document.createDocumentFragment();
  for (const child of children) held.append(child);
  node.replaceChildren(held);
}

/** A button. */
function button(className, ...children) {
  const made = element("button", className, ...children);
  made.type = "button";
  return made;
}

/** Give an element the colour of a type of segment, and the label below it if there is one. */
function marked(node, type, label) {
  node.style.cssText = header.chunks.styles[header.chunks.types.indexOf(type)];
  node.classList.add("mark");
  if (label) node.append(below(label));
  return node;
}

/** A label below what it is of; the direction of a text does not depend on it. */
function below(label) {
  const made = element("small", "below", label);
  made.dir = "auto";
  return made;
}

// ---- Sentences -------------------------------------------------------------------------------------------

/** The sentences of a text: what is labelled, and what is shown of each token. */
function sentencesOf(text) {
  const lines = text.split(/\r\n|\r|\n/);
  if (header.task === "words") return lines.filter((line) => line.trim()).map((line) => ({ key: line, given: line, shown: piecesOf(line, 0).flat() }));
  if (header.token === "tuple" && text.includes("\t")) return sentencesOfColumns(lines);
  return lines.map(tokensOf).filter((sentence) => sentence.shown.length);
}

/** Sentences of columns: one token per line, a blank line between sentences. */
function sentencesOfColumns(lines) {
  const out = [];
  let rows = [];
  for (const line of [...lines, ""]) {
    if (line.trim()) {
      rows.push(line.split("\t"));
      continue;
    }
    if (rows.length) out.push({ key: JSON.stringify(rows), given: rows, shown: rows.map((row) => row[0]) });
    rows = [];
  }
  return out;
}

/** The tokens of a line: words, word/tag, or characters, by what the model reads. */
function tokensOf(line) {
  const apart = byId("apart").checked && header.token === "str" && !header.characters;
  const ends = (at) => at < 0 || at === line.length || WHITE_SPACE.test(line[at]);
  const set = (found, at) => (ends(at - 1) || ends(at + found.length) ? ` ${found} ` : found);
  const spaced = apart ? line.replace(/[\p{P}\p{S}]+/gu, set) : line;
  const words = header.characters ? Array.from(line).filter((c) => c.trim()) : spaced.split(WHITE_SPACE).filter((word) => word);
  if (header.token === "str") return { key: `${apart} ${line}`, given: words, shown: words };
  const given = words.map((word) => {
    const parts = word.split("/");
    if (parts.length < header.columns) return parts; // the model says what is wrong with it
    return [parts.slice(0, parts.length - header.columns + 1).join("/"), ...parts.slice(parts.length - header.columns + 1)];
  });
  return { key: line, given, shown: given.map(([word]) => word) };
}

/** Label a sentence and make its paragraph; known ones are kept. */
function labelled(sentence, i) {
  sentence.node = element("p", "");
  sentence.node.dir = "auto";
  const nodes = [];
  sentence.tokens = sentence.shown.map((shown, t) => {
    const made = button("token", shown);
    made.tabIndex = -1;
    made.setAttribute("aria-pressed", "false");
    made.about = [sentence, t];
    return made;
  });
  const groups = header.task === "words" ? groupsOfWords(sentence, i) : groupsOfLabels(sentence, i);
  for (const [from, to, kind, label] of groups) {
    const group = element("span", kind, ...sentence.tokens.slice(from, to).flatMap((token) => (header.task === "words" ? [token] : [token, " "])));
    if (kind === "group") marked(group, label, label);
    else if (label) group.append(below(label));
    nodes.push(group, header.task === "words" ? "" : " ");
  }
  fill(sentence.node, nodes);
  return sentence;
}

/** [first character, character behind, class, tag] of each word. */
function groupsOfWords(sentence) {
  let at = 0;
  return tagger.predict([sentence.given])[0].map((item) => {
    const [word, tag] = Array.isArray(item) ? item : [item, ""];
    const begin = at;
    at += Array.from(word).length;
    return [begin, at, "word", tag];
  });
}

/** [first token, token behind, class, label] of each segment, or of each token. */
function groupsOfLabels(sentence, i) {
  let labels;
  try {
    [labels] = tagger.predict([sentence.given]);
  } catch (error) {
    throw new Error(error.message.replace("sequence 0", `sentence ${i + 1}`).replace(/position (\d+)/, (_, t) => `token ${Number(t) + 1}`));
  }
  const numbers = labels.map((label) => header.labels.indexOf(label));
  if (!header.chunks) return labels.map((label, t) => [t, t + 1, "", String(label)]);
  const out = [], { opens, closes, types } = header.chunks;
  numbers.forEach((y, t) => {
    const last = out[out.length - 1], before = numbers[t - 1];
    if (types[y] === null) out.push([t, t + 1, "", ""]);
    else if (t && last[2] === "group" && !opens[y] && !closes[before] && types[y] === types[before]) last[1] = t + 1;
    else out.push([t, t + 1, "group", types[y]]);
  });
  return out;
}

let known = new Map(), sentences = [], shownAtMost = MOST_TOKENS, took = 0, waiting = 0;

/** Label what is typed; sentences that have not changed are kept. */
function update() {
  const began = performance.now(), before = known;
  known = new Map();
  const nodes = [];
  let n = 0;
  try {
    sentences = sentencesOf(byId("text").value);
    byId("status").textContent = "";
    for (let i = 0; i < sentences.length && n < shownAtMost; i++) {
      const { key } = sentences[i];
      const old = known.has(key) ? null : before.get(key); // a second one of equal sentences is made anew
      sentences[i] = old || labelled(sentences[i], i);
      known.set(key, sentences[i]);
      nodes.push(sentences[i].node);
      n += sentences[i].tokens.length;
    }
  } catch (error) {
    byId("status").textContent = error.message;
  }
  fill(byId("result"), nodes);
  byId("more").hidden = nodes.length === sentences.length;
  if (opened && !opened.isConnected) close();
  if (!current || !current.isConnected) setCurrent(byId("result").querySelector(".token"));
  took = performance.now() - began;
}

/** Update soon: at once if that is fast, else after a pause. */
function changed() {
  clearTimeout(waiting);
  if (took < SLOW) return update();
  waiting = setTimeout(update, 300);
  return null;
}

/** Show four times as much at each click on "Show more". */
function showMore(again) {
  byId("more").addEventListener("click", () => {
    shownAtMost *= 4;
    again();
  });
}

// ---- One token -------------------------------------------------------------------------------------------

let current = null, opened = null; // the token that Tab reaches; the one that is explained

function setCurrent(token) {
  if (current) current.tabIndex = -1;
  current = token;
  if (current) current.tabIndex = 0;
}

function close() {
  if (opened) opened.setAttribute("aria-pressed", "false");
  opened = null;
  byId("why").hidden = true;
}

/** Show why a token has its label. */
function open(token) {
  close();
  opened = token;
  token.setAttribute("aria-pressed", "true");
  const [sentence, t] = token.about;
  sentence.reasons = sentence.reasons || tagger.explain(sentence.given);
  const rows = header.probabilities === null ? null : (sentence.marginals = sentence.marginals || tagger.predictMarginals([sentence.given])[0]);
  byId("reasons").replaceChildren(...explained(sentence.shown[t], sentence.reasons[t], rows && rows[t]));
  byId("why").hidden = false;
}

/** What an explanation says, as elements. */
function explained(shown, { label, runnerUp, margin, features, neighbours }, probabilities) {
  const out = [element("h2", "", `${shown}: ${label}`)];
  const probability = (of) => (probabilities ? ` (probability ${probabilities[header.labels.indexOf(of)].toFixed(3)})` : "");
  if (runnerUp === null) return [...out, element("p", "", `no other label is possible here${probability(label)}`)];
  out.push(element("p", "", `${label}${probability(label)} before ${runnerUp}${probability(runnerUp)}: the best labelling with ${runnerUp} scores ${margin.toFixed(3)} less`));
  const speaks = (kind, of) => element("span", "", element("span", `swatch ${kind}`), `speaks for ${of}`);
  out.push(element("p", "legend", speaks("", label), speaks("against", runnerUp), "numbers are scores, which add up to the difference"));
  const parts = features.map(([name, mine, its]) => [name, mine - its]);
  parts.sort(([, a], [, b]) => Math.abs(b) - Math.abs(a));
  const rest = parts.slice(MOST_FEATURES).reduce((sum, [, x]) => sum + x, 0);
  const rows = parts.slice(0, MOST_FEATURES);
  if (parts.length > MOST_FEATURES) rows.push([`${parts.length - MOST_FEATURES} other features`, rest]);
  rows.push(["labels of the neighbours", neighbours]);
  const most = Math.max(...rows.map(([, x]) => Math.abs(x)), Number.MIN_VALUE);
  const body = element("tbody", "", ...rows.map(([name, x]) => {
    const bar = element("span", x < 0 ? "against" : "");
    bar.style.width = `${(100 * Math.abs(x)) / most}%`;
    return element("tr", "", element("th", "", name), element("td", "bar", bar), element("td", "number", signed(x)));
  }), element("tr", "", element("th", "", "together"), element("td", "bar"), element("td", "number", signed(margin))));
  return [...out, element("table", "", body)];
}

function signed(x) {
  return (x < 0 ? "" : "+") + x.toFixed(3);
}

/** Arrows, Home and End go from one token or span to another; Escape closes. */
function onKey(event, kind) {
  const all = Array.from(byId("result").querySelectorAll(kind)), at = all.indexOf(current);
  const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
  if (event.key === "Escape") close();
  else if (to === undefined) return;
  else if (all[to]) {
    setCurrent(all[to]);
    current.focus();
  }
  event.preventDefault();
}

// ---- Start -----------------------------------------------------------------------------------------------

/** How many labels there are, and the first of them: types of segments, tags of words, or labels of tokens. */
function labelsShown() {
  const { chunks, words, labels } = header;
  const all = words ? words.tags || [] : chunks ? chunks.types : labels;
  const kinds = all.filter((kind, k) => kind !== null && all.indexOf(kind) === k);
  if (!kinds.length) return [];
  const named = (kind) => (chunks && !words ? marked(element("span", "", String(kind) || "(no type)"), kind) : String(kind));
  const list = kinds.slice(0, MOST_KINDS).flatMap((kind, k) => [k ? ", " : "", named(kind)]);
  return [`; ${kinds.length} ${kinds.length === 1 ? "label" : "labels"}: `, ...list, kinds.length > MOST_KINDS ? ", ..." : ""];
}

/** The text that the address gives, #text=...&token=0,3, or else the example. */
function start() {
  const given = new URLSearchParams(location.hash.slice(1));
  byId("text").value = given.has("text") ? given.get("text") : header.about.example || "";
  fill(byId("about"), [`${header.about.model} of skstruct ${header.about.skstruct}`, ...labelsShown()]);
  return given.has("token") ? given.get("token").split(",").map(Number) : null;
}

function startSentences() {
  const unit = header.task === "words" || header.characters ? "character" : "word";
  byId("todo").textContent = `Type or paste text; click a ${unit} to see why it is labelled so.`;
  byId("reads").textContent = header.token === "tuple" ? "Text, one sentence per line: word/TAG word/TAG, or lines with tabs" : "Text, one sentence per line";
  byId("apart-option").hidden = header.task !== "labels" || header.token !== "str" || header.characters;
  const token = start();
  byId("text").addEventListener("input", changed);
  byId("apart").addEventListener("change", update);
  showMore(update);
  byId("result").addEventListener("click", (event) => {
    const found = event.target.closest(".token");
    if (!found) return;
    const again = found === opened;
    setCurrent(found);
    if (again) close();
    else open(found);
  });
  byId("result").addEventListener("keydown", (event) => onKey(event, ".token"));
  byId("why").addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
  update();
  const found = token && sentences[token[0]] && sentences[token[0]].tokens && sentences[token[0]].tokens[token[1]];
  if (found) {
    setCurrent(found);
    open(found);
  }
}
