// Ensembles: at each step of a search, the distributions of the next word of several models are combined into one.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/base/option.h"
#include "rnnsearch/base/sentences.h"
#include "rnnsearch/kernels/buffer.h"
#include "rnnsearch/kernels/top_words.h"
#include "rnnsearch/model/model.h"

namespace rnnsearch::decode {

/// With weights w_m that sum to 1, the score of word y is
///   probabilities: log sum_m w_m p_m(y), the logarithm of the mean probability (a linear mixture);
///   logarithms:    sum_m w_m log p_m(y), the logarithm of the geometric mean. It is not normalised again, so the
///                  probabilities of all words sum to at most 1.
enum class EnsembleMean { kProbabilities, kLogarithms };
constexpr auto names_of(EnsembleMean) { return in_order<EnsembleMean>({"probabilities", "logarithms"}); }

/// One model or several. They have the same vocabularies, but may be different systems of any sizes. A copy refers to
/// the same models, which outlive it. Not thread-safe, like a Model.
class Ensemble {
 public:
  /// A single model; the results have the same bits as those of the model itself.
  Ensemble(model::Model& model);  // NOLINT(google-explicit-constructor): a model is an ensemble of one
  /// `weights`: positive, one for each model; they are divided by their sum. REQUIRES: at least one model, and all with
  /// the same numbers of source and target words and the same direction of the target.
  Ensemble(std::vector<model::Model*> models, std::vector<double> weights, EnsembleMean mean);

  std::size_t size() const { return models_.size(); }
  model::Model& model(std::size_t m) const { return *models_[m]; }
  double weight(std::size_t m) const { return weights_[m]; }
  EnsembleMean mean() const { return mean_; }
  std::size_t target_words() const { return models_.front()->options().target_words; }
  /// Tx of a source of so many words, for length limits and alignments: the largest Tx of the models, because some
  /// models may read </s> and others not.
  std::size_t source_length(std::size_t words) const;
  /// Whether some model has attention.
  bool attends() const;
  /// Whether the models predict the last word of a target first.
  bool right_to_left() const { return models_.front()->options().right_to_left(); }

 private:
  std::vector<model::Model*> models_;
  std::vector<double> weights_;  // their sum is 1
  EnsembleMean mean_ = EnsembleMean::kProbabilities;
};

/// The log-probability of a word that is impossible.
inline constexpr float kNever = -std::numeric_limits<float>::infinity();

/// The log-probabilities of the next words of a hypothesis: of all words, or of a list of words.
struct NextWords {
  using Entry = kernels::TopWords::Entry;

  std::span<const float> all{};     // [K], or empty
  std::span<const Entry> listed{};  // in place of it
  float others = kNever;            // no word that is not in the list is more probable than that
  bool is_nan = false;              // all log-probabilities are NaN

  template <class Visit>
  void for_each(const Visit& visit) const {
    for (WordId word = 0; word < all.size(); ++word) visit(word, all[word]);
    for (const Entry& entry : listed) visit(entry.word, entry.log_probability);
  }
};

/// The steps of a search with all models: the encoded sentences, which are numbered from 0 on, and one row for each
/// hypothesis in each model. Sentences come and go between steps.
class EnsembleSteps {
 public:
  /// rows: the number of rows that a sentence has most of the time.
  EnsembleSteps(const Ensemble& ensemble, std::size_t rows);

  /// Keeps the sentences `kept`, in ascending order, and drops all others, which must have no rows; encodes `source`
  /// behind them. They get the numbers 0, 1, ... in that order. shortlists: of each new sentence the words whose
  /// probability is not 0, as Model::shortlist takes them; none: all words. REQUIRES: no sentence waits; with
  /// shortlists, none is kept.
  void add(std::span<const std::uint32_t> kept, const Sentences& source, const Sentences& shortlists);
  /// The number of sentences, the last ones, that have no row yet.
  std::size_t waiting() const { return members_.front().waiting.rows() - begun_; }
  /// Gives a row to each of the next `count` of them, behind all others.
  void start(std::size_t count);

  std::size_t rows() const { return members_.front().state.rows(); }
  std::size_t target_words() const { return ensemble_.target_words(); }
  /// Tx of sentence b, as Ensemble::source_length.
  std::size_t source_length(std::size_t b) const;

  /// The scores of the next word of every row. log_probabilities [R, K]; alpha [R, at least the longest Tx], or empty
  /// if not needed: the mean of the weights of the models that have attention, 0 if none has.
  void predict(MatrixView<float> log_probabilities, MatrixView<float> alpha);
  /// The same for lists of words, with the same bits: `listed` has the `length` most probable words of each model.
  void predict_listed(std::size_t length, MatrixView<float> alpha);
  NextWords listed(std::size_t row) const;
  /// The scores of all next words, [row.size(), K] out, for these rows of that call, in ascending order.
  void predict_all(std::span<const std::uint32_t> row, MatrixView<float> log_probabilities);
  /// Row k continues row parent[k] with the word chosen[k].
  void advance(std::span<const std::uint32_t> parent, std::span<const WordId> chosen);

 private:
  struct Member {
    model::Model* model = nullptr;
    bool attends = false;
    model::Encoded encoded{};
    model::SearchState state{};
    model::SearchState waiting{};  // of the sentences that were encoded last
    std::optional<layers::ShortlistOutput> shortlist{};
    kernels::TopWords top{};

    // No word that is not in its list is more probable than that.
    float others(std::size_t row) const {
      return top.is_nan(row) || top.is_complete(row) ? kNever : top.row(row).back().log_probability;
    }
    layers::ShortlistOutput* output() { return shortlist ? &*shortlist : nullptr; }
  };

  // Runs model m. `wanted` has no alpha; where the model has attention, its weights join the mean in `alpha`.
  void run(std::size_t m, model::Prediction wanted, MatrixView<float> alpha);
  // to = the mean of what write(m, matrix) writes for each model, weighted as `ensemble_` says.
  template <class Write>
  void mix(MatrixView<float> to, const Write& write);

  const Ensemble& ensemble_;
  std::size_t rows_of_sentence_;
  std::vector<Member> members_;
  std::uint32_t first_waiting_ = 0;                   // the number of the first sentence that was encoded last
  std::size_t begun_ = 0;                             // how many of them have a row, or had one
  double attending_ = 0;                              // the weight of the models whose weights are in alpha
  kernels::Buffer<float> log_probabilities_, alpha_;  // of the models after the first
  std::vector<std::vector<NextWords::Entry>> lists_;  // [R] of several models
  kernels::Buffer<float> mixed_;                      // [R, words that may be in a list, and at last the others]
};

/// The score of each pair in forced decoding, </s> included: the sum of its words' scores. For a single model it is
/// that of Model::score.
std::vector<double> score(const Ensemble& ensemble, const Sentences& source, const Sentences& target);

}  // namespace rnnsearch::decode
