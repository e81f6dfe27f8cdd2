// The translation model, forward and backward: RNNsearch and RNNencdec (both Bahdanau, Cho and Bengio 2015, appendix
// A), and the other systems that the options describe.
//
// Letters used in shapes: B sentences, R rows (hypotheses), m embedding, n state, C width of c_i
// (ModelOptions::context_width(): 2n for RNNsearch, n for RNNencdec), S width of the state of a decoder layer, K target
// vocabulary. A Model is not thread-safe, but uses all threads of base/parallel.h itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/base/sentences.h"
#include "rnnsearch/base/stopwatch.h"
#include "rnnsearch/kernels/buffer.h"
#include "rnnsearch/kernels/precision.h"
#include "rnnsearch/kernels/top_words.h"
#include "rnnsearch/layers/embedding.h"
#include "rnnsearch/layers/shortlist_output.h"
#include "rnnsearch/model/options.h"

namespace rnnsearch::model {

/// One weight with its name in a checkpoint, such as "decoder/W_z" [m, n]. A matrix is multiplied by a row vector from
/// the left. In memory it is a block of columns of a wider matrix (W, W_z and W_r share their input, so they form one
/// product): element (i, j) is block[offset + i * stride + j].
struct Parameter {
  std::string name;
  std::vector<std::size_t> shape;  // one or two dimensions
  std::size_t offset = 0;
  std::size_t stride = 0;

  std::size_t rows() const { return shape.size() == 2 ? shape[0] : 1; }
  std::size_t cols() const { return shape.back(); }
  std::size_t count() const { return rows() * cols(); }
};

/// All weights of a model are in one contiguous block, and this lists their names, shapes and offsets.
struct ParameterLayout {
  std::vector<Parameter> parameters;
  std::size_t size = 0;  // elements of the block; every element belongs to exactly one parameter
  /// Number of elements before the embedding tables that have a sparse gradient, which come last. The gradient of [0,
  /// dense) is a block like that of the parameters; the gradient of the tables is stored by rows.
  std::size_t dense = 0;

  /// Throws Error if there is no parameter of this name.
  const Parameter& find(const std::string& name) const;
};

/// A part of a model's gradient that becomes final at once while a batch is computed: elements [first, first + size) of
/// Model::gradient, or a table.
struct GradientPart {
  std::size_t first = 0, size = 0;
  int table = -1;  // index in Model::table_gradients, or negative
};

/// Copies row-major `dense` [parameter.count()] to one parameter of a block with the size of the layout.
void copy_in(const Parameter& parameter, std::span<const Real> dense, std::span<Real> block);

// The encoded source sentences of a search, and what its hypotheses continue from, as a value: the search reorders,
// drops and repeats its rows without knowing what they hold. n': width of the keys, H: that of the readout's vector.

/// Model::encode creates it; the caller owns it, and must change it only by `replace`.
struct Encoded {
  std::vector<std::size_t> offsets;   // [B + 1] rows of sentence b, including </s>, are offsets[b] to offsets[b + 1]
  kernels::Buffer<Real> annotations;  // [words, C] h_j, sentence by sentence (empty without attention)
  kernels::Buffer<Real> keys;  // [words, n'] h_j U_a (empty without attention or U_a, or if rounded_keys is used)
  // In a precision below float32 each step reads these instead (rounded_keys is empty without U_a).
  kernels::Buffer<kernels::BFloat16> rounded_annotations, rounded_keys;
  kernels::Buffer<Real> contexts;        // [B, C] c (empty with attention)
  kernels::Buffer<Real> initial_states;  // [B, layers * S] s_0, layer by layer

  std::size_t sentences() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  std::size_t source_length(std::size_t b) const { return offsets[b + 1] - offsets[b]; }

