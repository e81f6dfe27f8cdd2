// Translates raw lines with a trained model or an ensemble, on any number of ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "rnnsearch/base/packed.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/corpus/spelling.h"
#include "rnnsearch/corpus/text_pipeline.h"
#include "rnnsearch/corpus/vocabulary.h"
#include "rnnsearch/decode/constraints.h"
#include "rnnsearch/decode/translate.h"

namespace rnnsearch::decode {

struct TranslationOptions {
  SearchOptions search;
  bool replace_unknown = false;
  bool details = false;  // fill in the details of each LineTranslation
  /// A line of more words is split as part_ends says; its parts are translated on their own and joined. The time of a
  /// search grows with the square of the length, and no model was trained on such sentences. 0: never split.
  std::size_t maximum_source_length = 1000;
  /// Of the target, where lines have required phrases.
  std::shared_ptr<const corpus::Spelling> spelling{};
  /// Where a line, or a part of it, has a source term, its target term is one of the required phrases. Null: none.
  /// REQUIRES: what required phrases do.
  std::shared_ptr<const Glossary> glossary{};
};

/// The parts of a checkpoint that translation needs, or of several checkpoints with the same vocabularies. They must
/// outlive this object.
struct Translator {
  Ensemble ensemble;
  const corpus::Vocabulary &source_vocabulary, &target_vocabulary;
  const corpus::TextPipeline& pipeline;
};

/// A source word and the target word that attended to it, counted from 0.
struct Link {
  std::uint32_t source = 0, target = 0;

  friend bool operator==(const Link&, const Link&) = default;
};

struct LineTranslation {
  std::string text;
  Score score;
  bool retried = false;     // found by a search after the first, in which no hypothesis had ended
  bool cut_off = false;     // at the maximum length: no hypothesis ended in any search
  std::uint32_t parts = 1;  // in which the line was translated, because it is longer than the maximum source length
  std::uint32_t unmet = 0;  // number of required phrases that it lacks

  // The details.
  std::vector<std::string> source_words;  // of the line, as the model reads them, without </s>
  std::vector<std::string> words;         // as the model wrote them, with </s> where it wrote it; [score.length]
  std::vector<float> word_scores;         // [score.length] log-probability of each word after those before it
  /// Of each word but </s>, with the source word of its largest weight. None if that is </s>, or without attention.
  std::vector<Link> links;

