#include "corpus/prepare/count_words.h"

#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "corpus/prepare/repeated_pairs.h"
#include "corpus/prepare/subword_models.h"
#include "corpus/prepare/word_statistics.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/corpus/vocabulary.h"

namespace rnnsearch::corpus {
namespace {

namespace fs = std::filesystem;

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
      "target of more than {} words{}; check the files or raise --max-length",
      totals.pairs_read, source, source == target ? "" : " and " + target, dropped[Drop::kEmptySource],
      dropped[Drop::kEmptyTarget], dropped[Drop::kLongSource], dropped[Drop::kLongTarget], options.cleaning.max_length,
      more);
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

}  // namespace

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
  CorpusHead::Sizes& sizes = counted.head.sizes;
  for (const TextFiles& files : options.train) {
    if (!files.alignments.empty()) sizes.links = 0;
    sizes.weights = sizes.weights || !files.weights.empty();
  }
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

}  // namespace rnnsearch::corpus
