// What one composable model can be. Defaults are RNNsearch-50 of Bahdanau, Cho and Bengio (2015), as its code trained
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace rnnsearch::model {

enum class Attention { kNone, kAdditive };
enum class StateWord { kCurrent, kPrevious };

struct ModelOptions {
  std::size_t source_words = 0;  // Kx: size of the source vocabulary, special symbols included
  std::size_t target_words = 0;  // Ky
  std::size_t embedding = 620;   // m, both sides (paper, section 4.2 and appendix A)
  std::size_t state = 1000;      // n, encoder (each direction) and decoder
  std::size_t alignment = 1000;  // n', width of the alignment model
  std::size_t maxout = 500;      // l, maxout units; the readout before them has 2l
  std::size_t readout_rank = 0;  // 0: W_o is [l, Ky]; else [l, rank] times [rank, Ky] (the released code: m)

  /// additive: RNNsearch. none: RNNencdec (Cho et al. 2014): a forward encoder whose last state makes one context
  /// c = tanh(h_Tx V + b_V) that every decoder step and the readout see.
  Attention attention = Attention::kAdditive;
  /// current: s_i = f(s_{i-1}, y_i, c_i), as the released code. previous: y_{i-1}, as the paper writes.
  StateWord state_word = StateWord::kCurrent;
  bool gate_biases = false;      // b_z, b_r; the released code has none
  bool embedding_biases = true;  // one vector a side, added to every embedding; the released code has them

  /// Standard deviation of the matrices that are not recurrent when training begins (the released code: 0.01); W_a and
  /// U_a get a tenth of it.
  double initial_deviation = 0.01;

  friend bool operator==(const ModelOptions&, const ModelOptions&) = default;
};

/// Throws Error for a combination that makes no sense, with the reason.
void check(const ModelOptions& options);

Attention attention_of(const std::string& name);   // "none", "additive"; throws Error naming the choices
StateWord state_word_of(const std::string& name);  // "current", "previous"
std::string name_of(Attention attention);
std::string name_of(StateWord state_word);

}  // namespace rnnsearch::model