  /// Keeps these sentences, which are in ascending order, and adds those of `more`, which the same model has encoded in
  /// the same precision. They get the numbers 0, 1, ... in that order.
  void replace(std::span<const std::uint32_t> kept, Encoded more);
};

/// Model::start creates it, and only Model::predict, Model::advance and `select` change it. Step i of a search is
/// `predict`, `select` with the chosen words y_i, and `advance`.
struct SearchState {
  std::vector<std::uint32_t> sentence;  // [R] the encoded sentence that each row translates
  std::vector<WordId> previous;         // [R] y_{i-1}; kStart at i = 1
  std::vector<WordId> word;             // [R] y_i, from `select` on
  std::vector<std::uint32_t> written;   // [R] i - 1: the number of words before y_i
  /// [R, layers * S] s_{i-1}, layer by layer. After `predict` s_i, if the model updates the state before the readout.
  kernels::Buffer<Real> states;
  kernels::Buffer<Real> fed;      // [R, H] the vector of the readout that step i reads; without columns if none does
  kernels::Buffer<Real> context;  // [R, C] c_i, if `advance` needs it
  kernels::Buffer<Real> spare;    // the memory in which `select` gathers rows

  std::size_t rows() const { return sentence.size(); }
  /// Row k becomes a copy of row parent[k], and its next word is chosen[k]. There may be more or fewer rows afterwards.
  void select(std::span<const std::uint32_t> parent, std::span<const WordId> chosen);
  /// Between two steps: adds `count` rows of `other`, a state before its first step, from row `first` on. Their
  /// sentences get the numbers that they have there plus `shift`.
  void append(const SearchState& other, std::size_t first, std::size_t count, std::uint32_t shift);
};

/// What the arithmetic cost of an update or a translation depends on, to express its speed in GFLOP/s.
struct BatchSize {
  double pairs = 0;
  double source_words = 0, target_words = 0;  // including <s> and </s> where the model reads them
  /// The embeddings that are multiplied: by default those of all words; fewer where a word that the batch has several
  /// times is multiplied once.
  double source_embeddings = source_words, target_embeddings = target_words;
  double output_share = 1;  // of the target vocabulary, over which the softmax sums
  BatchSize& operator+=(const BatchSize& other);
};

/// Floating-point operations of matrix products, by the phase in which they are made (base/stopwatch.h).
struct ProductFlop {
  double encoder = 0, decoder = 0, readout = 0;
  double total() const { return encoder + decoder + readout; }
  ProductFlop& operator+=(const ProductFlop& other);
  ProductFlop operator*(double times) const;
};

/// The number of floating-point operations in the matrix products of a forward pass, where a product [rows, inputs] by
/// [inputs, outputs] takes 2 * rows * inputs * outputs. The count follows the equations of Bahdanau, Cho and Bengio
/// (2015), appendix A: every source word passes through the encoder and every target word through one step of decoder
/// and readout. What a fixed context adds to the state is counted once for each sentence.
/// Sums, gates, energies, weighted sums of annotations, softmax and optimiser are not counted: they are few
/// operations, although they take time.
ProductFlop forward_flop(const ModelOptions& options, const BatchSize& batch);

/// Those of an update: the forward pass, and the gradients of inputs and of weights, which take the same each.
ProductFlop update_flop(const ModelOptions& options, const BatchSize& batch);

/// A sum over words, not a mean: the ranks add up their sums and divide once.
struct Loss {
  double negative_log_likelihood = 0;  // nats
  std::uint64_t words = 0;             // target words, </s> included
  double alignment = 0;                // the alignment cost of guided alignment, with its weight, in nats
};

/// What Model::predict computes for the R rows of a search.
struct Prediction {
  Matrix log_probabilities;  // [R, K] out: natural logarithm of p(y_i | ...); empty if `top` is given
  /// [R, at least the longest source length of the rows] out, or empty if not needed. Columns past the source length of
  /// a row are exactly 0; without attention all columns are.
  Matrix alpha{};
  /// Only the most probable words of each row, with the same bits but faster, if not null. Its look_up may be called
  /// until the next call of `predict`.
  kernels::TopWords* top = nullptr;
  /// Model::shortlist of the encoded sentences: the words whose probability is not 0. Null: all.
  layers::ShortlistOutput* shortlist = nullptr;
};

/// The attention weights of one pair in forced decoding.
struct Alignment {
  double log_probability = 0;  // log p(target | source), including </s>
  /// alpha_ij, [Ty, Tx] row-major, including </s> on both sides. Every row sums to 1, except with local-p.
  std::vector<Real> alpha;
};

/// The seed of the dropout masks. A mask is a function of these numbers, of the number of a pair in the global batch,
/// and of the place, step and unit in the network. It therefore does not depend on the number of ranks, pieces and
/// threads.
struct DropoutSeed {
  std::uint64_t seed = 0, update = 0;
  std::uint64_t first_pair = 0, pair_stride = 1;  // pair i of this share has number first_pair + i * pair_stride
};

/// Guided alignment (Chen, Matusov, Khadivi and Peter 2016, arXiv 1607.01628): the cost of a batch is
///   sum_i -log p(y_i | ...)  +  weight * sum_i sum_j -A_ij log alpha_ij,
/// where A_ij is 1 divided by the number of links of target word i, if one of them goes to source word j, and else 0.
/// Words without links and </s> add nothing.
struct GuidedAlignment {
  double weight = 0;  // at least 0; 0: none
  /// For each pair its links, each as the positions of a source word and of a target word, from 0 in the order of the
  /// sentence: s, t, s, t, ... It must outlive the call.
  const Sentences* links = nullptr;
};

/// Options of accumulate_gradient.
struct GradientOptions {
  /// If set, finished(part) is called when this batch adds nothing more to a part. It is called for all parts of
  /// Model::gradient_parts, in their order, on the calling thread, while later parts are still to be computed.
  std::function<void(const GradientPart& part)> finished{};
  /// At least 0 and below 1. The gradient is that of the smoothed cost (kernels/softmax.h); the loss is not smoothed.
  double label_smoothing = 0;
  DropoutSeed dropout_seed{};          // used if options() have dropout
  GuidedAlignment guided_alignment{};  // REQUIRES: no weight without global attention
  /// The weight of each pair: the gradient is that of the sum over the pairs of weight times cost, guided alignment
  /// included; the losses are not weighted. All are 1 if it is empty.
  std::span<const float> weights{};
  /// The target words over which the softmax sums, ascending, with </s> and all words of the targets (Jean et al. 2015,
  /// section 3.1); empty: the whole vocabulary. The loss is that of this softmax. REQUIRES: not empty for a model that is
  /// `sampled`.
  std::span<const WordId> sample{};
};

/// The parameters of a Model(options), without allocating them. Throws Error as check(options) does.
ParameterLayout parameter_layout_of(const ModelOptions& options);

class Model {
 public:
  /// Weights are zero until `initialise` is called or they are written through `parameters`. sampled: every gradient has
  /// a sample (GradientOptions::sample), so that of a table that is also the output matrix is sparse.
  explicit Model(const ModelOptions& options, bool sampled = false);
  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  const ModelOptions& options() const;
  const ParameterLayout& layout() const;
  std::span<Real> parameters();
  std::span<const Real> parameters() const;
  /// The gradient of the dense part of the layout; unspecified before zero_gradient or accumulate_gradient.
  std::span<Real> gradient();
  /// The sparse gradient of an embedding table.
  struct TableGradient {
    std::size_t offset = 0;               // offset of the table in the parameter block
    bool source = false, target = false;  // the sides whose words select its rows
    bool output = false;                  // whether the words of the sample do
    layers::RowGradient rows;
  };
  /// One for the source and one for the target, or one for a table that both share. Without a sample, a table that is
  /// also the output matrix is not included: its gradient is dense, so it belongs to the dense part of the layout.
  std::span<TableGradient> table_gradients();
  /// All parts of the gradient, each element once, in the order in which accumulate_gradient finishes them (from the
  /// readout back to the source words and the weights of the encoder). Depends only on the constructor's arguments.
  std::span<const GradientPart> gradient_parts() const;
  /// Sets all gradients to 0. Call it before every batch but the first.
  void zero_gradient();

