// RNNsearch (Bahdanau, Cho and Bengio 2015, appendix A) and RNNencdec (Cho et al. 2014): one model, forward and
// backward.
//
// Letters used in shapes: B sentences, R rows (hypotheses), m embedding, n state, C context width (2n with attention, n
// without), K target vocabulary. Real is float; double is for the central-difference check.
// A Model is not thread-safe: one caller at a time (inside, it uses all threads of kernels/parallel.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/base/phases.h"
#include "rnnsearch/base/sentences.h"
#include "rnnsearch/layers/embedding.h"
#include "rnnsearch/model/options.h"
#include "rnnsearch/model/parameters.h"

namespace rnnsearch::model {

/// A sum over words, never a mean: ranks add theirs up and divide once.
struct Loss {
  double negative_log_likelihood = 0;  // nats
  std::uint64_t words = 0;             // target words, </s> included
};

/// What the decoder sees of a batch of source sentences. Made by Model::encode, owned by the caller, read-only
/// afterwards.
template <class Real>
struct Encoded {
  std::vector<std::size_t> offsets;  // [B + 1]: rows of sentence b, </s> included, are offsets[b] to offsets[b + 1]
  std::vector<Real> annotations;     // [words, C] h_j, sentence by sentence (empty without attention)
  std::vector<Real> keys;            // [words, n'] h_j U_a (empty without attention)
  std::vector<Real> contexts;        // [B, C] c (empty with attention)
  std::vector<Real> initial_states;  // [B, n] s_0

  std::size_t sentences() const { return offsets.size() - 1; }
  std::size_t source_length(std::size_t b) const { return offsets[b + 1] - offsets[b]; }
};

/// One decoder step of R hypotheses: which word could be y_i.
template <class Real>
struct PredictInput {
  std::span<const std::uint32_t> sentence;  // [R] the encoded sentence each row translates
  std::span<const WordId> previous_word;    // [R] y_{i-1}; kStart at i = 1
  MatrixView<const Real> state;             // [R, n] s_{i-1}
};
template <class Real>
struct PredictOutput {
  MatrixView<Real> log_probabilities;  // [R, K] natural logarithm of p(y_i | ...)
  MatrixView<Real> context;            // [R, C] c_i
  MatrixView<Real> alpha;              // [R, at least the longest source length of the rows] or empty data: not wanted.
                                       // Columns past a row's source length are exactly 0. Without attention: all 0.
};
/// ... and what the state becomes once y_i is chosen. Rows may have been reordered, dropped and repeated in between.
template <class Real>
struct AdvanceInput {
  MatrixView<const Real> state;           // [R, n] s_{i-1}
  MatrixView<const Real> context;         // [R, C] c_i
  std::span<const WordId> previous_word;  // [R] y_{i-1}; kStart at i = 1
  std::span<const WordId> word;           // [R] y_i
};

/// What the decoder looked at while it was made to write one translation.
template <class Real>
struct Alignment {
  double log_probability = 0;  // log p(target | source), </s> included
  std::vector<Real> alpha;     // [Ty, Tx] row-major, </s> counted on both sides: alpha_ij; every row sums to 1
};

template <class Real>
class Model {
 public:
  /// Weights are zero until `initialise`, or until they are written through `parameters`.
  explicit Model(const ModelOptions& options);
  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  const ModelOptions& options() const;
  const ParameterLayout& layout() const;
  std::span<Real> parameters();
  std::span<const Real> parameters() const;
  std::span<Real> gradient();  // of the layout's dense part
  /// Of the embedding tables, source and target, with the table's place in the parameter block.
  struct TableGradient {
    std::size_t offset = 0;
    layers::RowGradient<Real> rows;
  };
  std::span<TableGradient> table_gradients();
  /// What becomes final together while a batch's gradient is computed: elements [first, first + size) of gradient(), or
  /// a table.
  struct GradientPart {
    std::size_t first = 0, size = 0;
    int table = -1;  // of table_gradients(); below 0: none
  };
  /// All of the gradient, each element once, in the order in which accumulate_gradient finishes it (from the readout
  /// back to the source words). A function of the options.
  std::span<const GradientPart> gradient_parts() const;
  /// Of all: to be called before a batch.
  void zero_gradient();

  /// The paper's initialisation (orthogonal U, v_a = 0, biases 0, the other matrices Gaussian with
  /// options().initial_deviation). A function of the seed and the options alone.
  void initialise(std::uint64_t seed);

  /// ADDS the gradient of the summed negative log-likelihood of the batch to `gradient`. </s> is appended to both sides
  /// here. Pairs may come in any order; the sum's rounding depends on it. No pairs: nothing is added.
  /// finished(i), if it is set: this batch adds nothing more to gradient_parts()[i]. Called for all parts, in their
  /// order, on the calling thread, while the others are still to be computed.
  Loss accumulate_gradient(const Sentences& source, const Sentences& target,
                           const std::function<void(std::size_t part)>& finished = {});
  /// The same sum without the gradient.
  Loss loss(const Sentences& source, const Sentences& target);
  /// log p(target | source) of each pair, </s> included.
  std::vector<double> score(const Sentences& source, const Sentences& target);
  /// The same, and what each target word was aligned with (section 3.1, equation 6), </s> included on both sides. Alone
  /// or among others a pair gets the same up to rounding. Without attention alpha is empty.
  std::vector<Alignment<Real>> align(const Sentences& source, const Sentences& target);

  /// Any order of sentences; rows of the result are in the caller's order.
  Encoded<Real> encode(const Sentences& source);
  void predict(const Encoded<Real>& encoded, const PredictInput<Real>& input, const PredictOutput<Real>& output);
  void advance(const AdvanceInput<Real>& input, MatrixView<Real> next_state);

  std::size_t state_width() const;    // n
  std::size_t context_width() const;  // C

  /// Where the time of all that was computed since they were last cleared went; whoever calls may count in it too.
  PhaseTimes& phases();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

extern template class Model<float>;
extern template class Model<double>;

}  // namespace rnnsearch::model
