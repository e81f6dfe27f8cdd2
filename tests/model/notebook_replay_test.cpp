// The attention notebook, replayed value by value (tests/model/notebook.h), and the model with the same parameters
// beside it.
//
// The notebook's source has no end symbol, as in its presets. Its start token, output_embedding[0], is the embedding of
// <s>.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/impl.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/scores.h"
#include "rnnsearch/model/options.h"
#include "tests/model/fixtures.h"
#include "tests/model/notebook.h"

namespace rnnsearch::model {
namespace {

using notebook::Feeds;
using notebook::Score;
using notebook::Seq2SeqWithAttention;
using notebook::Vector;

constexpr double kLargestDifference = 1e-12;

/// The largest absolute difference of every named value.
class Differences {
 public:
  explicit Differences(std::string of) : of_(std::move(of)) {}
  ~Differences() {
    for (const auto& [name, compared] : all_) {
      std::printf("[%s] %-26s %5zu numbers, largest difference %.1e\n", of_.c_str(), name.c_str(), compared.count,
                  compared.largest);
      EXPECT_LE(compared.largest, kLargestDifference) << of_ << ": " << name;
    }
  }
  Differences(const Differences&) = delete;
  Differences& operator=(const Differences&) = delete;

  void add(const std::string& name, double found, double expected) {
    Compared& compared = all_[name];
    ++compared.count;
    const double difference = std::abs(found - expected);
    if (!(difference <= compared.largest)) compared.largest = difference;  // NaN too
  }
  void add(const std::string& name, const double* found, const Vector& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i) add(name, found[i], expected[i]);
  }
  std::set<std::string> names() const {
    std::set<std::string> names;
    for (const auto& [name, compared] : all_) names.insert(name);
    return names;
  }