  /// Promises that the parameters do not change any more, so that all searches together pack the matrices only once.
  /// The promise ends when `parameters` of a model that is not const, `initialise` or `accumulate_gradient` is called.
  void fix_parameters();

  /// Initialises the weights as options().initialization says. The result depends only on the seed and the options.
  void initialise(std::uint64_t seed);

  /// ADDS the gradient of the summed negative log-likelihood of the batch to the gradients, and returns the loss.
  /// Appends </s> to both sides, and puts <s> before the source if options().source_start is set. The pairs may be in
  /// any order, which affects only rounding. An empty batch adds nothing. With dropout, loss and gradient are those of
  /// the network with dropped units; no other function applies dropout.
  Loss accumulate_gradient(const Sentences& source, const Sentences& target, const GradientOptions& how = {});
  /// The batch of the last call of accumulate_gradient, as forward_flop counts it.
  BatchSize last_batch() const;
  /// The loss of a batch, without gradient and dropout.
  Loss loss(const Sentences& source, const Sentences& target);
  /// log p(target | source) of each pair, including </s>.
  std::vector<double> score(const Sentences& source, const Sentences& target);
  /// The summands of each: log p of every target word after those that were predicted before it, that of </s> last.
  std::vector<std::vector<double>> word_scores(const Sentences& source, const Sentences& target);
  /// The same as `score`, with the attention weights of each target word (section 3.1, equation 6), including </s> on
  /// both sides. The result for a pair does not depend on the other pairs, except for rounding. Without attention alpha
  /// is empty.
  std::vector<Alignment> align(const Sentences& source, const Sentences& target);

