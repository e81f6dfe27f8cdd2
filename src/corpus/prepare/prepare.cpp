#include "rnnsearch/corpus/prepare.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <tuple>

#include "corpus/prepare/corpus_writer.h"
#include "corpus/prepare/repeated_pairs.h"
#include "corpus/prepare/text_pass.h"
#include "corpus/prepare/word_statistics.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/corpus/text_lines.h"
#include "rnnsearch/corpus/vocabulary.h"
#include "rnnsearch/text/unicode.h"

namespace rnnsearch::corpus {
namespace {

namespace fs = std::filesystem;
using Progress = std::function<void(const PrepareProgress&)>;

bool has_alignments(const PrepareOptions& options) {
  return std::ranges::any_of(options.train, [](const TextFiles& text) { return !text.alignments.empty(); });
}

/// Throws UsageError: all that is checked here was said on the command line.
void check_options(const PrepareOptions& options) try {
  if (options.vocabulary_of.empty()) check(options.pipeline);  // otherwise that corpus completes the pipeline
  if (options.train.empty()) throw Error("corpus: there is no training text");
  check_subwords(options);
  if (options.learn_alignments && has_alignments(options))
    throw Error("corpus: learn-alignments and train-alignments both make word alignments; leave one of the two out");
  if (options.cleaning.drop_unlikely > 0 && !options.learn_alignments)
    throw Error("corpus: drop-unlikely compares the words of pairs by alignments; add learn-alignments");
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

/// Everything that the last pass needs besides the text itself.
struct CountedText {
  CorpusHead head;
  PassTotals totals;
  PrepareReport::Side source, target;
  PairSet repeated;
};

/// Returns the repeated pairs and the digest of the text.
std::pair<PairSet, std::string> find_repeated(const TrainingText& text) {
  RepeatedPairs pairs(text.options.memory, text.folder());
  PassSteps steps;
  steps.pass = 0;
  steps.work = [](const TextBlock& block, std::size_t first, std::size_t last, Piece& piece) {
    piece.digests.clear();
    for (std::size_t i = first; i < last; ++i) {
      check_pair(block, i);
      piece.digests.push_back(RepeatedPairs::digest_of(block.source[i], block.target[i]));
    }
  };
  steps.keep = [&](const std::vector<Piece>& pieces) {
    for (const Piece& piece : pieces) pairs.add(piece.digests);
  };
  std::string digest = text.read(steps).digest;
  return {pairs.take(), std::move(digest)};
}

/// The word counts of the training text.
struct WordTables {
  WordStatistics source, target;
  std::optional<WordStatistics> joint;  // counts of both sides, for a joint vocabulary

  WordTables(const PrepareOptions& options, const fs::path& folder)
      : source(options.memory / (options.joint_vocabulary ? 3 : 2), folder),
        target(options.memory / (options.joint_vocabulary ? 3 : 2), folder) {
    if (options.joint_vocabulary) joint.emplace(options.memory / 3, folder);
  }
  void add(const std::vector<Piece>& pieces) {
    for (const Piece& piece : pieces) {
      source.add_running(piece.source.words.size());
      target.add_running(piece.target.words.size());
      if (joint) joint->add_running(piece.source.words.size() + piece.target.words.size());
    }
    parallel_for(HashedWords::kGroups, [&](std::size_t group) {
      for (const Piece& piece : pieces) {
        source.add(piece.source.words, piece.source.hashed, group);
        target.add(piece.target.words, piece.target.hashed, group);
        if (!joint) continue;
        joint->add(piece.source.words, piece.source.hashed, group);
        joint->add(piece.target.words, piece.target.hashed, group);
      }
    });
  }
};

[[noreturn]] void fail_on_nothing(const PrepareOptions& options, const PassTotals& totals) {
  const auto [source, target] = names_of(options.train);
  const DropCounts& dropped = totals.dropped;
  std::string more;
  for (std::size_t i = static_cast<std::size_t>(Drop::kRatio); i < kDropReasons.size(); ++i) {
    if (dropped.counts[i] > 0) more += fmt::format(", {}: {}", dropped.counts[i], kDropReasons[i].label);
  }
  throw Error(
      "corpus: none of the {} pairs of {}{} is kept: {} have an empty source, {} an empty target, {} a source and {} a "
      "target of more than {} words{}; {}",
      totals.pairs_read, source, source == target ? "" : " and " + target, dropped[Drop::kEmptySource],
      dropped[Drop::kEmptyTarget], dropped[Drop::kLongSource], dropped[Drop::kLongTarget], options.cleaning.max_length,
      more, dropped[Drop::kUnlikely] > 0 ? "lower --drop-unlikely" : "check the files and the options that drop pairs");
}

/// Makes the vocabularies. given: the corpus whose words are used, or nullptr. Empties the statistics.
void cut_vocabularies(const PrepareOptions& options, const Corpus* given, WordTables& tables, CountedText& counted) {
  const std::uint64_t pairs = counted.totals.pairs_kept;
  const auto [source_name, target_name] = names_of(options.train);
  const bool of_model = !given && subwords_of(options.pipeline) == "sentencepiece";
  std::optional<Vocabulary> joint;
  if (tables.joint) {
    PrepareReport::Side of_both;
    joint = of_model ? tables.joint->rank(vocabulary_of(options.pipeline.source_subwords), 2 * pairs, of_both)
                     : tables.joint->cut(options.source_words ? options.source_words : options.target_words, 2 * pairs,
                                         options.source_words ? "--source-words" : "--target-words",
                                         fmt::format("{} and {}", source_name, target_name), of_both);
  }
  const auto vocabulary = [&](WordStatistics& statistics, const Vocabulary* words, std::optional<std::size_t> wanted,
                              const char* option, const std::string& text, const text::Subwords& subwords,
                              PrepareReport::Side& side) {
    if (of_model && !words) return statistics.rank(vocabulary_of(subwords), pairs, side);
    return words ? statistics.count(*words, pairs, side) : statistics.cut(wanted, pairs, option, text, side);
  };
  const Vocabulary *source_words = nullptr, *target_words = nullptr;  // of a joint vocabulary, or given
  if (joint) {
    source_words = target_words = &*joint;
  } else if (given) {
    source_words = &given->source_vocabulary();
    target_words = &given->target_vocabulary();
  }
  counted.head.source = vocabulary(tables.source, source_words, options.source_words, "--source-words", source_name,
                                   options.pipeline.source_subwords, counted.source);
  counted.head.target = vocabulary(tables.target, target_words, options.target_words, "--target-words", target_name,
                                   options.pipeline.target_subwords, counted.target);
  counted.head.joint = joint || (given && given->joint_vocabulary());
}

/// Of a training part that has no pairs yet.
CorpusHead::Sizes sizes_without_pairs(const PrepareOptions& options) {
  CorpusHead::Sizes sizes;
  if (has_alignments(options)) sizes.links = 0;
  sizes.weights = std::ranges::any_of(options.train, [](const TextFiles& text) { return !text.weights.empty(); });
  return sizes;
}

/// Finds the repeated pairs, if these are dropped, then counts the words and makes the vocabularies. given: the corpus
/// whose words are used, or nullptr. Throws Error: the text changed while it was read, none of its pairs is kept, or
/// the disk is full.
CountedText count_words(const TrainingText& text, const PairCleaner& cleaner, const Corpus* given) {
  const PrepareOptions& options = text.options;
  CountedText counted;
  std::string digest;
  if (options.cleaning.drop_repeated) std::tie(counted.repeated, digest) = find_repeated(text);
  WordTables tables(options, text.folder());
  PassSteps steps;
  steps.work = [&](const TextBlock& block, std::size_t first, std::size_t last, Piece& piece) {
    split_pairs(options, cleaner, counted.repeated, block, first, last, piece);
    piece.source.hashed.group(piece.source.words);
    piece.target.hashed.group(piece.target.words);
  };
  CorpusHead::Sizes& sizes = counted.head.sizes = sizes_without_pairs(options);
  steps.keep = [&](const std::vector<Piece>& pieces) {
    tables.add(pieces);
    for (const Piece& piece : pieces) {
      sizes.pairs += piece.kept();
      sizes.source_words += piece.source.words.size();
      sizes.target_words += piece.target.words.size();
      if (sizes.links) *sizes.links += piece.links.positions.size();
    }
  };
  counted.totals = text.read(steps);
  if (!digest.empty() && digest != counted.totals.digest) fail_on_change(options.train);
  if (counted.totals.pairs_kept == 0) fail_on_nothing(options, counted.totals);
  cut_vocabularies(options, given, tables, counted);
  if (options.pipeline.copies && known_placeholders(options.pipeline, counted.head.source, counted.head.target).empty())
    throw Error(
        "corpus: no model can learn to copy: in {} no match of the copy patterns ({}) that also stands in the "
        "translation is frequent enough for both vocabularies; correct --copy-pattern, give more words, or leave it "
        "out",
        names_of(options.train).first, copy_patterns_of(options.pipeline));
  counted.head.pipeline = options.pipeline;
  counted.head.selection = {options.cleaning, counted.totals.pairs_read, counted.totals.dropped};
  return counted;
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
  if (options.pipeline.copies && has_alignments(options))
    throw UsageError(
        "corpus: train-alignments count the words of the text, of which copy-pattern{} makes other words, the "
        "placeholders; leave one of the two out",
        given ? fmt::format(" of {}", given->path()) : "");
  std::vector<RawSet> sets;
  if (options.dev) sets.push_back(read_set(*options.dev, options.line_limit, "dev"));
  for (const EvaluationFiles& test : options.tests)
    sets.push_back(read_set(test, options.line_limit, "test/" + test.name));
  for (const RawSet& set : sets) report.sets.emplace_back(set.name, set.lines[0].size());
  const PairReader opened(options.train, options.line_limit);  // a missing file is found before anything is learned
  CorpusHead expected{{}, {}, {}, options.pipeline, {options.cleaning, 0, {}}, sizes_without_pairs(options)};
  if (options.learn_alignments) expected.sizes.links = 0;
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
  auto writer = std::make_unique<CorpusWriter>(options.output, counted.head);
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
            writer->add(std::span(piece.source.ids).subspan(source_begin, piece.source.sizes[i]),
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
    if (progress)
      progress({.event = fmt::format("learning word alignments from {} pairs", grouped(counted.totals.pairs_kept))});
    CorpusHead likely = writer->learn_links(text.folder(), options.cleaning.drop_unlikely);
    if (options.cleaning.drop_unlikely > 0) {
      counted.totals.dropped[Drop::kUnlikely] = counted.totals.pairs_kept - likely.sizes.pairs;
      counted.totals.pairs_kept = likely.sizes.pairs;
      if (likely.sizes.pairs == 0) fail_on_nothing(options, counted.totals);
      counted.head = std::move(likely);
      counted.head.selection.dropped = counted.totals.dropped;
      counted.source.words = counted.head.sizes.source_words;
      counted.target.words = counted.head.sizes.target_words;
      counted.source.unknown_words = counted.head.source.counts()[kUnknown];
      counted.target.unknown_words = counted.head.target.counts()[kUnknown];
      auto rest = std::make_unique<CorpusWriter>(options.output, counted.head);
      writer->copy_likely(*rest);
      writer = std::move(rest);
    }
  }
  report.unchanged = !options.overwrite && is_there(options.output, counted.head, sets, writer->fingerprint());
  if (report.unchanged) {
    report.fingerprint = writer->fingerprint();
  } else {
    for (const RawSet& set : sets) writer->add_set(set);
    report.fingerprint = writer->publish([&] {
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

void declare(OptionList& options, CleaningOptions& o) {
  options.group("Filters of training pairs");
  options.add("max-length", o.max_length, within(1, 1e6),
              "largest number of words, or pieces, on either side; longer pairs are dropped");
  options.add("max-ratio", o.max_ratio, within(0, 1e6),
              "largest ratio of the longer side to the shorter side, in words; other pairs are dropped; 0: no limit");
  options.add("keep-empty-targets", o.keep_empty_targets,
              "keep pairs without target words, from which a model learns to end a translation at once (translate it "
              "with --minimum-length-ratio 0); pairs without source words are always dropped");
  options.add("drop-copies", o.drop_copies,
              "drop pairs whose two sides have the same words, because they are not translations");
  options.add("drop-repeated", o.drop_repeated,
              "drop pairs that occurred before, both sides byte for byte (compared by 128-bit digests); the text is "
              "read once more");
  options.add(
      "drop-unlikely", o.drop_unlikely, within(0, 1e6),
      "with --learn-alignments: drop pairs whose words are, given the other side, on average less than this many times "
      "as likely as by their frequency; 0: none. Of 60000 pairs, 2 drops three in four of those that do not belong "
      "together; fewer pairs need more. Vocabularies are made before pairs are dropped");
  options.add("source-script", o.source_script, Placeholder{"SCRIPT"},
              "drop pairs whose source is not written in this script, given by its name or code (Cyrillic, Cyrl) or by "
              "a language code (ru, ja); digits, punctuation and symbols do not count");
  options.add("target-script", o.target_script, Placeholder{"SCRIPT"},
              "drop pairs whose target is not written in this script, as --source-script");
  options.add("script-share", o.script_share, within(0.001, 1),
              "smallest share of a sentence's letters that must belong to --source-script or --target-script");
}

EvaluationFiles evaluation_files(const std::string& text) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ':') {
      parts.emplace_back();
    } else {
      if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ':') ++i;
      parts.back() += text[i];
    }
  }
  bool complete = parts.size() >= 3;
  for (const std::string& part : parts) complete = complete && !part.empty();
  if (!complete)
    throw UsageError("--test is '" + text + "' but must be NAME:SOURCE:REFERENCE, a name and two files or more");
  return {parts[0], parts[1], {parts.begin() + 2, parts.end()}};
}

namespace fs = std::filesystem;

void print(const PrepareReport& report, const fs::path& output, std::ostream& out) {
  out << "pairs read     " << grouped(report.pairs_read) << "\n"
      << "pairs kept     " << grouped(report.pairs_kept) << "\n"
      << "pairs dropped  " << grouped(report.dropped.total());
  for (std::size_t i = 0; i < kDropReasons.size(); ++i) {
    const bool always = i <= static_cast<std::size_t>(Drop::kLongTarget);
    if (report.dropped.counts[i] == 0 && !always) continue;
    out << (i == 0 ? ": " : ", ") << kDropReasons[i].label << " " << grouped(report.dropped.counts[i]);
  }
  out << "\n";
  if (report.further_columns > 0) {
    out << "not read       the third and further columns of " << counted(report.further_columns, "line") << "\n";
  }
  const auto side = [&](const char* name, const PrepareReport::Side& s) {
    out << fmt::format("{}{} words, {} distinct; vocabulary {} covers {:.2f}%, {} are <unk>\n", name, grouped(s.words),
                       grouped(s.distinct_words), grouped(s.vocabulary), 100 * s.coverage(), grouped(s.unknown_words));
  };
  side("source         ", report.source);
  side("target         ", report.target);
  for (const auto& [name, pairs] : report.sets) {
    out << left(printable(name), 14) << " " << grouped(pairs) << " pairs\n";
  }
  out << "fingerprint    " << report.fingerprint << "\nwritten to     " << output.string() << "\n";
}

Json json_of(const PrepareReport& report, const fs::path& output) {
  const auto side = [](const PrepareReport::Side& s) {
    Json json;
    json["words"] = s.words;
    json["distinct_words"] = s.distinct_words;
    json["vocabulary"] = s.vocabulary;
    json["unknown_words"] = s.unknown_words;
    json["coverage"] = s.coverage();
    return json;
  };
  Json json;
  json["output"] = output.string();
  json["fingerprint"] = report.fingerprint;
  json["pairs_read"] = report.pairs_read;
  json["pairs_kept"] = report.pairs_kept;
  for (std::size_t i = 0; i < kDropReasons.size(); ++i)
    json["dropped"][kDropReasons[i].name] = report.dropped.counts[i];
  if (report.further_columns > 0) json["lines_with_further_columns"] = report.further_columns;
  json["source"] = side(report.source);
  json["target"] = side(report.target);
  json["sets"] = Json::object();
  for (const auto& [name, pairs] : report.sets) json["sets"][name] = pairs;
  return json;
}

}  // namespace rnnsearch::corpus