  static auto fields(auto& line) {  // for `distribute`
    return std::tie(line.text, line.score, line.retried, line.cut_off, line.parts, line.unmet, line.source_words,
                    line.words, line.word_scores, line.links);
  }
};

/// Names the lines in errors.
struct LinesLocation {
  std::string name;        // "standard input", "corpus.h5 (dev)"
  std::size_t before = 0;  // lines there before these
};

/// What to translate.
struct InputLines {
  std::vector<std::string> lines;
  LinesLocation location;
  /// The words with which the translation of each line begins, in plain text: whole words, which the target's pipeline
  /// splits. The translation has them as the pipeline splits them, including words that the model does not know. If a
  /// line is split, its first part has the prefix; a line without words has a translation without words. Empty: no line
  /// has a prefix. REQUIRES: a model that predicts the first word first.
  std::vector<std::string> prefixes{};
  /// The phrases that the translation of each line must contain, in plain text with tabs between them: whole words,
  /// which the target's pipeline splits. The translation has them as the pipeline splits them, including words that the
  /// model does not know. A line with phrases is never split. Empty: no line has any. REQUIRES: the same model, and a
  /// spelling.
  std::vector<std::string> required{};
};

/// COLLECTIVE. Distributes the lines of the root over the ranks (line i to rank i mod ranks). Returns at the root the
/// translations of each line, at least one, best first, in the order of the lines; on other ranks nothing. A line
/// without words has one empty translation. Throws Error if --replace-unknown or --coverage-penalty cannot be used with
/// this model; AgreedError, naming the line, when the model computes NaN. Translation k of a line that was split joins
/// the k-th ones of its parts, or the last ones of those that have fewer: log-probabilities, lengths, coverage and
/// bonus add up, and the score follows from the sums. There is an </s> for each part. In sampling, the random streams
/// of a line depend on its number in all lines (location.before counts). A rank that receives a signal stops at once,
/// and its remaining lines have no translation. `done` is called at the root with the number of finished lines of the
/// root's share and the number of lines in it.
std::vector<std::vector<LineTranslation>> translate_lines(
    const Translator& translator, const InputLines& input, const TranslationOptions& options,
    const comm::Communicator& communicator, const std::function<void(std::size_t done, std::size_t all)>& done = {});

/// COLLECTIVE. `line`: the first of these lines, counted from 0, for which the model computes NaN, or an infinity, on
/// this rank, if there is one. Throws AgreedError, naming the first of all ranks by the root's `location`, if some rank
/// has one.
void refuse_nan(const comm::Communicator& communicator, std::optional<std::size_t> line, const LinesLocation& location);

/// The source word with the largest of the weights [Tx] of one target word, if it is one of the `words` source words
/// and not </s>.
std::optional<std::size_t> aligned_word(std::span<const float> weights, std::size_t words);

/// The placeholders that the model has learned.
std::vector<corpus::PlaceholderWord> known_placeholders(const Translator& translator);

/// The words of a source line, with placeholders for the `spans` that are copied, and those of its translation, in
/// which the same placeholders stand for these spans.
std::vector<std::string> source_words(const Translator& translator, std::string_view line,
                                      std::vector<std::string>& spans);
std::vector<std::string> target_words(const Translator& translator, std::string_view line,
                                      const std::vector<std::string>& spans);

/// The ids of words; kUnknown for a word that is not in the vocabulary.
std::vector<WordId> ids_of(const std::vector<std::string>& words, const corpus::Vocabulary& vocabulary);

/// A source sentence and its translation, without </s>.
struct WordPair {
  std::vector<WordId> source, target;

  static auto fields(auto& pair) { return std::tie(pair.source, pair.target); }
};

/// The words of line i of both texts; `targets` may be empty, and so are then the translations. Throws Interrupted when
/// a stop signal came.
std::vector<WordPair> word_pairs(const Translator& translator, std::span<const std::string> sources,
                                 std::span<const std::string> targets);
/// side: &WordPair::source or &WordPair::target.
std::vector<std::size_t> lengths_of(std::span<const WordPair> pairs, std::vector<WordId> WordPair::*side);
/// Sources and targets of a batch, as a model takes them.
std::pair<Sentences, Sentences> sentences_of(std::span<const WordPair* const> batch);

/// COLLECTIVE. Computes the score of each pair as decode::score does. `pairs` are those of the root, which gets the
/// results in their order; the other ranks get nothing. Pairs with targets of similar lengths are scored together,
/// `batch_sentences` at most; which ones depends on the pairs alone, so the bits do not depend on ranks and threads.
/// After a stop signal some pairs have no score, and the caller asks comm::stop_signal_came_anywhere. A score is not
/// finite if the model computes NaN: see refuse_nan. `done` is called on every rank with the approximate number of
/// pairs that all ranks have scored.
std::vector<std::optional<double>> score_pairs(const Ensemble& ensemble, std::span<const WordPair> pairs,
                                               std::size_t batch_sentences, const comm::Communicator& communicator,
                                               const std::function<void(std::size_t done)>& done = {});

/// The first pair whose score is not finite. REQUIRES: all pairs have a score.
std::optional<std::size_t> first_nan(std::span<const std::optional<double>> scores);

/// A translation and what the model attended to at each of its words.
struct Aligned {
  std::vector<WordId> target;  // without </s>
  double log_probability = 0;  // NaN where the model computes NaN
  std::vector<float> alpha;    // [target words + 1, Tx]

