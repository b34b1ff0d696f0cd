// Run written JavaScript files on data: a line {"file": ..., "X": ..., "ask": [...]} is answered by a line.
const path = require("path");
const readline = require("readline");
const { pathToFileURL } = require("url");

let count = 0;

// A file as if it were loaded for the first time.
async function load(file) {
  if (file.endsWith(".mjs")) return import(`${pathToFileURL(file)}?${count++}`);
  delete require.cache[require.resolve(file)];
  return require(file);
}

async function answer(given) {
  const tagger = await load(path.resolve(given.file));
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
  return answers;
}

(async () => {
  for await (const line of readline.createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    process.stdout.write(JSON.stringify(await answer(JSON.parse(line))) + "\n");
  }
})();
