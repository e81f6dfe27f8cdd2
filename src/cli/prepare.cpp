#include "cli/commands.h"

#include <algorithm>
#include <initializer_list>
#include <iostream>
#include <memory>

#include "cli/progress.h"
#include "cli/rank_team.h"
#include "cli/ranks.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/figures.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/stopwatch.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/corpus/merge.h"
#include "rnnsearch/corpus/prepare.h"
#include "rnnsearch/corpus/prepare_options.h"
#include "rnnsearch/corpus/prepare_report.h"
#include "rnnsearch/corpus/team.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char *kText = "Text", *kCorpora = "Corpora", *kWords = "Words", *kSubwords = "Subwords",
                     *kCleaning = corpus::kCleaningGroup, *kMachine = "Machine";

/// An option that says what to do, and the groups of options that are then without effect.
struct Mode {
  const char *option, *why;
  std::vector<const char*> idle;
};

/// Throws Error for an option that was given and would do nothing.
void refuse_what_has_no_effect(const Options& options, const corpus::PrepareOptions& settings) {
  const Mode append{"append", "which treats text as the text of its corpus was", {kWords, kSubwords, kCleaning}};
  const Mode merge{"merge", "which takes corpora as they are", {kText, kWords, kSubwords, kCleaning, kMachine}};
  const bool appends = options.given(append.option), merges = options.given(merge.option);
  if (appends && merges)
    throw UsageError("--merge is not for --append, which adds text to one corpus; leave one of them out");
  if (appends || merges) {
    const Mode& mode = appends ? append : merge;
    for (const char* group : mode.idle)
      for (const std::string& option : options.given_in(group))
        throw UsageError(text_of("--", option, " is not for --", mode.option, ", ", mode.why, "; leave it out"));
  }
  const auto needs = [&](bool effect, std::initializer_list<const char*> idle, const char* why) {
    for (const char* option : idle)
      if (!effect && options.given(option)) throw UsageError(text_of("--", option, " ", why, ", or leave it out"));
  };
  needs(settings.subwords.learned != "none", {"subword-pairs", "subword-seed", "subword-normalization"},
        "applies to subwords that are learned here; give --subwords unigram or bpe");
  needs(!settings.cleaning.source_script.empty() || !settings.cleaning.target_script.empty(), {"script-share"},
        "is of a script; give --source-script or --target-script");
}

void show(const auto& report, const fs::path& output, bool json) {
  if (json) {
    std::cout << corpus::json_of(report, output).dump(2) << "\n";
  } else {
    corpus::print(report, output, std::cout);
  }
}

}  // namespace

