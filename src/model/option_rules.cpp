#include "rnnsearch/model/options.h"

#include "rnnsearch/base/error.h"

namespace rnnsearch::model {
namespace {

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
bool is_local(const M& o) {
  return o.attention_window != AttentionWindow::kGlobal;
}

constexpr Rule<M> kRules[]{
    {[](const M& o) {
       return o.dropout_kind == DropoutKind::kVariational && o.dropout == 0 && o.source_word_dropout == 0 &&
              o.target_word_dropout == 0;
     },
     "dropout-kind = variational with dropout = 0", "nothing is dropped",
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
     "where "
     "the state is {state}",
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

}  // namespace

void check(const ModelOptions& options) {
  check_options<ModelOptions>(options, kRules, kDerived, "model: ");
}

}  // namespace rnnsearch::model