  /// Encodes sentences in any order; the rows of the result are in the caller's order, and those of a sentence in the
  /// order of its words, also with options().reverse_source.
  Encoded encode(const Sentences& source);
  /// The state of a search before its first step: one row for each sentence, in their order. Sentences may begin while
  /// others are searched: encoded.replace and state.append join them. Weights must not change between `start` and the
  /// last step, because `start` prepares the matrices for all steps.
  SearchState start(const Encoded& encoded);
  /// The first half of a decoder step: the distribution of the next word y_i of every row. It also completes `state`
  /// for `advance`. encoded: must hold every sentence that a row of `state` names. A model with
  /// options().right_to_left() predicts the last word of the sentence first; all other functions take and return
  /// targets in the order of their words.
  void predict(const Encoded& encoded, SearchState& state, const Prediction& prediction);
  /// log p of every word, [row.size(), K] out, for these rows, which ascend, of the last call of `predict`, which had
  /// `top`. lists: the shortlist that it had, and the sentences of all rows.
  void predict_all(std::span<const std::uint32_t> row, Matrix log_probabilities,
                   const layers::ShortlistRows& lists = {});
  /// For Prediction::shortlist: lists[b] are the words of encoded sentence b, ascending, at least one. Rows of a search
  /// with a shortlist must be in the order of their sentences. It holds a copy of parameters, and `together` is for
  /// speed alone: see layers::ShortlistOutput.
  layers::ShortlistOutput shortlist(const Sentences& lists, std::size_t together);
  /// The second half of the step, after state.select(...) has chosen y_i: s_i, and y_i becomes the previous word.
  void advance(SearchState& state);

  /// The time spent in each phase since the last clear(). The caller may count its own time in it too.
  PhaseTimes& phases();

  /// What the model is made of, for tests: src/model/impl.h.
  struct Impl;
  const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace rnnsearch::model
