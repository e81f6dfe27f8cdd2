// The search for the translations of one sentence: its hypotheses, and how a step extends them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "decode/constraint.h"
#include "decode/selection.h"
#include "rnnsearch/base/matrix.h"
#include "rnnsearch/decode/translate.h"

namespace rnnsearch::decode {

/// What holds for one sentence, as PerSentence. What it refers to outlives the search.
struct SentenceConstraints {
  std::span<const WordId> prefix{};
  std::uint64_t number = 0;
  const RequiredWords* required = nullptr;  // null: none
  std::vector<WordId> placeholders{};       // those of the source, as words of the target
};

/// The number of words among which </s> is not allowed. Where the limits contradict each other for this sentence, the
/// maximum wins; where they do for every sentence, it is never allowed.
std::size_t minimum_length(std::size_t Tx, const SearchOptions& options, std::size_t prefix);
/// The maximum number of words, including </s>; there is always room for the prefix and </s>.
std::size_t maximum_length(std::size_t Tx, const SearchOptions& options, std::size_t prefix);
/// Whether the search reads attention weights.
bool needs_weights(const SearchOptions& options);

class Search {
 public:
  /// `options` outlives this.
  Search(std::size_t source_length, const SearchOptions& options, const SentenceConstraints& sentence);

  std::size_t live() const { return live_.size(); }

  /// Extends the hypotheses by a word. Row i of `next` and alpha belongs to hypothesis i. Finished hypotheses leave the
  /// beam, which shrinks accordingly. If lists do not tell what the scores of all words would, it changes nothing and
  /// returns false.
  bool extend(std::span<const NextWords> next, MatrixView<const float> alpha);
  /// Then these hypotheses need the scores of all words, and the others do not.
  const std::vector<std::uint32_t>& undecided() const { return undecided_; }
  /// Whether the next step needs the scores of all words.
  bool needs_all_words() const { return options_.sampling || step_ < sentence_.prefix.size() || required_; }
  /// The length of lists that are long enough, except in the rarest of cases. Those of several models are joined, so
  /// each may be shorter.
  static std::size_t list_length(const SearchOptions& options, std::size_t models);

  /// For each live hypothesis, the index of the hypothesis that it extends (before the last `extend`), and the word.
  const std::vector<Candidate>& survivors() const { return survivors_; }

  /// Returns at least one translation.
  std::vector<Translation> result() const;

 private:
  // A word of a hypothesis; the chain of parents is its history. The parent of the first word is kRoot.
  struct Node {
    std::size_t parent;
    WordId word;
    float score;             // log-probability of the word
    std::uint32_t attended;  // source position with the largest attention weight, if requested
  };

  struct Hypothesis {
    double score;              // log-probability so far
    std::size_t node;          // node of its last word; kRoot before the first
    double coverage = 0;       // coverage_of its weights, once it has ended
    std::uint32_t sample = 0;  // as in Candidate
    double penalty = 0;
    std::size_t unmet = 0;  // required phrases that it lacks, once it was cut off
  };

  /// Whether the lengths and words that the options exclude allow the word.
  bool is_allowed(WordId word) const;
  /// Whether all constraints allow the word.
  /// `required`: the word continues or begins a required phrase, which may repeat words.
  bool keeps_constraints(std::size_t hypothesis, WordId word, bool required = false) const;
  // The repetition penalty applied.
  Candidate candidate_of(std::uint32_t hypothesis, WordId word, float log_probability) const {
    if (options_.repetition_penalty != 1 && std::ranges::count(words_->state(hypothesis), word) > 0)
      log_probability *= static_cast<float>(options_.repetition_penalty);
    const Hypothesis& live = live_[hypothesis];
    return {live.score + static_cast<double>(log_probability),
            hypothesis,
            word,
            log_probability,
            live.sample,
            live.penalty};
  }
  // Each of these sets best_ to the candidates that extend the hypotheses.
  bool select_best(std::span<const NextWords> next);
  void select_in_banks(std::span<const NextWords> next);
  void draw_words(std::span<const NextWords> next);
  void take_best(MatrixView<const float> alpha);
  std::span<const double> row_of(const std::vector<double>& coverage, std::size_t hypothesis) const;
  void read_weights(const float* row, std::size_t hypothesis, std::vector<double>& coverage);
  bool may_end(std::size_t hypothesis) const;
  Hypothesis cut_off(std::size_t hypothesis) const;
  void cut_off_all();
  Translation translation_of(const Hypothesis& hypothesis) const;

  const SearchOptions& options_;
  SentenceConstraints sentence_;
  std::size_t source_length_;  // Tx
  std::vector<std::size_t>
      wanted_;  // remaining size of the beam of each group; of each sample 1, or 0 once it has ended
  std::size_t minimum_, maximum_;
  std::size_t step_ = 0;  // words that the hypotheses have
  std::vector<Node> nodes_;
  std::vector<float> alpha_;      // [nodes, source_length_]
  std::vector<double> coverage_;  // [live, source_length_] sums of weights; empty without a coverage penalty
  std::vector<std::unique_ptr<Constraint>> constraints_;
  const ConstraintOf<NgramRule>* words_ = nullptr;         // one of them, if options look at the words of hypotheses
  const ConstraintOf<RequiredWords>* required_ = nullptr;  // one of them; null: nothing is required
  std::vector<Hypothesis> live_;
  std::vector<Hypothesis> finished_;  // in sampling also those that were cut off
  Hypothesis given_;                  // what the prefix gives
  std::vector<Hypothesis> cut_off_;   // the result if no hypothesis is finished; never empty
  bool is_nan_ = false;               // the model computed NaN, so hypotheses cannot be compared
  std::vector<Candidate> best_, survivors_;
  std::vector<std::uint32_t> undecided_;
};

}  // namespace rnnsearch::decode
