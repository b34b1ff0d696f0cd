// The page of a span tagger, which also corrects: select text and choose a label, click a span to change it.

const COPY = `skstruct ${document.title}`; // what the browser keeps of unsaved texts

let records, order = [0], place = 0, fileName = "spans.jsonl";
let seen = ""; // what was selected when a span got the focus: a later selection is meant, an earlier one is not
let copying = 0, copies = true;

const record = () => records.all[order[place]];

/** What the model says of the text of a record, as far as it was asked. */
function factsOf(one) {
  if (!one.facts || one.facts.text !== one.state.text) one.facts = { text: one.state.text, sure: null };
  return one.facts;
}

/** How sure the model is of a text: of its least sure token. */
function findSure(one) {
  const facts = factsOf(one);
  if (facts.sure === null) facts.sure = tagger.predictMarginals([facts.text])[0].reduce((least, row) => Math.min(least, Math.max(...row)), 1);
}

// ---- The text and its spans ------------------------------------------------------------------------------

/** Show the text: spans are buttons. */
function show() {
  const one = record(), { text, reviewed } = one.state, spans = records.spans(one), nodes = [], result = byId("result");
  const focus = result.contains(document.activeElement) ? document.activeElement : null;
  const cut = spans.length > shownAtMost ? spans[shownAtMost].start : text.length;
  let at = 0;
  clearTimeout(waiting);
  waiting = 0;
  spans.slice(0, shownAtMost).forEach(({ start, end, label }, k) => {
    const node = marked(button("span", text.slice(start, end)), label, label);
    node.tabIndex = -1;
    node.setAttribute("aria-pressed", "false");
    node.about = k;
    nodes.push(text.slice(at, start), node);
    at = end;
  });
  fill(result, [...nodes, text.slice(at, cut)]);
  byId("more").hidden = cut === text.length;
  close();
  const all = result.querySelectorAll(".span");
  setCurrent(all[Math.min(focus && focus.about || 0, all.length - 1)] || null);
  if (focus) (current || result).focus();
  byId("undo").disabled = !records.past.length;
  byId("redo").disabled = !records.future.length;
  byId("previous").disabled = place === 0;
  byId("next").disabled = place === order.length - 1;
  byId("where").textContent = `text ${place + 1} of ${order.length}${reviewed ? ", accepted" : ""}`;
}

/** Change the record that is shown, and show it again. */
function act(change) {
  byId("status").textContent = "";
  try {
    change(record());
  } catch (error) {
    byId("status").textContent = error.message;
  }
  show();
  copySoon();
}

function undoOrRedo(name) {
  const one = records[name]();
  if (!one) return;
  go(order.indexOf(records.all.indexOf(one)));
  copySoon();
}

