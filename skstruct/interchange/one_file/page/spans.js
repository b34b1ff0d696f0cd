// The page of a span tagger, which also corrects: select text and choose a label, click a span to change it.

const records = []; // {text, spans, metadata, sure}: the spans are those of the model until they are corrected
const past = []; // what undo brings back: [record, its spans]
let order = [], place = 0;

const record = () => records[order[place]];

/** A text as a record; spans that came with it stay. */
function asRecord(text, metadata = {}, spans = null) {
  return { text, metadata, spans, own: spans === null, sure: null };
}

/** The spans of a record, of the model if there are no others yet. */
function spansOf(one) {
  if (one.spans === null) [one.spans] = tagger.predict([one.text]);
  return one.spans;
}

/** How sure the model is of a text: of its least sure token. */
function sureOf(one) {
  if (one.sure === null) one.sure = tagger.predictMarginals([one.text])[0].reduce((least, row) => Math.min(least, Math.max(...row)), 1);
  return one.sure;
}

// ---- The text and its spans ------------------------------------------------------------------------------

/** Show the text: spans are buttons. */
function show() {
  const one = record(), characters = Array.from(one.text), nodes = [];
  let at = 0;
  const spans = spansOf(one), cut = spans.length > shownAtMost ? spans[shownAtMost][0] : characters.length;
  spans.slice(0, shownAtMost).forEach(([start, end, label], k) => {
    nodes.push(characters.slice(at, start).join(""));
    const node = coloured(button("span", characters.slice(start, end).join(""), element("small", "", label)), label);
    node.tabIndex = -1;
    node.setAttribute("aria-pressed", "false");
    node.about = k;
    nodes.push(node);
    at = end;
  });
  fill(byId("result"), [...nodes, characters.slice(at, cut).join("")]);
  byId("more").hidden = cut === characters.length;
  close();
  setCurrent(byId("result").querySelector(".span"));
  byId("undo").disabled = !past.length;
  byId("previous").disabled = place === 0;
  byId("next").disabled = place === order.length - 1;
  byId("where").textContent = `text ${place + 1} of ${order.length}`;
}

/** Put other spans into the text; undo takes them back. */
function correct(spans) {
  past.push([record(), spansOf(record()).slice(), record().own]);
  record().spans = spans.sort((a, b) => a[0] - b[0]);
  record().own = false;
  show();
}

function undo() {
  const [one, spans, own] = past.pop();
  one.spans = spans;
  one.own = own;
  place = order.indexOf(records.indexOf(one));
  byId("text").value = one.text;
  show();
}

/** [start, end] of the selected text in code points, in the field or in the result; null without. */
function selected() {
  const field = byId("text"), { text } = record();
  let from = field.selectionStart, to = field.selectionEnd;
  const selection = getSelection(), result = byId("result");
  if (selection.rangeCount && !selection.isCollapsed && result.contains(selection.anchorNode) && result.contains(selection.focusNode)) {
    const range = selection.getRangeAt(0);
    [from, to] = [offsetOf(range.startContainer, range.startOffset), offsetOf(range.endContainer, range.endOffset)];
  }
  const part = text.slice(from, to); // white space at the ends is no part of a span
  from += part.length - part.trimStart().length;
  to -= part.length - part.trimEnd().length;
  return from < to ? [Array.from(text.slice(0, from)).length, Array.from(text.slice(0, to)).length] : null;
}

/** How many UTF-16 units of the text are before a place of the result, labels aside. */
function offsetOf(node, offset) {
  const range = document.createRange();
  range.setStart(byId("result"), 0);
  range.setEnd(node, offset);
  const part = range.cloneContents();
  part.querySelectorAll("small").forEach((label) => label.remove());
  return part.textContent.length;
}

/** Mark the selected text, or change the label of the span that is open. */
function mark(label) {
  const spans = spansOf(record());
  if (opened) {
    const k = opened.about;
    return correct(spans.map((span, j) => (j === k ? [span[0], span[1], label] : span)));
  }
  const found = selected();
  if (!found) {
    byId("status").textContent = "Select text first, here or in the field above.";
    return null;
  }
  byId("status").textContent = "";
  return correct([...spans.filter(([start, end]) => end <= found[0] || start >= found[1]), [...found, label]]);
}

/** Open a span: its label can be changed or taken away; below is why the model has it. */
function openSpan(node) {
  close();
  opened = node;
  node.setAttribute("aria-pressed", "true");
  const [start, end, label] = spansOf(record())[node.about];
  const remove = button("", `Remove this ${label}`);
  remove.addEventListener("click", () => correct(spansOf(record()).filter((_, k) => k !== node.about)));
  byId("reasons").replaceChildren(element("p", "row", remove, "or choose another label above"), ...reasonsAt(start, end));
  byId("why").hidden = false;
}

/** Why the model labels the tokens from start to end as it does. */
function reasonsAt(start, end) {
  const one = record();
  one.at = one.at || tagger.tokens(one.text);
  one.reasons = one.reasons || tagger.explain(one.text);
  if (header.probabilities !== null) one.marginals = one.marginals || tagger.predictMarginals([one.text])[0];
  const characters = Array.from(one.text);
  return one.at.flatMap(([a, b], t) => {
    if (b <= start || a >= end) return [];
    return explained(characters.slice(a, b).join(""), one.reasons[t], one.marginals && one.marginals[t]);
  });
}