 private:
  struct Compared {
    std::size_t count = 0;
    double largest = 0;
  };
  std::string of_;
  std::map<std::string, Compared> all_;
};

/// log(softmax(x)), and e_j as far as a softmax sees it.
Vector log_softmax(Vector x) {
  const double largest = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (const double value : x) sum += std::exp(value - largest);
  for (double& value : x) value -= largest + std::log(sum);
  return x;
}

ModelOptions options_for(const Seq2SeqWithAttention& reference) {
  ModelOptions o;
  o.source_words = reference.sizes.input_vocab_size;
  o.target_words = reference.sizes.output_vocab_size;
  o.embedding = o.state = o.alignment = reference.sizes.hidden_size;
  o.encoder_state = reference.sizes.encoder_hidden_size;
  o.cell = Cell::kTanh;
  o.encoder = reference.sizes.reads_backward ? Encoder::kBidirectional : Encoder::kForward;
  o.initial_state = InitialState::kZero;
  o.state_word = Step::kPrevious;
  o.readout = Readout::kLinear;
  o.readout_state = Step::kCurrent;
  o.start = Start::kEmbedded;
  o.embedding_biases = false;
  o.source_end = false;
  o.feedback = reference.feeds == Feeds::kOutput ? Feedback::kOutput : Feedback::kWord;
  switch (reference.decoder.attention.score) {
    case Score::kBahdanau:
      break;
    case Score::kDotProduct:
      o.attention = attention_of("dot");
      break;
    case Score::kScaledDotProduct:
      o.attention = attention_of("scaled-dot");
      break;
    case Score::kGeneral:
      o.attention = attention_of("general");
      break;
    case Score::kFixedContext:
      o.attention = Attention::kNone;
      break;
  }
  return o;
}

WordId source_word(std::size_t index) {
  return static_cast<WordId>(index);
}
WordId target_word(std::size_t index) {
  return index == 0 ? kStart : index == kStart ? 0 : static_cast<WordId>(index);
}

Sentences sentences_of(const std::vector<std::vector<std::size_t>>& sequences) {
  Sentences sentences;
  for (const auto& sequence : sequences) {
    std::vector<WordId> words;
    for (const std::size_t index : sequence) words.push_back(source_word(index));
    sentences.add(words);
  }
  return sentences;
}

/// The model, with the notebook's parameters under its own names. W_o and b_w over a fed-back output, which the
/// notebook does not have, are drawn.
class Replayed {
 public:
  explicit Replayed(const Seq2SeqWithAttention& reference) : reference_(reference), model_(options_for(reference)) {
    const notebook::EncoderRNN& encoder = reference.encoder;
    const notebook::AttentionDecoder& decoder = reference.decoder;
    const std::size_t n = reference.sizes.hidden_size, m = n, e = reference.sizes.encoder_hidden_size;
    const std::size_t C = reference.annotation_size();
    check(model_.options());

    copy_rows("encoder/embedding", reference.input_embedding, source_word);
    copy_rows("decoder/embedding", reference.output_embedding, target_word);
    copy("encoder/forward/W", encoder.W_fwd, 0, m);  // W_fwd acts on [x; h]
    copy("encoder/forward/U", encoder.W_fwd, m, e);
    copy("encoder/forward/b", encoder.b_fwd);
    if (reference.sizes.reads_backward) {
      copy("encoder/backward/W", encoder.W_bwd, 0, m);
      copy("encoder/backward/U", encoder.W_bwd, m, e);
      copy("encoder/backward/b", encoder.b_bwd);
    }
    if (decoder.attention.score == Score::kBahdanau) {
      copy("attention/W_a", decoder.attention.W_a, 0, n);
      copy("attention/U_a", decoder.attention.U_a, 0, C);
      copy("attention/v_a", decoder.attention.v_a);
    } else if (decoder.attention.score == Score::kGeneral) {
      set("attention/W_a", [&](std::size_t i, std::size_t j) { return decoder.attention.W(i, j); });  // s.T W
    }
    copy("decoder/W", decoder.W_dec, 0, m);  // W_dec acts on [prev_output; context; hidden]
    copy("decoder/C", decoder.W_dec, m, C);
    copy("decoder/U", decoder.W_dec, m + C, n);
    copy("decoder/b", decoder.b_dec);
    if (reference.feeds == Feeds::kOutput) {
      copy("readout/U_o", decoder.W_out, 0, n);  // W_out acts on [new_hidden; context; prev_output]
      copy("readout/C_o", decoder.W_out, n, C);
      copy("readout/V_o", decoder.W_out, n + C, m);
      copy("readout/b_o", decoder.b_out);
      Random random(5);
      set("readout/W_o", [&](std::size_t, std::size_t) { return random.normal(); });
      set("readout/b_w", [&](std::size_t, std::size_t) { return random.normal(); });
    } else {  // a row of W_out for each word
      copy_words("readout/U_o", decoder.W_out, 0);
      copy_words("readout/C_o", decoder.W_out, n);
      copy_words("readout/V_o", decoder.W_out, n + C);
      set("readout/b_w", [&](std::size_t, std::size_t k) { return decoder.b_out.at(target_word(k)); });
    }
    EXPECT_EQ(written_.size(), model_.layout().parameters.size()) << "a parameter was not copied";
  }

  Model& model() { return model_; }
  const Model::Impl& impl() const { return model_.impl(); }

  /// The logarithms of softmax probabilities that the notebook's output gives: of itself where it has an entry a word,
  /// else of our output matrix on it. By our word.
  Vector log_probabilities(const Vector& output) const {
    Vector logits;
    if (reference_.feeds == Feeds::kOutput) {
      const Parameter& W_o = model_.layout().find("readout/W_o");
      logits.resize(W_o.cols());
      for (std::size_t k = 0; k < logits.size(); ++k) {
        logits[k] = value("readout/b_w", 0, k);
        for (std::size_t i = 0; i < output.size(); ++i) logits[k] += output[i] * value("readout/W_o", i, k);
      }
    } else {
      for (std::size_t k = 0; k < output.size(); ++k) logits.push_back(output.at(target_word(k)));
    }
    return log_softmax(logits);
  }

