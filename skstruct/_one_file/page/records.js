// Texts with their spans: read from files, changed, and written again. Nothing here knows of a page.
//
// Inside, offsets are those of String.slice, UTF-16 units. A file counts these, or characters, and is written as it
// counts. The state of a record, {text, spans, reviewed}, is replaced and never changed: undo puts an old one back.
// What nobody has changed is written as it was read, to the letter.

const SPAN_KEYS = []; // of the list of spans in a line; those of read_spans are put in here

const UNITS = ["characters", "utf-16"];
const WIDE = /[\ud800-\udbff][\udc00-\udfff]/; // one character, two units
const PART = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s"{}[\],:]+/g; // of JSON
const OPEN_ANSWERS = ["reject", "ignore"]; // of Prodigy
const OF_TOKENS = ["token_start", "token_end"], OF_MODELS = ["probability", "score"]; // untrue of changed spans

// ---- JSON as text: what is not changed stays as it is written ------------------------------------------------

/** {key, from, begin, end} of each member of an object, or element of a list; its value is text.slice(begin, end). */
function membersOf(text) {
  const found = [];
  let depth = 0, one = null, last = 0;
  for (const { 0: part, index } of text.matchAll(PART)) {
    const closes = part === "}" || part === "]";
    if (closes) depth--;
    if (one && depth === (closes ? 0 : 1) && (closes || part === ",")) {
      found.push({ ...one, end: last });
      one = null;
    } else if (depth === 1 && part === ":") one = { key: JSON.parse(text.slice(one.from, last)), from: one.from, begin: -1 };
    else if (depth > 0 && !one) one = { from: index, begin: index };
    else if (one && one.begin < 0) one.begin = index;
    if (part === "{" || part === "[") depth++;
    last = index + part.length;
  }
  return found;
}

/** An object with other values for some keys, a Map to JSON; null takes a member away. */
function replaced(object, values) {
  const members = membersOf(object), keys = new Set(members.map(({ key }) => key));
  const old = members.filter(({ key }) => values.get(key) !== null);
  const texts = old.map(({ key, from, begin, end }) => (values.has(key) ? object.slice(from, begin) + values.get(key) : object.slice(from, end)));
  for (const [key, value] of values) if (value !== null && !keys.has(key)) texts.push(`${JSON.stringify(key)}: ${value}`);
  const gap = members.length > 1 ? object.slice(members[0].end, members[1].from) : ", ";
  const [from, to] = members.length ? [members[0].from, members[members.length - 1].end] : [object.indexOf("{") + 1, object.indexOf("}")];
  return object.slice(0, from) + texts.join(gap) + object.slice(to);
}

// ---- Reading -------------------------------------------------------------------------------------------------

/** Where each character of a text begins, and the text ends. */
function edgesOf(text) {
  const edges = [0];
  for (const character of text) edges.push(edges[edges.length - 1] + character.length);
  return edges;
}

/** What a line holds: its text and the rows of its spans, whose offsets are as they are written. */
function readLine(line) {
  const value = JSON.parse(line);
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw new Error('expected an object with the key "text"');
  if (typeof value.text !== "string") throw new Error(`no text: found keys ${Object.keys(value).join(", ") || "none"}`);
  if (value._view_id === "ner") throw new Error("a question about one span");
  const columns = (each) => each && typeof each === "object" && Object.values(each).length && Object.values(each).every(Array.isArray);
  const key = SPAN_KEYS.find((name) => Array.isArray(value[name]) || columns(value[name]));
  const given = key === undefined ? value[SPAN_KEYS[0]] || [] : value[key];
  if (!Array.isArray(given)) throw new Error(`${key || SPAN_KEYS[0]} is no list`);
  const rows = given.map(readRow), users = new Set(given.map((row) => row.user).filter((user) => user !== undefined && user !== null));
  if (users.size > 1) throw new Error(`annotations of ${Array.from(users).join(", ")}`);
  const reviewed = value.answer === "accept" ? true : value.reviewed === false || OPEN_ANSWERS.includes(value.answer) ? false : null;
  const prodigy = ["_input_hash", "_task_hash", "_view_id", "answer"].some((name) => name in value);
  return { line, text: value.text, key, rows, reviewed, sure: prodigy };
}

function readRow(row, k) {
  const names = Array.isArray(row) ? [0, 1, 2] : row && "start" in row ? ["start", "end", "label"] : ["start_offset", "end_offset", "label"];
  const [start, end, label] = names.map((name) => (row === null ? null : row[name]));
  const answered = row !== null && OPEN_ANSWERS.includes(row.answer);
  if (!Number.isInteger(start) || !Number.isInteger(end) || typeof label !== "string" || !label || answered || row.length > 3) {
    throw new Error(`span ${k}: expected [start, end, label] or an object with these keys, got ${JSON.stringify(row)}`);
  }
  return { k, start, end, label, names, said: typeof row.text === "string" ? row.text : null };
}