/** A click beside the spans says why the token there has no label. */
function clickedText() {
  const selection = getSelection();
  if (!selection.isCollapsed || !selection.anchorNode || !byId("result").contains(selection.anchorNode)) return;
  const at = Array.from(record().text.slice(0, offsetOf(selection.anchorNode, selection.anchorOffset))).length;
  const found = reasonsAt(at, at + 1);
  close();
  byId("reasons").replaceChildren(...found);
  byId("why").hidden = !found.length;
}

// ---- Many texts ------------------------------------------------------------------------------------------

function go(to) {
  place = Math.max(0, Math.min(order.length - 1, to));
  byId("text").value = record().text;
  byId("status").textContent = "";
  show();
}

/** The order of the texts: as given, or the most uncertain first, which is found out bit by bit. */
async function sort() {
  const here = order[place], status = byId("status");
  order = records.map((_, i) => i);
  if (byId("uncertain").checked) {
    for (let i = 0, began = performance.now(); i < records.length; i++) {
      sureOf(records[i]);
      if (performance.now() - began > SLOW) {
        status.textContent = `${i + 1} of ${records.length} texts`;
        await new Promise((resolve) => setTimeout(resolve));
        began = performance.now();
      }
    }
    order = records.map((_, i) => i).sort((i, j) => records[i].sure - records[j].sure);
    return go(0);
  }
  return go(Math.max(0, order.indexOf(here)));
}

/** The records of a file of JSON lines; spans are [start, end, label] or {start, end, label}. */
function recordsOf(text, name) {
  if (!/\.jsonl?$/i.test(name)) return (byId("lines").checked ? text.split(/\r\n|\n/) : [text]).filter((one) => one.trim()).map((one) => asRecord(one));
  return text.split("\n").flatMap((line, k) => {
    if (!line.trim()) return [];
    try {
      const { text: one, spans, ...metadata } = JSON.parse(line);
      if (typeof one !== "string") throw new Error('there is no "text"');
      return [asRecord(one, metadata, spans ? spans.map((span) => (Array.isArray(span) ? span : [span.start, span.end, span.label])) : null)];
    } catch (error) {
      throw new Error(`${name}, line ${k + 1}: ${error.message}`);
    }
  });
}

async function openFiles(event) {
  try {
    const found = [];
    for (const file of event.target.files) found.push(...recordsOf((await file.text()).replace(/^\ufeff/, ""), file.name));
    if (!found.length) throw new Error("there is no text in it");
    records.splice(0, records.length, ...found);
    past.length = place = 0;
    await sort();
    byId("result").focus();
  } catch (error) {
    byId("status").textContent = error.message;
  }
}

/** Download all texts and their spans as JSON lines. */
function save() {
  const lines = records.map((one) => {
    const spans = spansOf(one).map(([start, end, label]) => ({ start, end, label }));
    return `${JSON.stringify({ ...one.metadata, text: one.text, spans })}\n`;
  });
  const link = element("a", "");
  link.href = URL.createObjectURL(new Blob(lines, { type: "application/jsonl" }));
  link.download = "spans.jsonl";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function typed() {
  records[order[place]] = asRecord(byId("text").value, record().metadata);
  const began = performance.now();
  show();
  took = performance.now() - began;
}

byId("reads").textContent = "Text";
byId("annotate").hidden = false;
byId("result").className = "text";
byId("uncertain-option").hidden = header.probabilities === null;
header.chunks.types.filter((type, k, all) => type !== null && all.indexOf(type) === k).forEach((type) => {
  const choice = button("span", type || "(no type)");
  choice.addEventListener("mousedown", (event) => event.preventDefault()); // the selection stays
  choice.addEventListener("click", () => mark(type));
  byId("labels").append(coloured(choice, type));
});
byId("text").addEventListener("input", () => {
  clearTimeout(waiting);
  if (took < SLOW) typed();
  else waiting = setTimeout(typed, 300);
});
byId("open").addEventListener("change", openFiles);
showMore(show);
byId("save").addEventListener("click", save);
byId("undo").addEventListener("click", undo);
byId("previous").addEventListener("click", () => go(place - 1));
byId("next").addEventListener("click", () => go(place + 1));
byId("uncertain").addEventListener("change", sort);
byId("result").addEventListener("click", (event) => {
  const found = event.target.closest(".span");
  if (!found) return clickedText();
  const again = found === opened;
  setCurrent(found);
  return again ? close() : openSpan(found);
});
byId("result").addEventListener("keydown", (event) => {
  if (event.key === "Delete" && current) correct(spansOf(record()).filter((_, k) => k !== current.about));
  else onKey(event, ".span");
});
byId("why").addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });

const wanted = start();
records.push(asRecord(byId("text").value));
order = [0];
show();
if (wanted) byId("reasons").replaceChildren(...reasonsAt(...(tagger.tokens(record().text)[wanted[1]] || [0, 0])));
byId("why").hidden = !wanted;
