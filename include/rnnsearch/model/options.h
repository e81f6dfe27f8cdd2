// What one composable model can be. Defaults are RNNsearch-50 of Bahdanau, Cho and Bengio (2015), as its code trained
// it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/base/option.h"
#include "rnnsearch/kernels/scores.h"
#include "rnnsearch/layers/kinds.h"

namespace rnnsearch::model {

enum class Cell { kGru, kLstm, kTanh, kMlp };
constexpr auto names_of(Cell) { return in_order<Cell>({"gru", "lstm", "tanh", "mlp"}); }
enum class GruReset { kBefore, kAfter };
constexpr auto names_of(GruReset) { return in_order<GruReset>({"before", "after"}); }
enum class Encoder { kAuto, kBidirectional, kForward };
constexpr auto names_of(Encoder) { return in_order<Encoder>({"auto", "bidirectional", "forward"}); }
enum class Step { kPrevious, kCurrent };  // i - 1, i
constexpr auto names_of(Step) { return in_order<Step>({"previous", "current"}); }
using StateWord = Step;
enum class TargetDirection { kLeftToRight, kRightToLeft };
constexpr auto names_of(TargetDirection) { return in_order<TargetDirection>({"left-to-right", "right-to-left"}); }
using AttentionWindow = layers::WindowKind;
enum class FixedContext { kLastState, kTanh };
constexpr auto names_of(FixedContext) { return in_order<FixedContext>({"last-state", "tanh"}); }
enum class InitialState { kProjected, kBackward, kForward, kFinal, kZero };
constexpr auto names_of(InitialState) {
  return in_order<InitialState>({"projected", "backward", "forward", "final", "zero"});
}
using Readout = layers::ReadoutKind;
enum class Feedback { kWord, kOutput };
constexpr auto names_of(Feedback) { return in_order<Feedback>({"word", "output"}); }
enum class Start { kZero, kEmbedded };
constexpr auto names_of(Start) { return in_order<Start>({"zero", "embedded"}); }
enum class DropoutKind { kPlain, kVariational };
constexpr auto names_of(DropoutKind) { return in_order<DropoutKind>({"plain", "variational"}); }
enum class TiedEmbeddings { kNone, kTarget, kSourceTarget, kAll };
constexpr auto names_of(TiedEmbeddings) { return in_order<TiedEmbeddings>({"none", "target", "source-target", "all"}); }
enum class Initialization { kPaper, kOrthogonal, kGaussian, kXavier, kUniform, kPytorch };
constexpr auto names_of(Initialization) {
  return in_order<Initialization>({"paper", "orthogonal", "gaussian", "xavier", "uniform", "pytorch"});
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

/// The inputs of the decoder's state or of the readout. The state's own previous value is always an input of the state
/// and is not listed.
struct Inputs {
  bool state = false, word = false, context = false;

  friend bool operator==(const Inputs&, const Inputs&) = default;
};

struct ModelOptions {
  std::size_t source_words = 0;  // Kx, the size of the source vocabulary with its special symbols
  std::size_t target_words = 0;  // Ky, the size of the target vocabulary
  std::size_t embedding = 620;  // m, the width of the word embeddings of both sides (paper, section 4.2 and appendix A)
  std::size_t state = 1000;     // n, the width of the decoder's state
  std::size_t encoder_state = 0;  // width of the encoder's state in each direction; 0: n
  std::size_t alignment = 1000;   // n', the width of the alignment model's hidden layer
  std::size_t maxout = 500;       // l, the number of maxout units, each the larger of two inputs
  std::size_t readout_rank =
      0;  // 0: W_o is one matrix [l, Ky]; else [l, rank] times [rank, Ky] (released code: rank m)

  Cell cell = Cell::kGru;
  /// Where the reset gate acts. before the recurrent product: the candidate state reads (r o h) U (Cho et al. 2014).
  /// after it: r o (h U + b_U), as cuDNN and PyTorch have it.
  GruReset gru_reset = GruReset::kBefore;
  /// auto: bidirectional for a model with attention, forward for a model without.
  Encoder encoder = Encoder::kAuto;
  std::size_t layers = 1;  // the number of layers of the encoder, and of the decoder

  /// The encoder reads <s> before x_1. Only for models without attention, because attention could look at <s>, for
  /// which alignments have no column. Tx, the length of a source, does not count it.
  bool source_start = false;
  /// The encoder reads </s> after the last source word, and Tx counts it. Most published code does so; that of the
  /// replication and of the notebooks does not.
  bool source_end = true;
  /// Tx of a source of so many words. A source without words is always read as </s> alone.
  std::size_t source_length(std::size_t words) const { return source_end || words == 0 ? words + 1 : words; }

  /// The encoder reads the last source word first, x_Tx to x_1 and then </s> (Sutskever, Vinyals and Le 2014, section
  /// 3.3). Annotations, alignments and the positions of local windows keep the order of the sentence.
  bool reverse_source = false;
  /// The order in which the target is predicted. right-to-left: y_Ty to y_1 and then </s> (Liu, Utiyama, Finch and
  /// Sumita 2016, "Agreement on target-bidirectional neural machine translation"; Sennrich, Haddow and Birch 2016,
  /// arXiv 1606.02891, "target-bidirectional translation"). Sentences and alignments outside the model keep their
  /// order.
  TargetDirection target_direction = TargetDirection::kLeftToRight;

  /// additive: RNNsearch. none: RNNencdec, in which every decoder step and the readout see one fixed context c.
  /// The others: src/kernels/scores/.
  Attention attention = Attention::kAdditive;
  /// How the fixed context c of a model without attention is made.
  /// last-state: c is the last state of the forward encoder itself (Bahdanau, Cho and Bengio 2015, appendix A.2.2: "if
  /// we fix c_i to h_Tx"; the released code does the same). With layers, that of the top layer. With a bidirectional
  /// encoder, c = [forward state at Tx; backward state at 1].
  /// tanh: c = tanh(x V + b_V) of that vector x, [n] wide: the layer of Cho et al. (2014), arXiv 1406.1078, appendix A.
  FixedContext fixed_context = FixedContext::kLastState;
  /// The decoder state that the scores compare with the annotations: s_{i-1} (Bahdanau et al. 2015) or s_i (Luong et
  /// al. 2015).
  Step attend_from = Step::kPrevious;
  AttentionWindow attention_window = AttentionWindow::kGlobal;
  std::size_t window = 10;  // D, half the width of a local window (Luong et al. 2015, section 3.2)

  /// The decoder's first state, s_0. projected: tanh(x W_s + b_s), where x is the backward encoder's state at the first
  /// word; in a model without a backward encoder, the forward encoder's state at the last word, or c. backward,
  /// forward, final: a copy of the encoder's state, layer by layer (final: of a forward encoder). zero: 0.
  InitialState initial_state = InitialState::kProjected;
  /// The word that the state s_i reads. current: s_i = f(s_{i-1}, y_i, c_i), as in the released code. previous: y_{i-1}
  /// in place of y_i, as in the paper's equations.
  StateWord state_word = StateWord::kCurrent;
  Inputs state_inputs{.state = false, .word = true, .context = true};
  Inputs readout_inputs{.state = true, .word = true, .context = true};
  Readout readout = Readout::kMaxout;
  /// The state that the readout of y_i reads: s_{i-1} or s_i.
  Step readout_state = Step::kPrevious;
  /// The next state also reads the readout's hidden vector (Luong et al. 2015, section 3.3).
  bool input_feeding = false;
  /// What the model reads as its previous output. word: the embedding of the previous word. output: the readout's
  /// hidden vector, in place of that embedding. A linear readout then computes its own vector, o_i = s_i U_o + c_i C_o
  /// + o_{i-1} V_o + b_o [m] (the attention notebook's W_out [s_i; c_i; y_{i-1}] + b_out), and the softmax is that of
  /// o_i W_o + b_w. The notebook ends at o_i, as it has no vocabulary. Without effect if neither the state nor the
  /// readout reads the previous word.
  Feedback feedback = Feedback::kWord;
  /// The embedding that is read before the first word: zeros, or that of <s>. With feedback = output, the latter needs
  /// a readout that is as wide as an embedding.
  Start start = Start::kZero;

  bool gate_biases = false;      // gates have biases b_z and b_r; the released code has none
  bool embedding_biases = true;  // each side has a vector that is added to every embedding, as in the released code
  /// Embedding matrices that are shared (Press and Wolf 2017; Inan, Khosravi and Socher 2017). target: the output
  /// matrix is the transpose of the target embeddings, W_o = E_y^T. source-target: both sides have the same embeddings.
  /// all: both.
  TiedEmbeddings tied_embeddings = TiedEmbeddings::kNone;

  /// The share of units that training drops (Srivastava et al. 2014): of word embeddings, between layers, and of the
  /// readout's vector before the softmax.
  Ramp dropout;
  /// plain: a new mask at each time step, and none on recurrent connections (Zaremba, Sutskever and Vinyals 2014).
  /// variational: one mask for all time steps of a sentence, also on h_{t-1} (Gal and Ghahramani 2016).
  DropoutKind dropout_kind = DropoutKind::kPlain;
  Ramp attention_dropout;  // the share of attention weights that training drops, with a new mask at each time step
  /// The share of words whose whole vector training sets to 0 where it is read; the others are divided by 1 minus the
  /// share (Nematus: rnn_dropout_source and rnn_dropout_target). With plain masks each position is drawn for itself,
  /// with variational ones each word of a sentence with all its occurrences (Gal and Ghahramani 2016, section 4.2).
  Ramp source_word_dropout, target_word_dropout;
  /// Normalise the summed inputs of the cells (Ba, Kiros and Hinton 2016). The gates then have biases, those of the
  /// normalisation.
  bool layer_normalization = false;

  /// The distribution of the initial parameters. paper: recurrent matrices U orthogonal, v_a zero, other matrices
  /// normal, W_a and U_a with a tenth of the deviation. orthogonal: recurrent matrices U orthogonal, v_a and all other
  /// matrices normal with the same deviation. gaussian: all matrices normal. xavier: all matrices uniform up to
  /// sqrt(6 / (rows + cols)). In these four, biases are 0. uniform: all parameters, biases included, uniform
  /// between -sqrt(3) and sqrt(3) times the deviation (Sutskever, Vinyals and Le 2014, section 3.4; Luong, Pham and
  /// Manning 2015, section 4.1). pytorch: the defaults of PyTorch's modules, see model/weights.h.
  Initialization initialization = Initialization::kPaper;
  /// The standard deviation of these distributions (released code: 0.01).
  double initial_deviation = 0.01;

  /// Whether training drops units or words at some time; dropout_kind says how.
  bool drops_units() const {
    return dropout.largest() > 0 || source_word_dropout.largest() > 0 || target_word_dropout.largest() > 0;
  }
  bool drops() const { return drops_units() || attention_dropout.largest() > 0; }
  bool right_to_left() const { return target_direction == TargetDirection::kRightToLeft; }
  bool attends() const { return attention != Attention::kNone; }
  bool bidirectional() const { return encoder == Encoder::kBidirectional || (encoder == Encoder::kAuto && attends()); }
  std::size_t encoder_width() const { return encoder_state > 0 ? encoder_state : state; }  // of each direction
  std::size_t annotation_width() const { return bidirectional() ? 2 * encoder_width() : encoder_width(); }
  /// Whether there is a context c: in models with attention, and where the state or the readout reads it.
  bool has_context() const { return attends() || state_inputs.context || readout_inputs.context; }
  /// Whether there is a context, and it is the same at every decoder step.
  bool has_fixed_context() const { return !attends() && has_context(); }
  /// The width of c: that of the annotations, or n after a tanh layer; 0 without a context.
  std::size_t context_width() const {
    if (!has_context()) return 0;
    return has_fixed_context() && fixed_context == FixedContext::kTanh ? state : annotation_width();
  }
  /// Whether the state or the readout reads the previous readout vector in place of the previous word's embedding.
  bool feeds_output() const { return feedback == Feedback::kOutput && (state_inputs.word || readout_inputs.word); }
  /// Whether the decoder reads the previous readout vector.
  bool feeds() const { return input_feeding || feeds_output(); }
  /// Whether a linear readout computes a vector of its own, which is fed back; otherwise its vector is its concatenated
  /// inputs.
  bool has_linear_vector() const { return readout == Readout::kLinear && feedback == Feedback::kOutput; }
  /// H, the width of the readout's vector before the softmax.
  std::size_t readout_width() const;
  /// The number of rows of W_o: H, or readout_rank if W_o has two factors.
  std::size_t output_width() const { return readout_rank > 0 ? readout_rank : readout_width(); }
  /// Whether W_o is the transpose of an embedding table.
  bool ties_output() const {
    return tied_embeddings == TiedEmbeddings::kTarget || tied_embeddings == TiedEmbeddings::kAll;
  }
  /// Whether both sides have the same embeddings.
  bool ties_sides() const {
    return tied_embeddings == TiedEmbeddings::kSourceTarget || tied_embeddings == TiedEmbeddings::kAll;
  }
  /// Whether the state is updated before the word is predicted.
  bool updates_first() const { return readout_state == Step::kCurrent; }

  friend bool operator==(const ModelOptions&, const ModelOptions&) = default;
};

/// All options, in the order of --help: source-words and target-words, and all others.
void declare(OptionList& options, ModelOptions& o);
void declare_vocabulary_sizes(OptionList& options, ModelOptions& o);
void declare_architecture(OptionList& options, ModelOptions& o);

/// Throws Error naming the choices.
Attention attention_of(const std::string& name);
/// "none" and the names of all scores.
std::vector<std::string> attention_names();
inline std::string name_of(Attention attention) { return attention.name(); }
std::string name_of(Inputs inputs);  // "state,word,context", or "none"
using rnnsearch::name_of;

/// Throws Error for a number out of its bounds, and for a combination that makes no sense, with the reason.
void check(const ModelOptions& options);

/// The name of this system in the literature, such as "RNNsearch" or "Luong et al. (2015)"; otherwise a description of
/// its parts.
std::string system_of(const ModelOptions& options);

}  // namespace rnnsearch::model
