// RNNsearch and RNNencdec as in appendix A of Bahdanau, Cho and Bengio (2015): float64, one sentence at a time, loops
// over vectors. It is slow and simple on purpose: tests compare the results of the model with it.
//
// The existing parameters determine the model: with attention/v_a it is RNNsearch, without it RNNencdec; with b_z and
// b_r the gates have biases, with encoder/embedding_bias the embeddings; readout/W_o_left factors the output matrix.
// RNNencdec is the model of the last sentence of appendix A.2.2: "Note that the model becomes RNN
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

/// Row i belongs to target word i, counted from 0; the last one is </s>.
struct Trace {
  std::vector<Vector> log_probabilities;  // [Ty + 1][K] log p(. | y_1 ... y_{i-1}, x)
  std::vector<Vector> alpha;              // [Ty + 1][Tx + 1]; empty vectors without attention
  std::vector<Vector> contexts;           // [Ty + 1][C]
  std::vector<Vector> states;             // [Ty + 1][n] s_{i-1}, which predicts word i
  Vector word_log_probabilities;          // [Ty + 1] log-probabilities of the target words

  double log_probability() const;  // their sum
};

/// </s> is appended to both sentences.
Trace trace(const Parameters& parameters, StateReads state_reads, std::span<const WordId> source,
            std::span<const WordId> target);

}  // namespace rnnsearch::reference
