// What one composable model can be. Defaults are RNNsearch-50 of Bahdanau, Cho and Bengio (2015), as its code trained
// it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/base/option.h"
#include "rnnsearch/kernels/scores.h"

namespace rnnsearch::model {

enum class Cell { kGru, kLstm, kTanh, kMlp };
constexpr auto names_of(Cell) {
  return std::array{Named{Cell::kGru, "gru"}, Named{Cell::kLstm, "lstm"}, Named{Cell::kTanh, "tanh"},
                    Named{Cell::kMlp, "mlp"}};
}
enum class GruReset { kBefore, kAfter };
constexpr auto names_of(GruReset) {
  return std::array{Named{GruReset::kBefore, "before"}, Named{GruReset::kAfter, "after"}};
}
enum class Encoder { kAuto, kBidirectional, kForward };
constexpr auto names_of(Encoder) {
  return std::array{Named{Encoder::kAuto, "auto"}, Named{Encoder::kBidirectional, "bidirectional"},
                    Named{Encoder::kForward, "forward"}};
}
enum class Step { kPrevious, kCurrent };  // i - 1, i
constexpr auto names_of(Step) {
  return std::array{Named{Step::kPrevious, "previous"}, Named{Step::kCurrent, "current"}};
}
using StateWord = Step;
enum class AttentionWindow { kGlobal, kLocalM, kLocalP };
constexpr auto names_of(AttentionWindow) {
  return std::array{Named{AttentionWindow::kGlobal, "global"}, Named{AttentionWindow::kLocalM, "local-m"},
                    Named{AttentionWindow::kLocalP, "local-p"}};
}
enum class FixedContext { kLastState, kTanh };
constexpr auto names_of(FixedContext) {
  return std::array{Named{FixedContext::kLastState, "last-state"}, Named{FixedContext::kTanh, "tanh"}};
}
enum class InitialState { kProjected, kBackward, kForward, kFinal, kZero };
constexpr auto names_of(InitialState) {
  return std::array{Named{InitialState::kProjected, "projected"}, Named{InitialState::kBackward, "backward"},
                    Named{InitialState::kForward, "forward"}, Named{InitialState::kFinal, "final"},
                    Named{InitialState::kZero, "zero"}};
}
enum class Readout { kMaxout, kTanh, kLinear, kMlp };
constexpr auto names_of(Readout) {
  return std::array{Named{Readout::kMaxout, "maxout"}, Named{Readout::kTanh, "tanh"}, Named{Readout::kLinear, "linear"},
                    Named{Readout::kMlp, "mlp"}};
}
enum class Feedback { kWord, kOutput };
constexpr auto names_of(Feedback) {
  return std::array{Named{Feedback::kWord, "word"}, Named{Feedback::kOutput, "output"}};
}
enum class Start { kZero, kEmbedded };
constexpr auto names_of(Start) {
  return std::array{Named{Start::kZero, "zero"}, Named{Start::kEmbedded, "embedded"}};
}
enum class DropoutKind { kPlain, kVariational };
constexpr auto names_of(DropoutKind) {
  return std::array{Named{DropoutKind::kPlain, "plain"}, Named{DropoutKind::kVariational, "variational"}};
}
enum class TiedEmbeddings { kNone, kTarget, kSourceTarget, kAll };
constexpr auto names_of(TiedEmbeddings) {
  return std::array{Named{TiedEmbeddings::kNone, "none"}, Named{TiedEmbeddings::kTarget, "target"},
                    Named{TiedEmbeddings::kSourceTarget, "source-target"}, Named{TiedEmbeddings::kAll, "all"}};
}
enum class Initialization { kPaper, kGaussian, kXavier, kUniform, kPytorch };
constexpr auto names_of(Initialization) {
  return std::array{Named{Initialization::kPaper, "paper"}, Named{Initialization::kGaussian, "gaussian"},
                    Named{Initialization::kXavier, "xavier"}, Named{Initialization::kUniform, "uniform"},
                    Named{Initialization::kPytorch, "pytorch"}};
}

/// A score of kernels/scores.h by its name, or none.
class Attention {
 public:
  static const Attention kNone, kAdditive;

  std::string name() const { return std::string(name_); }
  /// REQUIRES: not none.
  const kernels::Score& score() const;

  friend bool operator==(const Attention&, const Attention&) = default;
  friend Attention attention_of(const std::string& name);

 private:
  explicit constexpr Attention(std::string_view name) : name_(name) {}

  std::string_view name_;  // the list's own, or "none"
};
inline constexpr Attention Attention::kNone{"none"};
inline constexpr Attention Attention::kAdditive{"additive"};

/// Which of them a layer reads. A layer of the state reads its previous state always.
struct Inputs {
  bool state = false, word = false, context = false;

