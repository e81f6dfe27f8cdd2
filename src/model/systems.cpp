#include "rnnsearch/model/options.h"

#include "rnnsearch/base/error.h"

namespace rnnsearch::model {
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