/** The spans of rows whose offsets count a unit; an error if one is not what the file says. */
function spansIn(text, rows, unit) {
  const edges = unit === "characters" ? edgesOf(text) : null, n = edges ? edges.length - 1 : text.length;
  return rows.map(({ k, start, end, label, names, said }) => {
    const span = { start, end, label, from: "file", row: { k, names, said: said !== null } };
    const fits = start >= 0 && start < end && end <= n;
    if (fits && edges) [span.start, span.end] = [edges[start], edges[end]];
    if (!fits || splits(text, span.start) || splits(text, span.end)) throw new Error(`span ${k}: [${start}, ${end}] is no part of the text, in ${unit}`);
    const covered = text.slice(span.start, span.end);
    if (said !== null && solid(said) !== solid(covered)) throw new Error(`span ${k}: [${start}, ${end}] is ${JSON.stringify(covered)}, and the file says ${JSON.stringify(said)}`);
    return span;
  });
}

/** Whether an offset is between the two units of a character. */
function splits(text, at) {
  return at > 0 && WIDE.test(text.slice(at - 1, at + 1));
}

/** A text without white space. */
function solid(text) {
  return text.replace(/\\n/g, " ").replace(/[\s\x1c-\x1f\x85]/g, "");
}

/** Spans in order; an error if they overlap. */
function inOrder(spans) {
  const sorted = spans.slice().sort((a, b) => a.start - b.start);
  sorted.forEach(({ start, row }, k) => {
    if (k && start < sorted[k - 1].end) throw new Error(`span ${row.k} overlaps span ${sorted[k - 1].row.k}`);
  });
  return sorted;
}

/** The unit that the offsets of lines count, as read_spans finds it out; an error if a line fits the other one only. */
function unitOf(found) {
  const only = { characters: [], "utf-16": [] }, votes = { characters: 0, "utf-16": 0 }, met = { characters: 0, "utf-16": 0 };
  let open = 0;
  for (const { text, rows, sure, place } of found) {
    if (!rows.length || !WIDE.test(text)) continue;
    const read = UNITS.map((unit) => {
      try {
        return spansIn(text, rows, unit);
      } catch (error) {
        return null;
      }
    });
    const fits = read.filter((spans) => spans);
    if (fits.length === 1) only[UNITS[read[0] ? 0 : 1]].push(place);
    if (fits.length < 2 || rows.every(({ said }) => said !== null) || read[0].every(({ start, end }, k) => start === read[1][k].start && end === read[1][k].end)) continue;
    if (sure) votes.characters++;
    else {
      open++;
      UNITS.forEach((unit, j) => (met[unit] += read[j].reduce((sum, span) => sum + wordEnds(text, span), 0)));
    }
  }
  const byWords = UNITS[met["utf-16"] > met.characters ? 1 : 0];
  votes[byWords] += open * (met.characters === met["utf-16"] ? 0.05 : 1); // which says little where words tell nothing
  const best = UNITS[votes["utf-16"] + only["utf-16"].length > votes.characters + only.characters.length ? 1 : 0];
  const [odd] = only[UNITS[1 - UNITS.indexOf(best)]];
  if (odd) throw new Error(`${odd}: its spans fit the text only in ${UNITS[1 - UNITS.indexOf(best)]}, and other lines count ${best}`);
  return [best, open > 0 && !only[best].length];
}

/** How many of the two ends of a span are ends of words. */
function wordEnds(text, { start, end }) {
  const word = /^[\p{L}\p{M}\p{N}]$/u, before = (at) => Array.from(text.slice(Math.max(0, at - 2), at)).pop() || " ";
  const behind = (at) => Array.from(text.slice(at, at + 2))[0] || " ", inside = (at) => word.test(before(at)) && word.test(behind(at));
  return (behind(start).trim() && !inside(start) ? 1 : 0) + (before(end).trim() && !inside(end) ? 1 : 0);
}

