// The search for the translations of one sentence: its hypotheses, and how a step extends them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/decode/forbidden_words.h"
#include "rnnsearch/decode/translate.h"

namespace rnnsearch::decode {

/// What holds for one sentence, as PerSentence. What it refers to outlives the search.
struct Guide {
  std::span<const WordId> prefix{};
  std::uint64_t number = 0;
  const RequiredWords* required = nullptr;  // null: none
  std::vector<WordId> placeholders{};       // those of the source, as words of the target
};

/// A word that extends a hypothesis, given by its index.
struct Candidate {
  double score;
  std::uint32_t hypothesis;
  WordId word;
  std::uint32_t sample = 0;  // its number, in sampling; of its group, in a search of several
  double penalty = 0;        // what groups subtract from the score of a growing hypothesis

  bool better_than(const Candidate& other) const {
    if (score != other.score) return score > other.score;
    return hypothesis != other.hypothesis ? hypothesis < other.hypothesis : word < other.word;
  }
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
  Search(std::size_t source_length, const SearchOptions& options, const Guide& guide);

  std::size_t live() const { return live_.size(); }

  /// Extends the hypotheses by word number `step` (from 0). Row i of log_probabilities and alpha belongs to hypothesis
  /// i. Finished hypotheses leave the beam, which shrinks accordingly.
  void extend(std::size_t step, MatrixView<const float> log_probabilities, MatrixView<const float> alpha);
  /// Does the same, with the same result, if it can tell it from the lists of the most probable words, of which row
  /// first_row + i belongs to hypothesis i. Otherwise changes nothing and returns false.
  bool extend(std::size_t step, const kernels::TopWords<float>& top, std::size_t first_row,
              MatrixView<const float> alpha);
  /// Whether `step` needs the scores of all words.
  bool needs_all_words(std::size_t step) const;
  /// The length of lists that are long enough, except in the rarest of cases.
  static std::size_t list_length(const SearchOptions& options);

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

  bool is_allowed(std::size_t step, WordId word) const;
  // Whether a forbidden phrase would be complete, or the word is a placeholder that the source lacks or that the
  // hypothesis has already.
  bool is_forbidden(std::size_t step, std::size_t hypothesis, WordId word) const {
    return (options_.forbidden && completes_forbidden(step, hypothesis, word)) ||
           (!options_.placeholders.empty() && is_useless_placeholder(hypothesis, word));
  }
  bool is_useless_placeholder(std::size_t hypothesis, WordId word) const;
  bool completes_forbidden(std::size_t step, std::size_t hypothesis, WordId word) const;
  void select(std::size_t step, MatrixView<const float> log_probabilities);
  bool select(std::size_t step, const kernels::TopWords<float>& top, std::size_t first_row);
  /// Extends the hypotheses by best_. score_of(candidate): the log-probability of its word.
  template <class ScoreOf>
  void take_best(std::size_t step, const ScoreOf& score_of, MatrixView<const float> alpha);
  void end_with_nan();
  void draw_words(std::size_t step, MatrixView<const float> log_probabilities);
  void select_in_groups(std::size_t step, MatrixView<const float> log_probabilities);
  void select_in_banks(std::size_t step, MatrixView<const float> log_probabilities);
  void follow_constraints(std::size_t step);
  std::span<const double> row_of(const std::vector<double>& coverage, std::size_t hypothesis) const;
  void read_weights(const float* row, std::size_t hypothesis, std::vector<double>& coverage);
  Hypothesis cut_off(std::size_t hypothesis) const;
  void cut_off_all();
  Translation translation_of(const Hypothesis& hypothesis) const;

  const SearchOptions& options_;
  Guide guide_;
  std::size_t source_length_;  // Tx
  std::size_t wanted_;         // remaining size of the beam, or samples that have not ended
  std::size_t minimum_, maximum_;
  std::vector<Node> nodes_;
  std::vector<float> alpha_;               // [nodes, source_length_]
  std::vector<double> coverage_;           // [live, source_length_] sums of weights; empty without a coverage penalty
  std::vector<std::size_t> group_wanted_;  // [groups] as wanted_; empty if there is one group
  std::vector<ForbiddenWords::State> forbidden_;  // [live]; empty if nothing is forbidden
  std::vector<RequiredWords::State> required_;    // [live]; empty if nothing is required
  std::vector<Hypothesis> live_;
  std::vector<Hypothesis> finished_;  // in sampling also those that were cut off
  Hypothesis given_;                  // what the prefix gives
  std::vector<Hypothesis> cut_off_;   // the result if no hypothesis is finished; never empty
  bool is_nan_ = false;               // the model computed NaN, so hypotheses cannot be compared
  std::vector<Candidate> best_, survivors_;
};

}  // namespace rnnsearch::decode
