#include "rnnsearch/cli/command.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/common.h"
#include "cli/options/translation_options.h"
#include "cli/progress.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/base/stopwatch.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/corpus/prepare.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;

struct PrepareSettings {
  corpus::PrepareOptions corpus;
  std::vector<std::string> train_source, train_target, train_tsv, train_alignments, train_weights, tests, copy_patterns;
  fs::path dev_source, dev_target, both_models, both_codes;
  ThreadOptions threads;
  std::size_t memory = corpus.memory >> 20;  // MiB
  fs::path json;
};

/// NAME:SRC:REF:REF...
constexpr Path kTestSet{.kind = Path::kInputFile, .in = [](const std::string& text) {
                          corpus::EvaluationFiles files = corpus::evaluation_files(text);
                          files.references.push_back(files.source);
                          return files.references;
                        }};

/// Throws Error for an option that was given and would do nothing.
void refuse_what_has_no_effect(const Options& options, const corpus::PrepareOptions& settings) {
  options.refuse(settings.subwords.learned == "none", {"subword-pairs", "subword-seed", "subword-normalization"},
                 "--{0} applies to subwords that are learned here; give --subwords unigram or bpe, or leave it out");
  options.refuse(!options.given("train-alignments"), {"alignments-of"},
                 "--{0} says what --train-alignments link; give --train-alignments, or leave it out");
  options.refuse(settings.cleaning.source_script.empty() && settings.cleaning.target_script.empty(), {"script-share"},
                 "--{0} is of a script; give --source-script or --target-script, or leave it out");
}

