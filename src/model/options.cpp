#include "rnnsearch/model/options.h"

#include <algorithm>
#include <cassert>
#include <string>

#include "rnnsearch/base/error.h"

namespace rnnsearch::model {
namespace {

using enum Later;
using M = ModelOptions;

template <auto member, bool with_state>
bool read_inputs(const std::string& names, M& o) {
  Inputs inputs;
  std::size_t begin = 0;
  while (begin <= names.size() && names != "none") {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    const std::string name = names.substr(begin, end - begin);
    bool* const input = name == "word"                  ? &inputs.word
                        : name == "context"             ? &inputs.context
                        : name == "state" && with_state ? &inputs.state
                                                        : nullptr;
    if (!input || *input) return false;
    *input = true;
    begin = end + 1;
  }
  o.*member = inputs;
  return true;
}
template <auto member, bool with_state>
constexpr Field<M> inputs_field() {
  return {value::Kind::kText, read_inputs<member, with_state>, [](const M& o) { return name_of(o.*member); },
          &value::choices_of<std::string>,
          with_state ? "one or more of state, word and context, with commas between, or none"
                     : "one or more of word and context, with commas between, or none"};
}
constexpr Field<M> kAttentionField{value::Kind::kText,
                                   [](const std::string& name, M& o) {
                                     const auto names = attention_names();
                                     if (std::find(names.begin(), names.end(), name) == names.end()) return false;
                                     o.attention = attention_of(name);
                                     return true;
                                   },
                                   [](const M& o) { return o.attention.name(); }, attention_names};

// Within these no product of sizes overflows, and names can be listed.
constexpr Bounds kWords{.from = 3, .to = 1e8};  // from 3: the special symbols
constexpr Bounds kWidth{.from = 1, .to = 1e6}, kWidthOrNone{.from = 0, .to = 1e6};
constexpr Bounds kShare{.from = 0, .to = 1, .below = true};

constexpr Option<M> kOptions[]{
    row(kFixed, "source-words", "size of the source vocabulary, special symbols included", field<&M::source_words>(),
        {.group = "Model", .bounds = kWords}),
    row(kFixed, "target-words", "size of the target vocabulary, special symbols included", field<&M::target_words>(),
        {.bounds = kWords}),
    row(kFixed, "attention",
        "score function of the attention: how a decoder state and an annotation are compared. additive: RNNsearch; "
        "none: no attention, as in RNNencdec",
        kAttentionField),
    row(kFixed, "embedding", "m, width of the word embeddings of both sides", field<&M::embedding>(),
        {.bounds = kWidth}),
    row(kFixed, "state",
        "n, width of the recurrent states of the decoder and, unless --encoder-state is given, of the encoder",
        field<&M::state>(), {.bounds = kWidth}),
    row(kFixed, "encoder-state",
        "width of the recurrent states of each direction of the encoder; 0: n, the width of --state",
        field<&M::encoder_state>(), {.bounds = kWidthOrNone}),
    row(kFixed, "alignment",
        "n', hidden width of the alignment model; scores without a hidden layer, such as dot and general, do not use "
        "it",
        field<&M::alignment>(), {.bounds = kWidth}),
    row(kFixed, "maxout", "l, number of maxout units of the readout; only with --readout maxout", field<&M::maxout>(),
        {.bounds = kWidth}),
    row(kFixed, "readout-rank",
        "factorize the output matrix into two matrices of this rank, which saves memory and time with a large "
        "vocabulary; the paper's code takes m. 0: one matrix",
        field<&M::readout_rank>(), {.bounds = kWidthOrNone}),
    row(kFixed, "cell", "recurrent unit of the encoder and the decoder", field<&M::cell>()),
    row(kFixed, "gru-reset",
        "where the reset gate of a GRU acts: before the product with the recurrent matrix, on the state, or after it, "
        "as in cuDNN and PyTorch",
        field<&M::gru_reset>()),
    row(kFixed, "layers", "number of recurrent layers of the encoder, and of the decoder", field<&M::layers>(),
        {.bounds = {.from = 1, .to = 100}}),
    row(kFixed, "encoder",
        "directions in which the encoder reads the source. auto: bidirectional with attention, forward without",
        field<&M::encoder>()),
    row(kFixed, "source-start", "let the encoder read <s> before the first source word; only with --attention none",
        field<&M::source_start>()),
    row(kFixed, "source-end", "let the encoder read </s> after the last source word", field<&M::source_end>()),
    row(kFixed, "reverse-source",
        "let the encoder read the source from its last word to the first, then </s>. This helps models without "
        "attention (Sutskever et al. 2014). Alignments are written in the usual order of the words",
        field<&M::reverse_source>()),
    row(kFixed, "target-direction",
        "order in which the words of the target are predicted. Files keep the usual order of words in either case. A "
        "right-to-left model is mostly used to rescore the translations of a left-to-right one",
        field<&M::target_direction>()),
    row(kFixed, "attend-from",
        "decoder state that the attention compares with the annotations: previous, s_{i-1} (Bahdanau), or current, "
        "s_i (Luong)",
        field<&M::attend_from>()),
    row(kFixed, "attention-window",
        "source words that the attention sees: global, all of them; local-m, those around word i; local-p, those "
        "around a position that the model predicts",
        field<&M::attention_window>()),
    row(kFixed, "window", "D, half width of a local attention window: the number of words on each side of its centre",
        field<&M::window>(), {.bounds = kWidth}),
    row(kFixed, "fixed-context",
        "context of every decoder step with --attention none: the last state of the encoder (RNNencdec), or a tanh "
        "layer of it (Cho et al. 2014)",
        field<&M::fixed_context>()),
    row(kFixed, "initial-state",
        "initial state of the decoder: projected from an encoder state by a tanh layer; a copy of the backward, "
        "forward or final encoder state; or zero",
        field<&M::initial_state>()),
    row(kFixed, "state-word",
        "word that updates the decoder state to s_i: previous, y_{i-1}, as the paper writes, or current, y_i, as "
        "its code does",
        field<&M::state_word>()),
    row(kFixed, "state-inputs",
        "inputs of the decoder state besides the previous state: word, context, both with a comma between, or none",
        inputs_field<&M::state_inputs, false>(), {.placeholder = "LIST"}),
    row(kFixed, "readout", "layer between the decoder and the softmax", field<&M::readout>()),
    row(kFixed, "readout-state", "decoder state that the readout of y_i reads: previous, s_{i-1}, or current, s_i",
        field<&M::readout_state>()),
    row(kFixed, "readout-inputs", "inputs of the readout: any of state, word and context, with commas between",
        inputs_field<&M::readout_inputs, true>(), {.placeholder = "LIST"}),
    row(kFixed, "input-feeding", "feed the readout's hidden vector to the next decoder state (Luong et al. 2015)",
        field<&M::input_feeding>()),
    row(kFixed, "feedback",
        "what the next decoder step reads as the previous word. word: the embedding of the word; output: the readout's "
        "output vector",
        field<&M::feedback>()),
    row(kFixed, "start",
        "what the first decoder step reads as the previous word. zero: a zero vector; embedded: the embedding of <s>",
        field<&M::start>()),
    row(kFixed, "gate-biases", "add biases to the gates of the recurrent units", field<&M::gate_biases>()),
    row(kFixed, "embedding-biases", "add a bias vector to the embeddings of each side", field<&M::embedding_biases>()),
    row(kFixed, "layer-normalization",
        "normalize the summed inputs of the recurrent units. This magnifies rounding in the first updates, so runs "
        "with "
        "different numbers of ranks or different --accumulate diverge from each other sooner than without it",
        field<&M::layer_normalization>()),
    row(kFixed, "dropout",
        "dropout probability of the units of word embeddings, between layers, and before the softmax, in training. "
        "Values of 0.1 to 0.3 help on small corpora",
        field<&M::dropout>(), {.bounds = kShare}),
    row(kFixed, "dropout-kind",
        "kind of dropout mask. plain: a mask for each time step, and no dropout of recurrent connections; variational: "
        "one mask for all time steps of a sentence, recurrent connections included, and word dropout drops all "
        "occurrences of a word",
        field<&M::dropout_kind>()),
    row(kFixed, "attention-dropout", "dropout probability of attention weights in training",
        field<&M::attention_dropout>(), {.bounds = kShare}),
    row(kFixed, "source-word-dropout",
        "probability with which the whole embedding of a source word is set to zero in training (word dropout). About "
        "0.1 helps on small corpora",
        field<&M::source_word_dropout>(), {.bounds = kShare}),
    row(kFixed, "target-word-dropout",
        "probability with which the whole embedding of a target word is set to zero in training where the decoder "
        "reads "
        "it as the previous word; the words to predict do not change",
        field<&M::target_word_dropout>(), {.bounds = kShare}),
    row(kFixed, "tied-embeddings",
        "share embedding matrices. target: the target embeddings are the output matrix; source-target: both sides have "
        "the same embeddings, which needs a joint vocabulary; all: both embeddings and the output matrix are the same",
        field<&M::tied_embeddings>()),
    row(kFixed, "initialization",
        "distribution of the initial parameters. paper: recurrent matrices orthogonal, v_a zero, other matrices "
        "normal; gaussian: all matrices normal; xavier: all matrices uniform, by their sizes; uniform: all "
        "parameters uniform, biases included; pytorch: the defaults of PyTorch's modules, biases included. Biases "
        "are zero in the others",
        field<&M::initialization>()),
    // ten times of it are a finite float32
    row(kFixed, "initial-deviation",
        "standard deviation of the initial parameters: of matrices that are not recurrent (paper), of all matrices "
        "(gaussian), or of all parameters (uniform: 0.0577, which is 0.1/sqrt(3), draws them between -0.1 and 0.1)",
        field<&M::initial_deviation>(),
        {.bounds = {.from = 0, .to = 1e37, .sentence = "of at least 0 and at most 1e37, because weights are float32"}}),
};
static_assert(all_say_what_is_later(std::span<const Option<M>>(kOptions)), "what may a later attempt do with it?");

}  // namespace

std::span<const Option<ModelOptions>> option_table() {
  return kOptions;
}

const kernels::Score& Attention::score() const {
  const kernels::Score* const score = kernels::find_score(name_);
  assert(score);
  return *score;
}

std::size_t ModelOptions::readout_width() const {
  if (has_linear_vector()) return embedding;
  switch (readout) {
    case Readout::kMaxout:
      return maxout;
    case Readout::kTanh:
      return state;
    case Readout::kLinear:
      return (readout_inputs.state ? state : 0) + (readout_inputs.word ? embedding : 0) +
             (readout_inputs.context ? context_width() : 0);
    case Readout::kMlp:
      return embedding;
  }
  return 0;
}

Attention attention_of(const std::string& name) {
  if (name == Attention::kNone.name()) return Attention::kNone;
  if (const kernels::Score* const score = kernels::find_score(name)) return Attention(score->name);
  throw Error("attention is '{}'; choose {}", name, expected_of(value::Kind::kText, {}, attention_names()));
}

std::string name_of(Inputs inputs) {
  std::string names;
  for (const auto& [input, name] : {Named{inputs.state, "state"}, {inputs.word, "word"}, {inputs.context, "context"}}) {
    if (input) names += fmt::format("{}{}", names.empty() ? "" : ",", name);
  }
  return names.empty() ? "none" : names;
}

std::vector<std::string> attention_names() {
  std::vector<std::string> all{Attention::kNone.name()};
  for (const kernels::Score& score : kernels::scores()) all.emplace_back(score.name);
  return all;
}

}  // namespace rnnsearch::model
