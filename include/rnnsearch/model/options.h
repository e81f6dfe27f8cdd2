// What one composable model can be. Defaults are RNNsearch-50 of Bahdanau, Cho and Bengio (2015), as its code trained
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/kernels/scores.h"

namespace rnnsearch::model {

enum class Cell { kGru, kLstm, kTanh, kMlp };
enum class GruReset { kBefore, kAfter };
enum class Encoder { kAuto, kBidirectional, kForward };
enum class Step { kPrevious, kCurrent };  // i - 1, i
using StateWord = Step;
enum class AttentionWindow { kGlobal, kLocalM, kLocalP };
enum class InitialState { kProjected, kBackward, kForward, kFinal, kZero };
enum class Readout { kMaxout, kTanh, kLinear, kMlp };
enum class Feedback { kWord, kOutput };
enum class Start { kZero, kEmbedded };
enum class DropoutKind { kPlain, kVariational };
enum class TiedEmbeddings { kNone, kTarget, kSourceTarget, kAll };
enum class Initialisation { kPaper, kGaussian, kXavier, kPytorch };

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

  /// additive: RNNsearch. none: RNNencdec (Cho et al. 2014): a forward encoder whose last state makes one context
  /// c = tanh(h_Tx V + b_V) that every decoder step and the readout see.
  /// The others: src/kernels/scores/.
  Attention attention = Attention::kAdditive;
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
  /// output: that vector stands where the previous word's embedding stands. It changes nothing when neither the state
  /// nor the readout reads the previous word.
  Feedback feedback = Feedback::kWord;
  /// The word before the first: nothing, or the embedding of <s>.
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
  bool layer_normalisation = false;

  /// paper: U orthogonal, W_a and U_a with a tenth of the deviation, v_a = 0. gaussian: all alike. xavier: uniform
  /// within sqrt(6 / (rows + cols)). Biases are 0 in these. pytorch: the defaults of its modules, see
  /// model/initialise.h.
  Initialisation initialisation = Initialisation::kPaper;
  /// Standard deviation of the matrices that are not recurrent when training begins (the released code: 0.01); W_a and
  /// U_a get a tenth of it.
  double initial_deviation = 0.01;

  bool attends() const { return attention != Attention::kNone; }
  bool bidirectional() const { return encoder == Encoder::kBidirectional || (encoder == Encoder::kAuto && attends()); }
  std::size_t encoder_width() const { return encoder_state > 0 ? encoder_state : state; }  // of each direction
  std::size_t annotation_width() const { return bidirectional() ? 2 * encoder_width() : encoder_width(); }
  /// c exists: with attention, or where something reads it.
  bool has_context() const { return attends() || state_inputs.context || readout_inputs.context; }
  std::size_t context_width() const { return attends() ? annotation_width() : has_context() ? state : 0; }
  /// Something reads the readout's vector of the step before in place of the previous word's embedding.
  bool feeds_output() const { return feedback == Feedback::kOutput && (state_inputs.word || readout_inputs.word); }
  /// The rows of W_o: the width of the vector before the softmax, or of its factor.
  std::size_t output_width() const;
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

/// Throws Error for a combination that makes no sense, with the reason.
void check(const ModelOptions& options);

/// RNNsearch or RNNencdec, with the options their equations have: what the fused network computes.
bool is_fused(const ModelOptions& options);

/// The name that the literature has for it, "RNNsearch", "Luong et al. (2015)", or what it is made of.
std::string system_of(const ModelOptions& options);

// From a name and back; an unknown name throws Error naming the choices.
Cell cell_of(const std::string& name);
GruReset gru_reset_of(const std::string& name);
Encoder encoder_of(const std::string& name);
Attention attention_of(const std::string& name);
Step attend_from_of(const std::string& name);
AttentionWindow attention_window_of(const std::string& name);
InitialState initial_state_of(const std::string& name);
StateWord state_word_of(const std::string& name);
Inputs state_inputs_of(const std::string& names);    // "word,context"
Inputs readout_inputs_of(const std::string& names);  // "state,word,context"
Readout readout_of(const std::string& name);
Step readout_state_of(const std::string& name);
Feedback feedback_of(const std::string& name);
Start start_of(const std::string& name);
DropoutKind dropout_kind_of(const std::string& name);
TiedEmbeddings tied_embeddings_of(const std::string& name);
Initialisation initialisation_of(const std::string& name);
std::string name_of(Cell cell);
std::string name_of(GruReset reset);
std::string name_of(Encoder encoder);
inline std::string name_of(Attention attention) {
  return attention.name();
}
std::string name_of(Step step);
std::string name_of(AttentionWindow window);
std::string name_of(InitialState state);
std::string name_of(Inputs inputs);
std::string name_of(Readout readout);
std::string name_of(Feedback feedback);
std::string name_of(Start start);
std::string name_of(DropoutKind kind);
std::string name_of(TiedEmbeddings tied);
std::string name_of(Initialisation initialisation);
/// All names there are.
std::vector<std::string> cell_names();
std::vector<std::string> attention_names();

}  // namespace rnnsearch::model
