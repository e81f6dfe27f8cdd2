// The attention notebook, "Neural Machine Translation by Jointly Learning to Align and Translate", as its NumPy listing
// prints it: float64, column vectors, a matrix W [rows, columns] acts on stacked vectors. Class and variable names are
// the listing's. Nothing is shared with the model.
//
// Beside it, namespace batched: the PyTorch listing of the notebook's batched form, with the two slips corrected that
// keep it from running as printed:
//   - its NumPy part unpacks three results of AttentionDecoder.forward, which returns two (outputs, attention_history);
//   - its PyTorch part builds AttentionDecoder(output_vocab_size, ...), so that rnn_layer expects output_vocab_size +
//     annotation_size + hidden_size = 68 inputs, and passes the 16 + 32 + 16 = 64 of [embedding; context; hidden]. Here
//     the previous output has a width of its own, the embedding's, and output_vocab_size is the width of the result.
// The listing has sequences of one length only. Masks are added, as packed sequences have them: a masked step of the
// encoder leaves the state as it is, and a masked position has no weight.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <vector>

#include "rnnsearch/base/random.h"

namespace rnnsearch::notebook {

using Vector = std::vector<double>;

struct Matrix {
  std::size_t rows = 0, columns = 0;
  Vector values;  // row-major

  double operator()(std::size_t i, std::size_t j) const { return values.at(i * columns + j); }
  Vector row(std::size_t i) const {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(i * columns);
    return {first, first + static_cast<std::ptrdiff_t>(columns)};
  }
};

/// np.dot(W, x)
inline Vector dot(const Matrix& W, const Vector& x) {
  Vector y(W.rows, 0.0);
  for (std::size_t i = 0; i < W.rows; ++i) {
    for (std::size_t j = 0; j < W.columns; ++j) y[i] += W(i, j) * x.at(j);
  }
  return y;
}
/// np.dot(a.T, b)
inline double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b.at(i);
  return sum;
}
inline Vector vstack(const std::vector<Vector>& parts) {
  Vector all;
  for (const Vector& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}
inline Vector operator+(Vector a, const Vector& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b.at(i);
  return a;
}
inline Vector tanh(Vector x) {
  for (double& value : x) value = std::tanh(value);
  return x;
}
inline Vector softmax(Vector x) {
  const double largest = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (double& value : x) sum += value = std::exp(value - largest);
  for (double& value : x) value /= sum;
  return x;
}

/// np.random.randn(rows, columns) * deviation
inline Matrix randn(Random& random, std::size_t rows, std::size_t columns, double deviation) {
  Matrix matrix{rows, columns, Vector(rows * columns)};
  for (double& value : matrix.values) value = deviation * random.normal();
  return matrix;
}

/// The notebook draws matrices with deviation 0.01, and its biases are zeros.
struct Draw {
  double matrix = 0.01, bias = 0;
};

struct EncoderRNN {
  EncoderRNN(Random& random, std::size_t input_size, std::size_t n, const Draw& draw)
      : hidden_size(n),
        W_fwd(randn(random, n, input_size + n, draw.matrix)),
        W_bwd(randn(random, n, input_size + n, draw.matrix)),
        b_fwd(randn(random, n, 1, draw.bias).values),
        b_bwd(randn(random, n, 1, draw.bias).values) {}

  /// inputs: [input_size] each. Returns the annotations, [2 hidden_size] each.
  std::vector<Vector> forward(const std::vector<Vector>& inputs) const {
    std::vector<Vector> h_fwd, h_bwd, annotations;
    Vector h(hidden_size, 0.0);
    for (const Vector& x : inputs) {
      h = tanh(dot(W_fwd, vstack({x, h})) + b_fwd);
      h_fwd.push_back(h);
    }
    h.assign(hidden_size, 0.0);
    for (auto x = inputs.rbegin(); x != inputs.rend(); ++x) {
      h = tanh(dot(W_bwd, vstack({*x, h})) + b_bwd);
      h_bwd.push_back(h);
    }
    std::reverse(h_bwd.begin(), h_bwd.end());
    for (std::size_t j = 0; j < inputs.size(); ++j) annotations.push_back(vstack({h_fwd[j], h_bwd[j]}));
    return annotations;
  }

  std::size_t hidden_size;
  Matrix W_fwd, W_bwd;
  Vector b_fwd, b_bwd;
};

// The cell "attention variants". As printed they are defined and described, never called: bahdanau_score multiplies by
// v_a.T where v_a [1, n] itself is meant, and s [16] and h [32] have no dot product. So here v_a is a vector, dot and
// scaled dot get s and h of one width, and general, s.T W h, is for other widths.
inline double bahdanau_score(const Vector& s, const Vector& h, const Matrix& W_a, const Matrix& U_a,
                             const Vector& v_a) {
  return dot(v_a, tanh(dot(W_a, s) + dot(U_a, h)));
}
inline double dot_product_score(const Vector& s, const Vector& h) {
  return dot(s, h);
}
inline double scaled_dot_product_score(const Vector& s, const Vector& h) {
  return dot(s, h) / std::sqrt(static_cast<double>(s.size()));
}
inline double general_score(const Vector& s, const Vector& h, const Matrix& W) {
  return dot(s, dot(W, h));
}

enum class Score { kBahdanau, kDotProduct, kScaledDotProduct, kGeneral, kFixedContext };

struct BahdanauAttention {
  BahdanauAttention(Random& random, std::size_t hidden_size, std::size_t annotation_size, const Draw& draw)
      : W_a(randn(random, hidden_size, hidden_size, draw.matrix)),
        U_a(randn(random, hidden_size, annotation_size, draw.matrix)),
        v_a(randn(random, hidden_size, 1, draw.matrix).values),
        W(randn(random, hidden_size, annotation_size, draw.matrix)) {}

  double score_of(const Vector& s, const Vector& h) const {
    switch (score) {
      case Score::kDotProduct:
        return dot_product_score(s, h);
      case Score::kScaledDotProduct:
        return scaled_dot_product_score(s, h);
      case Score::kGeneral:
        return general_score(s, h, W);
      default:
        return bahdanau_score(s, h, W_a, U_a, v_a);
    }
  }

  struct Result {
    Vector scores, attention_weights, context;
  };
  Result forward(const Vector& decoder_hidden, const std::vector<Vector>& encoder_annotations) const {
    Result result;
    for (const Vector& h_j : encoder_annotations) result.scores.push_back(score_of(decoder_hidden, h_j));
    result.attention_weights = softmax(result.scores);
    if (score == Score::kFixedContext) {  // fixed_context_attention: only the last position
      result.attention_weights.assign(encoder_annotations.size(), 0.0);
      result.attention_weights.back() = 1;
    }
    result.context.assign(encoder_annotations.front().size(), 0.0);
    for (std::size_t j = 0; j < encoder_annotations.size(); ++j) {
      for (std::size_t k = 0; k < result.context.size(); ++k) {
        result.context[k] += result.attention_weights[j] * encoder_annotations[j][k];
      }
    }
    return result;
  }

  Matrix W_a, U_a;
  Vector v_a;
  Matrix W;  // of general_score
  Score score = Score::kBahdanau;
};

struct AttentionDecoder {
  /// previous_size: of prev_output; the notebook's output_size, with which it is one.
  AttentionDecoder(Random& random, std::size_t previous_size, std::size_t output_size, std::size_t n,
                   std::size_t annotation_size, const Draw& draw)
      : hidden_size(n),
        attention(random, n, annotation_size, draw),
        W_dec(randn(random, n, previous_size + annotation_size + n, draw.matrix)),
        W_out(randn(random, output_size, n + annotation_size + previous_size, draw.matrix)),
        b_dec(randn(random, n, 1, draw.bias).values),
        b_out(randn(random, output_size, 1, draw.bias).values) {}

  struct Step {
    Vector prev_output, scores, attention_weights, context, new_hidden, output;
  };
  Step step(const Vector& prev_output, const Vector& decoder_hidden,
            const std::vector<Vector>& encoder_annotations) const {
    const auto [scores, attention_weights, context] = attention.forward(decoder_hidden, encoder_annotations);
    const Vector rnn_input = vstack({prev_output, context});
    const Vector concat = vstack({rnn_input, decoder_hidden});
    const Vector new_hidden = tanh(dot(W_dec, concat) + b_dec);
    const Vector output_input = vstack({new_hidden, context, prev_output});
    const Vector output = dot(W_out, output_input) + b_out;
    return {prev_output, scores, attention_weights, context, new_hidden, output};
  }

  /// next: prev_output of the next step; the notebook's is the output itself.
  std::vector<Step> forward(const std::vector<Vector>& encoder_annotations, std::size_t max_length,
                            const Vector& start_token, const std::function<Vector(const Vector& output)>& next) const {
    std::vector<Step> steps;
    Vector decoder_hidden(hidden_size, 0.0), prev_output = start_token;
    for (std::size_t i = 0; i < max_length; ++i) {
      steps.push_back(step(prev_output, decoder_hidden, encoder_annotations));
      decoder_hidden = steps.back().new_hidden;
      prev_output = next(steps.back().output);
    }
    return steps;
  }

  std::size_t hidden_size;
  BahdanauAttention attention;
  Matrix W_dec, W_out;
  Vector b_dec, b_out;
};

/// What is fed back: the raw output, as the notebook prints it, or the embedding of its largest entry, as the batched
/// form.
enum class Feeds { kOutput, kEmbeddingOfArgmax };

inline std::size_t argmax(const Vector& x) {
  return static_cast<std::size_t>(std::max_element(x.begin(), x.end()) - x.begin());
}

struct Seq2SeqWithAttention {
  struct Sizes {
    std::size_t input_vocab_size = 20, output_vocab_size = 20, hidden_size = 16;
    std::size_t encoder_hidden_size = 16;  // the notebook's is hidden_size
    bool reads_backward = true;            // false: annotations are the forward states alone
  };
  Seq2SeqWithAttention(Random& random, const Sizes& chosen_sizes, Feeds chosen_feeds, Score score, const Draw& draw)
      : sizes(chosen_sizes),
        feeds(chosen_feeds),
        input_embedding(randn(random, sizes.input_vocab_size, sizes.hidden_size, draw.matrix)),
        output_embedding(randn(random, sizes.output_vocab_size, sizes.hidden_size, draw.matrix)),
        encoder(random, sizes.hidden_size, sizes.encoder_hidden_size, draw),
        decoder(random, sizes.hidden_size, feeds == Feeds::kOutput ? sizes.hidden_size : sizes.output_vocab_size,
                sizes.hidden_size, annotation_size(), draw) {
    decoder.attention.score = score;
  }

  std::size_t annotation_size() const { return (sizes.reads_backward ? 2 : 1) * sizes.encoder_hidden_size; }
  Vector start_token() const { return output_embedding.row(0); }

  std::vector<Vector> encode(const std::vector<std::size_t>& input_sequence) const {
    std::vector<Vector> embedded;
    for (const std::size_t index : input_sequence) embedded.push_back(input_embedding.row(index));
    std::vector<Vector> annotations = encoder.forward(embedded);
    for (Vector& annotation : annotations) annotation.resize(annotation_size());
    return annotations;
  }

  struct Translation {
    std::vector<Vector> annotations;
    std::vector<AttentionDecoder::Step> steps;
  };
  Translation translate(const std::vector<std::size_t>& input_sequence, std::size_t max_output_length) const {
    const std::vector<Vector> annotations = encode(input_sequence);
    return {annotations, decoder.forward(annotations, max_output_length, start_token(), [&](const Vector& output) {
              return feeds == Feeds::kOutput ? output : output_embedding.row(argmax(output));
            })};
  }

  Sizes sizes;
  Feeds feeds;
  Matrix input_embedding, output_embedding;
  EncoderRNN encoder;
  AttentionDecoder decoder;
};

namespace batched {

/// [a, b, c], row-major.
struct Tensor {
  Tensor(std::size_t first, std::size_t second, std::size_t third)
      : a(first), b(second), c(third), values(first * second * third, 0.0) {}
  double& operator()(std::size_t i, std::size_t j, std::size_t k) { return values.at((i * b + j) * c + k); }
  double operator()(std::size_t i, std::size_t j, std::size_t k) const { return values.at((i * b + j) * c + k); }

  std::size_t a, b, c;
  Vector values;
};

/// nn.Linear: x weight^T + bias, of x [a, b, in].
inline Tensor linear(const Tensor& x, const Matrix& weight, const Vector& bias = {}) {
  Tensor y(x.a, x.b, weight.rows);
  for (std::size_t i = 0; i < x.a; ++i) {
    for (std::size_t j = 0; j < x.b; ++j) {
      for (std::size_t out = 0; out < weight.rows; ++out) {
        double sum = bias.empty() ? 0 : bias.at(out);
        for (std::size_t k = 0; k < x.c; ++k) sum += x(i, j, k) * weight(out, k);
        y(i, j, out) = sum;
      }
    }
  }
  return y;
}

/// torch.cat(parts, dim=last)
inline Tensor cat(const std::vector<const Tensor*>& parts) {
  std::size_t width = 0;
  for (const Tensor* part : parts) width += part->c;
  Tensor all(parts.front()->a, parts.front()->b, width);
  for (std::size_t i = 0; i < all.a; ++i) {
    for (std::size_t j = 0; j < all.b; ++j) {
      std::size_t column = 0;
      for (const Tensor* part : parts) {
        for (std::size_t k = 0; k < part->c; ++k) all(i, j, column++) = (*part)(i, j, k);
      }
    }
  }
  return all;
}

inline Tensor tanh(Tensor x) {
  for (double& value : x.values) value = std::tanh(value);
  return x;
}

/// Columns of the notebook's matrix that act on one of the stacked vectors.
inline Matrix columns(const Matrix& W, std::size_t first, std::size_t count) {
  Matrix part{W.rows, count, {}};
  for (std::size_t i = 0; i < W.rows; ++i) {
    for (std::size_t j = 0; j < count; ++j) part.values.push_back(W(i, first + j));
  }
  return part;
}

struct Step {
  Tensor scores, attention_weights;  // [B, T, 1]
  Tensor context, hidden, output;    // [B, 1, .]
};

struct Result {
  Tensor annotations;  // [B, T, annotation_size]; zeros at padding
  std::vector<Step> steps;
};

/// nn.RNN of one direction: h_t = tanh(x_t W_ih^T + b_ih + h_t-1 W_hh^T + b_hh). The notebook's matrix is [W_ih W_hh],
/// its bias the sum of both.
inline Tensor rnn(const Tensor& inputs, const std::vector<std::size_t>& lengths, const Matrix& W, const Vector& b,
                  bool backward) {
  const std::size_t B = inputs.a, T = inputs.b, hidden_size = W.rows;
  const Matrix weight_ih = columns(W, 0, inputs.c), weight_hh = columns(W, inputs.c, hidden_size);
  Vector bias_ih = b, bias_hh = b;
  for (double& value : bias_ih) value /= 4;
  for (double& value : bias_hh) value *= 0.75;
  Tensor out(B, T, hidden_size), h(B, 1, hidden_size);
  const Tensor of_inputs = linear(inputs, weight_ih, bias_ih);
  for (std::size_t step = 0; step < T; ++step) {
    const std::size_t t = backward ? T - 1 - step : step;
    Tensor sums = linear(h, weight_hh, bias_hh);
    for (std::size_t i = 0; i < B; ++i) {
      for (std::size_t k = 0; k < hidden_size; ++k) sums(i, 0, k) += of_inputs(i, t, k);
    }
    sums = tanh(sums);
    for (std::size_t i = 0; i < B; ++i) {
      if (t >= lengths[i]) continue;  // masked: the state stays, the output is zero
      for (std::size_t k = 0; k < hidden_size; ++k) out(i, t, k) = h(i, 0, k) = sums(i, 0, k);
    }
  }
  return out;
}

/// The forward pass of Seq2SeqWithAttention over sequences of several lengths, padded with index 0 to the longest.
inline Result forward(const Seq2SeqWithAttention& model, const std::vector<std::vector<std::size_t>>& input_seq,
                      std::size_t max_len) {
  const std::size_t B = input_seq.size(), n = model.sizes.hidden_size;
  std::size_t T = 0;
  std::vector<std::size_t> lengths;
  for (const auto& sequence : input_seq) {
    lengths.push_back(sequence.size());
    T = std::max(T, sequence.size());
  }
  const auto embed = [&](const Matrix& table, std::size_t index, Tensor& into, std::size_t i, std::size_t t) {
    for (std::size_t k = 0; k < table.columns; ++k) into(i, t, k) = table(index, k);
  };
  Tensor embedded(B, T, n);
  for (std::size_t i = 0; i < B; ++i) {
    for (std::size_t t = 0; t < T; ++t) {
      embed(model.input_embedding, t < lengths[i] ? input_seq[i][t] : 0, embedded, i, t);
    }
  }
  const EncoderRNN& encoder = model.encoder;
  const Tensor fwd = rnn(embedded, lengths, encoder.W_fwd, encoder.b_fwd, false);
  const Tensor bwd = rnn(embedded, lengths, encoder.W_bwd, encoder.b_bwd, true);
  Result result{cat({&fwd, &bwd}), {}};
  const Tensor& annotations = result.annotations;

  const AttentionDecoder& decoder = model.decoder;
  const Tensor keys = linear(annotations, decoder.attention.U_a);
  Tensor hidden(B, 1, n), previous(B, 1, n);
  for (std::size_t i = 0; i < B; ++i) embed(model.output_embedding, 0, previous, i, 0);  // curr_token_idx = 0
  for (std::size_t step = 0; step < max_len; ++step) {
    const Tensor query = linear(hidden, decoder.attention.W_a);
    Tensor energy(B, T, n);
    for (std::size_t i = 0; i < B; ++i) {
      for (std::size_t t = 0; t < T; ++t) {
        for (std::size_t k = 0; k < n; ++k) energy(i, t, k) = std::tanh(query(i, 0, k) + keys(i, t, k));
      }
    }
    const Tensor scores = linear(energy, {1, n, decoder.attention.v_a});
    Tensor weights(B, T, 1), context(B, 1, annotations.c);
    for (std::size_t i = 0; i < B; ++i) {  // F.softmax over the positions that are not masked; bmm
      double largest = -HUGE_VAL, sum = 0;
      for (std::size_t t = 0; t < lengths[i]; ++t) largest = std::max(largest, scores(i, t, 0));
      for (std::size_t t = 0; t < lengths[i]; ++t) sum += weights(i, t, 0) = std::exp(scores(i, t, 0) - largest);
      for (std::size_t t = 0; t < T; ++t) {
        weights(i, t, 0) /= sum;
        for (std::size_t k = 0; k < context.c; ++k) context(i, 0, k) += weights(i, t, 0) * annotations(i, t, k);
      }
    }
    hidden = tanh(linear(cat({&previous, &context, &hidden}), decoder.W_dec, decoder.b_dec));
    const Tensor output = linear(cat({&hidden, &context, &previous}), decoder.W_out, decoder.b_out);
    result.steps.push_back({scores, weights, context, hidden, output});
    for (std::size_t i = 0; i < B; ++i) {
      if (model.feeds == Feeds::kOutput) {
        for (std::size_t k = 0; k < n; ++k) previous(i, 0, k) = output(i, 0, k);
      } else {  // output_dist.topk(1)
        const auto first = output.values.begin() + static_cast<std::ptrdiff_t>(i * output.c);
        embed(model.output_embedding, argmax(Vector(first, first + static_cast<std::ptrdiff_t>(output.c))), previous, i,
              0);
      }
    }
  }
  return result;
}

}  // namespace batched
}  // namespace rnnsearch::notebook
