#include "rnnsearch/model/cost.h"

namespace rnnsearch::model {
namespace {

// The number of multiplications in one step of a cell of width n with `inputs` inputs.
double cell_products(const ModelOptions& o, double inputs, double n, bool encoder) {
  switch (o.cell) {
    case Cell::kGru:
      return (inputs + n) * 3 * n;
    case Cell::kLstm:
      return (inputs + n) * 4 * n;
    case Cell::kTanh:
      return (inputs + n) * n;
    case Cell::kMlp:
      return (inputs + n) * n / 2 + (encoder ? 2 : 1) * n / 2 * n;
  }
  return 0;
}

}  // namespace

BatchSize& BatchSize::operator+=(const BatchSize& other) {
  pairs += other.pairs;
  source_words += other.source_words;
  target_words += other.target_words;
  source_embeddings += other.source_embeddings;
  target_embeddings += other.target_embeddings;
  return *this;
}

ProductFlop& ProductFlop::operator+=(const ProductFlop& other) {
  encoder += other.encoder;
  decoder += other.decoder;
  readout += other.readout;
  return *this;
}

ProductFlop ProductFlop::operator*(double times) const {
  return {encoder * times, decoder * times, readout * times};
}

ProductFlop update_flop(const ModelOptions& options, const BatchSize& batch) {
  return forward_flop(options, batch) * 3;
}

ProductFlop forward_flop(const ModelOptions& o, const BatchSize& batch) {
  const auto m = static_cast<double>(o.embedding), n = static_cast<double>(o.state);
  const auto e = static_cast<double>(o.encoder_width()), h = static_cast<double>(o.annotation_width());
  const auto l = static_cast<double>(o.maxout), rank = static_cast<double>(o.readout_rank);
  const auto K = static_cast<double>(o.target_words), C = static_cast<double>(o.context_width());
  const auto layers = static_cast<double>(o.layers);

  // multiplications for each source word, sentence and target word, and for the embedding of a word
  double source_word = 0, sentence = 0, target_word = 0, readout_word = 0;
  double source_embedding = 0, target_embedding = 0;
  for (std::size_t k = 0; k < o.layers; ++k) {
    const double directions = o.bidirectional() ? 2 : 1, without = cell_products(o, 0, e, true);
    const double of_input = cell_products(o, k == 0 ? m : h, e, true) - without;
    source_word += directions * without;
    (k == 0 ? source_embedding : source_word) += directions * of_input;
  }
  if (o.attends()) {
    const kernels::Score& score = o.attention.score();
    const auto A = static_cast<double>(score.width(o.state, o.context_width(), o.alignment));
    if (score.projects_keys) source_word += C * A;
    if (score.projects_query) target_word += n * A;
    if (o.attention_window == AttentionWindow::kLocalP) target_word += n * static_cast<double>(o.alignment);
  } else if (o.has_context() && o.fixed_context == FixedContext::kTanh) {
    sentence += h * n;
  }
  if (o.initial_state == InitialState::kProjected) sentence += layers * (o.has_fixed_context() ? C : e) * n;

  // The vector of the readout has width H, and replaces the word if it is fed back.
  const auto H = static_cast<double>(o.readout_width());
  const double word = o.feedback == Feedback::kOutput ? H : m;
  const double per_input = o.readout == Readout::kMaxout ? 2 * l
                           : o.readout == Readout::kTanh ? n
                           : o.readout == Readout::kMlp  ? m / 2
                           : o.has_linear_vector()       ? m
                           : o.readout_rank > 0          ? rank
                                                         : K;
  const auto product = [&](double inputs) { return inputs * per_input; };
  const auto of_inputs = [&](double inputs) {
    return cell_products(o, inputs, n, false) - cell_products(o, 0, n, false);
  };
  double decoder_sentence = 0;
  if (o.state_inputs.context) (o.has_fixed_context() ? decoder_sentence : target_word) += of_inputs(C);
  if (o.readout_inputs.context) readout_word += product(C);
  target_word += cell_products(o, o.input_feeding ? H : 0, n, false);
  if (o.state_inputs.word) target_embedding += of_inputs(word);
  target_word += (layers - 1) * cell_products(o, n, n, false);
  readout_word += (o.readout_inputs.state ? product(n) : 0) + (o.readout_inputs.word ? product(word) : 0);
  if (o.readout == Readout::kMlp) readout_word += m / 2 * m;
  if (o.readout == Readout::kLinear && !o.has_linear_vector()) {
    readout_word += rank > 0 ? rank * K : 0;
  } else {
    readout_word += rank > 0 ? H * rank + rank * K : H * K;
  }
  const auto flop = [](double products) { return 2 * products; };  // a multiplication and an addition each
  return {.encoder = flop(batch.pairs * sentence + batch.source_words * source_word +
                          batch.source_embeddings * source_embedding),
          .decoder = flop(batch.pairs * decoder_sentence + batch.target_words * target_word +
                          batch.target_embeddings * target_embedding),
          .readout = flop(batch.target_words * readout_word)};
}

}  // namespace rnnsearch::model