/** The records of files, the lines in between, the unit, and what a user should know. */
function readFiles(files, linewise) {
  const entries = [], found = [], notes = [];
  files.forEach(({ name, text }, j) => {
    if (!/\.jsonl?$/i.test(name)) {
      for (const one of linewise ? text.split(/\r\n|\n/) : [text]) if (one.trim()) entries.push({ line: "{}", text: one, rows: [], reviewed: false });
      if (j === files.length - 1) entries.push("");
      return;
    }
    if (text.trimStart()[0] === "[") throw new Error(`${name}: a list, where a record a line is expected. In Python: write_spans("texts.jsonl", *read_spans(${JSON.stringify(name)})), both of skstruct.datasets`);
    const lines = text.split("\n");
    if (j < files.length - 1 && !lines[lines.length - 1].trim()) lines.pop();
    lines.forEach((line, k) => {
      entries.push(line);
      if (!line.trim()) return;
      try {
        found.push({ ...readLine(line), place: `${name}, line ${k + 1}`, at: entries.length - 1 });
      } catch (error) {
        notes.push(`${name}, line ${k + 1}: ${error.message}`);
      }
    });
  });
  const [unit, guessed] = unitOf(found);
  for (const { at, place, ...one } of found) {
    try {
      entries[at] = { ...one, spans: one.key === undefined ? null : inOrder(spansIn(one.text, one.rows, unit)) };
    } catch (error) {
      notes.push(`${place}: ${error.message}`);
    }
  }
  if (!entries.some((one) => one.rows)) throw new Error(notes[0] || "there is no text in it");
  if (notes.length) notes[0] = `${notes.length} lines are kept as they are, and not shown. The first is ${notes[0]}`;
  if (guessed) notes.unshift(`Offsets are taken for ${unit}: most spans end with words then.`);
  return { entries, unit, notes };
}

// ---- Records -------------------------------------------------------------------------------------------------

/** What a field shows of a text: each end of a line is a line feed there. */
function inField(text) {
  return text.replace(/\r\n?/g, "\n");
}

/** The offset in a text of an offset in the field that shows it. */
function fromField(text, offset) {
  let at = offset;
  if (text.includes("\r\n")) for (let k = 0, left = (at = 0, offset); left > 0; left--, k = at) at += text.startsWith("\r\n", k) ? 2 : 1;
  return at;
}

/** Records of texts; predict gives the spans [start, end, label] of a text that has none, in UTF-16 units. */
class Records {
  constructor(predict, text = "") {
    this.predict = predict;
    this.replace({ entries: [{ line: "{}", text, rows: [], reviewed: false, typed: true }, ""], unit: UNITS[0] });
  }

  /** Put other records in the place of all; undo does not bring these back. */
  replace({ entries, unit }) {
    this.unit = unit;
    this.entries = entries;
    this.all = entries.filter((one) => one.rows);
    for (const one of this.all) {
      one.read = one.saved = one.state = { text: one.text, spans: one.spans || null, reviewed: one.spans ? one.reviewed : false };
      one.names = one.rows.length ? one.rows[0].names : one.key === "label" ? [0, 1, 2] : ["start", "end", "label"];
    }
    this.past = [];
    this.future = [];
  }

  /** Read files, {name, text}; what a user should know of them. Nothing changes if one cannot be read. */
  open(files, linewise) {
    const read = readFiles(files, linewise);
    this.replace(read);
    return read.notes;
  }

  /** The spans of a record, of the model if there are no others yet. */
  spans({ state }) {
    if (state.spans === null) state.spans = this.predict(state.text).map(([start, end, label]) => ({ start, end, label, from: "model" }));
    return state.spans;
  }

  /** Whether a record shows what the model says, and nobody has said more. */
  isOfModel({ key, state }) {
    return key === undefined && !state.reviewed && !state.corrected;
  }

  change(one, state, kind = "") {
    const last = this.past[this.past.length - 1], after = { ...one.state, ...state };
    if (kind && last && last.one === one && last.kind === kind && last.after === one.state && one.saved !== one.state) last.after = after;
    else this.past.push({ one, before: one.state, after, kind });
    this.future = [];
    one.state = after;
  }

  /** Take the last change back; its record, if there is one. */
  undo() {
    const last = this.past.pop();
    if (!last) return null;
    this.future.push(last);
    last.one.state = last.before;
    return last.one;
  }

  /** Make a change again that was taken back; its record, if there is one. */
  redo() {
    const next = this.future.pop();
    if (!next) return null;
    this.past.push(next);
    next.one.state = next.after;
    return next.one;
  }

