// The page of a span tagger: it marks spans in a text, or in those of files, says why, and hands them on to a tool.

let texts = [], order = [0], place = 0, fileName = "spans";

const shownText = () => texts[order[place]];

/** The spans [start, end, label] of a text, in UTF-16 units; found once. */
function spansOf(one) {
  if (!one.spans) one.spans = tagger.predictUtf16([one.text])[0];
  return one.spans;
}

/** How sure the model is of a text: of its least sure token. */
function sureOf(one) {
  if (one.sure === undefined) one.sure = tagger.predictMarginals([one.text])[0].reduce((least, row) => Math.min(least, Math.max(...row)), 1);
  return one.sure;
}

// ---- The text and its spans ------------------------------------------------------------------------------

/** Show the text: spans are buttons. */
function show() {
  const began = performance.now(), one = shownText(), { text } = one, spans = spansOf(one), nodes = [];
  const cut = spans.length > shownAtMost ? spans[shownAtMost][0] : text.length;
  let at = 0;
  clearTimeout(waiting);
  waiting = 0;
  spans.slice(0, shownAtMost).forEach(([start, end, label]) => {
    const node = marked(button("span", text.slice(start, end)), label, label);
    node.tabIndex = -1;
    node.setAttribute("aria-pressed", "false");
    node.about = [start, end];
    nodes.push(text.slice(at, start), node);
    at = end;
  });
  fill(byId("result"), [...nodes, text.slice(at, cut)]);
  byId("more").hidden = cut === text.length;
  close();
  setCurrent(byId("result").querySelector(".span"));
  byId("previous").disabled = place === 0;
  byId("next").disabled = place === order.length - 1;
  byId("where").textContent = `text ${place + 1} of ${order.length}`;
  took = performance.now() - began;
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

/** Show why the model labels the tokens from start to end as it does; whether there are any. */
function explain(start, end) {
  const one = shownText(), edges = edgesOf(one.text);
  if (!one.reasons) {
    one.reasons = tagger.explain(one.text);
    one.marginals = header.probabilities === null ? null : tagger.predictMarginals([one.text])[0];
  }
  const found = tagger.tokens(one.text).flatMap(([from, to], t) => {
    const [a, b] = [edges[from], edges[to]];
    return b <= start || a >= end ? [] : explained(one.text.slice(a, b), one.reasons[t], one.marginals && one.marginals[t]);
  });
  byId("reasons").replaceChildren(...found);
  byId("why").hidden = !found.length;
}

function openSpan(node) {
  close();
  opened = node;
  node.setAttribute("aria-pressed", "true");
  explain(...node.about);
}

/** A click beside the spans says why the token there has no label. */
function clickedText() {
  const selection = getSelection();
  if (!selection.isCollapsed || !selection.anchorNode || !byId("result").contains(selection.anchorNode)) return;
  const at = offsetOf(selection.anchorNode, selection.anchorOffset);
  close();
  explain(at, at + 1);
}

/** Take over what is typed at once; show it at once, too, if that is fast. */
function typed() {
  texts[order[place]] = { text: byId("text").value, rest: {}, hadSpans: false };
  clearTimeout(waiting);
  if (took < SLOW) show();
  else waiting = setTimeout(show, 300);
}

// ---- Many texts ------------------------------------------------------------------------------------------

function go(to) {
  place = Math.max(0, Math.min(order.length - 1, to));
  byId("text").value = shownText().text;
  show();
}

/** Do something to all texts, with pauses; whether it came to the end. */
async function forAll(work) {
  const all = texts;
  for (let i = 0, began = performance.now(); i < all.length; i++) {
    work(all[i]);
    if (performance.now() - began > SLOW) {
      byId("status").textContent = `${i + 1} of ${all.length} texts`;
      await new Promise((resolve) => setTimeout(resolve));
      if (texts !== all) return false;
      began = performance.now();
    }
  }
  byId("status").textContent = "";
  return true;
}

/** The order of the texts: as given, or the most uncertain first, which is found out bit by bit. */
async function sort() {
  const uncertain = byId("uncertain").checked;
  if (uncertain && !(await forAll(sureOf))) return;
  const here = order[place];
  order = texts.map((_, i) => i);
  if (uncertain) order.sort((i, j) => sureOf(texts[i]) - sureOf(texts[j]));
  go(uncertain ? 0 : order.indexOf(here));
}

/** Open the files that were chosen; nothing changes if one cannot be read. */
async function openFiles(event) {
  const files = Array.from(event.target.files);
  if (!files.length) return;
  event.target.value = ""; // so that the same file can be chosen again
  try {
    const read = [];
    for (const file of files) {
      const bytes = await file.arrayBuffer();
      let text;
      try {
        text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
      } catch (error) {
        throw new Error(`${file.name}: it is not UTF-8`);
      }
      for (const one of readTexts({ name: file.name, text }, byId("lines").checked)) read.push(one);
    }
    if (!read.length) throw new Error("there is no text in it");
    texts = read;
    order = [0];
    place = 0;
    fileName = files.length === 1 ? files[0].name.replace(/\.[^.]*$/, "") : "spans";
    byId("text").readOnly = true; // what files hold is shown, and handed on as it is
    await sort();
    const n = texts.filter(({ hadSpans }) => hadSpans).length;
    byId("status").textContent = n ? `${n === 1 ? "A text has" : `${n} texts have`} spans in the file; shown and downloaded are those that the model finds.` : "";
    byId("result").focus();
  } catch (error) {
    byId("status").textContent = error.message;
  }
}

/** Download all texts and their spans, in their order here, as a file that a tool reads. */
async function download() {
  if (!(await forAll(spansOf))) return;
  const { ending, write } = TOOLS[byId("tool").value], link = element("a", "");
  const records = order.map((i) => texts[i]), version = `${header.about.model} of skstruct ${header.about.skstruct}`;
  link.href = URL.createObjectURL(new Blob([write(records, version)], { type: "application/json" }));
  link.download = fileName + ending;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// ---- Start -----------------------------------------------------------------------------------------------

function startSpans() {
  byId("todo").textContent = "Type a text or open files; click a span, or a word beside it, to see why it is labelled so; download the spans for an annotation tool.";
  byId("reads").textContent = "Text";
  byId("files").hidden = false;
  byId("result").className = "text";
  byId("uncertain-option").hidden = header.probabilities === null;
  byId("text").addEventListener("input", typed);
  byId("open").addEventListener("change", openFiles);
  byId("uncertain").addEventListener("change", sort);
  const buttons = { download, previous: () => go(place - 1), next: () => go(place + 1) };
  for (const [id, does] of Object.entries(buttons)) byId(id).addEventListener("click", does);
  showMore(show);
  byId("result").addEventListener("click", (event) => {
    const found = event.target.closest(".span"), again = found === opened;
    if (waiting) return show(); // what was clicked is not what is there by now
    if (!found) return clickedText();
    setCurrent(found);
    return again ? close() : openSpan(found);
  });
  byId("result").addEventListener("keydown", (event) => onKey(event, ".span"));
  byId("why").addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
  const wanted = start();
  texts = [{ text: byId("text").value, rest: {}, hadSpans: false }];
  show();
  if (wanted) {
    const { text } = shownText(), edges = edgesOf(text), token = tagger.tokens(text)[wanted[1]];
    if (token) explain(edges[token[0]], edges[token[1]]);
  }
}

if (header.task === "spans") startSpans();
else startSentences();
