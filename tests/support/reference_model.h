// RNNsearch and RNNencdec as appendix A of Bahdanau, Cho and Bengio (2015) writes them: float64, one sentence at a
// time, loops over vectors. Slow and plain on purpose: what the model computes is compared with this.
//
// What the model is follows from the parameters there are: attention/v_a makes it RNNsearch, without it it is
// RNNencdec; b_z and b_r give the gates biases, encoder/embedding_bias the embeddings, readout/W_o_left factors the
// output matrix. RNNencdec is the model of the last sentence of appendix A.2.2: "Note that the model becomes RNN
// Encoder-Decoder (Cho et al., 2014a), if we fix c_i to the last forward state h_Tx." No layer stands between that
// state and the decoder.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "rnnsearch/base/sentences.h"

namespace rnnsearch::reference {

using Vector = std::vector<double>;

struct Matrix {  // row-major; a bias is [1, cols]
  std::size_t rows = 0, cols = 0;
  Vector values;

  double operator()(std::size_t i, std::size_t j) const { return values[i * cols + j]; }
};

using Parameters = std::map<std::string, Matrix>;  // by the checkpoint's names

/// s_i = f(s_{i-1}, y_i, c_i), as the released code, or f(s_{i-1}, y_{i-1}, c_i), as the paper.
enum class StateReads { kCurrentWord, kPreviousWord };

/// Row i is about target word i, counted from 0; the last one is </s>.
struct Trace {
  std::vector<Vector> log_probabilities;  // [Ty + 1][K] log p(. | y_1 ... y_{i-1}, x)
  std::vector<Vector> alpha;              // [Ty + 1][Tx + 1]; empty vectors without attention
  std::vector<Vector> contexts;           // [Ty + 1][C]
  std::vector<Vector> states;             // [Ty + 1][n] s_{i-1}, which predicts word i
  Vector word_log_probabilities;          // [Ty + 1] of the target's own words

  double log_probability() const;  // their sum
};

/// </s> is appended to both sentences.
Trace trace(const Parameters& parameters, StateReads state_reads, std::span<const WordId> source,
            std::span<const WordId> target);

}  // namespace rnnsearch::reference