  static auto fields(auto& one) { return std::tie(one.target, one.log_probability, one.alpha); }
};

/// Aligns each pair: by forced decoding of its target if targets are `given`, and otherwise of the model's own
/// translation of its source.
std::vector<std::optional<Aligned>> align_batch(model::Model& model, std::span<const WordPair* const> batch, bool given,
                                                const SearchOptions& search);

/// Splits a line that is too long for a search into parts of at most `longest` words, and returns the end of each: the
/// number of the line's words in it and the parts before. A line that is short enough, or empty, is one part, and so is
/// every line if `longest` is 0.
///
/// A part is as long as possible and ends where a sentence ends: after a word that ends with . ! ? or such a mark of
/// another script, and after the closing quotation marks and brackets that follow. If no sentence ends within `longest`
/// words, the part has that many. Words are those of any text pipeline: joiner marks and spaces of subwords do not hide
/// a mark.
std::vector<std::size_t> part_ends(std::span<const std::string> words, std::size_t longest);

// Distributes items over the ranks, computes them there, and returns the results to the root in the order of the items.

/// Batches of items that are computed together, as the numbers of the items. Batch k goes to rank k mod ranks.
using Assignment = std::vector<std::vector<std::uint64_t>>;

/// Batches of at most `batch_items`, the longest items first, equally long ones in their order. Batches are cut before
/// they are assigned, so that no rounding depends on the number of ranks.
Assignment by_length(std::span<const std::size_t> lengths, std::size_t batch_items);
/// Item i goes to rank i mod ranks; each rank computes all its items together.
Assignment round_robin(std::size_t items, std::size_t ranks);

/// Runs `act`, in which computations end at a stop signal, and returns early when one came.
void until_stopped(const std::function<void()>& act);

/// COLLECTIVE. `items` and `assignment` are those of the root. Every rank calls work(batch), where `batch` is a vector
/// const Item*, for its batches; it returns an optional Result for each item. The root gets the results in the order of
/// the items, the other ranks nothing. A rank that receives a signal stops: its remaining items have no result, and the
/// caller asks comm::stop_signal_came_anywhere. Items and results are sent as `Packer` does. An exception of
/// `work` is thrown on that rank only.
template <class Item, class Result, class Work>
std::vector<std::optional<Result>> distribute(const comm::Communicator& communicator, std::span<const Item> items,
                                              const Assignment& assignment, Work&& work) {
  Packer packer;  // a text for each batch, so that a rank skips those of others
  for (const auto& numbers : assignment) {
    Packer part;
    part.add(numbers);
    for (const std::uint64_t number : numbers) part.add(items[number]);
    packer.add(part.take());
  }
  std::string message = packer.take();
  communicator.broadcast(message);
  Packer own;
  until_stopped([&] {
    const auto ranks = static_cast<std::size_t>(communicator.size()),
               rank = static_cast<std::size_t>(communicator.rank());
    std::size_t k = 0;
    for (Unpacker parts(message); !parts.empty(); ++k) {
      Unpacker part(parts.next<std::string_view>());
      if (k % ranks != rank) continue;
      stop_if_signal_came();
      const auto numbers = part.next<std::vector<std::uint64_t>>();
      std::vector<Item> received(numbers.size());
      std::vector<const Item*> batch;
      for (Item& item : received) {
        part.read(item);
        batch.push_back(&item);
      }
      std::vector<std::optional<Result>> found = work(batch);
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (!found[i]) continue;
        own.add(numbers[i]);
        own.add(*found[i]);
      }
    }
  });
  std::vector<std::optional<Result>> results(items.size());
  for (const std::string& of_rank : communicator.gather(own.take())) {
    for (Unpacker unpacker(of_rank); !unpacker.empty();) {
      const auto number = unpacker.next<std::uint64_t>();
      unpacker.read(results[number].emplace());
    }
  }
  return results;
}

}  // namespace rnnsearch::decode
