// RNNsearch and RNNencdec (both Bahdanau, Cho and Bengio 2015, appendix A) and the other systems that the options
// describe: one model, forward and backward.
//
// Letters used in shapes: B sentences, R rows (hypotheses), m embedding, n state, C width of c_i
// (ModelOptions::context_width(): 2n for RNNsearch, n for RNNencdec), S state_width(), K target vocabulary. Real is
// float; double is for the central-difference check. A Model is not thread-safe: one caller at a time (inside, it uses
// all threads of kernels/parallel.h).
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
#include "rnnsearch/kernels/bfloat16.h"
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
  std::vector<Real> keys;            // [words, n'] h_j U_a (empty without attention or U_a, and where it is rounded)
  // Of RNNsearch computed by its own code in Precision::kBFloat16: what each step reads, in place of the two.
  std::vector<kernels::BFloat16> rounded_annotations, rounded_keys;
  std::vector<Real> contexts;        // [B, C] c (empty with attention)
  std::vector<Real> initial_states;  // [B, S] s_0, and what else a step begins from

  std::size_t sentences() const { return offsets.size() - 1; }
  std::size_t source_length(std::size_t b) const { return offsets[b + 1] - offsets[b]; }
};

/// One decoder step of R hypotheses: which word could be y_i.
template <class Real>
struct PredictInput {
  std::span<const std::uint32_t> sentence;  // [R] the encoded sentence each row translates
  std::span<const WordId> previous_word;    // [R] y_{i-1}; kStart at i = 1
  MatrixView<const Real> state;             // [R, S] s_{i-1}
};
template <class Real>
struct PredictOutput {
  MatrixView<Real> log_probabilities;  // [R, K] natural logarithm of p(y_i | ...)
  MatrixView<Real> context;  // [R, context_width()] what `advance` wants to know: c_i, or all of the next state
  MatrixView<Real> alpha;    // [R, at least the longest source length of the rows] or empty data: not wanted.
                             // Columns past a row's source length are exactly 0. Without attention: all 0.
};
/// ... and what the state becomes once y_i is chosen. Rows may have been reordered, dropped and repeated in between.
template <class Real>
struct AdvanceInput {
  MatrixView<const Real> state;           // [R, S] s_{i-1}
  MatrixView<const Real> context;         // [R, context_width()] from `predict`
  std::span<const WordId> previous_word;  // [R] y_{i-1}; kStart at i = 1
  std::span<const WordId> word;           // [R] y_i
};

/// What the decoder looked at while it was made to write one translation.
template <class Real>
struct Alignment {
  double log_probability = 0;  // log p(target | source), </s> included
  std::vector<Real> alpha;     // [Ty, Tx] row-major, </s> counted on both sides: alpha_ij; every row sums to 1
                               // (but with local-p, whose weights do not)
};

/// From what dropout draws its masks: they are a function of these, of a pair's number in the global batch, and of the
/// place, step and unit in the network. So any number of ranks, pieces and threads drops the same.
struct DropoutSeed {
  std::uint64_t seed = 0, update = 0;
  std::uint64_t first_pair = 0, pair_stride = 1;  // pair i of this share has number first_pair + i pair_stride
};

/// What accumulate_gradient is told besides the batch.
struct GradientOptions {
  /// finished(i), if it is set: this batch adds nothing more to gradient_parts()[i]. Called for all parts, in their
  /// order, on the calling thread, while the others are still to be computed.
  std::function<void(std::size_t part)> finished{};
  /// 0 to below 1: the gradient is that of the smoothed cost (kernels/softmax.h); the loss is not.
  double label_smoothing = 0;
  DropoutSeed dropout_seed{};  // read where options() have dropout
};

/// The parameters that Model(options) would have, without memory for them. Throws Error as check(options).
ParameterLayout parameter_layout_of(const ModelOptions& options);

template <class Real>
class Network;

template <class Real>
class Model {
 public:
  /// Weights are zero until `initialise`, or until they are written through `parameters`.
  explicit Model(const ModelOptions& options);
  /// Of a network of src/model's own choice, where the options would choose another: for tests.
  explicit Model(std::unique_ptr<Network<Real>> network);
  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  const ModelOptions& options() const;
  const ParameterLayout& layout() const;
  std::span<Real> parameters();
  std::span<const Real> parameters() const;
  std::span<Real> gradient();  // of the layout's dense part
  /// Of an embedding table of which a batch touches few rows.
  struct TableGradient {
    std::size_t offset = 0;               // of the table in the parameter block
    bool source = false, target = false;  // of which side the words are that choose its rows
    layers::RowGradient<Real> rows;
  };
  /// Of the source and of the target; or of one table for both. A table that is the output matrix too is none of them:
  /// every word touches all of its rows, so it belongs to the layout's dense part.
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

  /// As options().initialization says. A function of the seed and the options alone.
  void initialise(std::uint64_t seed);

  /// ADDS the gradient of the summed negative log-likelihood of the batch to `gradient`. </s> is appended to both sides
  /// here, and <s> put before the source where options().source_start says so. Pairs may come in any order; the sum's
  /// rounding depends on it. No pairs: nothing is added. With dropout both are of what the masks leave of the network;
  /// nothing else here ever drops.
  Loss accumulate_gradient(const Sentences& source, const Sentences& target, const GradientOptions& how = {});
  /// The same sum without the gradient, and without dropout.
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

  /// Rows of a search are opaque but for these: where the readout reads s_{i-1} and there is one layer of gru, tanh or
  /// mlp cells, a state is s_{i-1} and a context c_i.
  std::size_t state_width() const;
  std::size_t context_width() const;

  /// Where the time of all that was computed since they were last cleared went; whoever calls may count in it too.
  PhaseTimes& phases();

 private:
  std::unique_ptr<Network<Real>> network_;
};

extern template class Model<float>;
extern template class Model<double>;

}  // namespace rnnsearch::model