  /** Take over what was typed into the field; the spans that it cut. Behind the caret nothing has changed. */
  edit(one, value, caret = value.length) {
    const { text } = one.state, before = inField(text);
    if (value === before) return [];
    let behind = value.length - caret, same = 0;
    if (behind > before.length || !before.endsWith(value.slice(caret))) {
      for (behind = 0; behind < Math.min(value.length, before.length) && value[value.length - 1 - behind] === before[before.length - 1 - behind];) behind++;
    }
    while (same < Math.min(value.length, before.length) - behind && value[same] === before[same]) same++;
    const from = fromField(text, same), to = fromField(text, before.length - behind), head = text.slice(0, from), tail = text.slice(to);
    let typed = value.slice(same, value.length - behind);
    if (text.includes("\r\n")) typed = typed.replace(/\n/g, "\r\n");
    if (head.endsWith("\r") && (typed + tail).startsWith("\n")) typed = `\r${typed}`; // two ends of lines stay two
    const state = { text: head + typed + tail, spans: null }, gone = [];
    if (!this.isOfModel(one)) {
      const by = typed.length - (to - from), spans = this.spans(one);
      gone.push(...spans.filter(({ start, end }) => start < to && end > from));
      state.spans = spans.filter((span) => !gone.includes(span)).map((span) => (span.start < to ? span : { ...span, start: span.start + by, end: span.end + by }));
      state.corrected = true;
    }
    this.change(one, state, "edit");
    return gone.map(({ start, end, label }) => `${text.slice(start, end)} (${label})`);
  }

  /** Label a part of the text, without the white space at its ends; spans that it meets go. */
  mark(one, from, to, label) {
    const { text } = one.state, part = text.slice(from, to);
    const start = from + part.length - part.trimStart().length, end = to - part.length + part.trimEnd().length;
    if (!(from >= 0 && start < end && to <= text.length) || splits(text, start) || splits(text, end)) throw new Error("Select text first, here or in the field above.");
    const others = this.spans(one).filter((span) => span.end <= start || span.start >= end);
    this.correct(one, [...others, { start, end, label, from: "person" }]);
  }

  relabel(one, k, label) {
    this.correct(one, this.spans(one).map((span, j) => (j === k ? { ...span, label, from: "person" } : span)));
  }

  remove(one, k) {
    this.correct(one, this.spans(one).filter((_, j) => j !== k));
  }

  correct(one, spans) {
    this.change(one, { spans: spans.sort((a, b) => a.start - b.start), corrected: true });
  }

  /** Say that all spans of a text are right, and no others are missing. */
  accept(one) {
    this.change(one, { spans: this.spans(one), reviewed: true });
  }

  /** How many records would be lost; text that was only typed is none. */
  unsaved() {
    return this.all.filter((one) => one.state !== one.saved && !(one.typed && this.isOfModel(one))).length;
  }

  // ---- Writing -----------------------------------------------------------------------------------------------

  /** The whole file. */
  text() {
    return this.entries.map((one) => (one.rows ? this.line(one) : one)).join("\n");
  }

  /** Remember that everything is saved as it is. */
  keep() {
    for (const one of this.all) one.saved = one.state;
  }

  /** A record as a line: as it was read, or with what has changed. */
  line(one) {
    const { text, spans, reviewed } = one.state, { line, read, key } = one;
    const values = new Map();
    if (line === "{}" || text !== read.text) values.set("text", JSON.stringify(text));
    if (text !== read.text) values.set("tokens", null);
    if (spans && (spans !== read.spans || key === undefined)) values.set(key || SPAN_KEYS[0], `[${this.rows(one).join(", ")}]`);
    if (reviewed === true && read.reviewed !== true) values.set("answer", '"accept"').set("reviewed", null);
    else if (reviewed === false && spans && spans !== read.spans) values.set("reviewed", "false");
    else if (reviewed === false && spans && key === undefined) values.set("reviewed", "false");
    return values.size ? replaced(line, values) : line;
  }

  /** The spans of a record as JSON. */
  rows(one) {
    const { line, key, read, names: usual } = one, { text } = one.state;
    const member = key === undefined ? null : membersOf(line).filter((each) => each.key === key).pop();
    const list = member ? line.slice(member.begin, member.end) : "[]", given = membersOf(list).map(({ begin, end }) => list.slice(begin, end));
    const places = this.unit === "characters" && WIDE.test(text) ? new Map(edgesOf(text).map((at, k) => [at, k])) : null;
    return one.state.spans.map((span) => {
      const { row } = span, names = row ? row.names : usual;
      if (row && (read.spans || []).includes(span)) return given[row.k];
      const three = [...[span.start, span.end].map((at) => (places ? places.get(at) : at)), JSON.stringify(span.label)];
      if (names[0] === 0) return `[${three.join(", ")}]`;
      const values = new Map(names.map((name, j) => [name, three[j]]));
      if (row ? row.said : names[0] === "start") values.set("text", JSON.stringify(text.slice(span.start, span.end)));
      for (const name of text === read.text ? [] : OF_TOKENS) values.set(name, null);
      for (const name of span.from === "person" ? OF_MODELS : []) values.set(name, null);
      return replaced(row ? given[row.k] : "{}", values);
    });
  }
}
