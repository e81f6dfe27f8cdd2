// The attention notebook, "Neural Machine Translation by Jointly Learning to Align and Translate", as its NumPy listing
// prints it: float64, column vectors, a matrix W [rows, columns] acts on stacked vectors. Class and variable names are
// the listing's. Nothing is shared with the model.
#pragma once

#include "rnnsearch/base/portable.h"
#include "tests/support/test.h"

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
  for (std::size_t i = 0; i < W.rows; ++i)
    for (std::size_t j = 0; j < W.columns; ++j) y[i] += W(i, j) * x.at(j);
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
        return dot(s, h);
      case Score::kScaledDotProduct:
        return dot(s, h) / std::sqrt(static_cast<double>(s.size()));
      case Score::kGeneral:
        return dot(s, dot(W, h));
      default:
        return dot(v_a, tanh(dot(W_a, s) + dot(U_a, h)));
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
      for (std::size_t k = 0; k < result.context.size(); ++k)
        result.context[k] += result.attention_weights[j] * encoder_annotations[j][k];
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

}  // namespace rnnsearch::notebook