  /// e_j of one state over one encoded sentence, by the kernel and the projections that the network computes with. Its
  /// weights say how energies differ; the energy of a key that is added, which makes it 0, says what they are.
  Vector energies(const Encoded& encoded, std::size_t b, const double* state) const {
    const ModelOptions& o = model_.options();
    const kernels::Score& score = o.attention.score();
    const std::size_t Tx = encoded.source_length(b), C = o.annotation_width();
    const std::size_t A = score.width(o.state, C, o.alignment), first = encoded.offsets[b];
    Vector query(state, state + o.state);
    if (score.projects_query) {
      const Parameter& W_a = model_.layout().find("attention/W_a");
      query.assign(A, 0.0);
      kernels::multiply({state, 1, o.state}, {model_.parameters().data() + W_a.offset, o.state, A, W_a.stride},
                        {query.data(), 1, A});
    }
    const auto own = (score.projects_keys ? encoded.keys : encoded.annotations).view().row_range(first, Tx);
    Vector keys(own.data, own.data + Tx * A);
    for (std::size_t a = 0; a < A; ++a) keys.push_back(score.has_v ? -query[a] : 0);  // tanh(q - q) = 0, q . 0 = 0
    Vector v(A, score.scaled ? 1 / std::sqrt(static_cast<double>(A)) : 1);
    for (std::size_t a = 0; a < A && score.has_v; ++a) v[a] = value("attention/v_a", 0, a);
    const std::vector<std::size_t> offsets{0, Tx + 1};
    const std::vector<std::uint32_t> sentence{0};
    const Vector annotations((Tx + 1) * C, 0.0);
    Vector alpha(Tx + 1), context(C);
    const kernels::ScoredMemory memory{{offsets, {annotations.data(), Tx + 1, C}, {keys.data(), Tx + 1, A}}, &score, v};
    kernels::scored_attention_forward(
        {{memory, sentence, {}, {query.data(), 1, A}}, {alpha.data(), 1, Tx + 1}, {context.data(), 1, C}});
    Vector energies;
    for (std::size_t j = 0; j < Tx; ++j) energies.push_back(std::log(alpha[j] / alpha[Tx]));
    return energies;
  }

 private:
  using Value = std::function<double(std::size_t row, std::size_t column)>;
  void set(const std::string& name, const Value& value_at) {
    const Parameter& parameter = model_.layout().find(name);
    EXPECT_TRUE(written_.insert(name).second) << name;
    for (std::size_t i = 0; i < parameter.rows(); ++i) {
      for (std::size_t j = 0; j < parameter.cols(); ++j) {
        model_.parameters()[parameter.offset + i * parameter.stride + j] = value_at(i, j);
      }
    }
  }
  /// `count` columns of W, which multiply a column vector, as the matrix that a row vector multiplies.
  void copy(const std::string& name, const notebook::Matrix& W, std::size_t first, std::size_t count) {
    EXPECT_EQ(model_.layout().find(name).shape, (std::vector<std::size_t>{count, W.rows})) << name;
    set(name, [&](std::size_t i, std::size_t j) { return W(j, first + i); });
  }
  void copy(const std::string& name, const Vector& b) {
    EXPECT_EQ(model_.layout().find(name).shape, std::vector<std::size_t>{b.size()}) << name;
    set(name, [&](std::size_t, std::size_t j) { return b.at(j); });
  }
  void copy_rows(const std::string& name, const notebook::Matrix& table, WordId (*word_of)(std::size_t)) {
    EXPECT_EQ(model_.layout().find(name).shape, (std::vector<std::size_t>{table.rows, table.columns})) << name;
    set(name, [&](std::size_t i, std::size_t j) { return table(word_of(i), j); });  // its own inverse
  }
  void copy_words(const std::string& name, const notebook::Matrix& W, std::size_t first) {
    set(name, [&](std::size_t i, std::size_t k) { return W(target_word(k), first + i); });
  }
  double value(const std::string& name, std::size_t i, std::size_t j) const {
    const Parameter& parameter = model_.layout().find(name);
    return model_.parameters()[parameter.offset + i * parameter.stride + j];
  }

