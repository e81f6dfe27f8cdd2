// The attention notebook, replayed value by value (tests/model/notebook.h), and the model with the same parameters
// beside it.
//
// The notebook's source has no end symbol, as in its presets. Its start token, output_embedding[0], is the embedding of
// <s>.
#include "rnnsearch/model/options.h"
#include "tests/model/fixtures.h"
#include "tests/model/notebook.h"
#include "tests/support/test.h"

namespace rnnsearch::model {
namespace {

using notebook::Feeds;
using notebook::Score;
using notebook::Seq2SeqWithAttention;
using notebook::Vector;

/// To 1e-12 of what the notebook says.
void expect_near(const char* what, const double* found, const Vector& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-12) << what << " " << i;
}

/// log(softmax(x))
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

WordId source_word(std::size_t index) { return static_cast<WordId>(index); }
WordId target_word(std::size_t index) { return index == 0 ? kStart : index == kStart ? 0 : static_cast<WordId>(index); }

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

 private:
  using Value = std::function<double(std::size_t row, std::size_t column)>;
  void set(const std::string& name, const Value& value_at) {
    const Parameter& parameter = model_.layout().find(name);
    EXPECT_TRUE(written_.insert(name).second) << name;
    for (std::size_t i = 0; i < parameter.rows(); ++i) {
      for (std::size_t j = 0; j < parameter.cols(); ++j)
        model_.parameters()[parameter.offset + i * parameter.stride + j] = value_at(i, j);
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

/// What the notebook says of each sentence, and the model: the encoder, each step of greedy decoding in one batch with
/// the other sentences, and forced decoding of all at once.
void compare(const Seq2SeqWithAttention& reference, const std::vector<std::vector<std::size_t>>& sequences,
             std::size_t max_length) {
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
      expect_near("annotations h_j", encoded.annotations.view().row(row), expected[b].annotations[j]);
    }
    if (!attends) expect_near("fixed context", encoded.contexts.view().row(b), expected[b].annotations.back());
    expect_near("first state", state.states.view().row(b), Vector(n, 0.0));
    if (feeds_output) expect_near("start token", state.fed.view().row(b), reference.start_token());
  }

  // Greedy decoding, all sentences a step at a time.
  std::vector<std::uint32_t> same(B);
  std::iota(same.begin(), same.end(), 0u);
  for (std::size_t i = 0; i < max_length; ++i) {
    std::vector<double> log_p(B * K), alpha(B * longest);
    model.predict(encoded, state, {{log_p.data(), B, K}, {alpha.data(), B, longest}});
    std::vector<WordId> word(B);
    for (std::size_t b = 0; b < B; ++b) {
      const notebook::AttentionDecoder::Step& step = expected[b].steps[i];
      if (attends) {
        Vector weights = step.attention_weights;
        weights.resize(longest, 0.0);
        expect_near("weights alpha_ij", alpha.data() + b * longest, weights);
      }
      const Vector log_probabilities = replayed.log_probabilities(step.output);
      expect_near("log softmax of the output", log_p.data() + b * K, log_probabilities);
      const auto first = log_p.begin() + static_cast<std::ptrdiff_t>(b * K);
      word[b] = static_cast<WordId>(notebook::argmax(Vector(first, first + static_cast<std::ptrdiff_t>(K))));
      ASSERT_EQ(word[b], notebook::argmax(log_probabilities)) << "step " << i;
    }
    state.select(same, word);
    model.advance(state);
    for (std::size_t b = 0; b < B; ++b) {
      expect_near("states s_i", state.states.view().row(b), expected[b].steps[i].new_hidden);
      if (feeds_output) expect_near("outputs o_i", state.fed.view().row(b), expected[b].steps[i].output);
    }
  }

  // Forced decoding of what greedy decoding wrote, of sentence b its first words.
  Sentences target;
  for (std::size_t b = 0; b < B; ++b) {
    std::vector<WordId> words;
    for (std::size_t i = 0; i + 1 < sequences[b].size() && i + 1 < max_length; ++i)
      words.push_back(static_cast<WordId>(notebook::argmax(replayed.log_probabilities(expected[b].steps[i].output))));
    target.add(words);
  }
  const std::vector<Alignment> alignments = model.align(source, target);
  for (std::size_t b = 0; b < B; ++b) {
    double log_probability = 0;
    const std::size_t Ty = target.length(b) + 1;
    for (std::size_t i = 0; i < Ty; ++i) {
      if (attends) {
        expect_near("weights, forced decoding", alignments[b].alpha.data() + i * sequences[b].size(),
                    expected[b].steps[i].attention_weights);
      }
      log_probability += replayed.log_probabilities(expected[b].steps[i].output).at(i + 1 < Ty ? target[b][i] : kEnd);
    }
    EXPECT_NEAR(alignments[b].log_probability, log_probability, 1e-12);
  }
}

/// The notebook's own, which leave every value near 0 and every alpha near 1/Tx, and some that use the range of every
/// function. (Larger ones would make o_i, which is fed back without a tanh, and its rounding grow from step to step.)
constexpr notebook::Draw kDraws[] = {{0.01, 0}, {0.2, 0.5}};

/// input_seq of the notebook.
const std::vector<std::vector<std::size_t>> kPrinted{{1, 2, 3, 4, 5, 6, 7}};
const std::vector<std::vector<std::size_t>> kRagged{
    {1, 2, 3, 4, 5, 6, 7}, {19, 0, 7}, {7}, {8, 8, 7, 15, 7}, {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 7}};

TEST(AttentionNotebook, IsWhatTheModelComputesAsPrintedAndInABatchOfSeveralLengths) {
  for (const notebook::Draw& draw : kDraws) {
    for (const Feeds feeds : {Feeds::kOutput, Feeds::kEmbeddingOfArgmax}) {
      Random random(43);
      const Seq2SeqWithAttention reference(random, {}, feeds, Score::kBahdanau, draw);
      compare(reference, kPrinted, kPrinted.front().size());
      compare(reference, kRagged, 11);
    }
  }
}

/// The last cells: the other scores.
TEST(AttentionNotebook, IsWhatTheModelComputesWithTheOtherScores) {
  for (const Score score : {Score::kDotProduct, Score::kScaledDotProduct, Score::kGeneral}) {
    for (const Feeds feeds : {Feeds::kOutput, Feeds::kEmbeddingOfArgmax}) {
      for (const notebook::Draw& draw : kDraws) {
        Random random(45);
        Seq2SeqWithAttention::Sizes sizes;
        if (score != Score::kGeneral) sizes.encoder_hidden_size = 8;  // annotations are as wide as states
        compare({random, sizes, feeds, score, draw}, kRagged, 11);
      }
    }
  }
}

/// "With attention or without": all the weight on the last word at every step. The model's fixed context is that
/// encoder state. (The notebook's encoder reads both ways, and its last annotation holds the backward encoder's state
/// after one word; the model takes each direction's last state. So here the encoder reads forward.)
TEST(AttentionNotebook, IsWhatTheModelComputesWithAFixedContext) {
  for (const Feeds feeds : {Feeds::kOutput, Feeds::kEmbeddingOfArgmax}) {
    for (const notebook::Draw& draw : kDraws) {
      Random random(46);
      Seq2SeqWithAttention::Sizes sizes;
      sizes.reads_backward = false;
      const Seq2SeqWithAttention reference(random, sizes, feeds, Score::kFixedContext, draw);
      compare(reference, kRagged, 11);
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