  friend bool operator==(const Inputs&, const Inputs&) = default;
};

struct ModelOptions {
  std::size_t source_words = 0;   // Kx: size of the source vocabulary, special symbols included
  std::size_t target_words = 0;   // Ky
  std::size_t embedding = 620;    // m, both sides (paper, section 4.2 and appendix A)
  std::size_t state = 1000;       // n, decoder, and encoder (each direction) if encoder_state is 0
  std::size_t encoder_state = 0;  // of each direction; 0: n
  std::size_t alignment = 1000;   // n', width of the alignment model
  std::size_t maxout = 500;       // l, maxout units; the readout before them has 2l
  std::size_t readout_rank = 0;   // 0: W_o is [l, Ky]; else [l, rank] times [rank, Ky] (the released code: m)

  Cell cell = Cell::kGru;
  /// before: h~ reads (r o h) U (Cho et al. 2014). after: r o (h U + b_U) (cuDNN, PyTorch).
  GruReset gru_reset = GruReset::kBefore;
  /// auto: bidirectional with attention, forward without.
  Encoder encoder = Encoder::kAuto;
  std::size_t layers = 1;  // of encoder and decoder, each

  /// The encoder reads <s> before x_1. Only without attention: <s> would be a word to look at, and alignments have no
  /// column for it. The length of a source, Tx, does not count it.
  bool source_start = false;
  /// The encoder reads </s> after the last source word, and Tx counts it. Most sources do so; the replication's code
  /// and the notebooks do not.
  bool source_end = true;
  /// Tx of a source of so many words. A source without words is read as </s> alone in any case.
  std::size_t source_length(std::size_t words) const { return source_end || words == 0 ? words + 1 : words; }

  /// additive: RNNsearch. none: RNNencdec, in which every decoder step and the readout see one fixed context c.
  /// The others: src/kernels/scores/.
  Attention attention = Attention::kAdditive;
  /// How the fixed context c of a model without attention is made.
  /// last-state: c is the last state of the forward encoder itself (Bahdanau, Cho and Bengio 2015, appendix A.2.2: "if
  /// we fix c_i to h_Tx"; the released code does the same). With layers, that of the top layer. With a bidirectional
  /// encoder, c = [forward state at Tx; backward state at 1].
  /// tanh: c = tanh(x V + b_V) of that vector x, [n] wide: the layer of Cho et al. (2014), arXiv 1406.1078, appendix A.
  FixedContext fixed_context = FixedContext::kLastState;
  /// Which state the scores are made of: s_{i-1} (Bahdanau), or s_i (Luong).
  Step attend_from = Step::kPrevious;
  AttentionWindow attention_window = AttentionWindow::kGlobal;
  std::size_t window = 10;  // D of a local one (Luong et al. 2015, section 3.2)

  /// projected: tanh(x W_s + b_s) of the state that is nearest to the sentence's beginning: the backward encoder's, or
  /// without one the last of the forward encoder, or c. The others copy a state, layer by layer (final: of a forward
  /// encoder), or begin from 0.
  InitialState initial_state = InitialState::kProjected;
  /// current: s_i = f(s_{i-1}, y_i, c_i), as the released code. previous: y_{i-1}, as the paper writes.
  StateWord state_word = StateWord::kCurrent;
  Inputs state_inputs{.state = false, .word = true, .context = true};
  Inputs readout_inputs{.state = true, .word = true, .context = true};
  Readout readout = Readout::kMaxout;
  /// Which state the readout of y_i sees.
  Step readout_state = Step::kPrevious;
  /// The readout's hidden vector is an input of the next state (Luong et al. 2015, section 3.3).
  bool input_feeding = false;
  /// output: that vector stands where the previous word's embedding stands. A linear readout then has a vector of its
  /// own, o_i = s_i U_o + c_i C_o + o_{i-1} V_o + b_o [m] (the attention notebook's W_out [s_i; c_i; y_{i-1}] + b_out),
  /// and the softmax is of o_i W_o + b_w. In the notebook o_i is all there is: it has no vocabulary to choose from.
  /// It changes nothing when neither the state nor the readout reads the previous word.
  Feedback feedback = Feedback::kWord;
  /// What stands before the first word: nothing, or the embedding of <s>; with feedback = output too, where o_i is as
  /// wide as an embedding.
  Start start = Start::kZero;

  bool gate_biases = false;      // b_z, b_r; the released code has none
  bool embedding_biases = true;  // one vector a side, added to every embedding; the released code has them
  /// Which matrices are one (Press and Wolf 2017; Inan, Khosravi and Socher 2017): target: the output matrix is the
  /// target's embedding table, W_o = E_y^T. source-target: both sides have one table. all: all three.
  TiedEmbeddings tied_embeddings = TiedEmbeddings::kNone;

