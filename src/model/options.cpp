#include "rnnsearch/model/options.h"

#include <algorithm>
#include <cassert>

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

using M = ModelOptions;

constexpr Derived<M> kDerived[]{
    {"encoder-width", [](const M& o) { return value::write(o.encoder_width()); }},
    {"annotation-width", [](const M& o) { return value::write(o.annotation_width()); }},
    {"readout-width", [](const M& o) { return value::write(o.readout_width()); }},
    {"output-width", [](const M& o) { return value::write(o.output_width()); }},
    {"or-maxout",  // what else would make the output as wide as an embedding
     [](const M& o) {
       return o.readout == Readout::kMaxout && o.readout_rank == 0 ? fmt::format(" or maxout = {}", o.embedding) : "";
     }},
};

bool copies_state(const M& o) {
  return o.initial_state == InitialState::kBackward || o.initial_state == InitialState::kForward ||
         o.initial_state == InitialState::kFinal;
}
bool is_local(const M& o) { return o.attention_window != AttentionWindow::kGlobal; }

constexpr Rule<M> kRules[]{
    {[](const M& o) { return o.dropout_kind == DropoutKind::kVariational && !o.drops_units(); },
     "dropout-kind = variational with dropout = {dropout}", "nothing is dropped",
     "choose a dropout or word dropout above 0, or leave dropout-kind at plain"},
    {[](const M& o) {
       const bool reads = (o.state_inputs.word || o.readout_inputs.word) && o.feedback == Feedback::kWord;
       return o.target_word_dropout.largest() > 0 && !reads;
     },
     "target-word-dropout above 0 with feedback = {feedback}, state-inputs = {state-inputs} and readout-inputs = "
     "{readout-inputs}",
     "the decoder reads no target word",
     "choose target-word-dropout = 0, or feedback = word with word among state-inputs or readout-inputs"},
    {[](const M& o) { return o.cell == Cell::kMlp && (o.state % 2 != 0 || o.encoder_width() % 2 != 0); },
     "cell = mlp with a state of odd width", "its hidden layer is half as wide", "choose an even state"},
    {[](const M& o) { return o.readout == Readout::kMlp && o.embedding % 2 != 0; },
     "readout = mlp with an embedding of odd width", "its hidden layer is half as wide as its output",
     "choose an even embedding"},
    {[](const M& o) { return o.gru_reset == GruReset::kAfter && o.cell != Cell::kGru; },
     "gru-reset = after with cell = {cell}", "this cell has no reset gate",
     "choose cell = gru, or leave gru-reset at before"},
    {[](const M& o) { return o.layer_normalization && o.cell == Cell::kMlp; }, "layer-normalization with cell = mlp",
     "its equations are those of gru, lstm and tanh cells", "choose one of these, or leave it out"},
    {[](const M& o) { return o.layer_normalization && o.cell == Cell::kGru && o.gru_reset == GruReset::kBefore; },
     "layer-normalization with gru-reset = before",
     "its reset gate acts on the normalised product (Ba, Kiros and Hinton 2016, equation 21)",
     "choose gru-reset = after"},

    // what attention needs
    {[](const M& o) { return o.attends() && o.source_start; }, "source-start with attention = {attention}",
     "<s> would be a word to look at, and alignments have a column for each source word and for </s> alone",
     "choose attention = none, or leave source-start out"},
    {[](const M& o) {
       return o.attends() && o.attention.score().needs_equal_widths() && o.annotation_width() != o.state;
     },
     "attention = {attention}",
     "it compares the annotations with the decoder's state number by number, and they are {annotation-width} wide "
     "where the state is {state}",
     "choose attention = general, or encoder = forward, or an encoder-state that makes them equal"},
    {[](const M& o) { return o.attends() && o.attend_from == Step::kCurrent && o.readout_state == Step::kPrevious; },
     "attend-from = current with readout-state = previous",
     "the readout of y_i comes before s_i there, so there is no s_i to attend from",
     "choose readout-state = current, or attend-from = previous"},
    {[](const M& o) { return o.attends() && o.attend_from == Step::kCurrent && o.state_inputs.context; },
     "attend-from = current with the context among state-inputs", "c_i is made from s_i and cannot be an input of it",
     "choose state-inputs = word, and input-feeding for what was looked at before"},
    {[](const M& o) { return o.attends() && !o.state_inputs.context && !o.readout_inputs.context; },
     "attention = {attention} without the context among state-inputs or readout-inputs",
     "nothing reads what is attended to", "add context to one of them, or choose attention = none"},

    {[](const M& o) { return o.attends() && o.attention_window == AttentionWindow::kLocalM && o.right_to_left(); },
     "attention-window = local-m with target-direction = right-to-left",
     "the window of the i-th word that is predicted is around source word i, and that word is the i-th from the end",
     "choose attention-window = local-p or global, or target-direction = left-to-right"},

    // what makes no sense without attention
    {[](const M& o) { return !o.attends() && is_local(o); },
     "attention-window = {attention-window} with attention = none", "there is nothing to look through it",
     "choose a score, or attention-window = global"},
    {[](const M& o) { return !o.attends() && o.attention_dropout.largest() > 0; },
     "attention-dropout with attention = none", "there are no weights to drop",
     "choose a score, or attention-dropout = 0"},
    {[](const M& o) { return !o.attends() && o.attend_from == Step::kCurrent; },
     "attend-from = current with attention = none", "nothing attends", "choose a score, or leave it at previous"},
    {[](const M& o) { return !o.attends() && o.input_feeding; }, "input-feeding with attention = none",
     "it tells the next state what was attended to, and nothing is", "choose a score, or leave it out"},
    {[](const M& o) { return !o.attends() && !o.readout_inputs.state; },
     "attention = none without the state among readout-inputs", "nothing would read the decoder's state",
     "add state to readout-inputs, or choose a score"},
    {[](const M& o) { return !o.attends() && o.bidirectional() && !o.has_context(); },
     "encoder = bidirectional without attention and context",
     "the decoder begins from the state of one direction, and nothing reads the other",
     "choose encoder = forward, or let the context into state-inputs"},
    {[](const M& o) { return o.fixed_context == FixedContext::kTanh && o.attends(); },
     "fixed-context = tanh with attention = {attention}", "attention makes a context of its own for every target word",
     "choose attention = none, or leave fixed-context at last-state"},
    {[](const M& o) { return o.fixed_context == FixedContext::kTanh && !o.has_context(); },
     "fixed-context = tanh without a context", "nothing reads it",
     "add context to state-inputs or readout-inputs, or leave fixed-context at last-state"},

    // who reads which word and which vector
    {[](const M& o) {
       return o.updates_first() && o.state_word == Step::kCurrent && o.feedback == Feedback::kWord &&
              o.state_inputs.word;
     },
     "readout-state = current with state-word = current", "s_i would have read the word y_i that it is to predict",
     "choose state-word = previous"},
    {[](const M& o) { return o.feedback == Feedback::kOutput && o.state_word == Step::kCurrent; },
     "feedback = output with state-word = current",
     "what stands for the word is the readout's vector of the step before", "choose state-word = previous"},
    {[](const M& o) {
       return o.feedback == Feedback::kOutput && o.start == Start::kEmbedded && o.readout_width() != o.embedding;
     },
     "feedback = output with start = embedded",
     "the embedding of <s>, {embedding} wide, would stand for the readout's vector, which is {readout-width} wide",
     "choose start = zero, or widths that are equal"},
    {[](const M& o) { return o.feedback == Feedback::kOutput && o.input_feeding; },
     "feedback = output with input-feeding", "both hand on the same vector", "choose one of them"},
    {[](const M& o) {
       const bool reads_current = !o.updates_first() && o.state_word == Step::kCurrent;
       return o.start == Start::kEmbedded && !o.readout_inputs.word && !(o.state_inputs.word && !reads_current);
     },
     "start = embedded", "nothing reads the word before", "choose start = zero, or add word to readout-inputs"},
    {[](const M& o) { return o.input_feeding && !o.readout_inputs.context; },
     "input-feeding without the context among readout-inputs",
     "the vector that it hands on would not know what was attended to", "add context to readout-inputs"},
    {[](const M& o) { return o.input_feeding && !o.updates_first(); }, "input-feeding with readout-state = previous",
     "it hands the readout's vector of one step to the state of the next", "choose readout-state = current"},
    {[](const M& o) { return o.feeds_output() && !o.updates_first(); },
     "feedback = output with readout-state = previous",
     "it hands the readout's vector of one step to the state of the next", "choose readout-state = current"},
    {[](const M& o) { return o.input_feeding && o.readout == Readout::kLinear; }, "input-feeding with readout = linear",
     "a linear readout has no vector of its own to hand on", "choose readout = tanh, mlp or maxout"},
    {[](const M& o) { return o.readout_inputs == Inputs{}; }, "readout-inputs = none", "the readout would know nothing",
     "choose some of state, word and context"},
    {[](const M& o) {
       return !o.state_inputs.word && !o.state_inputs.context && !o.input_feeding &&
              !(o.attends() && o.readout_inputs.context);
     },
     "state-inputs = none without attention that the readout sees",
     "neither the state nor the readout would learn what was read or written",
     "choose word, context or both, or add context to readout-inputs and choose a score"},

    // where the decoder begins
    {[](const M& o) { return copies_state(o) && o.encoder_width() != o.state; }, "initial-state = {initial-state}",
     "a copied state has the encoder's width, {encoder-width}, and the decoder's is {state}",
     "choose initial-state = projected, or encoder-state = 0"},
    {[](const M& o) { return o.initial_state == InitialState::kBackward && !o.bidirectional(); },
     "initial-state = backward with a forward encoder", "there is no backward state to begin from",
     "choose initial-state = final, or encoder = bidirectional"},
    {[](const M& o) { return o.initial_state == InitialState::kFinal && o.bidirectional(); },
     "initial-state = final with a bidirectional encoder", "it ends at both ends of the sentence",
     "choose initial-state = forward, backward or projected"},
    {[](const M& o) { return o.initial_state == InitialState::kZero && !o.has_context(); },
     "initial-state = zero without attention and context", "the decoder would know nothing of the source",
     "choose another initial-state, or let the context into state-inputs"},

    // shared tables
    {[](const M& o) { return o.ties_sides() && o.source_words != o.target_words; },
     "tied-embeddings = {tied-embeddings}",
     "one table for both sides needs one vocabulary, and the source's has {source-words} words where the target's has "
     "{target-words}",
     "prepare the corpus with --joint-vocabulary, or choose tied-embeddings = target or none"},
    {[](const M& o) { return o.ties_output() && o.output_width() != o.embedding; },
     "tied-embeddings = {tied-embeddings}",
     "the output matrix would be an embedding table, whose rows are {embedding} wide, and what it multiplies is "
     "{output-width} wide",
     "choose readout-rank = {embedding}{or-maxout}, or tied-embeddings without the output"},
};