/** [start, end] of the selected text, in the result or in the field; null without. */
function selected() {
  const field = byId("text"), selection = getSelection(), result = byId("result");
  if (selection.rangeCount && !selection.isCollapsed && result.contains(selection.anchorNode) && result.contains(selection.focusNode)) {
    const range = selection.getRangeAt(0);
    return [offsetOf(range.startContainer, range.startOffset), offsetOf(range.endContainer, range.endOffset)];
  }
  const found = [field.selectionStart, field.selectionEnd].map((offset) => fromField(record().state.text, offset));
  return found[0] < found[1] ? found : null;
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

/** Mark the text selected last, or else change the label of the span that is open or has the focus. */
function mark(label) {
  const found = selected(), focus = document.activeElement;
  const span = opened || (byId("result").contains(focus) && focus.about !== undefined ? focus : null);
  if (span && (!found || String(found) === seen)) act((one) => records.relabel(one, span.about, label));
  else act((one) => records.mark(one, ...(found || [0, 0]), label));
}

/** Open a span: its label can be changed or taken away; below is why the model has it. */
function openSpan(node) {
  close();
  opened = node;
  seen = String(selected());
  node.setAttribute("aria-pressed", "true");
  const { start, end, label } = records.spans(record())[node.about], remove = button("", `Remove this ${label}`);
  remove.addEventListener("click", () => act((one) => records.remove(one, node.about)));
  byId("reasons").replaceChildren(element("p", "row", remove, "or choose another label above"), ...reasonsAt(start, end));
  byId("why").hidden = false;
}

/** [start, end] of each token of a text. */
function placesOf(text) {
  const edges = edgesOf(text);
  return tagger.tokens(text).map(([a, b]) => [edges[a], edges[b]]);
}

/** Why the model labels the tokens from start to end as it does. */
function reasonsAt(start, end) {
  const facts = factsOf(record()), { text } = facts, at = placesOf(text);
  if (!facts.reasons) {
    facts.reasons = tagger.explain(text);
    facts.marginals = header.probabilities === null ? null : tagger.predictMarginals([text])[0];
  }
  return at.flatMap(([a, b], t) => (b <= start || a >= end ? [] : explained(text.slice(a, b), facts.reasons[t], facts.marginals && facts.marginals[t])));
}

/** A click beside the spans says why the token there has no label. */
function clickedText() {
  const selection = getSelection();
  if (!selection.isCollapsed || !selection.anchorNode || !byId("result").contains(selection.anchorNode)) return;
  const at = offsetOf(selection.anchorNode, selection.anchorOffset), found = reasonsAt(at, at + 1);
  close();
  byId("reasons").replaceChildren(...found);
  byId("why").hidden = !found.length;
}

/** Take over what is typed at once; show it at once, too, if that is fast. */
function typed() {
  const field = byId("text"), gone = records.edit(record(), field.value, field.selectionEnd);
  byId("status").textContent = gone.length ? `Spans that the change has cut are gone: ${gone.join(", ")}. Undo brings them back.` : "";
  copySoon();
  clearTimeout(waiting);
  if (took < SLOW) redraw();
  else waiting = setTimeout(redraw, 300);
}

function redraw() {
  const began = performance.now();
  show();
  took = performance.now() - began;
}

// ---- Many texts ------------------------------------------------------------------------------------------

function go(to) {
  place = Math.max(0, Math.min(order.length - 1, to));
  byId("text").value = inField(record().state.text);
  byId("status").textContent = "";
  show();
}

function accept() {
  act((one) => records.accept(one));
  if (place < order.length - 1) go(place + 1);
}

/** Do something to all records, with pauses; whether it came to the end. */
async function forAll(work) {
  const { all } = records;
  for (let i = 0, began = performance.now(); i < all.length; i++) {
    work(all[i]);
    if (performance.now() - began > SLOW) {
      byId("status").textContent = `${i + 1} of ${all.length} texts`;
      await new Promise((resolve) => setTimeout(resolve));
      if (records.all !== all) return false;
      began = performance.now();
    }
  }
  byId("status").textContent = "";
  return true;
}

/** The order of the texts: as given, or the most uncertain first, which is found out bit by bit. */
async function sort() {
  const uncertain = byId("uncertain").checked;
  if (uncertain && !(await forAll(findSure))) return;
  const here = order[place], { all } = records;
  order = all.map((_, i) => i);
  if (uncertain) order.sort((i, j) => factsOf(all[i]).sure - factsOf(all[j]).sure);
  go(uncertain ? 0 : order.indexOf(here));
}

/** Open files, [{name, text}]; nothing changes if one cannot be read. */
async function openTexts(files) {
  const notes = records.open(files, byId("lines").checked);
  order = records.all.map((_, i) => i);
  place = 0;
  fileName = files.length === 1 ? `${files[0].name.replace(/\.[^.]*$/, "")}.jsonl` : "spans.jsonl";
  copies = true;
  await sort();
  byId("status").textContent = notes.join(" ");
  byId("result").focus();
}

async function openFiles(event) {
  const files = Array.from(event.target.files), n = records.unsaved();
  event.target.value = ""; // so that the same file can be chosen again
  if (!files.length || (n && !confirm(`${n === 1 ? "A text is" : `${n} texts are`} changed and not saved. Open others, and lose this?`))) return;
  try {
    const texts = [];
    for (const file of files) {
      const bytes = await file.arrayBuffer();
      try {
        texts.push({ name: file.name, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) });
      } catch (error) {
        throw new Error(`${file.name}: it is not UTF-8`);
      }
    }
    await openTexts(texts);
  } catch (error) {
    byId("status").textContent = error.message;
  }
}

/** Download all texts and their spans as JSON lines. */
async function save() {
  if (!(await forAll((one) => records.spans(one)))) return;
  const link = element("a", "");
  link.href = URL.createObjectURL(new Blob([records.text()], { type: "application/jsonl" }));
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  records.keep();
  copy();
}

// ---- A copy of what is not saved, in the browser ---------------------------------------------------------