  /// P: the share of the units that are dropped while a gradient is computed (Srivastava et al. 2014): of the embedded
  /// words, between layers, and of the readout's vector before the softmax.
  double dropout = 0;
  /// plain: each time step anew, the recurrent connections never (Zaremba, Sutskever and Vinyals 2014). variational:
  /// one mask a sentence for all its time steps, and on h_{t-1} too (Gal and Ghahramani 2016).
  DropoutKind dropout_kind = DropoutKind::kPlain;
  double attention_dropout = 0;  // the same share of alpha, each time step anew
  /// Of the cells' summed inputs (Ba, Kiros and Hinton 2016); the gates then have biases, those of the normalisation.
  bool layer_normalization = false;

  /// paper: U orthogonal, W_a and U_a with a tenth of the deviation, v_a = 0. gaussian: all alike. xavier: uniform
  /// within sqrt(6 / (rows + cols)). Biases are 0 in these. uniform: all parameters alike, the biases too, uniform
  /// between -sqrt(3) and sqrt(3) times the deviation (Sutskever, Vinyals and Le 2014, section 3.4; Luong, Pham and
  /// Manning 2015, section 4.1). pytorch: the defaults of its modules, see model/initialise.h.
  Initialization initialization = Initialization::kPaper;
  /// Standard deviation of the matrices that are not recurrent when training begins (the released code: 0.01); W_a and
  /// U_a get a tenth of it.
  double initial_deviation = 0.01;

  bool attends() const { return attention != Attention::kNone; }
  bool bidirectional() const { return encoder == Encoder::kBidirectional || (encoder == Encoder::kAuto && attends()); }
  std::size_t encoder_width() const { return encoder_state > 0 ? encoder_state : state; }  // of each direction
  std::size_t annotation_width() const { return bidirectional() ? 2 * encoder_width() : encoder_width(); }
  /// c exists: with attention, or where something reads it.
  bool has_context() const { return attends() || state_inputs.context || readout_inputs.context; }
  /// c exists and is the same at every decoder step.
  bool has_fixed_context() const { return !attends() && has_context(); }
  /// The width of c: that of the annotations, or n behind the tanh layer.
  std::size_t context_width() const {
    if (!has_context()) return 0;
    return has_fixed_context() && fixed_context == FixedContext::kTanh ? state : annotation_width();
  }
  /// Something reads the readout's vector of the step before in place of the previous word's embedding.
  bool feeds_output() const { return feedback == Feedback::kOutput && (state_inputs.word || readout_inputs.word); }
  /// Something reads the readout's vector of the step before.
  bool feeds() const { return input_feeding || feeds_output(); }
  /// The vector of a linear readout is fed back, so it is not the readout's inputs side by side.
  bool has_linear_vector() const { return readout == Readout::kLinear && feedback == Feedback::kOutput; }
  /// H, the width of the readout's vector before the softmax.
  std::size_t readout_width() const;
  /// The rows of W_o: H, or the rank of its factors.
  std::size_t output_width() const { return readout_rank > 0 ? readout_rank : readout_width(); }
  /// W_o is an embedding table.
  bool ties_output() const {
    return tied_embeddings == TiedEmbeddings::kTarget || tied_embeddings == TiedEmbeddings::kAll;
  }
  /// One table embeds the words of both sides.
  bool ties_sides() const {
    return tied_embeddings == TiedEmbeddings::kSourceTarget || tied_embeddings == TiedEmbeddings::kAll;
  }
  /// The state is updated before the word is predicted.
  bool updates_first() const { return readout_state == Step::kCurrent; }

  friend bool operator==(const ModelOptions&, const ModelOptions&) = default;
};

/// The rows of all options, in the order of --help.
std::span<const Option<ModelOptions>> option_table();

/// Throws Error for a number out of its bounds, and for a combination that makes no sense, with the reason.
void check(const ModelOptions& options);

/// RNNsearch or RNNencdec, with the options their equations have: the systems of the decoder with fused products.
bool is_fused(const ModelOptions& options);

/// The name that the literature has for it, "RNNsearch", "Luong et al. (2015)", or what it is made of.
std::string system_of(const ModelOptions& options);

/// Throws Error naming the choices.
Attention attention_of(const std::string& name);
/// "none" and the names of all scores.
std::vector<std::string> attention_names();
inline std::string name_of(Attention attention) {
  return attention.name();
}
std::string name_of(Inputs inputs);  // "state,word,context", or "none"
using rnnsearch::name_of;

}  // namespace rnnsearch::model
