// Run a written JavaScript file on data: node one_file_node.js FILE < {"X": ..., "ask": [...]} > answers.
const path = require("path");

const input = [];
process.stdin.on("data", (chunk) => input.push(chunk)).on("end", async () => {
  const given = JSON.parse(Buffer.concat(input).toString("utf8"));
  const file = path.resolve(process.argv[2]);
  const tagger = file.endsWith(".mjs") ? await import(file) : require(file);
  const answers = {};
  for (const name of given.ask) {
    if (name === "explain") answers[name] = given.X.map((x) => tagger.explain(x));
    else if (name === "labels" || name === "about") answers[name] = tagger[name];
    else {
      try {
        answers[name] = name === "predict" ? tagger.predict(given.X, given.allowed) : tagger[name](given.X);
      } catch (error) {
        answers[name] = { error: error.message };
      }
    }
  }
  process.stdout.write(JSON.stringify(answers));
});