  const Seq2SeqWithAttention& reference_;
  Model model_;
  std::set<std::string> written_;
};

/// What the notebook says of sentence b, and the model: the encoder, each step of greedy decoding in one batch with the
/// other sentences, and forced decoding of all at once.
void compare(const Seq2SeqWithAttention& reference, const std::vector<std::vector<std::size_t>>& sequences,
             std::size_t max_length, Differences& differences) {
  Replayed replayed(reference);
  Model& model = replayed.model();
  const bool attends = model.options().attends(), feeds_output = reference.feeds == Feeds::kOutput;
  const std::size_t B = sequences.size(), n = reference.sizes.hidden_size;
  const Sentences source = sentences_of(sequences);
  std::vector<Seq2SeqWithAttention::Translation> expected;
  std::size_t longest = 0;
  for (const auto& sequence : sequences) {
    expected.push_back(reference.translate(sequence, max_length));
    longest = std::max(longest, sequence.size());
  }

  const Encoded encoded = model.encode(source);
  const std::size_t K = model.options().target_words;
  SearchState state = model.start(encoded);
  ASSERT_EQ(state.states.view().cols, n);
  ASSERT_EQ(state.fed.view().cols, feeds_output ? n : 0);
  for (std::size_t b = 0; b < B; ++b) {
    ASSERT_EQ(encoded.source_length(b), sequences[b].size());
    for (std::size_t j = 0; j < sequences[b].size() && attends; ++j) {
      const std::size_t row = encoded.offsets[b] + j;
      differences.add("annotations h_j", encoded.annotations.view().row(row), expected[b].annotations[j]);
      if (reference.decoder.attention.score == Score::kBahdanau) {
        differences.add("keys U_a h_j", encoded.keys.view().row(row),
                        notebook::dot(reference.decoder.attention.U_a, expected[b].annotations[j]));
      }
    }
    if (!attends) differences.add("fixed context", encoded.contexts.view().row(b), expected[b].annotations.back());
    differences.add("first state", state.states.view().row(b), Vector(n, 0.0));
    if (feeds_output) differences.add("start token", state.fed.view().row(b), reference.start_token());
  }

  // Greedy decoding, all sentences a step at a time.
  std::vector<std::uint32_t> same(B);
  std::iota(same.begin(), same.end(), 0u);
  for (std::size_t i = 0; i < max_length; ++i) {
    std::vector<double> log_p(B * K), alpha(B * longest), before;
    for (std::size_t b = 0; b < B; ++b) {
      before.insert(before.end(), state.states.view().row(b), state.states.view().row(b) + n);
    }
    model.predict(encoded, state, {{log_p.data(), B, K}, {alpha.data(), B, longest}});
    std::vector<WordId> word(B);
    for (std::size_t b = 0; b < B; ++b) {
      const notebook::AttentionDecoder::Step& step = expected[b].steps[i];
      if (attends) {
        Vector weights = step.attention_weights;
        differences.add("energies e_ij", replayed.energies(encoded, b, before.data() + b * n).data(), step.scores);
        weights.resize(longest, 0.0);
        differences.add("weights alpha_ij", alpha.data() + b * longest, weights);
      }
      const Vector log_probabilities = replayed.log_probabilities(step.output);
      differences.add("log softmax of the output", log_p.data() + b * K, log_probabilities);
      const auto first = log_p.begin() + static_cast<std::ptrdiff_t>(b * K);
      word[b] = static_cast<WordId>(notebook::argmax(Vector(first, first + static_cast<std::ptrdiff_t>(K))));
      ASSERT_EQ(word[b], notebook::argmax(log_probabilities)) << "step " << i;
    }
    state.select(same, word);
    model.advance(state);
    for (std::size_t b = 0; b < B; ++b) {
      differences.add("states s_i", state.states.view().row(b), expected[b].steps[i].new_hidden);
      if (feeds_output) differences.add("outputs o_i", state.fed.view().row(b), expected[b].steps[i].output);
    }
  }

  // Forced decoding of what greedy decoding wrote, of sentence b its first words.
  Sentences target;
  for (std::size_t b = 0; b < B; ++b) {
    std::vector<WordId> words;
    for (std::size_t i = 0; i + 1 < sequences[b].size() && i + 1 < max_length; ++i) {
      words.push_back(static_cast<WordId>(notebook::argmax(replayed.log_probabilities(expected[b].steps[i].output))));
    }
    target.add(words);
  }
  const std::vector<Alignment> alignments = model.align(source, target);
  const layers::Packing& packing = replayed.impl().target.packing;
  packing.for_each_row([&](std::size_t row, std::size_t b, std::size_t i) {
    differences.add("contexts c_i", replayed.impl().decoder.contexts().row(row), expected[b].steps[i].context);
  });
  for (std::size_t b = 0; b < B; ++b) {
    double log_probability = 0;
    const std::size_t Ty = target.length(b) + 1;
    for (std::size_t i = 0; i < Ty; ++i) {
      if (attends) {
        differences.add("weights, forced decoding", alignments[b].alpha.data() + i * sequences[b].size(),
                        expected[b].steps[i].attention_weights);
      }
      log_probability += replayed.log_probabilities(expected[b].steps[i].output).at(i + 1 < Ty ? target[b][i] : kEnd);
    }
    differences.add("log p, forced decoding", alignments[b].log_probability, log_probability);
  }
}

struct Weights {
  const char* name;
  notebook::Draw draw;
};
/// The notebook's own, which leave every value near 0 and every alpha near 1/Tx, and some that use the range of every
/// function. (Larger ones would make o_i, which is fed back without a tanh, and its rounding grow from step to step.)
constexpr Weights kWeights[] = {{"weights as printed", {0.01, 0}}, {"large weights", {0.2, 0.5}}};

/// input_seq of the notebook.
const std::vector<std::vector<std::size_t>> kPrinted{{1, 2, 3, 4, 5, 6, 7}};
const std::vector<std::vector<std::size_t>> kRagged{
    {1, 2, 3, 4, 5, 6, 7}, {19, 0, 7}, {7}, {8, 8, 7, 15, 7}, {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 7}};

TEST(AttentionNotebook, IsWhatTheModelComputesAsPrinted) {
  for (const Weights& weights : kWeights) {
    Random random(42);
    const Seq2SeqWithAttention reference(random, {}, Feeds::kOutput, Score::kBahdanau, weights.draw);
    Differences differences(std::string("notebook, ") + weights.name);
    compare(reference, kPrinted, kPrinted.front().size(), differences);
    EXPECT_EQ(
        differences.names(),
        (std::set<std::string>{"annotations h_j", "keys U_a h_j", "first state", "start token", "energies e_ij",
                               "weights alpha_ij", "contexts c_i", "states s_i", "outputs o_i",
                               "log softmax of the output", "weights, forced decoding", "log p, forced decoding"}));
  }
}

TEST(AttentionNotebook, IsWhatTheModelComputesInABatchOfSeveralLengths) {
  for (const Feeds feeds : {Feeds::kOutput, Feeds::kEmbeddingOfArgmax}) {
    for (const Weights& weights : kWeights) {
      Random random(43);
      const Seq2SeqWithAttention reference(random, {}, feeds, Score::kBahdanau, weights.draw);
      Differences differences(
          std::string(feeds == Feeds::kOutput ? "batch, output fed back, " : "batch, word fed back, ") + weights.name);
      compare(reference, kRagged, 11, differences);
    }
  }
}

/// The last cells: the other scores.
TEST(AttentionNotebook, IsWhatTheModelComputesWithTheOtherScores) {
  for (const auto& [score, name] : {std::pair{Score::kDotProduct, "dot product"},
                                    {Score::kScaledDotProduct, "scaled dot product"},
                                    {Score::kGeneral, "general"}}) {
    for (const Feeds feeds : {Feeds::kOutput, Feeds::kEmbeddingOfArgmax}) {
      for (const Weights& weights : kWeights) {
        Random random(45);
        Seq2SeqWithAttention::Sizes sizes;
        if (score != Score::kGeneral) sizes.encoder_hidden_size = 8;  // annotations are as wide as states
        const Seq2SeqWithAttention reference(random, sizes, feeds, score, weights.draw);
        Differences differences(std::string(name) + (feeds == Feeds::kOutput ? ", " : ", word fed back, ") +
                                weights.name);
        compare(reference, kRagged, 11, differences);
      }
    }
  }
}

/// "With attention or without": all the weight on the last word at every step. The model's fixed context is that
/// encoder state. (The notebook's encoder reads both ways, and its last annotation holds the backward encoder's state
/// after one word; the model takes each direction's last state. So here the encoder reads forward.)
TEST(AttentionNotebook, IsWhatTheModelComputesWithAFixedContext) {
  for (const Feeds feeds : {Feeds::kOutput, Feeds::kEmbeddingOfArgmax}) {
    for (const Weights& weights : kWeights) {
      Random random(46);
      Seq2SeqWithAttention::Sizes sizes;
      sizes.reads_backward = false;
      const Seq2SeqWithAttention reference(random, sizes, feeds, Score::kFixedContext, weights.draw);
      Differences differences(
          std::string(feeds == Feeds::kOutput ? "fixed context, " : "fixed context, word fed back, ") + weights.name);
      compare(reference, kRagged, 11, differences);
      for (const auto& sequence : kRagged) {
        for (const auto& step : reference.translate(sequence, 2).steps) {
          Vector last(sequence.size(), 0.0);
          last.back() = 1;
          EXPECT_EQ(step.attention_weights, last);
        }
      }
    }
  }
}

}  // namespace
}  // namespace rnnsearch::model
