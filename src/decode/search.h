// The search for the translations of one sentence: its hypotheses, how a step extends them, and the constraints that
// are checked word by word while they grow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/base/sentences.h"
#include "rnnsearch/corpus/text_pipeline.h"
#include "rnnsearch/decode/translate.h"

namespace rnnsearch::decode {

/// A word that extends a hypothesis, given by its index.
struct Candidate {
  double score;
  std::uint32_t hypothesis;
  WordId word;
  float log_probability;     // of the word
  std::uint32_t sample = 0;  // its number, in sampling; of its group, in a search of several
  double penalty = 0;        // what groups subtract from the score of a growing hypothesis

  bool better_than(const Candidate& other) const {
    const double left = score - penalty, right = other.score - other.penalty;
    if (left != right) return left > right;
    return hypothesis != other.hypothesis ? hypothesis < other.hypothesis : word < other.word;
  }
};

inline constexpr auto kBestFirst = [](const Candidate& a, const Candidate& b) { return a.better_than(b); };

/// Keeps the `room` best candidates that were added.
class Best {
 public:
  explicit Best(std::size_t room) : room_(room) {}

  bool takes(const Candidate& candidate) const {
    return room_ > 0 && (kept_.size() < room_ || candidate.better_than(kept_.front()));
  }
  /// Whether no candidate of this score, without its penalty, or a lower one is taken.
  bool all_exceed(double score) const {
    return room_ == 0 || (kept_.size() == room_ && kept_.front().score - kept_.front().penalty > score);
  }
  /// REQUIRES: takes(candidate)
  void add(const Candidate& candidate) {
    if (kept_.size() == room_) {
      std::pop_heap(kept_.begin(), kept_.end(), kBestFirst);
      kept_.pop_back();
    }
    kept_.push_back(candidate);
    std::push_heap(kept_.begin(), kept_.end(), kBestFirst);
  }
  /// Best first; at most once.
  std::vector<Candidate> sorted() {
    std::sort_heap(kept_.begin(), kept_.end(), kBestFirst);
    return std::move(kept_);
  }

 private:
  std::size_t room_;
  std::vector<Candidate> kept_;  // a heap with the worst on top
};

/// A uniform random number in [0, 1) that depends only on the arguments: Philox with the seed as key.
double uniform_of(std::uint64_t seed, std::uint64_t sentence, std::uint32_t sample, std::uint32_t step);

/// The word at `uniform` of the cumulative distribution
///   p(y) = exp(scores[y] / temperature) / sum_y' exp(scores[y'] / temperature),
/// in the order of word ids, where y' is among the top_k largest scores, the lower id among equal ones. A word whose
/// score is -infinity is never drawn. Nothing if all are. REQUIRES: no score is NaN or +infinity; 0 <= uniform < 1.
std::optional<WordId> draw(std::span<const float> scores, const Sampling& sampling, double uniform);

/// A constraint with its state for each hypothesis of a search. A new one is that of a hypothesis without words.
class Constraint {
 public:
  virtual ~Constraint() = default;

  /// Row k continues hypothesis survivors[k].hypothesis with its word; `given`: which the prefix gives.
  virtual void extend(std::span<const Candidate> survivors, bool given) = 0;
  /// Whether the hypothesis may continue with this word, which may be </s>; `last`: and be cut off behind it.
  virtual bool allows(std::size_t hypothesis, WordId word, bool last) const = 0;
  /// Whether the hypothesis may be cut off where it is.
  virtual bool may_end(std::size_t hypothesis) const = 0;
};

/// A constraint made of a `Rule`, which tells the State of a hypothesis at its start() and after() a further word, and
/// whether it allows() a word in a state; a rule without may_end() lets every hypothesis be cut off.
template <class Rule>
class ConstraintOf : public Constraint {
 public:
  explicit ConstraintOf(std::shared_ptr<const Rule> rule) : rule_(std::move(rule)), states_{rule_->start()} {}

  void extend(std::span<const Candidate> survivors, bool given) override {
    std::vector<typename Rule::State> next;
    for (const Candidate& one : survivors) next.push_back(rule_->after(states_[one.hypothesis], one.word, given));
    states_ = std::move(next);
  }
  bool allows(std::size_t hypothesis, WordId word, bool last) const override {
    return rule_->allows(states_[hypothesis], word, last);
  }
  bool may_end(std::size_t hypothesis) const override {
    if constexpr (requires { rule_->may_end(states_[hypothesis]); }) return rule_->may_end(states_[hypothesis]);
    return true;
  }
  const typename Rule::State& state(std::size_t hypothesis) const { return states_[hypothesis]; }

 private:
  std::shared_ptr<const Rule> rule_;
  std::vector<typename Rule::State> states_;
};

/// No sequence of n words stands in a translation twice. 0: there is no limit.
struct NgramRule {
  using State = std::vector<WordId>;  // the words of the hypothesis
  std::size_t n;

  State start() const { return {}; }
  State after(State words, WordId word, bool) const {
    words.push_back(word);
    return words;
  }
  bool allows(const State& words, WordId word, bool) const {
    if (n == 0 || words.size() < n) return true;
    const auto last = words.end() - static_cast<std::ptrdiff_t>(n - 1);
    for (std::size_t end = n - 1; end < words.size(); ++end) {
      const auto begin = words.begin() + static_cast<std::ptrdiff_t>(end + 1 - n);
      if (words[end] == word && std::equal(last, words.end(), begin)) return false;
    }
    return true;
  }
};

/// Each placeholder stands in a translation at most once, and only if the source has it.
struct PlaceholderRule {
  using State = std::vector<WordId>;               // those that may still be written
  std::span<const corpus::PlaceholderWord> known;  // to the model
  std::vector<WordId> of_source;

  State start() const { return of_source; }
  State after(State left, WordId word, bool) const {
    std::erase(left, word);
    return left;
  }
  bool allows(const State& left, WordId word, bool) const {
    return std::find(left.begin(), left.end(), word) != left.end() ||
           std::none_of(known.begin(), known.end(), [&](const auto& one) { return one.target == word; });
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
  /// placeholders: those of the source, as words of the target. `options` and `sentence` outlive this.
  Search(std::size_t source_length, const SearchOptions& options, const PerSentence& sentence,
         const std::vector<WordId>& placeholders);

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
  const PerSentence& sentence_;
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
