// Texts read from files, and handed on with their spans to annotation tools. Nothing here knows of a page.
//
// Spans [start, end, label] count UTF-16 units here, as String.slice does; files of doccano and Prodigy count
// characters, as Python does.

const SPAN_KEYS = []; // where records have spans; those of read_spans are put in here
const OF_ANSWERS = ["answer", "reviewed", "tokens"]; // of spans that somebody else has found
const MOST_EXACT = 2 ** 53; // up to which every integer is a number of JavaScript

/** The records {text, rest, hadSpans} of a file: its lines of JSON, or plain text as a whole or by lines. */
function readTexts({ name, text }, linewise) {
  if (!/\.jsonl?$/i.test(name)) {
    const parts = linewise ? text.split(/\r\n|\n/) : [text];
    return parts.filter((part) => part.trim()).map((part) => ({ text: part, rest: {}, hadSpans: false }));
  }
  if (text.trimStart()[0] === "[") {
    throw new Error(`${name}: a list, where one record per line is expected. In Python: write_spans("texts.jsonl", *read_spans(${JSON.stringify(name)})), both of skstruct.datasets`);
  }
  return text.split("\n").flatMap((line, k) => {
    try {
      return line.trim() ? [readRecord(line)] : [];
    } catch (error) {
      throw new Error(`${name}, line ${k + 1}: ${error.message}`);
    }
  });
}

/** The record of a line of JSON; its spans and what is said of these are left out. */
function readRecord(line) {
  const value = JSON.parse(line);
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw new Error('expected an object with the key "text"');
  const { text, ...rest } = value;
  if (typeof text !== "string") throw new Error(`no text: found keys ${Object.keys(value).join(", ") || "none"}`);
  const hadSpans = SPAN_KEYS.some((key) => Array.isArray(rest[key]) && rest[key].length > 0);
  for (const key of Object.keys(rest)) if (SPAN_KEYS.includes(key) || OF_ANSWERS.includes(key) || key[0] === "_") delete rest[key];
  checkNumbers(rest);
  return { text, rest, hadSpans };
}

/** Throw if a value holds a number that would not be written as it was read. */
function checkNumbers(value) {
  if (typeof value === "number" && !(Math.abs(value) < MOST_EXACT)) throw new Error(`a number of about ${value} would be rounded; write it as a string`);
  if (value !== null && typeof value === "object") Object.values(value).forEach(checkNumbers);
}

/** Where each character of a text begins, and the text ends. */
function edgesOf(text) {
  const edges = [0];
  for (const character of text) edges.push(edges[edges.length - 1] + character.length);
  return edges;
}

/** Spans whose offsets count characters. */
function inCharacters({ text, spans }) {
  const number = new Map(edgesOf(text).map((at, k) => [at, k]));
  return spans.map(([start, end, label]) => [number.get(start), number.get(end), label]);
}

/** One record per line. */
function asLines(records) {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

/** A task of Label Studio with one prediction, which the tool shows for review. */
function taskOf({ text, rest, spans }, version) {
  const result = spans.map(([start, end, label], k) => {
    const value = { start, end, text: text.slice(start, end), labels: [label] };
    return { id: String(k), from_name: "label", to_name: "text", type: "labels", value };
  });
  return { data: { ...rest, text }, predictions: [{ model_version: version, result }] };
}

/** Tool -> the ending of its files, and the content of one, of records {text, rest, spans} and who found the spans. */
const TOOLS = {
  doccano: {
    ending: ".jsonl",
    write: (records) => asLines(records.map((one) => ({ text: one.text, label: inCharacters(one), ...one.rest }))),
  },
  "label-studio": {
    ending: ".json",
    write: (records, version) => `[\n${records.map((one) => JSON.stringify(taskOf(one, version))).join(",\n")}\n]\n`,
  },
  prodigy: {
    ending: ".jsonl",
    write: (records) => asLines(records.map((one) => {
      const found = inCharacters(one);
      const spans = one.spans.map(([a, b, label], k) => ({ start: found[k][0], end: found[k][1], label, text: one.text.slice(a, b) }));
      return { text: one.text, spans, ...one.rest };
    })),
  },
};