function copySoon() {
  byId("restore").hidden = true;
  if (!copying) copying = setTimeout(copy, 1000);
}

function copy() {
  clearTimeout(copying);
  copying = 0;
  if (!copies) return;
  try {
    if (records.unsaved()) localStorage.setItem(COPY, records.text());
    else localStorage.removeItem(COPY);
  } catch (error) { // no room, or not allowed
    copies = false;
    byId("status").textContent = "The browser keeps no copy of these texts: save now and then.";
  }
}

function copyOfBefore() {
  try {
    return localStorage.getItem(COPY);
  } catch (error) {
    return null;
  }
}

async function restore() {
  await openTexts([{ name: fileName, text: copyOfBefore() }]);
  for (const one of records.all) one.saved = null;
  byId("restore").hidden = true;
}

// ---- Start -----------------------------------------------------------------------------------------------

/** Keys: a letter for a label (with Alt in the field), Tab from span to span, Delete, Ctrl with Enter, Z or Y. */
function onKeyOfPage(event) {
  const inResult = byId("result").contains(event.target), key = event.key.toLowerCase(), command = event.ctrlKey || event.metaKey;
  const label = letters.get(key);
  if (command && key === "enter") accept();
  else if (command && (key === "y" || (key === "z" && event.shiftKey))) undoOrRedo("redo");
  else if (command && key === "z") undoOrRedo("undo");
  else if (!command && label !== undefined && (event.altKey || inResult)) mark(label);
  else if (inResult && key === "delete" && current) act((one) => records.remove(one, current.about));
  else if (inResult && key === "tab") {
    const all = Array.from(byId("result").querySelectorAll(".span")), next = all[all.indexOf(event.target) + (event.shiftKey ? -1 : 1)];
    if (!next || !all.includes(event.target)) return;
    setCurrent(next);
    next.focus();
  } else {
    if (inResult) onKey(event, ".span");
    return;
  }
  event.preventDefault();
}

const letters = new Map(); // the label of a letter

function startSpans() {
  byId("reads").textContent = "Text";
  byId("annotate").hidden = false;
  byId("result").className = "text";
  byId("uncertain-option").hidden = header.probabilities === null;
  header.chunks.types.filter((type, k, all) => type !== null && all.indexOf(type) === k).forEach((type) => {
    const choice = marked(button("span", type || "(no type)"), type);
    const letter = Array.from(`${type.toLowerCase()}abcdefghijklmnopqrstuvwxyz0123456789`).find((c) => /[\p{L}\p{N}]/u.test(c) && !letters.has(c));
    if (letter) {
      letters.set(letter, type);
      choice.dataset.key = letter;
      choice.setAttribute("aria-keyshortcuts", letter);
    }
    choice.addEventListener("mousedown", (event) => event.preventDefault()); // the selection stays
    choice.addEventListener("click", () => mark(type));
    byId("labels").append(choice);
  });
  byId("text").addEventListener("input", typed);
  byId("open").addEventListener("change", openFiles);
  byId("uncertain").addEventListener("change", sort);
  const buttons = { save, accept, restore, undo: () => undoOrRedo("undo"), redo: () => undoOrRedo("redo") };
  Object.assign(buttons, { previous: () => go(place - 1), next: () => go(place + 1) });
  for (const [id, does] of Object.entries(buttons)) byId(id).addEventListener("click", does);
  showMore(show);
  byId("result").addEventListener("focusin", () => { seen = String(selected()); });
  byId("result").addEventListener("click", (event) => {
    const found = event.target.closest(".span"), again = found === opened;
    if (waiting) return show(); // what was clicked is not what is there by now
    if (!found) return clickedText();
    setCurrent(found);
    return again ? close() : openSpan(found);
  });
  document.addEventListener("keydown", onKeyOfPage);
  byId("why").addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
  addEventListener("beforeunload", (event) => { if (records.unsaved()) event.preventDefault(); });
  addEventListener("pagehide", copy);
  const wanted = start();
  records = new Records((text) => tagger.predictUtf16([text])[0], byId("text").value);
  show();
  byId("restore").hidden = copyOfBefore() === null;
  if (wanted) byId("reasons").replaceChildren(...reasonsAt(...(placesOf(record().state.text)[wanted[1]] || [0, 0])));
  byId("why").hidden = !wanted;
}

startSpans();
