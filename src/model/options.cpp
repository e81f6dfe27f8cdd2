#include "rnnsearch/model/options.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <utility>

#include "rnnsearch/base/error.h"

namespace rnnsearch::model {
namespace {

template <class Value>
using Name = std::pair<Value, const char*>;

constexpr std::array<Name<Cell>, 4> kCells{
    {{Cell::kGru, "gru"}, {Cell::kLstm, "lstm"}, {Cell::kTanh, "tanh"}, {Cell::kMlp, "mlp"}}};
constexpr std::array<Name<GruReset>, 2> kResets{{{GruReset::kBefore, "before"}, {GruReset::kAfter, "after"}}};
constexpr std::array<Name<Encoder>, 3> kEncoders{
    {{Encoder::kAuto, "auto"}, {Encoder::kBidirectional, "bidirectional"}, {Encoder::kForward, "forward"}}};
constexpr std::array<Name<Step>, 2> kSteps{{{Step::kPrevious, "previous"}, {Step::kCurrent, "current"}}};
constexpr std::array<Name<AttentionWindow>, 3> kWindows{{{AttentionWindow::kGlobal, "global"},
                                                         {AttentionWindow::kLocalM, "local-m"},
                                                         {AttentionWindow::kLocalP, "local-p"}}};
constexpr std::array<Name<FixedContext>, 2> kFixedContexts{
    {{FixedContext::kLastState, "last-state"}, {FixedContext::kTanh, "tanh"}}};
constexpr std::array<Name<InitialState>, 5> kInitialStates{{{InitialState::kProjected, "projected"},
                                                            {InitialState::kBackward, "backward"},
                                                            {InitialState::kForward, "forward"},
                                                            {InitialState::kFinal, "final"},
                                                            {InitialState::kZero, "zero"}}};
constexpr std::array<Name<Readout>, 4> kReadouts{
    {{Readout::kMaxout, "maxout"}, {Readout::kTanh, "tanh"}, {Readout::kLinear, "linear"}, {Readout::kMlp, "mlp"}}};
constexpr std::array<Name<Feedback>, 2> kFeedbacks{{{Feedback::kWord, "word"}, {Feedback::kOutput, "output"}}};
constexpr std::array<Name<Start>, 2> kStarts{{{Start::kZero, "zero"}, {Start::kEmbedded, "embedded"}}};
constexpr std::array<Name<DropoutKind>, 2> kDropoutKinds{
    {{DropoutKind::kPlain, "plain"}, {DropoutKind::kVariational, "variational"}}};
constexpr std::array<Name<TiedEmbeddings>, 4> kTies{{{TiedEmbeddings::kNone, "none"},
                                                     {TiedEmbeddings::kTarget, "target"},
                                                     {TiedEmbeddings::kSourceTarget, "source-target"},
                                                     {TiedEmbeddings::kAll, "all"}}};
constexpr std::array<Name<Initialisation>, 5> kInitialisations{{{Initialisation::kPaper, "paper"},
                                                                {Initialisation::kGaussian, "gaussian"},
                                                                {Initialisation::kXavier, "xavier"},
                                                                {Initialisation::kUniform, "uniform"},
                                                                {Initialisation::kPytorch, "pytorch"}}};

[[noreturn]] void refuse_name(const char* option, const std::string& name, const std::vector<std::string>& choices) {
  std::string text;
  for (const std::string& choice : choices) {
    text += text_of(text.empty() ? "" : &choice == &choices.back() ? " or " : ", ", choice);
  }
  throw Error(text_of(option, " is '", name, "'; choose ", text));
}

template <class Value, std::size_t count>
std::string name_in(const std::array<Name<Value>, count>& names, Value wanted) {
  for (const auto& [value, name] : names) {
    if (value == wanted) return name;
  }
  return "";
}

template <class Value, std::size_t count>
std::vector<std::string> names_in(const std::array<Name<Value>, count>& names) {
  std::vector<std::string> all;
  for (const auto& [value, name] : names) all.emplace_back(name);
  return all;
}

template <class Value, std::size_t count>
Value value_of(const std::array<Name<Value>, count>& names, const char* option, const std::string& name) {
  for (const auto& [value, text] : names) {
    if (name == text) return value;
  }
  refuse_name(option, name, names_in(names));
}

Inputs inputs_of(const char* option, const std::string& names, bool with_state) {
  Inputs inputs;
  std::size_t begin = 0;
  while (begin <= names.size() && names != "none") {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    const std::string name = names.substr(begin, end - begin);
    bool* const input = name == "word"                  ? &inputs.word
                        : name == "context"             ? &inputs.context
                        : name == "state" && with_state ? &inputs.state
                                                        : nullptr;
    if (!input || *input) {
      throw Error(text_of(option, " is '", names, "'; choose one or more of ", with_state ? "state, " : "",
                          "word and context, with commas between, or none"));
    }
    *input = true;
    begin = end + 1;
  }
  return inputs;
}

[[noreturn]] void refuse(const std::string& what, const std::string& why, const std::string& next) {
  throw Error(text_of("model: ", what, " makes no sense: ", why, "; ", next));
}

}  // namespace

const kernels::Score& Attention::score() const {
  const kernels::Score* const score = kernels::find_score(name_);
  assert(score);
  return *score;
}

void check(const ModelOptions& o) {
  const auto at_least = [](const char* name, std::size_t value, std::size_t least) {
    if (value < least) throw Error(text_of("model: ", name, " is ", value, "; it must be at least ", least));
  };
  // Within these no product of sizes overflows, and names can be listed.
  const auto at_most = [](const char* name, std::size_t value, std::size_t most) {
    if (value > most) throw Error(text_of("model: ", name, " is ", value, "; it must be at most ", most));
  };
  for (const auto& [name, words] : {std::pair{"source-words", o.source_words}, {"target-words", o.target_words}}) {
    at_most(name, words, 100'000'000);
  }
  for (const auto& [name, width] : {std::pair{"embedding", o.embedding},
                                    {"state", o.state},
                                    {"encoder-state", o.encoder_state},
                                    {"alignment", o.alignment},
                                    {"maxout", o.maxout},
                                    {"readout-rank", o.readout_rank},
                                    {"window", o.window}}) {
    at_most(name, width, 1'000'000);
  }
  at_most("layers", o.layers, 100);
  at_least("source-words", o.source_words, 3);  // the special symbols
  at_least("target-words", o.target_words, 3);
  at_least("embedding", o.embedding, 1);
  at_least("state", o.state, 1);
  at_least("maxout", o.maxout, 1);
  at_least("layers", o.layers, 1);
  if (!(o.initial_deviation >= 0 && o.initial_deviation <= 1e37)) {  // ten times of it are a finite float32
    throw Error(text_of("model: initial-deviation is ", o.initial_deviation,
                        "; it must be at least 0 and at most 1e37, because weights are float32"));
  }
  const auto share = [](const char* name, double value) {
    if (!(value >= 0 && value < 1)) {
      throw Error(text_of("model: ", name, " is ", value, "; it must be at least 0 and below 1"));
    }
  };
  share("dropout", o.dropout);
  share("attention-dropout", o.attention_dropout);
  if (o.dropout_kind == DropoutKind::kVariational && o.dropout == 0) {
    refuse("dropout-kind = variational with dropout = 0", "nothing is dropped",
           "choose a dropout above 0, or leave dropout-kind at plain");
  }
  const std::string attention = "attention = " + name_of(o.attention);
  const std::size_t n = o.state;

  if (o.cell == Cell::kMlp && (n % 2 != 0 || o.encoder_width() % 2 != 0)) {
    refuse("cell = mlp with a state of odd width", "its hidden layer is half as wide", "choose an even state");
  }
  if (o.readout == Readout::kMlp && o.embedding % 2 != 0) {
    refuse("readout = mlp with an embedding of odd width", "its hidden layer is half as wide as its output",
           "choose an even embedding");
  }
  if (o.gru_reset == GruReset::kAfter && o.cell != Cell::kGru) {
    refuse("gru-reset = after with cell = " + name_of(o.cell), "this cell has no reset gate",
           "choose cell = gru, or leave gru-reset at before");
  }

  if (o.layer_normalisation && o.cell == Cell::kMlp) {
    refuse("layer-normalisation with cell = mlp", "its equations are those of gru, lstm and tanh cells",
           "choose one of these, or leave it out");
  }
  if (o.layer_normalisation && o.cell == Cell::kGru && o.gru_reset == GruReset::kBefore) {
    refuse("layer-normalisation with gru-reset = before",
           "its reset gate acts on the normalised product (Ba, Kiros and Hinton 2016, equation 21)",
           "choose gru-reset = after");
  }

  if (o.attends()) {
    at_least("alignment", o.alignment, 1);
    if (o.source_start) {
      refuse("source-start with " + attention,
             "<s> would be a word to look at, and alignments have a column for each source word and for </s> alone",
             "choose attention = none, or leave source-start out");
    }
    if (o.attention.score().needs_equal_widths() && o.annotation_width() != n) {
      refuse(attention,
             text_of("it compares the annotations with the decoder's state number by number, and they are ",
                     o.annotation_width(), " wide where the state is ", n),
             "choose attention = general, or encoder = forward, or an encoder-state that makes them equal");
    }
    if (o.attend_from == Step::kCurrent && o.readout_state == Step::kPrevious) {
      refuse("attend-from = current with readout-state = previous",
             "the readout of y_i comes before s_i there, so there is no s_i to attend from",
             "choose readout-state = current, or attend-from = previous");
    }
    if (o.attend_from == Step::kCurrent && o.state_inputs.context) {
      refuse("attend-from = current with the context among state-inputs",
             "c_i is made from s_i and cannot be an input of it",
             "choose state-inputs = word, and input-feeding for what was looked at before");
    }
    if (o.attention_window != AttentionWindow::kGlobal) at_least("window", o.window, 1);
    if (!o.state_inputs.context && !o.readout_inputs.context) {
      refuse(attention + " without the context among state-inputs or readout-inputs",
             "nothing reads what is attended to", "add context to one of them, or choose attention = none");
    }
  } else {
    if (o.attention_window != AttentionWindow::kGlobal) {
      refuse("attention-window = " + name_of(o.attention_window) + " with attention = none",
             "there is nothing to look through it", "choose a score, or attention-window = global");
    }
    if (o.attention_dropout > 0) {
      refuse("attention-dropout with attention = none", "there are no weights to drop",
             "choose a score, or attention-dropout = 0");
    }
    if (o.attend_from == Step::kCurrent) {
      refuse("attend-from = current with attention = none", "nothing attends",
             "choose a score, or leave it at previous");
    }
    if (o.input_feeding) {
      refuse("input-feeding with attention = none", "it tells the next state what was attended to, and nothing is",
             "choose a score, or leave it out");
    }
    if (!o.readout_inputs.state) {
      refuse("attention = none without the state among readout-inputs", "nothing would read the decoder's state",
             "add state to readout-inputs, or choose a score");
    }
    if (o.bidirectional() && !o.has_context()) {
      refuse("encoder = bidirectional without attention and context",
             "the decoder begins from the state of one direction, and nothing reads the other",
             "choose encoder = forward, or let the context into state-inputs");
    }
  }

  if (o.fixed_context == FixedContext::kTanh && !o.has_fixed_context()) {
    refuse(o.attends() ? "fixed-context = tanh with " + attention : "fixed-context = tanh without a context",
           o.attends() ? "attention makes a context of its own for every target word" : "nothing reads it",
           o.attends() ? "choose attention = none, or leave fixed-context at last-state"
                       : "add context to state-inputs or readout-inputs, or leave fixed-context at last-state");
  }

  if (o.updates_first() && o.state_word == Step::kCurrent && o.feedback == Feedback::kWord && o.state_inputs.word) {
    refuse("readout-state = current with state-word = current",
           "s_i would have read the word y_i that it is to predict", "choose state-word = previous");
  }
  const bool reads_current = !o.updates_first() && o.state_word == Step::kCurrent;
  if (o.feedback == Feedback::kOutput) {
    if (o.state_word == Step::kCurrent) {
      refuse("feedback = output with state-word = current",
             "what stands for the word is the readout's vector of the step before", "choose state-word = previous");
    }
    if (o.start == Start::kEmbedded && o.readout_width() != o.embedding) {
      refuse("feedback = output with start = embedded",
             text_of("the embedding of <s>, ", o.embedding, " wide, would stand for the readout's vector, which is ",
                     o.readout_width(), " wide"),
             "choose start = zero, or widths that are equal");
    }
    if (o.input_feeding) {
      refuse("feedback = output with input-feeding", "both hand on the same vector", "choose one of them");
    }
  }
  if (o.start == Start::kEmbedded && !o.readout_inputs.word && !(o.state_inputs.word && !reads_current)) {
    refuse("start = embedded", "nothing reads the word before", "choose start = zero, or add word to readout-inputs");
  }
  if (o.input_feeding && !o.readout_inputs.context) {
    refuse("input-feeding without the context among readout-inputs",
           "the vector that it hands on would not know what was attended to", "add context to readout-inputs");
  }
  const bool fed = o.input_feeding || o.feeds_output();
  const std::string feeding = o.input_feeding ? "input-feeding" : "feedback = output";
  if (fed && !o.updates_first()) {
    refuse(feeding + " with readout-state = previous",
           "it hands the readout's vector of one step to the state of the next", "choose readout-state = current");
  }
  if (o.input_feeding && o.readout == Readout::kLinear) {
    refuse("input-feeding with readout = linear", "a linear readout has no vector of its own to hand on",
           "choose readout = tanh, mlp or maxout");
  }
  if (!o.readout_inputs.state && !o.readout_inputs.word && !o.readout_inputs.context) {
    refuse("readout-inputs = none", "the readout would know nothing", "choose some of state, word and context");
  }
  if (!o.state_inputs.word && !o.state_inputs.context && !o.input_feeding &&
      !(o.attends() && o.readout_inputs.context)) {
    refuse("state-inputs = none without attention that the readout sees",
           "neither the state nor the readout would learn what was read or written",
           "choose word, context or both, or add context to readout-inputs and choose a score");
  }

  const bool copied = o.initial_state == InitialState::kBackward || o.initial_state == InitialState::kForward ||
                      o.initial_state == InitialState::kFinal;
  const std::string initial = "initial-state = " + name_of(o.initial_state);
  if (copied && o.encoder_width() != n) {
    refuse(initial,
           text_of("a copied state has the encoder's width, ", o.encoder_width(), ", and the decoder's is ", n),
           "choose initial-state = projected, or encoder-state = 0");
  }
  if (o.initial_state == InitialState::kBackward && !o.bidirectional()) {
    refuse(initial + " with a forward encoder", "there is no backward state to begin from",
           "choose initial-state = final, or encoder = bidirectional");
  }
  if (o.initial_state == InitialState::kFinal && o.bidirectional()) {
    refuse(initial + " with a bidirectional encoder", "it ends at both ends of the sentence",
           "choose initial-state = forward, backward or projected");
  }
  if (o.initial_state == InitialState::kZero && !o.has_context()) {
    refuse(initial + " without attention and context", "the decoder would know nothing of the source",
           "choose another initial-state, or let the context into state-inputs");
  }

  const std::string tied = "tied-embeddings = " + name_of(o.tied_embeddings);
  if (o.ties_sides() && o.source_words != o.target_words) {
    refuse(tied,
           text_of("one table for both sides needs one vocabulary, and the source's has ", o.source_words,
                   " words where the target's has ", o.target_words),
           "prepare the corpus with --joint-vocabulary, or choose tied-embeddings = target or none");
  }
  if (o.ties_output() && o.output_width() != o.embedding) {
    const bool by_maxout = o.readout == Readout::kMaxout && o.readout_rank == 0;
    refuse(tied,
           text_of("the output matrix would be an embedding table, whose rows are ", o.embedding,
                   " wide, and what it multiplies is ", o.output_width(), " wide"),
           text_of("choose readout-rank = ", o.embedding, by_maxout ? text_of(" or maxout = ", o.embedding) : "",
                   ", or tied-embeddings without the output"));
  }
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

namespace {

// The equations of appendix A, whatever a fixed context is.
bool has_equations_of_the_paper(const ModelOptions& o) {
  constexpr Inputs kAll{.state = true, .word = true, .context = true};
  return o.cell == Cell::kGru && o.gru_reset == GruReset::kBefore && o.layers == 1 && o.encoder_width() == o.state &&
         (o.attention == Attention::kNone || o.attention == Attention::kAdditive) && o.bidirectional() == o.attends() &&
         o.attend_from == Step::kPrevious && o.attention_window == AttentionWindow::kGlobal &&
         o.initial_state == InitialState::kProjected && o.state_inputs.word && o.state_inputs.context &&
         o.readout_inputs == kAll && o.readout == Readout::kMaxout && o.readout_state == Step::kPrevious &&
         !o.input_feeding && o.feedback == Feedback::kWord && o.start == Start::kZero && !o.source_start &&
         o.dropout == 0 && o.attention_dropout == 0 && !o.layer_normalisation &&
         o.tied_embeddings == TiedEmbeddings::kNone;
}

}  // namespace

bool is_fused(const ModelOptions& o) {
  return has_equations_of_the_paper(o) && o.fixed_context == FixedContext::kLastState;
}

namespace {

// By what sets it apart; cells, layers and widths do not, where their source tried several. "": of no source.
std::string name_in_literature(const ModelOptions& o) {
  if (is_fused(o)) return o.attends() ? "RNNsearch" : "RNNencdec";
  if (has_equations_of_the_paper(o)) return "RNN encoder-decoder with the tanh context of Cho et al. (2014)";
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
    return text_of("Luong et al. (2015), ", name_of(o.attention_window), ", ", name_of(o.attention),
                   o.input_feeding ? "" : ", no input feeding");
  }
  if (looks_before && global && o.cell == Cell::kGru && o.gru_reset == GruReset::kAfter &&
      o.readout == Readout::kLinear && o.state_inputs == kWordAndContext && o.readout_inputs == kState &&
      o.feedback == Feedback::kWord) {
    return text_of("Dive into Deep Learning, stacked GRU, ", name_of(o.attention));
  }
  if (looks_before && global && o.cell == Cell::kTanh && o.readout == Readout::kLinear &&
      o.state_inputs == kWordAndContext && o.readout_inputs == kAll) {
    return text_of("attention notebook", o.feedback == Feedback::kOutput ? " as printed, " : ", ",
                   name_of(o.attention));
  }
  if (looks_before && global && o.cell == Cell::kMlp && o.readout == Readout::kMlp) {
    std::string name = text_of("replication with perceptrons, ", name_of(o.attention));
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

std::string system_of(const ModelOptions& o) {
  // What regularises a system does not make it another.
  ModelOptions plain = o;
  plain.dropout = plain.attention_dropout = 0;
  plain.layer_normalisation = false;
  plain.tied_embeddings = TiedEmbeddings::kNone;
  if (plain != o) {
    std::string text = system_of(plain);
    if (o.layer_normalisation) text += ", layer normalisation";
    if (o.tied_embeddings != TiedEmbeddings::kNone) text += ", tied embeddings (" + name_of(o.tied_embeddings) + ")";
    return text;
  }
  const std::string name = name_in_literature(o);
  if (has_equations_of_the_paper(o)) return name;
  std::string text = o.layers > 1 ? text_of(o.layers, " layers of ") : std::string();
  text += name_of(o.cell) + " cells, ";
  text += o.bidirectional() ? "bidirectional encoder" : "forward encoder";
  if (!name.empty()) return text_of(name, "; ", text);
  if (!o.has_context()) return text + ", the encoder's state alone";
  if (!o.attends()) {
    return text +
           (o.fixed_context == FixedContext::kTanh ? ", one fixed context behind a tanh layer" : ", one fixed context");
  }
  text += ", " + name_of(o.attention) + " attention from the " + name_of(o.attend_from) + " state";
  if (o.attention_window != AttentionWindow::kGlobal) {
    text += text_of(", ", name_of(o.attention_window), " window of ", o.window);
  }
  return text + (o.input_feeding ? ", input feeding" : "");
}

Cell cell_of(const std::string& name) {
  return value_of(kCells, "cell", name);
}
GruReset gru_reset_of(const std::string& name) {
  return value_of(kResets, "gru-reset", name);
}
Encoder encoder_of(const std::string& name) {
  return value_of(kEncoders, "encoder", name);
}
Attention attention_of(const std::string& name) {
  if (name == Attention::kNone.name()) return Attention::kNone;
  if (const kernels::Score* const score = kernels::find_score(name)) return Attention(score->name);
  refuse_name("attention", name, attention_names());
}
Step attend_from_of(const std::string& name) {
  return value_of(kSteps, "attend-from", name);
}
AttentionWindow attention_window_of(const std::string& name) {
  return value_of(kWindows, "attention-window", name);
}
FixedContext fixed_context_of(const std::string& name) {
  return value_of(kFixedContexts, "fixed-context", name);
}
InitialState initial_state_of(const std::string& name) {
  return value_of(kInitialStates, "initial-state", name);
}
StateWord state_word_of(const std::string& name) {
  return value_of(kSteps, "state-word", name);
}
Inputs state_inputs_of(const std::string& names) {
  return inputs_of("state-inputs", names, false);
}
Inputs readout_inputs_of(const std::string& names) {
  return inputs_of("readout-inputs", names, true);
}
Readout readout_of(const std::string& name) {
  return value_of(kReadouts, "readout", name);
}
Step readout_state_of(const std::string& name) {
  return value_of(kSteps, "readout-state", name);
}
Feedback feedback_of(const std::string& name) {
  return value_of(kFeedbacks, "feedback", name);
}
Start start_of(const std::string& name) {
  return value_of(kStarts, "start", name);
}
DropoutKind dropout_kind_of(const std::string& name) {
  return value_of(kDropoutKinds, "dropout-kind", name);
}

TiedEmbeddings tied_embeddings_of(const std::string& name) {
  return value_of(kTies, "tied-embeddings", name);
}
Initialisation initialisation_of(const std::string& name) {
  return value_of(kInitialisations, "initialisation", name);
}

std::string name_of(Cell cell) {
  return name_in(kCells, cell);
}
std::string name_of(GruReset reset) {
  return name_in(kResets, reset);
}
std::string name_of(Encoder encoder) {
  return name_in(kEncoders, encoder);
}
std::string name_of(Step step) {
  return name_in(kSteps, step);
}
std::string name_of(AttentionWindow window) {
  return name_in(kWindows, window);
}
std::string name_of(FixedContext context) {
  return name_in(kFixedContexts, context);
}
std::string name_of(InitialState state) {
  return name_in(kInitialStates, state);
}
std::string name_of(Inputs inputs) {
  std::string names;
  for (const auto& [input, name] :
       {Name<bool>{inputs.state, "state"}, {inputs.word, "word"}, {inputs.context, "context"}}) {
    if (input) names += text_of(names.empty() ? "" : ",", name);
  }
  return names.empty() ? "none" : names;
}
std::string name_of(Readout readout) {
  return name_in(kReadouts, readout);
}
std::string name_of(Feedback feedback) {
  return name_in(kFeedbacks, feedback);
}
std::string name_of(Start start) {
  return name_in(kStarts, start);
}
std::string name_of(DropoutKind kind) {
  return name_in(kDropoutKinds, kind);
}

std::string name_of(TiedEmbeddings tied) {
  return name_in(kTies, tied);
}
std::string name_of(Initialisation initialisation) {
  return name_in(kInitialisations, initialisation);
}

std::vector<std::string> cell_names() {
  return names_in(kCells);
}
std::vector<std::string> attention_names() {
  std::vector<std::string> all{Attention::kNone.name()};
  for (const kernels::Score& score : kernels::scores()) all.emplace_back(score.name);
  return all;
}

}  // namespace rnnsearch::model
