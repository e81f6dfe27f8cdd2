#include "cli/prepare_options.h"

#include <initializer_list>

#include "cli/constraint_options.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/corpus/prepare_options.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;

/// NAME:SRC:REF:REF...
constexpr Path kTestSet{.kind = Path::kInputFile, .in = [](const std::string& text) {
                          corpus::EvaluationFiles files = corpus::evaluation_files(text);
                          files.references.push_back(files.source);
                          return files.references;
                        }};

/// Throws Error for an option that was given and would do nothing.
void refuse_what_has_no_effect(const Options& options, const corpus::PrepareOptions& settings) {
  const auto needs = [&](bool effect, std::initializer_list<const char*> idle, const char* why) {
    for (const char* option : idle)
      if (!effect && options.given(option)) throw UsageError("--{} {}, or leave it out", option, why);
  };
  needs(settings.subwords.learned != "none", {"subword-pairs", "subword-seed", "subword-normalization"},
        "applies to subwords that are learned here; give --subwords unigram or bpe");
  needs(!settings.cleaning.source_script.empty() || !settings.cleaning.target_script.empty(), {"script-share"},
        "is of a script; give --source-script or --target-script");
}

/// Completes s.corpus from what was given. Throws UsageError for options that contradict each other.
void take_text(const Options& options, PrepareSettings& s) {
  if (s.train_source.size() != s.train_target.size()) {
    throw UsageError("--train-source is given {} times and --train-target {} times; every file needs its translation",
                     s.train_source.size(), s.train_target.size());
  }
  if (!s.train_alignments.empty() && s.train_alignments.size() != s.train_source.size()) {
    throw UsageError(
        "--train-source is given {} times and --train-alignments {} times; every file needs its alignments, or none",
        s.train_source.size(), s.train_alignments.size());
  }
  for (std::size_t i = 0; i < s.train_source.size(); ++i) {
    s.corpus.train.push_back({s.train_source[i], s.train_target[i], {}});
    if (!s.train_alignments.empty()) s.corpus.train.back().alignments = s.train_alignments[i];
  }
  for (const std::string& file : s.train_tsv) s.corpus.train.push_back({file, {}, {}});
  if (s.corpus.train.empty()) {
    throw UsageError("there is no training text; give --train-source and --train-target, or --train-tsv");
  }
  const auto give_both = [](const char* name, const fs::path& both, fs::path& source, fs::path& target) {
    if (both.empty()) return;
    if (!source.empty() || !target.empty()) {
      throw UsageError("--{0} is for both sides, but --{1}{0} is given too; leave one of them out", name,
                       source.empty() ? "target-" : "source-");
    }
    source = target = both;
  };
  give_both("subword-model", s.both_models, s.corpus.subwords.source_model, s.corpus.subwords.target_model);
  give_both("bpe-codes", s.both_codes, s.corpus.subwords.source_codes, s.corpus.subwords.target_codes);
  if (!options.given("tokenizer") && (s.corpus.subwords.learned != "none" || !s.corpus.subwords.source_model.empty())) {
    s.corpus.pipeline.tokenizer = "none";  // SentencePiece takes raw text
  }
  s.corpus.given = {options.given("source-language"), options.given("target-language"), options.given("tokenizer"),
                    options.given("normalization"),   options.given("lowercase"),       options.given("copy-pattern")};
  s.corpus.pipeline.copies = copy_patterns_from(s.copy_patterns);
  s.corpus.memory = s.memory << 20;
  if (s.dev_source.empty() != s.dev_target.empty()) {
    throw UsageError("{} is missing: a development set needs both its sides",
                     s.dev_source.empty() ? "--dev-source" : "--dev-target");
  }
  if (!s.dev_source.empty()) s.corpus.dev = corpus::EvaluationFiles{"dev", s.dev_source, {s.dev_target}};
  for (const std::string& test : s.tests) s.corpus.tests.push_back(corpus::evaluation_files(test));
  if (!s.corpus.vocabulary_of.empty() && (s.corpus.source_words || s.corpus.target_words)) {
    throw UsageError("{} is not for --vocabulary-of, which says what the vocabularies are; leave one of them out",
                     s.corpus.source_words ? "--source-words" : "--target-words");
  }
}

}  // namespace