// The equations of appendix A, whatever a fixed context is.
bool has_equations_of_the_paper(const ModelOptions& o) {
  constexpr Inputs kAll{.state = true, .word = true, .context = true};
  return o.cell == Cell::kGru && o.gru_reset == GruReset::kBefore && o.layers == 1 && o.encoder_width() == o.state &&
         (o.attention == Attention::kNone || o.attention == Attention::kAdditive) && o.bidirectional() == o.attends() &&
         o.attend_from == Step::kPrevious && o.attention_window == AttentionWindow::kGlobal &&
         o.initial_state == InitialState::kProjected && o.state_inputs.word && o.state_inputs.context &&
         o.readout_inputs == kAll && o.readout == Readout::kMaxout && o.readout_state == Step::kPrevious &&
         !o.input_feeding && o.feedback == Feedback::kWord && o.start == Start::kZero && !o.source_start &&
         o.dropout == 0 && o.attention_dropout == 0 && !o.layer_normalization &&
         o.tied_embeddings == TiedEmbeddings::kNone;
}

// By what sets it apart; cells, layers and widths do not, where their source tried several. "": of no source.
std::string name_in_literature(const ModelOptions& o) {
  if (has_equations_of_the_paper(o)) {
    if (o.fixed_context == FixedContext::kTanh) return "RNN encoder-decoder with the tanh context of Cho et al. (2014)";
    return o.attends() ? "RNNsearch" : "RNNencdec";
  }
  if (!o.updates_first()) return "";
  constexpr Inputs kWord{.word = true}, kWordAndContext{.word = true, .context = true}, kState{.state = true},
      kContext{.context = true};
  constexpr Inputs kAll{.state = true, .word = true, .context = true}, kStateAndContext{.state = true, .context = true};
  const bool looks_before = o.attends() && o.attend_from == Step::kPrevious && !o.input_feeding;
  const bool global = o.attention_window == AttentionWindow::kGlobal;

  if (!o.attends() && !o.has_context() && o.readout == Readout::kLinear && o.readout_inputs == kState) {
    return o.source_start ? "traditional sequence to sequence" : "Sutskever et al. (2014)";
  }
  if (o.attends() && o.attend_from == Step::kCurrent && o.readout == Readout::kTanh && o.state_inputs == kWord &&
      o.readout_inputs == kStateAndContext && o.feedback == Feedback::kWord && !o.bidirectional() &&
      (o.attention == attention_of("dot") || o.attention == attention_of("general") ||
       o.attention == attention_of("concat"))) {
    return fmt::format("Luong et al. (2015), {}, {}{}", name_of(o.attention_window), name_of(o.attention),
                       o.input_feeding ? "" : ", no input feeding");
  }
  if (looks_before && global && o.cell == Cell::kGru && o.gru_reset == GruReset::kAfter &&
      o.readout == Readout::kLinear && o.state_inputs == kWordAndContext && o.readout_inputs == kState &&
      o.feedback == Feedback::kWord) {
    return fmt::format("Dive into Deep Learning, stacked GRU, {}", name_of(o.attention));
  }
  if (looks_before && global && o.cell == Cell::kTanh && o.readout == Readout::kLinear &&
      o.state_inputs == kWordAndContext && o.readout_inputs == kAll) {
    return fmt::format("attention notebook{}{}", o.feedback == Feedback::kOutput ? " as printed, " : ", ",
                       name_of(o.attention));
  }
  if (looks_before && global && o.cell == Cell::kMlp && o.readout == Readout::kMlp) {
    std::string name = fmt::format("replication with perceptrons, {}", name_of(o.attention));
    if (o.initial_state == InitialState::kZero) name += ", a: the state begins from zero";
    if (o.readout_inputs == kState) name += ", b: the readout sees the state alone";
    if (o.readout_inputs == kStateAndContext && o.state_inputs == kContext)
      name += ", c: nothing sees the previous word";
    if (o.readout_inputs == kAll && o.state_inputs == Inputs{}) name += ", d: the state sees itself alone";
    return name;
  }
  return "";
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
      "distribution of the initial parameters. paper: recurrent matrices orthogonal, weights of the alignment model "
      "zero (v_a) or small, other matrices normal; orthogonal: recurrent matrices orthogonal, v_a and all other "
      "matrices normal, so that attention learns sooner; gaussian: all matrices normal; xavier: all matrices uniform, "
      "by their sizes; uniform: all parameters uniform, biases included; pytorch: the defaults of PyTorch's modules, "
      "biases included. Biases are zero in the others");
  // ten times of it are a finite float32
  add("initial-deviation", o.initial_deviation,
      Bounds{.from = 0, .to = 1e37, .sentence = "of at least 0 and at most 1e37, because weights are float32"},
      "standard deviation of the initial parameters: of matrices that are not recurrent (paper, orthogonal), of all "
      "matrices (gaussian), or of all parameters (uniform: 0.0577, which is 0.1/sqrt(3), draws them between -0.1 and "
      "0.1)");
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

