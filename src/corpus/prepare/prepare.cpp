#include "rnnsearch/corpus/prepare.h"

#include <algorithm>
#include <set>
#include <span>

#include "corpus/prepare/corpus_writer.h"
#include "corpus/prepare/count_words.h"
#include "corpus/prepare/pair_cleaner.h"
#include "corpus/prepare/pair_reader.h"
#include "corpus/prepare/subword_models.h"
#include "corpus/prepare/training_text.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/base/log.h"
#include "rnnsearch/base/number_text.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/corpus/text_lines.h"
#include "rnnsearch/corpus/vocabulary.h"
#include "rnnsearch/text/unicode.h"

namespace rnnsearch::corpus {
namespace {

namespace fs = std::filesystem;
using Progress = std::function<void(const PrepareProgress&)>;

/// Throws UsageError: all that is checked here was said on the command line.
void check_options(const PrepareOptions& options) try {
  if (options.vocabulary_of.empty()) check(options.pipeline);  // otherwise that corpus completes the pipeline
  if (options.train.empty()) throw Error("corpus: there is no training text");
  check_subwords(options);
  for (const TextFiles& text : options.train)
    if (options.pipeline.copies && !text.alignments.empty())
      throw Error(
          "corpus: train-alignments count the words of the text, of which copy-pattern makes other words, the "
          "placeholders; leave one of the two out");
  if (options.learn_alignments &&
      std::ranges::any_of(options.train, [](const TextFiles& text) { return !text.alignments.empty(); }))
    throw Error("corpus: learn-alignments and train-alignments both make word alignments; leave one of the two out");
  check(options.cleaning);
  for (const auto& [name, words] :
       {std::pair{"source-words", options.source_words}, {"target-words", options.target_words}})
    if (words && *words <= kSpecialSymbols.size())
      throw Error("corpus: {} is {}, but must be at least {}: three special symbols and a word", name, *words,
                  kSpecialSymbols.size() + 1);
  if (options.joint_vocabulary && !options.vocabulary_of.empty())
    throw Error(
        "corpus: joint-vocabulary cannot be combined with vocabulary-of, which determines the vocabularies; leave one "
        "of them out");
  if (options.joint_vocabulary && options.source_words && options.target_words &&
      *options.source_words != *options.target_words)
    throw Error(
        "corpus: source-words is {} and target-words {}, but a joint vocabulary has one size; give one of them, or the "
        "same number for both",
        *options.source_words, *options.target_words);
  std::set<std::string> names;
  for (const EvaluationFiles& test : options.tests) {
    if (test.name.empty() || test.name == "." || test.name == ".." || test.name.find('/') != std::string::npos)
      throw Error("corpus: a test set cannot be named '{}'; give it a name without slashes", test.name);
    if (!names.insert(test.name).second) throw Error("corpus: there are two test sets named {}", test.name);
  }
} catch (const Error& error) {
  throw UsageError(error.what());
}

std::vector<fs::path> inputs_of(const PrepareOptions& options) {
  std::vector<fs::path> inputs = files_of(options.train);
  const auto add = [&](const EvaluationFiles& set) {
    inputs.push_back(set.source);
    inputs.insert(inputs.end(), set.references.begin(), set.references.end());
  };
  if (options.dev) add(*options.dev);
  for (const EvaluationFiles& test : options.tests) add(test);
  for (const fs::path& file : {options.vocabulary_of, options.subwords.source_model, options.subwords.target_model,
                               options.subwords.source_codes, options.subwords.target_codes})
    if (!file.empty()) inputs.push_back(file);
  return inputs;
}

void check_vocabulary_of(const PrepareOptions& options, const Corpus& given) {
  const TextPipeline &there = given.pipeline(), &here = options.pipeline;
  const PrepareOptions::Explicit& set = options.given;
  if ((set.tokenizer && there.tokenizer != here.tokenizer) ||
      (set.normalization && there.normalization != here.normalization) ||
      (set.lowercase && there.lowercase != here.lowercase))
    throw Error(
        "corpus: the vocabularies of {} do not fit: it was made with --tokenizer {}, --normalization {} and "
        "--lowercase {}; leave these options out, to use those of the corpus, or leave --vocabulary-of out",
        options.vocabulary_of, there.tokenizer, there.normalization, there.lowercase ? "true" : "false");
  if (set.copies && !(there.copies == here.copies))
    throw Error(
        "corpus: the vocabularies of {} do not fit: its copy patterns are {}, and those of this text are {}; leave "
        "--copy-pattern out, to use those of the corpus, or leave --vocabulary-of out",
        options.vocabulary_of, copy_patterns_of(there), copy_patterns_of(here));
  if ((set.source_language && there.source_language != here.source_language) ||
      (set.target_language && there.target_language != here.target_language))
    throw Error(
        "corpus: the vocabularies of {} do not fit: its languages are {} and {}, and those of this text are {} and {}; "
        "leave --source-language and --target-language out, to use those of the corpus, or leave --vocabulary-of out",
        options.vocabulary_of, there.source_language, there.target_language, here.source_language,
        here.target_language);
}

RawSet read_set(const EvaluationFiles& files, const LineLimit& limit, const std::string& name) {
  if (files.references.empty()) throw Error("corpus: the set {} has no reference translation", name);
  RawSet set{name, {read_lines(files.source, limit)}};
  for (const fs::path& reference : files.references) {
    set.lines.push_back(read_lines(reference, limit));
    check_same_lines({files.source, set.lines.front().size()}, {reference, set.lines.back().size()});
  }
  for (std::size_t i = 0; i < set.lines.size(); ++i) {
    const auto is_blank = [](const std::string& line) { return text::split_views(line).empty(); };
    if (!std::all_of(set.lines[i].begin(), set.lines[i].end(), is_blank)) continue;
    throw Error(
        "corpus: {} of the set {} has {} lines, which are all blank, so that nothing can be measured with it; give "
        "another file",
        i == 0 ? files.source : files.references[i - 1], name, set.lines[i].size());
  }
  return set;
}

}  // namespace

PrepareReport prepare(const PrepareOptions& asked, const Progress& progress) {
  PrepareReport report;
  PrepareOptions options = asked;
  check_options(options);
  check_output(options.output, options.overwrite, inputs_of(options));
  remove_abandoned(options.output);  // before anything is written, because abandoned files may fill the disk
  std::optional<Corpus> given;
  if (!options.vocabulary_of.empty()) {
    given.emplace(options.vocabulary_of);
    check_vocabulary_of(options, *given);
    options.pipeline = given->pipeline();
  }
  std::vector<RawSet> sets;
  if (options.dev) sets.push_back(read_set(*options.dev, options.line_limit, "dev"));
  for (const EvaluationFiles& test : options.tests)
    sets.push_back(read_set(test, options.line_limit, "test/" + test.name));
  for (const RawSet& set : sets) report.sets.emplace_back(set.name, set.lines[0].size());
  const PairReader opened(options.train, options.line_limit);  // a missing file is found before anything is learned
  const CorpusHead expected{{}, {}, {}, options.pipeline, {options.cleaning, 0, {}}, {}};
  if (!options.overwrite) is_there(options.output, expected, sets, "");
  if (options.only_check) return report;
  if (given) {
    const std::string changed = changed_libraries(options.pipeline);
    if (!changed.empty()) log_line(fmt::format("[prepare] corpus {}: {}", given->path(), changed));
  } else {
    options.pipeline = with_subwords(options, progress);
  }
  options.pipeline.libraries = {};  // all text is split here
  const TrainingText text{options, progress};
  const PairCleaner cleaner(options.cleaning);
  CountedText counted = count_words(text, cleaner, given ? &*given : nullptr);
  CorpusWriter writer(options.output, counted.head);
  PassSteps write;
  write.pass = 2;
  write.work = [&](const TextBlock& block, std::size_t first, std::size_t last, Piece& piece) {
    split_pairs(options, cleaner, counted.repeated, block, first, last, piece);
    encode(piece.source.words, counted.head.source, piece.source.ids);
    encode(piece.target.words, counted.head.target, piece.target.ids);
  };
  write.keep = [&](const std::vector<Piece>& pieces) {
    for (const Piece& piece : pieces) {
      std::size_t source_begin = 0, target_begin = 0, links_begin = 0;
      for (std::size_t i = 0; i < piece.kept(); ++i) {
        const std::size_t positions = piece.links.sizes.empty() ? 0 : piece.links.sizes[i];
        const bool fits =
            writer.add(std::span(piece.source.ids).subspan(source_begin, piece.source.sizes[i]),
                       std::span(piece.target.ids).subspan(target_begin, piece.target.sizes[i]),
                       std::span(piece.links.positions).subspan(links_begin, positions), piece.weights[i]);
        if (!fits) fail_on_change(options.train);
        links_begin += positions;
        source_begin += piece.source.sizes[i];
        target_begin += piece.target.sizes[i];
      }
    }
  };
  const PassTotals written = text.read(write);
  if (written.digest != counted.totals.digest) fail_on_change(options.train);
  if (options.learn_alignments) {
    progress({.event = fmt::format("learning word alignments from {} pairs", grouped(counted.totals.pairs_kept))});
    writer.learn_links(text.folder());
  }
  report.unchanged = !options.overwrite && is_there(options.output, counted.head, sets, writer.fingerprint());
  if (report.unchanged) {
    report.fingerprint = writer.fingerprint();
  } else {
    for (const RawSet& set : sets) writer.add_set(set);
    report.fingerprint = writer.publish([&] {
      if (!options.overwrite) check_still_absent(options.output);
    });
  }
  report.pairs_read = counted.totals.pairs_read;
  report.pairs_kept = counted.totals.pairs_kept;
  report.further_columns = written.further_columns;
  report.dropped = counted.totals.dropped;
  report.source = counted.source;
  report.target = counted.target;
  return report;
}

}  // namespace rnnsearch::corpus