int run_prepare(const Arguments& arguments) {
  corpus::PrepareOptions settings;
  fs::path dev_source, dev_target, both_models, both_codes;
  std::vector<std::string> train_source, train_target, train_tsv, train_alignments, tests, merged;
  ThreadOptions threads;
  std::size_t memory = settings.memory >> 20;
  bool json = false;
  Options options("prepare",
                  "Makes one HDF5 corpus from parallel text: splits it into words or subwords, makes the vocabularies, "
                  "drops empty and long pairs, and keeps the raw references of dev and test sets. Files are UTF-8 with "
                  "one sentence a line, plain or compressed (gzip, zstd, xz), or WMT test sets (FILE.sgm, FILE.sgml, "
                  "FILE.xml; FILE.xml@WHO selects a translator). Under mpirun the ranks share the work and write the "
                  "same bytes; all of them must see the files. If it is killed after it learned subwords or counted "
                  "the words of a large text, the same command resumes from there.");
  options.group(kText);
  options.add(
      "train-source", train_source,
      {.help = "training text of the source language; repeat it for several files, which are read one after the other",
       .value = "FILE"});
  options.add(
      "train-target", train_target,
      {.help = "translation of --train-source, line by line; given as often as --train-source", .value = "FILE"});
  options.add(
      "train-tsv", train_tsv,
      {.help = "training text with both sides on each line: source, tab, translation; repeat it for several files",
       .value = "FILE"});
  options.add("train-alignments", train_alignments,
              {.help = "word alignments of --train-source and --train-target, for train --guided-alignment: on each "
                       "line the links of a pair, such as 0-0 1-2, source word first, counted from 0 in the words that "
                       "--tokenizer gives (or pieces, with subwords); given as often as --train-source",
               .value = "FILE"});
  options.add("dev-source", dev_source,
              {.help = "development set, by which training chooses the best checkpoint", .value = "FILE"});
  options.add("dev-target", dev_target, {.help = "translation of --dev-source", .value = "FILE"});
  options.add("test", tests,
              {.help = "a test set: name, source and reference; append further references after further colons, and "
                       "write a colon in a file name as \\:",
               .value = "NAME:SRC:REF"});
  options.take(line_limit_table(), settings.line_limit);
  options.group(kCorpora);
  options.add("append", settings.append_to,
              {.help = "add pairs and sets to this corpus, treated as its own text was, with its vocabularies; "
                       "--drop-repeated looks among its pairs, too. Without --output the corpus is replaced in place "
                       "once the longer one is complete; text that was appended last is then refused",
               .value = "CORPUS"});
  options.add("merge", merged,
              {.help = "join corpora that were prepared separately with the same vocabularies (--vocabulary-of) and "
                       "options, in this order; repeat it, and give no text",
               .value = "CORPUS"});
  options.add("output", settings.output, {.help = "the corpus file to write", .value = "FILE"});
  options.add("overwrite", settings.overwrite,
              {.help = "replace an existing output file (atomically, after the corpus is complete)"});
  options.group(kWords);
  options.add("source-language", settings.pipeline.source_language,
              {.help = "language of the source side, recorded in the corpus; --tokenizer moses needs en, fr or de",
               .value = "NAME"});
  options.add("target-language", settings.pipeline.target_language,
              {.help = "language of the target side, as --source-language", .value = "NAME"});
  options.add(
      "tokenizer", settings.pipeline.tokenizer,
      {.help = "how text is split into words. words: separates punctuation, reversibly, and splits Chinese into "
               "characters; icu-words: the same, but splits Chinese and Japanese into words of ICU's dictionary; "
               "moses: as Moses's tokenizer.perl -no-escape, for English, French and German; none: at white space",
       .choices = {"words", "icu-words", "moses", "none"}});
  options.add("normalization", settings.pipeline.normalization,
              {.help = "Unicode normalization before everything else. nfc: composes a letter and its accent; nfkc: "
                       "also replaces full-width letters, ligatures and superscripts by plain characters",
               .choices = {"none", "nfc", "nfkc"}});
  options.add("lowercase", settings.pipeline.lowercase, {.help = "convert all text to lower case"});
  options.add("source-words", settings.source_words,
              {.help = "size of the source vocabulary, including 3 special symbols [the 30000 most frequent words, or "
                       "all if there are fewer]",
               .low = 4,
               .high = 1e8});
  options.add("target-words", settings.target_words,
              {.help = "size of the target vocabulary, as --source-words", .low = 4, .high = 1e8});
  options.add("joint-vocabulary", settings.joint_vocabulary,
              {.help = "make one vocabulary for both sides, as large as --source-words or --target-words; train "
                       "--tied-embeddings source-target and all need it"});
  options.add("vocabulary-of", settings.vocabulary_of,
              {.help = "take vocabularies, tokenizer, normalization, lower-casing and languages from this corpus, so "
                       "that systems trained on different parts of a text have the same vocabularies",
               .value = "FILE"});
  options.group(kSubwords);
  corpus::PrepareOptions::SubwordOptions& subwords = settings.subwords;
  options.add("subwords", subwords.learned,
              {.help = "learn a SentencePiece model of this kind for each side from the raw text, with byte fallback, "
                       "so that no word is unknown; --source-words and --target-words are the sizes, and "
                       "--joint-vocabulary makes it one model",
               .choices = {"none", "unigram", "bpe"}});
  options.add(
      "subword-pairs", subwords.sample_pairs,
      {.help = "number of pairs, sampled from all of the text, that subwords are learned from", .low = 1, .high = 1e9});
  options.add("subword-seed", subwords.seed, {.help = "seed of that sample"});
  options.add("subword-normalization", subwords.normalization,
              {.help = "Unicode normalization inside SentencePiece; identity: none",
               .choices = {"nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"}});
  options.add("subword-model", both_models,
              {.help = "existing SentencePiece model for both sides, used instead of learning one", .value = "FILE"});
  options.add("source-subword-model", subwords.source_model,
              {.help = "existing SentencePiece model for the source side", .value = "FILE"});
  options.add("target-subword-model", subwords.target_model,
              {.help = "existing SentencePiece model for the target side", .value = "FILE"});
  options.add("bpe-codes", both_codes,
              {.help = "BPE codes of subword-nmt for both sides: they split the tokenizer's words into pieces marked "
                       "by @@, of which the vocabularies are made",
               .value = "FILE"});
  options.add("source-bpe-codes", subwords.source_codes,
              {.help = "BPE codes of subword-nmt for the source side", .value = "FILE"});
  options.add("target-bpe-codes", subwords.target_codes,
              {.help = "BPE codes of subword-nmt for the target side", .value = "FILE"});
  options.take(corpus::cleaning_option_table(), settings.cleaning);
  options.group(kMachine);
  add_threads(options, threads);
  options.add("memory", memory,
              {.help = "MiB of memory on each rank for counting distinct words; counts that do not fit go to temporary "
                       "files beside the output",
               .low = 16,
               .high = 1 << 24});
  options.group("Report");
  options.add("json", json, {.help = "print the report as JSON"});
  if (!options.parse(arguments)) return 0;
  refuse_what_has_no_effect(options, settings);
  if (!settings.append_to.empty()) {
    if (settings.output.empty()) {
      settings.output = settings.append_to;
      settings.overwrite = true;
    }
  }
  if (settings.output.empty()) throw UsageError("--output is missing: the corpus to write");
  const comm::Communicator world;
  if (!merged.empty()) {
    if (world.size() > 1) throw UsageError("--merge is for one process; start it without a launcher, or with -n 1");
    const corpus::MergeReport report =
        corpus::merge({{merged.begin(), merged.end()}, settings.output, settings.shard_pairs, settings.overwrite});
    for (const std::string& warning : report.warnings) std::cerr << "[prepare] warning: " << warning << "\n";
    show(report, settings.output, json);
    return 0;
  }
  for (const auto* files : {&train_source, &train_target, &train_tsv}) {
    for (const std::string& file : *files) {
      if (file.empty()) {
        throw UsageError(text_of(files == &train_source   ? "--train-source"
                                 : files == &train_target ? "--train-target"
                                                          : "--train-tsv",
                                 " is empty; name a file"));
      }
    }
  }
  if (train_source.size() != train_target.size()) {
    throw UsageError(text_of("--train-source is given ", train_source.size(), " times and --train-target ",
                             train_target.size(), " times; every file needs its translation"));
  }
  if (!train_alignments.empty() && train_alignments.size() != train_source.size()) {
    throw UsageError(text_of("--train-source is given ", train_source.size(), " times and --train-alignments ",
                             train_alignments.size(), " times; every file needs its alignments, or none"));
  }
  for (std::size_t i = 0; i < train_source.size(); ++i) {
    settings.train.push_back({train_source[i], train_target[i], {}});
    if (train_alignments.empty()) continue;
    if (train_alignments[i].empty()) throw UsageError("--train-alignments is empty; name a file");
    settings.train.back().alignments = train_alignments[i];
  }
  for (const std::string& file : train_tsv) settings.train.push_back({file, {}, {}});
  if (settings.train.empty()) {
    throw UsageError("there is no training text; give --train-source and --train-target, or --train-tsv");
  }
  const auto give_both = [](const char* name, const fs::path& both, fs::path& source, fs::path& target) {
    if (both.empty()) return;
    if (!source.empty() || !target.empty()) {
      throw UsageError(text_of("--", name, " is for both sides, but --", source.empty() ? "target-" : "source-", name,
                               " is given too; leave one of them out"));
    }
    source = target = both;
  };
  give_both("subword-model", both_models, subwords.source_model, subwords.target_model);
  give_both("bpe-codes", both_codes, subwords.source_codes, subwords.target_codes);
  if (!options.given("tokenizer") && (subwords.learned != "none" || !subwords.source_model.empty())) {
    settings.pipeline.tokenizer = "none";  // SentencePiece takes raw text
  }
  settings.given = {options.given("source-language"), options.given("target-language"), options.given("tokenizer"),
                    options.given("normalization"), options.given("lowercase")};
  settings.memory = memory << 20;
  if (dev_source.empty() != dev_target.empty()) {
    throw UsageError(text_of(dev_source.empty() ? "--dev-source" : "--dev-target",
                             " is missing: a development set needs both its sides"));
  }
  if (!dev_source.empty()) settings.dev = corpus::EvaluationFiles{"dev", dev_source, {dev_target}};
  for (const std::string& test : tests) settings.tests.push_back(corpus::evaluation_files(test));
  if (!settings.vocabulary_of.empty() && (settings.source_words || settings.target_words)) {
    throw UsageError(
        text_of(settings.source_words ? "--source-words" : "--target-words",
                " is not for --vocabulary-of, which says what the vocabularies are; leave one of them out"));
  }

  std::unique_ptr<corpus::Team> team = std::make_unique<corpus::Alone>();
  if (world.size() > 1) {
    check_same_options(world, options);
    settle_threads(threads, world);
    team = std::make_unique<RankTeam>();
    // Rank 0 learns alone, for as long as that takes, and the others wait for it.
    if (subwords.learned != "none") comm::set_stall_timeout(0);
  } else {
    set_thread_count(threads.threads.value_or(allowed_cpus()));
  }
  std::optional<Progress> progress(std::in_place, team->rank() != 0);
  Stopwatch watch;
  int pass = -2;  // none yet
  const auto report = corpus::prepare(settings, *team, [&](const corpus::PrepareProgress& p) {
    if (!p.event.empty()) {
      progress->say("[prepare] " + p.event);
      return;
    }
    if (p.pass != pass) watch.lap();
    pass = p.pass;
    const double share = static_cast<double>(p.bytes) / static_cast<double>(std::max<std::uint64_t>(p.total_bytes, 1));
    const double left = share > 0 ? watch.seconds() * (1 - share) / share : 0;
    progress->show(text_of("[prepare] ",
                           pass == -1  ? "sampling for subwords: "
                           : pass == 0 ? "seeking repeated pairs: "
                           : pass == 1 ? "counting words: "
                                       : "writing: ",
                           static_cast<int>(100 * share), "%, ", grouped(p.pairs), " pairs, ", duration(left),
                           " of this left"));
  });
  if (report.learned_before || report.counted_before)
    progress->say(text_of("[prepare] resumes a killed run, which had ",
                          report.learned_before ? "learned the subwords" : "",
                          report.learned_before && report.counted_before ? " and " : "",
                          report.counted_before ? "counted the words" : ""));
  progress.reset();
  if (team->rank() != 0) return 0;
  show(report, settings.output, json);
  return 0;
}

}  // namespace rnnsearch::cli
