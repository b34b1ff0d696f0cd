"""The records of the page that annotates, run in Node: what their tests share."""

import json
import subprocess
from importlib.resources import files

from one_file_cases import NODE

from skstruct.datasets.formats.span_records import SPAN_KEYS

DRIVER = """
const words = /[A-Z][A-Za-z0-9_]+/g, whole = ["undo", "redo", "text", "unsaved"];
const predict = (text) => Array.from(text.matchAll(words), (m) => [m.index, m.index + m[0].length, "M"]);
const given = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(given.map(({ files, linewise, steps }) => {
  const records = new Records(predict), answers = [];
  try {
    answers.push(records.open(files, linewise));
    for (const [name, ...values] of steps) {
      if (name === "all") records.all.forEach((one) => records.spans(one));
      else {
        const place = whole.includes(name) ? [] : [records.all[values.shift()]];
        const answer = records[name](...place, ...values);
        answers.push(name === "undo" || name === "redo" ? records.all.indexOf(answer) : answer);
      }
    }
  } catch (error) {
    return { answers, error: error.message };
  }
  const told = ({ text }, { start, end, label }) => ({ start, end, label, covers: text.slice(start, end) });
  const shown = (one) => [one.state.text, records.spans(one).map((span) => told(one.state, span))];
  const spans = records.all.slice(0, 9).map(shown);
  return { answers, unit: records.unit, n: records.all.length, spans };
})));
"""


def ran(cases):
    """What happens in each case of files and steps, in one process."""
    source = (files("skstruct._one_file") / "page" / "records.js").read_text(
        encoding="utf-8"
    )
    program = (
        source.replace("SPAN_KEYS = []", f"SPAN_KEYS = {json.dumps(SPAN_KEYS)}")
        + DRIVER
    )
    done = subprocess.run(
        [NODE, "-e", program],
        input=json.dumps(cases).encode(),
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def one(text, *steps, name="a.jsonl", **options):
    """What happens to one file."""
    return ran([{"files": [{"name": name, "text": text}], "steps": steps, **options}])[
        0
    ]


def saved(text, *steps, **options):
    """What is written after some steps."""
    return one(text, *steps, ["text"], **options)["answers"][-1]