/// Completes s.corpus from what was given. Throws UsageError for options that contradict each other.
void take_text(const Options& options, PrepareSettings& s) {
  if (s.train_source.size() != s.train_target.size()) {
    throw UsageError("--train-source is given {} times and --train-target {} times; every file needs its translation",
                     s.train_source.size(), s.train_target.size());
  }
  for (const auto& [files, what] : {std::pair{&s.train_alignments, "alignments"}, {&s.train_weights, "weights"}}) {
    if (!files->empty() && files->size() != s.train_source.size())
      throw UsageError("--train-source is given {0} times and --train-{1} {2} times; every file needs its {1}, or none",
                       s.train_source.size(), what, files->size());
  }
  for (std::size_t i = 0; i < s.train_source.size(); ++i) {
    const auto file = [&](const std::vector<std::string>& files) {
      return files.empty() ? fs::path() : fs::path(files[i]);
    };
    s.corpus.train.push_back({s.train_source[i], s.train_target[i], file(s.train_alignments), file(s.train_weights)});
  }
  for (const std::string& file : s.train_tsv) s.corpus.train.push_back({file, {}});
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

void declare(Options& options, PrepareSettings& s) {
  options.group("Text");
  options.add(
      "train-source", s.train_source, kBasic, kInputFile,
      "training text of the source language; repeat the option for several files, which are read one after the other");
  options.add("train-target", s.train_target, kBasic, kInputFile,
              "translation of --train-source, line by line; given as often as --train-source");
  options.add(
      "train-tsv", s.train_tsv, kInputFile,
      "training text with both sides on each line: source, tab, translation; repeat the option for several files");
  options.add("train-alignments", s.train_alignments, kInputFile,
              "word alignments of --train-source and --train-target, for train --guided-alignment: each line has the "
              "links of a pair, such as 0-0 1-2, source word first, counted from 0; given as often as --train-source");
  options.add("alignments-of", s.corpus.alignments_of, Choices{{"words", "subwords"}},
              "what --train-alignments link. words: those of --tokenizer, or of white space where it is none; each "
              "subword of a word is then linked with each subword of the other; subwords: the subwords themselves");
  options.add("train-weights", s.train_weights, kInputFile,
              "weights of the pairs of --train-source and --train-target: each line has a number from 0, by which "
              "training multiplies the gradient of that pair; given as often as --train-source");
  options.add("learn-alignments", s.corpus.learn_alignments,
              "learn word alignments from the training text, as fast_align does (Dyer et al. 2013), for train "
              "--guided-alignment; they link the units that are trained on");
  options.add("dev-source", s.dev_source, kBasic, kInputFile,
              "source side of the development set, on which training selects the best checkpoint");
  options.add("dev-target", s.dev_target, kBasic, kInputFile, "translation of --dev-source");
  options.add("test", s.tests, kBasic, Placeholder{"NAME:SRC:REF"}, kTestSet,
              "a test set: name, source and reference; append further references after further colons, and write a "
              "colon in a file name as \\:");
  declare(options, s.corpus.line_limit);
  options.group("Corpus");
  options.add("output", s.corpus.output, kBasic, kOutputFile, "corpus file to write");
  options.add("overwrite", s.corpus.overwrite,
              "replace an existing output file (atomically, after the corpus is complete)");
  options.group("Words");
  options.add("source-language", s.corpus.pipeline.source_language, Placeholder{"NAME"},
              "language of the source side, recorded in the corpus; --tokenizer moses needs en, fr or de");
  options.add("target-language", s.corpus.pipeline.target_language, Placeholder{"NAME"},
              "language of the target side, as --source-language");
  options.add("tokenizer", s.corpus.pipeline.tokenizer, Choices{{"words", "icu-words", "moses", "none"}},
              "how text is split into words. words: separates punctuation, reversibly, and splits Chinese into "
              "characters; icu-words: the same, but splits Chinese and Japanese into words of ICU's dictionary; moses: "
              "as Moses's tokenizer.perl -no-escape for English and French, and for German except behind some "
              "abbreviations, of which the list is our own; none: at white space");
  options.add("normalization", s.corpus.pipeline.normalization, Choices{{"none", "nfc", "nfkc"}},
              "Unicode normalization before everything else. nfc: composes a letter and its accent; nfkc: also "
              "replaces full-width letters, ligatures and superscripts by plain characters");
  options.add("lowercase", s.corpus.pipeline.lowercase, "convert all text to lower case");
  options.add("copy-pattern", s.copy_patterns, Placeholder{"REGEX"},
              "regular expression (RE2) of text that is copied, not translated, such as [0-9]+; repeat the option for "
              "several. A match that both sides of a pair have becomes a placeholder word, <copy1>, <copy2> ..., and "
              "translate puts the text back in its place");
  options.add("source-words", s.corpus.source_words, within(4, 1e8),
              "size of the source vocabulary, including 3 special symbols [the 30000 most frequent words, or all if "
              "there are fewer]");
  options.add("target-words", s.corpus.target_words, within(4, 1e8),
              "size of the target vocabulary, as --source-words");
  options.add("joint-vocabulary", s.corpus.joint_vocabulary,
              "make one vocabulary for both sides, as large as --source-words or --target-words; train "
              "--tied-embeddings source-target and all need it");
  options.add("vocabulary-of", s.corpus.vocabulary_of, kInputFile,
              "take vocabularies, tokenizer, normalization, lower-casing and languages from this corpus, so that "
              "systems trained on different parts of a text have the same vocabularies");
  options.group("Subwords");
  options.add(
      "subwords", s.corpus.subwords.learned, kBasic, Choices{{"none", "unigram", "bpe"}},
      "learn a SentencePiece model of this kind for each side from the raw text, with byte fallback, so that no word "
      "is unknown; --source-words and --target-words are the sizes, and --joint-vocabulary makes it one model");
  options.add("subword-pairs", s.corpus.subwords.sample_pairs, within(1, 1e9),
              "number of sentence pairs, sampled from the whole text, from which subwords are learned");
  options.add("subword-seed", s.corpus.subwords.seed, "seed of the sample of --subword-pairs");
  options.add("subword-normalization", s.corpus.subwords.normalization,
              Choices{{"nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"}},
              "Unicode normalization inside SentencePiece; identity: none");
  options.add("subword-model", s.both_models, kInputFile,
              "existing SentencePiece model for both sides, used instead of learning one");
  options.add("source-subword-model", s.corpus.subwords.source_model, kInputFile,
              "existing SentencePiece model for the source side");
  options.add("target-subword-model", s.corpus.subwords.target_model, kInputFile,
              "existing SentencePiece model for the target side");
  options.add("bpe-codes", s.both_codes, kInputFile,
              "BPE codes of subword-nmt for both sides: they split the tokenizer's words into pieces marked by @@, of "
              "which the vocabularies are made");
  options.add("source-bpe-codes", s.corpus.subwords.source_codes, kInputFile,
              "BPE codes of subword-nmt for the source side");
  options.add("target-bpe-codes", s.corpus.subwords.target_codes, kInputFile,
              "BPE codes of subword-nmt for the target side");
  declare(options, s.corpus.cleaning);
  options.group("Machine");
  add_threads(options, s.threads);
  options.add(
      "memory", s.memory, within(16, 1 << 24),
      "MiB of memory for counting distinct words; counts that do not fit go to temporary files beside the output");
  options.group("Report");
  add_json(options, s.json, "the report");
}

void check(const Options& options, PrepareSettings& s) {
  refuse_what_has_no_effect(options, s.corpus);
  if (s.corpus.output.empty()) throw UsageError("--output is missing: the corpus to write");
  take_text(options, s);
}

void show(const corpus::PrepareReport& report, const fs::path& output, const fs::path& json) {
  if (report.unchanged)
    std::cerr << "[prepare] " << output.string() << " holds all this already, so there was nothing to do\n";
  print_results(
      json, [&] { return corpus::json_of(report, output); }, [&] { corpus::print(report, output, std::cout); });
}

int work(const Options& options, PrepareSettings& settings, const comm::Communicator& communicator) {
  settings.corpus.only_check = options.only_checks();
  settle_threads(settings.threads, communicator);
  if (communicator.size() > 1) {
    communicator.set_stall_timeout(0);  // rank 0 may take as long as it needs
    if (communicator.is_root())
      log_line("[prepare] runs in one process: rank 0 prepares the corpus, and the other ranks wait");
  }
  comm::root_does(communicator, [&] {
    std::optional<Progress> progress(std::in_place, false);
    Stopwatch watch;
    int pass = -2;  // none yet
    const auto report = corpus::prepare(settings.corpus, [&](const corpus::PrepareProgress& p) {
      if (!p.event.empty()) {
        progress->say("[prepare] " + p.event);
        return;
      }
      if (p.pass != pass) watch.lap();
      pass = p.pass;
      const double share =
          static_cast<double>(p.bytes) / static_cast<double>(std::max<std::uint64_t>(p.total_bytes, 1));
      const double left = share > 0 ? watch.seconds() * (1 - share) / share : 0;
      progress->show(fmt::format("[prepare] {}{}%, {} pairs, {} of this left",
                                 pass == -1  ? "sampling for subwords: "
                                 : pass == 0 ? "seeking repeated pairs: "
                                 : pass == 1 ? "counting words: "
                                             : "writing: ",
                                 static_cast<int>(100 * share), grouped(p.pairs), duration(left)));
    });
    progress.reset();
    if (!options.only_checks()) show(report, settings.corpus.output, settings.json);
  });
  return 0;
}

}  // namespace

std::unique_ptr<Invocation> make_prepare() {
  return invocation_of<PrepareSettings>(
      {"prepare",
       "Makes one HDF5 corpus from parallel text: splits it into words or subwords, makes the vocabularies, drops "
       "empty and long pairs, and keeps the raw references of dev and test sets. Files are UTF-8 with one sentence per "
       "line, plain or compressed (gzip, zstd, xz). It runs in one process, on all its threads: under mpirun rank 0 "
       "prepares, and the other ranks wait.",
       "--train-source train.en --train-target train.fr --dev-source dev.en --dev-target dev.fr --source-language en "
       "--target-language fr --output corpus.h5"},
      declare, check, work, true);
}

}  // namespace rnnsearch::cli
