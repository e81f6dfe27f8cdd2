#include "rnnsearch/model/options.h"

#include <algorithm>
#include <cassert>
#include <string>

#include "rnnsearch/base/error.h"

namespace rnnsearch::model {
namespace {

constexpr const char* kGroup = "Model";

// Within these no product of sizes overflows, and names can be listed.
constexpr Bounds kWords{.from = 3, .to = 1e8};  // from 3: the special symbols
constexpr Bounds kWidth{.from = 1, .to = 1e6}, kWidthOrNone{.from = 0, .to = 1e6};
constexpr Bounds kShare{.from = 0, .to = 1, .below = true};

bool read_inputs(const std::string& names, bool with_state, Inputs& field) {
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
  field = inputs;
  return true;
}

void add_inputs(OptionList& options, const char* name, Inputs& field, bool with_state, const char* help) {
  options.add({.name = name,
               .group = kGroup,
               .help = help,
               .read = [&field, with_state](const std::string& names) { return read_inputs(names, with_state, field); },
               .write = [&field] { return std::vector{name_of(field)}; },
               .placeholder = "LIST",
               .expected_text = with_state ? "one or more of state, word and context, with commas between, or none"
                                           : "one or more of word and context, with commas between, or none",
               .later = Later::kFixed});
}

}  // namespace

void declare_vocabulary_sizes(OptionList& options, ModelOptions& o) {
  options.group(kGroup);
  options.add("source-words", o.source_words, Later::kFixed, kWords,
              "size of the source vocabulary, special symbols included");
  options.add("target-words", o.target_words, Later::kFixed, kWords,
              "size of the target vocabulary, special symbols included");
}

void declare_architecture(OptionList& options, ModelOptions& o) {
  const auto add = [&](const char* name, auto& field, const auto&... more) {
    options.add(name, field, Later::kFixed, more...);
  };
  options.group(kGroup);
  options.add({.name = "attention",
               .group = kGroup,
               .help = "score function of the attention: how a decoder state and an annotation are compared. additive: "
                       "RNNsearch; none: no attention, as in RNNencdec",
               .read =
                   [&o](const std::string& name) {
                     const auto names = attention_names();
                     if (std::find(names.begin(), names.end(), name) == names.end()) return false;
                     o.attention = attention_of(name);
                     return true;
                   },
               .write = [&o] { return std::vector{o.attention.name()}; },
               .choices = attention_names(),
               .later = Later::kFixed});
  add("embedding", o.embedding, kWidth, "m, width of the word embeddings of both sides");
  add("state", o.state, kWidth,
      "n, width of the recurrent states of the decoder and, unless --encoder-state is given, of the encoder");
  add("encoder-state", o.encoder_state, kWidthOrNone,
      "width of the recurrent states of each direction of the encoder; 0: n, the width of --state");
  add("alignment", o.alignment, kWidth,
      "n', hidden width of the alignment model; scores without a hidden layer, such as dot and general, do not use it");
  add("maxout", o.maxout, kWidth, "l, number of maxout units of the readout; only with --readout maxout");
  add("readout-rank", o.readout_rank, kWidthOrNone,
      "factorize the output matrix into two matrices of this rank, which saves memory and time with a large "
      "vocabulary; the paper's code takes m. 0: one matrix");
  add("cell", o.cell, "recurrent unit of the encoder and the decoder");
  add("gru-reset", o.gru_reset,
      "where the reset gate of a GRU acts: before the product with the recurrent matrix, on the state, or after it, as "
      "in cuDNN and PyTorch");
  add("layers", o.layers, within(1, 100), "number of recurrent layers of the encoder, and of the decoder");
  add("encoder", o.encoder,
      "directions in which the encoder reads the source. auto: bidirectional with attention, forward without");
  add("source-start", o.source_start,
      "let the encoder read <s> before the first source word; only with --attention none");
  add("source-end", o.source_end, "let the encoder read </s> after the last source word");
  add("reverse-source", o.reverse_source,
      "let the encoder read the source from its last word to the first, then </s>. This helps models without attention "
      "(Sutskever et al. 2014). Alignments are written in the usual order of the words");
  add("target-direction", o.target_direction,
      "order in which the words of the target are predicted. Files keep the usual order of words in either case. A "
      "right-to-left model is mostly used to rescore the translations of a left-to-right one");
  add("attend-from", o.attend_from,
      "decoder state that the attention compares with the annotations: previous, s_{i-1} (Bahdanau), or current, s_i "
      "(Luong)");
  add("attention-window", o.attention_window,
      "source words that the attention sees: global, all of them; local-m, those around word i; local-p, those around "
      "a position that the model predicts");
  add("window", o.window, kWidth,
      "D, half width of a local attention window: the number of words on each side of its centre");
  add("fixed-context", o.fixed_context,
      "context of every decoder step with --attention none: the last state of the encoder (RNNencdec), or a tanh layer "
      "of it (Cho et al. 2014)");
  add("initial-state", o.initial_state,
      "initial state of the decoder: projected from an encoder state by a tanh layer; a copy of the backward, forward "
      "or final encoder state; or zero");
  add("state-word", o.state_word,
      "word that updates the decoder state to s_i: previous, y_{i-1}, as the paper writes, or current, y_i, as its "
      "code does");
  add_inputs(
      options, "state-inputs", o.state_inputs, false,
      "inputs of the decoder state besides the previous state: word, context, both with a comma between, or none");
  add("readout", o.readout, "layer between the decoder and the softmax");
  add("readout-state", o.readout_state,
      "decoder state that the readout of y_i reads: previous, s_{i-1}, or current, s_i");
  add_inputs(options, "readout-inputs", o.readout_inputs, true,
             "inputs of the readout: any of state, word and context, with commas between");
  add("input-feeding", o.input_feeding,
      "feed the readout's hidden vector to the next decoder state (Luong et al. 2015)");
  add("feedback", o.feedback,
      "what the next decoder step reads as the previous word. word: the embedding of the word; output: the readout's "
      "output vector");
  add("start", o.start,
      "what the first decoder step reads as the previous word. zero: a zero vector; embedded: the embedding of <s>");
  add("gate-biases", o.gate_biases, "add biases to the gates of the recurrent units");
  add("embedding-biases", o.embedding_biases, "add a bias vector to the embeddings of each side");
  add("layer-normalization", o.layer_normalization,
      "normalize the summed inputs of the recurrent units. This magnifies rounding in the first updates, so runs with "
      "different numbers of ranks or different --accumulate diverge from each other sooner than without it");
  add("dropout", o.dropout, kShare,
      "dropout probability of the units of word embeddings, between layers, and before the softmax, in training. "
      "Values of 0.1 to 0.3 help on small corpora. A number that is shown as X:X@N may change during training: "
      "0:0.2@6000 grows from 0 to 0.2 during the first 6000 updates, and then stays");
  add("dropout-kind", o.dropout_kind,
      "kind of dropout mask. plain: a mask for each time step, and no dropout of recurrent connections; variational: "
      "one mask for all time steps of a sentence, recurrent connections included, and word dropout drops all "
      "occurrences of a word");
  add("attention-dropout", o.attention_dropout, kShare, "dropout probability of attention weights in training");
  add("source-word-dropout", o.source_word_dropout, kShare,
      "probability with which the whole embedding of a source word is set to zero in training (word dropout). About "
      "0.1 helps on small corpora");
  add("target-word-dropout", o.target_word_dropout, kShare,
      "probability with which the whole embedding of a target word is set to zero in training where the decoder reads "
      "it as the previous word; the words to predict do not change");
  add("tied-embeddings", o.tied_embeddings,
      "share embedding matrices. target: the target embeddings are the output matrix; source-target: both sides have "
      "the same embeddings, which needs a joint vocabulary; all: both embeddings and the output matrix are the same");
  add("initialization", o.initialization,
      "distribution of the initial parameters. paper: recurrent matrices orthogonal, v_a zero, other matrices normal; "
      "gaussian: all matrices normal; xavier: all matrices uniform, by their sizes; uniform: all parameters uniform, "
      "biases included; pytorch: the defaults of PyTorch's modules, biases included. Biases are zero in the others");
  // ten times of it are a finite float32
  add("initial-deviation", o.initial_deviation,
      Bounds{.from = 0, .to = 1e37, .sentence = "of at least 0 and at most 1e37, because weights are float32"},
      "standard deviation of the initial parameters: of matrices that are not recurrent (paper), of all matrices "
      "(gaussian), or of all parameters (uniform: 0.0577, which is 0.1/sqrt(3), draws them between -0.1 and 0.1)");
}

void declare(OptionList& options, ModelOptions& o) {
  declare_vocabulary_sizes(options, o);
  declare_architecture(options, o);
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