void check(const ModelOptions& options) { check_options<ModelOptions>(options, kRules, kDerived, "model: "); }

std::string system_of(const ModelOptions& o) {
  // What regularises a system, and the order of the words, does not make it another.
  ModelOptions plain = o;
  plain.reverse_source = false;
  plain.target_direction = TargetDirection::kLeftToRight;
  plain.dropout = plain.attention_dropout = plain.source_word_dropout = plain.target_word_dropout = 0;
  plain.layer_normalization = false;
  plain.tied_embeddings = TiedEmbeddings::kNone;
  if (plain != o) {
    std::string text = system_of(plain);
    if (o.layer_normalization) text += ", layer normalisation";
    if (o.tied_embeddings != TiedEmbeddings::kNone) text += ", tied embeddings (" + name_of(o.tied_embeddings) + ")";
    if (o.reverse_source) text += ", reversed source";
    if (o.right_to_left()) text += ", right to left";
    return text;
  }
  const std::string name = name_in_literature(o);
  if (has_equations_of_the_paper(o)) return name;
  std::string text = o.layers > 1 ? fmt::format("{} layers of ", o.layers) : std::string();
  text += name_of(o.cell) + " cells, ";
  text += o.bidirectional() ? "bidirectional encoder" : "forward encoder";
  if (!name.empty()) return fmt::format("{}; {}", name, text);
  if (!o.has_context()) return text + ", the encoder's state alone";
  if (!o.attends()) {
    return text +
           (o.fixed_context == FixedContext::kTanh ? ", one fixed context behind a tanh layer" : ", one fixed context");
  }
  text += ", " + name_of(o.attention) + " attention from the " + name_of(o.attend_from) + " state";
  if (o.attention_window != AttentionWindow::kGlobal) {
    text += fmt::format(", {} window of {}", name_of(o.attention_window), o.window);
  }
  return text + (o.input_feeding ? ", input feeding" : "");
}

}  // namespace rnnsearch::model