void declare(Options& options, PrepareSettings& s) {
  options.group("Text");
  options.add(
      "train-source", s.train_source,
      {.help = "training text of the source language; repeat the option for several files, which are read one after "
               "the other",
       .path = kInputFile});
  options.add(
      "train-target", s.train_target,
      {.help = "translation of --train-source, line by line; given as often as --train-source", .path = kInputFile});
  options.add(
      "train-tsv", s.train_tsv,
      {.help = "training text with both sides on each line: source, tab, translation; repeat the option for several "
               "files",
       .path = kInputFile});
  options.add("train-alignments", s.train_alignments,
              {.help = "word alignments of --train-source and --train-target, for train --guided-alignment: each "
                       "line has the links of a pair, such as 0-0 1-2, source word first; words are those of "
                       "--tokenizer (pieces, with subwords), counted from 0; given as often as --train-source",
               .path = kInputFile});
  options.add("dev-source", s.dev_source,
              {.help = "source side of the development set, on which training selects the best checkpoint",
               .path = kInputFile});
  options.add("dev-target", s.dev_target, {.help = "translation of --dev-source", .path = kInputFile});
  options.add("test", s.tests,
              {.help = "a test set: name, source and reference; append further references after further colons, and "
                       "write a colon in a file name as \\:",
               .value = "NAME:SRC:REF",
               .path = kTestSet});
  options.take(line_limit_table(), s.corpus.line_limit);
  options.group("Corpus");
  options.add("output", s.corpus.output, {.help = "corpus file to write", .path = kOutputFile});
  options.add("overwrite", s.corpus.overwrite,
              {.help = "replace an existing output file (atomically, after the corpus is complete)"});
  options.group("Words");
  options.add("source-language", s.corpus.pipeline.source_language,
              {.help = "language of the source side, recorded in the corpus; --tokenizer moses needs en, fr or de",
               .value = "NAME"});
  options.add("target-language", s.corpus.pipeline.target_language,
              {.help = "language of the target side, as --source-language", .value = "NAME"});
  options.add(
      "tokenizer", s.corpus.pipeline.tokenizer,
      {.help = "how text is split into words. words: separates punctuation, reversibly, and splits Chinese into "
               "characters; icu-words: the same, but splits Chinese and Japanese into words of ICU's dictionary; "
               "moses: as Moses's tokenizer.perl -no-escape for English and French, and for German except behind some "
               "abbreviations, of which the list is our own; none: at white space",
       .choices = {"words", "icu-words", "moses", "none"}});
  options.add("normalization", s.corpus.pipeline.normalization,
              {.help = "Unicode normalization before everything else. nfc: composes a letter and its accent; nfkc: "
                       "also replaces full-width letters, ligatures and superscripts by plain characters",
               .choices = {"none", "nfc", "nfkc"}});
  options.add("lowercase", s.corpus.pipeline.lowercase, {.help = "convert all text to lower case"});
  options.add("copy-pattern", s.copy_patterns,
              {.help = "regular expression (RE2) of text that is copied, not translated, such as [0-9]+; repeat the "
                       "option for several. A match that both sides of a pair have becomes a placeholder word, "
                       "<copy1>, <copy2> ..., and translate puts the text back in its place",
               .value = "REGEX"});
  options.add("source-words", s.corpus.source_words,
              {.help = "size of the source vocabulary, including 3 special symbols [the 30000 most frequent words, or "
                       "all if there are fewer]",
               .low = 4,
               .high = 1e8});
  options.add("target-words", s.corpus.target_words,
              {.help = "size of the target vocabulary, as --source-words", .low = 4, .high = 1e8});
  options.add("joint-vocabulary", s.corpus.joint_vocabulary,
              {.help = "make one vocabulary for both sides, as large as --source-words or --target-words; train "
                       "--tied-embeddings source-target and all need it"});
  options.add("vocabulary-of", s.corpus.vocabulary_of,
              {.help = "take vocabularies, tokenizer, normalization, lower-casing and languages from this corpus, so "
                       "that systems trained on different parts of a text have the same vocabularies",
               .path = kInputFile});
  options.group("Subwords");
  options.add("subwords", s.corpus.subwords.learned,
              {.help = "learn a SentencePiece model of this kind for each side from the raw text, with byte fallback, "
                       "so that no word is unknown; --source-words and --target-words are the sizes, and "
                       "--joint-vocabulary makes it one model",
               .choices = {"none", "unigram", "bpe"}});
  options.add("subword-pairs", s.corpus.subwords.sample_pairs,
              {.help = "number of sentence pairs, sampled from the whole text, from which subwords are learned",
               .low = 1,
               .high = 1e9});
  options.add("subword-seed", s.corpus.subwords.seed, {.help = "seed of the sample of --subword-pairs"});
  options.add("subword-normalization", s.corpus.subwords.normalization,
              {.help = "Unicode normalization inside SentencePiece; identity: none",
               .choices = {"nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"}});
  options.add(
      "subword-model", s.both_models,
      {.help = "existing SentencePiece model for both sides, used instead of learning one", .path = kInputFile});
  options.add("source-subword-model", s.corpus.subwords.source_model,
              {.help = "existing SentencePiece model for the source side", .path = kInputFile});
  options.add("target-subword-model", s.corpus.subwords.target_model,
              {.help = "existing SentencePiece model for the target side", .path = kInputFile});
  options.add("bpe-codes", s.both_codes,
              {.help = "BPE codes of subword-nmt for both sides: they split the tokenizer's words into pieces marked "
                       "by @@, of which the vocabularies are made",
               .path = kInputFile});
  options.add("source-bpe-codes", s.corpus.subwords.source_codes,
              {.help = "BPE codes of subword-nmt for the source side", .path = kInputFile});
  options.add("target-bpe-codes", s.corpus.subwords.target_codes,
              {.help = "BPE codes of subword-nmt for the target side", .path = kInputFile});
  options.take(corpus::cleaning_option_table(), s.corpus.cleaning);
  options.group("Machine");
  add_threads(options, s.threads);
  options.add("memory", s.memory,
              {.help = "MiB of memory for counting distinct words; counts that do not fit go to temporary "
                       "files beside the output",
               .low = 16,
               .high = 1 << 24});
  options.group("Report");
  options.add("json", s.json, {.help = "print the report as JSON"});
}

void check(const Options& options, PrepareSettings& s) {
  refuse_what_has_no_effect(options, s.corpus);
  if (s.corpus.output.empty()) throw UsageError("--output is missing: the corpus to write");
  take_text(options, s);
}

}  // namespace rnnsearch::cli
