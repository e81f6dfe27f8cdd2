// Writes evaluation.json and alignment.json as rnnsearch evaluate --json and align --json write them, with numbers that
// page_check.mjs knows: node make_inputs.mjs FOLDER
import {writeFileSync} from "node:fs";
import {join} from "node:path";

const folder = process.argv[2];
const labels = ["up to 10", "11-20", "21-30", "31-40", "41-50", "51-60", "over 60"];
const counts = [762, 521, 258, 164, 119, 95, 81];
const systems = {
  search: [17.55, 21.78, 19.07, 15.45, 13.37, 10.81, 8.15],
  encdec: [12.27, 12.36, 7.40, 5.37, 4.05, 3.71, 2.51],
};
// what the page must not read as HTML
const hostile = `<img src=x onerror="document.title='broken'"> & </script><script>document.title='broken'</script>`;

const row = (label, sentences, bleu) => ({label, sentences, reliable: sentences >= 100, bleu,
  low: sentences ? bleu - 1.25 : null, high: sentences ? bleu + 1.5 : null, precisions: [1, 1, 1, 1], brevity_penalty: 1, ratio: 0.987});
const signature = "nrefs:1|bs:1000|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp|version:test";
const scores = (system, bleu) => ({
  system, signature, all: row("all", 2000, bleu.reduce((sum, x) => sum + x) / 7),
  without_unknown_words: row("without unknown words", 72, bleu[0] * 1.5),
  buckets: labels.map((label, i) => row(label, counts[i], bleu[i])),
  by_unknown_share: ["none", "up to 5%", "5% to 10%", "over 10%"].map((label, i) => row(label, [372, 500, 600, 528][i], bleu[i] * 1.2)),
  by_rarest_word: ["unknown", "1-9", "10-99", "1000 and more"].map((label, i) => row(label, [0, 400, 600, 90][i], i ? bleu[4 - i] : 0)),
  words_by_frequency: ["unknown", "1-9", "10-99", "100-999", "1000 and more"].map((label, i) =>
    ({label, words: [800, 1200, 3400, 9000, 21000][i], hypothesis_words: 22000, correct: 200 * i + Math.round(bleu[0])})),
  "chrF": {score: bleu[1] * 2, low: bleu[1] * 2 - 1, high: bleu[1] * 2 + 1, signature: "nrefs:1|nc:6|nw:0|version:test"},
  "chrF++": {score: bleu[1] * 1.9, low: bleu[1] * 1.9 - 1, high: bleu[1] * 1.9 + 1, signature: "nrefs:1|nc:6|nw:2|version:test"},
  "TER": {score: 90 - bleu[1], low: 89 - bleu[1], high: 91 - bleu[1], signature: "nrefs:1|tok:tercom|version:test"},
});
const compared = (metric, row, difference, p) => ({method: "bootstrap", baseline: "search", system: "encdec", metric, row,
  difference, p, samples: 1000, seed: 12345});

const sources = ["the cat sat on the mat in the old house", "it rained all day long in the hills above the town",
  "short one", "we saw her duck under the low table again", "nobody had read the second letter before tonight",
  "a report on progress was handed to the council", "they left the city early in the grey morning"];
const references = ["le chat était assis sur le tapis dans la vieille maison", "il a plu toute la journée dans les collines au-dessus de la ville",
  "un court", "nous l'avons vue se baisser encore sous la table basse", "personne n'avait lu la seconde lettre avant ce soir",
  "un rapport sur les progrès a été remis au conseil", "ils ont quitté la ville tôt dans le matin gris"];
const sentences = sources.map((source, i) => ({line: i + 1, source, references: [references[i]], bucket: "up to 10", systems: {
  search: {hypothesis: i === 1 ? hostile + " toute la journée" : references[i].replace("la ", "une "), bleu: [71.5, 12.25, 100, 55, 42.5, 80.75, 33][i], chrF: 60 + i},
  encdec: {hypothesis: i === 4 ? "" : references[i].split(" ").slice(0, 4).join(" ") + " <unk> <unk>", bleu: [20.5, 30, 100, 5.5, 0, 44, 38.5][i], chrF: 40 + i},
}}));

writeFileSync(join(folder, "evaluation.json"), JSON.stringify({
  format: "rnnsearch-evaluation", format_version: 1, created_by: "rnnsearch-test", set: "test/news", references: 1,
  length: "reference", edges: [10, 20, 30, 40, 50, 60], bootstrap: {samples: 1000, seed: 12345},
  systems: Object.entries(systems).map(([name, bleu]) => scores(name, bleu)),
  comparisons: [compared("BLEU", "all", -8.0, 0.000999), compared("chrF", "all", -18.84, 0.0319),
    ...labels.map((label, i) => compared("BLEU", label, systems.encdec[i] - systems.search[i], i < 5 ? 0.000999 : 0.2))],
  sentences,
}, null, 1));

const words = (text) => [...text.split(" "), "</s>"];
const matrix = (Tx, Ty) => Array.from({length: Ty}, (_, i) => {
  const weights = Array.from({length: Tx}, (_, j) => Math.exp(-Math.abs(j - i * Tx / Ty)));
  const sum = weights.reduce((a, b) => a + b);
  return weights.map((weight) => weight / sum);
});
writeFileSync(join(folder, "alignment.json"), JSON.stringify({
  format: "rnnsearch-alignment", format_version: 1, created_by: "rnnsearch-test", model: "search",
  sentences: sources.slice(0, 4).map((source, i) => {
    const s = words(i === 3 ? "<b>" + " " + source : source), t = words(references[i]);
    return {line: i + 1, source: s, target: t, alignment: matrix(s.length, t.length), log_probability: -7.25 * (i + 1)};
  }),
}, null, 1));
