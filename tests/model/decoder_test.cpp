#include "model/impl.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/kernels/precision.h"
#include "rnnsearch/model/options.h"
#include "tests/model/fixtures.h"
#include "tests/model/systems.h"
#include "tests/support/gradient_check.h"
#include "tests/support/whole_gradient.h"

namespace rnnsearch::model {
namespace {

ModelOptions small() {
  return widths(12, 6, 8, 5, 3);
}
constexpr const char* kTurnedRound = "reverse-source=true target-direction=right-to-left";

/// What sets a system apart from one of an earlier row; without a base, from RNNsearch.
struct SystemRow {
  std::string name, base, settings;
};

/// Every choice there is, in the company its source gave it, and the two orders of a step with company of their own.
std::vector<Variant> all_systems() {
  std::vector<SystemRow> rows{
      // tanh cells, s_i read out, linear readout
      {"notebook", "",
       "cell=tanh encoder=bidirectional initial-state=zero state-word=previous readout=linear readout-state=current "
       "start=embedded"},
      {"notebook_general", "notebook", "attention=general"},
      {"notebook_as_printed", "notebook", "feedback=output embedding-biases=false"},
      {"notebook_as_printed_factored", "notebook", "feedback=output readout-rank=4 layers=2"},
      {"notebook_dot", "notebook", "attention=dot encoder-state=4"},  // [forward; backward] is as wide as s
      {"notebook_scaled_dot_factored", "notebook_dot", "attention=scaled-dot readout-rank=4"},

      {"seq2seq_gru", "",
       "attention=none encoder=forward initial-state=final state-word=previous state-inputs=word readout-inputs=state "
       "readout=linear readout-state=current start=embedded"},
      {"seq2seq_tanh", "seq2seq_gru", "cell=tanh"},
      {"seq2seq_lstm_of_two_layers", "seq2seq_gru", "cell=lstm layers=2 gate-biases=true"},
      {"seq2seq_lstm_projected", "seq2seq_lstm_of_two_layers", "initial-state=projected embedding-biases=false"},

      {"replication", "",
       "cell=mlp attention=mlp initial-state=forward state-word=previous readout=mlp readout-state=current "
       "feedback=output"},
      {"replication_of_sources_without_end_symbol", "replication", "source-end=false"},
      {"replication_without_the_path_between_states", "replication_of_sources_without_end_symbol",
       "initial-state=zero"},
      {"replication_without_shortcuts", "replication", "readout-inputs=state"},
      {"replication_without_the_word_in_the_state", "replication", "state-inputs=context"},
      {"replication_without_the_word", "replication_without_the_word_in_the_state", "readout-inputs=state,context"},
      {"replication_without_the_word_fed_with_words", "replication_without_the_word", "feedback=word"},
      {"replication_with_a_state_that_sees_itself_alone", "replication", "state-inputs=none"},
      {"replication_fed_with_words", "replication", "feedback=word readout-rank=3"},

      {"stacked_gru", "",
       "gru-reset=after gate-biases=true layers=2 encoder=forward initial-state=final state-word=previous "
       "readout=linear readout-inputs=state readout-state=current start=embedded"},
      {"stacked_gru_bidirectional", "stacked_gru",
       "gate-biases=false layers=3 encoder=bidirectional initial-state=backward"},

      {"luong_general", "",
       "cell=lstm gate-biases=true layers=2 encoder=forward attend-from=current initial-state=final "
       "state-word=previous state-inputs=word readout=tanh readout-inputs=state,context readout-state=current "
       "input-feeding=true start=embedded attention=general"},
      {"luong_dot", "luong_general", "attention=dot"},
      {"luong_concat_without_feeding", "luong_general", "attention=concat input-feeding=false"},
      {"luong_local_p", "luong_general", "window=2 attention-window=local-p"},
      {"luong_local_m", "luong_local_p", "attention=dot attention-window=local-m"},
      {"gru_local_m_maxout_fed", "luong_local_m",
       "cell=gru layers=1 attention=additive readout=maxout encoder=bidirectional initial-state=forward"},

      // the readout reads s_{i-1}
      {"rnnsearch_lstm", "", "cell=lstm"},
      {"rnnsearch_lstm_of_two_layers", "rnnsearch_lstm", "layers=2 state-word=previous encoder-state=5"},
      {"rnnsearch_tanh_without_words", "rnnsearch_lstm_of_two_layers",
       "cell=tanh attention=mlp readout-inputs=state,context state-inputs=context readout=tanh"},
      {"rnnsearch_mlp_local_p", "rnnsearch_lstm", "cell=mlp attention-window=local-p window=3"},
      {"rnnencdec_lstm", "rnnsearch_lstm", "attention=none"},
      {"rnnencdec_lstm_bidirectional_from_zero", "rnnencdec_lstm",
       "encoder=bidirectional initial-state=zero readout-inputs=state,word"},

      {"tanh_normalised", "notebook", "layer-normalization=true"},
      {"gru_normalised", "stacked_gru", "layer-normalization=true gate-biases=false"},
      {"lstm_normalised", "luong_general", "layer-normalization=true gate-biases=false"},
      {"lstm_normalised_bidirectional", "lstm_normalised", "encoder=bidirectional initial-state=projected"},
  };
  const auto add = [&](const std::string& name, const std::string& base, const std::string& settings) {
    rows.push_back({name, base, settings});
  };
  for (const std::string cell : {"gru", "tanh", "lstm"}) {  // the encoder reads <start> and <end> around the sentence
    const std::string started = "seq2seq_" + cell + "_from_start_symbol";
    add(started, "seq2seq_gru", "source-start=true cell=" + cell);
    add(started + "_bidirectional_with_context", started,
        "layers=2 state-inputs=word,context readout-inputs=state,context encoder=bidirectional initial-state=backward");
  }
  // Every shape of a fixed context: without and with the tanh layer of Cho et al. (2014).
  for (const auto& [name, fixed] :
       std::map<std::string, std::string>{{"rnnencdec", "last-state"}, {"cho_2014", "tanh"}}) {
    add(name, "", "attention=none fixed-context=" + fixed);
    add(name + "_of_two_layers", name, "layers=2");
    add(name + "_with_a_narrow_encoder", name, "encoder-state=5");
    add(name + "_bidirectional", name, "encoder=bidirectional");
    add(name + "_bidirectional_with_a_narrow_encoder", name, "encoder=bidirectional encoder-state=5 layers=2");
    add(name + "_context_in_the_state_alone", name, "readout-inputs=state,word");
    add(name + "_context_in_the_readout_alone", name, "state-inputs=word encoder-state=3");
    add(name + "_linear_readout_of_the_new_state", name,
        "state-word=previous readout-state=current readout=linear cell=lstm encoder-state=7");
  }
  // The source from its last word to the first, and the target too.
  for (const std::string base : {"notebook", "seq2seq_gru", "seq2seq_gru_from_start_symbol",
                                 "replication_of_sources_without_end_symbol", "luong_local_p", "luong_local_m"}) {
    add(base + "_of_a_reversed_source", base, "reverse-source=true");
    if (base == "luong_local_m") continue;
    add(base + "_turned_round", base, kTurnedRound);
    add(base + "_right_to_left", base, "target-direction=right-to-left");
  }
  // Every tie of the embeddings, with the equations of RNNsearch, RNNencdec, Luong's (whose readout is fed back) and
  // seq2seq's.
  for (const std::string tied : {"target", "source-target", "all"}) {
    const std::string name = "_tied_" + (tied == "source-target" ? "sides" : tied);
    const std::string tie = "tied-embeddings=" + tied + (tied == "target" ? " " : " source-words=13 ");
    add("rnnsearch" + name, "", tie + "maxout=6");
    add("rnnsearch_factored" + name, "", tie + "readout-rank=6 embedding-biases=false state-word=previous");
    add("rnnencdec_factored" + name, "rnnsearch_factored" + name, "attention=none");
    add("notebook_as_printed" + name, "notebook", tie + "feedback=output");
    add("luong" + name, "luong_general", tie + "embedding-biases=false embedding=8");
    add("seq2seq" + name, "seq2seq_gru", tie + "embedding=8");
    add("seq2seq_from_start_symbol" + name, "seq2seq" + name, "source-start=true");
  }
  std::vector<Variant> all;
  for (const SystemRow& row : rows) {
    const auto base =
        std::find_if(all.begin(), all.end(), [&](const Variant& earlier) { return earlier.name == row.base; });
    EXPECT_TRUE(row.base.empty() || base != all.end()) << row.base;
    all.push_back({row.name, with(base == all.end() ? small() : base->options, row.settings)});
  }
  return all;
}

/// Systems that drop: all there are with one kind or the other, and cells of two layers with both.
std::vector<Variant> dropping_systems() {
  std::vector<Variant> all;
  const auto add = [&](const std::string& name, ModelOptions o, DropoutKind kind) {
    o.dropout = 0.3;
    o.dropout_kind = kind;
    if (o.attends()) o.attention_dropout = 0.2;
    all.push_back({name + "_" + name_of(kind), o});
  };
  const auto add_words_alone = [&](const std::string& name, ModelOptions o, DropoutKind kind) {
    o.dropout_kind = kind;
    o.source_word_dropout = 0.3;
    const bool reads = (o.state_inputs.word || o.readout_inputs.word) && o.feedback == Feedback::kWord;
    o.target_word_dropout = reads ? 0.25 : 0;
    all.push_back({name + "_words_" + name_of(kind), o});
  };
  for (const Variant& system : all_systems()) {
    add(system.name, system.options, all.size() % 2 == 0 ? DropoutKind::kVariational : DropoutKind::kPlain);
    if (all.size() % 3 == 0) add_words_alone(system.name, system.options, all.back().options.dropout_kind);
  }
  for (const DropoutKind kind : {DropoutKind::kPlain, DropoutKind::kVariational}) {
    for (const Step word : {Step::kPrevious, Step::kCurrent}) {
      for (const Attention attention : {Attention::kAdditive, Attention::kNone}) {
        ModelOptions o = small();
        o.state_word = word;
        o.attention = attention;
        add_words_alone("rnn_" + name_of(attention) + "_" + name_of(word), o, kind);
        o.dropout = 0.2;
        add_words_alone("rnn_with_units_" + name_of(attention) + "_" + name_of(word), o, kind);
      }
    }
  }
  for (const Cell cell : {Cell::kGru, Cell::kLstm, Cell::kTanh}) {
    for (const DropoutKind kind : {DropoutKind::kPlain, DropoutKind::kVariational}) {
      ModelOptions o = small();
      o.cell = cell;
      o.layers = 2;
      add("rnnsearch_of_two_layers_" + name_of(cell), o, kind);
    }
  }
  all.push_back({"rnnsearch_attention_only", with(small(), "attention-dropout=0.5")});
  return all;
}

/// Each choice through all its values, together with those that it has to do with; what `check` refuses is left out.
std::vector<Variant> all_combinations(const ModelOptions& widths) {
  std::vector<Variant> all;
  const auto add = [&](std::string name, const ModelOptions& o) {
    try {
      check(o);
    } catch (const Error&) {
      return;
    }
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '-' || c == ','; }, '_');
    all.push_back({name, o});
  };
  ModelOptions base = widths;  // s_i is made, then read
  base.state_word = Step::kPrevious;
  base.readout_state = Step::kCurrent;
  base.readout = Readout::kTanh;
  base.start = Start::kEmbedded;

  for (const auto& [cell, cell_name] : names_of(Cell{})) {
    for (const auto reset : {GruReset::kBefore, GruReset::kAfter}) {
      for (const std::size_t layers : {1u, 2u, 3u}) {
        for (const auto encoder : {Encoder::kForward, Encoder::kBidirectional}) {
          ModelOptions o = base;
          o.cell = cell;
          o.gru_reset = reset;
          o.layers = layers;
          o.encoder = encoder;
          o.gate_biases = layers != 2;
          add(fmt::format("cell_{}_{}_{}_{}", cell_name, name_of(reset), layers, name_of(encoder)), o);
        }
      }
    }
  }
  for (const std::string& attention : attention_names()) {
    for (const auto from : {Step::kPrevious, Step::kCurrent}) {
      for (const auto window : {AttentionWindow::kGlobal, AttentionWindow::kLocalM, AttentionWindow::kLocalP}) {
        for (const bool feeding : {false, true}) {
          ModelOptions o = base;
          o.attention = attention_of(attention);
          o.attend_from = from;
          o.attention_window = window;
          o.window = 2;
          o.input_feeding = feeding;
          o.encoder = Encoder::kForward;
          o.state_inputs = {.word = true, .context = from == Step::kPrevious};
          add(fmt::format("score_{}_{}_{}{}", attention, name_of(from), name_of(window), feeding ? "_fed" : ""), o);
        }
      }
    }
  }
  for (const auto initial : {InitialState::kProjected, InitialState::kBackward, InitialState::kForward,
                             InitialState::kFinal, InitialState::kZero}) {
    for (const auto encoder : {Encoder::kForward, Encoder::kBidirectional}) {
      for (const bool attends : {false, true}) {
        for (const auto cell : {Cell::kGru, Cell::kLstm}) {
          for (const bool context : {false, true}) {
            ModelOptions o = base;
            o.initial_state = initial;
            o.encoder = encoder;
            o.attention = attention_of(attends ? "general" : "none");
            o.cell = cell;
            o.layers = 2;
            o.state_inputs.context = context;
            o.readout_inputs.context = context || attends;
            add(fmt::format("begin_{}_{}_{}_{}{}", name_of(initial), name_of(encoder), name_of(o.attention),
                            name_of(cell), context ? "_context" : ""),
                o);
          }
        }
      }
    }
  }
  for (const auto readout : {Readout::kMaxout, Readout::kTanh, Readout::kLinear, Readout::kMlp}) {
    for (const auto start : {Start::kZero, Start::kEmbedded}) {
      for (const std::size_t rank : {0u, 3u}) {
        ModelOptions o = base;
        o.readout = readout;
        o.feedback = Feedback::kOutput;
        o.start = start;
        o.readout_rank = rank;
        add(fmt::format("fed_back_{}_{}{}", name_of(readout), name_of(start), rank > 0 ? "_factored" : ""), o);
      }
    }
  }
  for (const unsigned inputs : {1u, 2u, 3u, 4u, 5u, 6u, 7u}) {
    const Inputs read{.state = (inputs & 1) != 0, .word = (inputs & 2) != 0, .context = (inputs & 4) != 0};
    for (const auto readout : {Readout::kMaxout, Readout::kTanh, Readout::kLinear, Readout::kMlp}) {
      for (const auto state : {Step::kPrevious, Step::kCurrent}) {
        ModelOptions o = base;
        o.readout = readout;
        o.readout_state = state;
        o.readout_inputs = read;
        o.readout_rank = inputs % 2 == 0 ? 3 : 0;
        o.start = inputs % 3 == 0 ? Start::kEmbedded : Start::kZero;
        add(fmt::format("read_{}_{}_{}", name_of(readout), name_of(state), name_of(read)), o);
      }
    }
    for (const auto feedback : {Feedback::kWord, Feedback::kOutput}) {
      for (const Inputs update :
           {Inputs{.word = true}, Inputs{.context = true}, Inputs{.word = true, .context = true}}) {
        ModelOptions o = base;
        o.feedback = feedback;
        o.start = feedback == Feedback::kWord ? Start::kEmbedded : Start::kZero;
        o.state_inputs = update;
        o.readout_inputs = read;
        add(fmt::format("update_{}_{}_{}", name_of(update), name_of(feedback), name_of(read)), o);
      }
    }
  }
  return all;
}

std::string name_of_case(const testing::TestParamInfo<Variant>& chosen) {
  return chosen.param.name;
}

constexpr DropoutSeed kDropoutSeed{.seed = 7, .update = 1000, .first_pair = 2, .pair_stride = 3};

std::vector<Variant> dropping_words(const std::string& kind) {
  const std::string shares = "source-word-dropout=0.3 target-word-dropout=0.25 dropout-kind=";
  return variants(with(small(), shares + kind), 4);
}

// ---- against the sources' equations

class Systems : public testing::TestWithParam<Variant> {
 protected:
  void TearDown() override { set_thread_count(allowed_cpus()); }
};

TEST_P(Systems, AgreeWithTheEquations) {
  const ModelOptions& options = GetParam().options;
  constexpr double tolerance = sizeof(Real) == 4 ? 1e-5 : 1e-10;
  Model model(options);
  fill(model, 11);
  const reference::Parameters parameters = named(model);
  const systems::System system(parameters, model.options());
  Random random(12);
  const Sentences source = random_sentences(random, 7, 12, options.source_words);
  const Sentences target = random_sentences(random, 7, 12, options.target_words);
  const auto found = model.align(source, target);
  double sum = 0;
  for (std::size_t b = 0; b < source.size(); ++b) {
    SCOPED_TRACE(testing::Message() << "sentence " << b);
    const auto expected = system.run({source[b].begin(), source[b].end()}, {target[b].begin(), target[b].end()});
    const double wanted = expected.log_probability();
    EXPECT_NEAR(found[b].log_probability, wanted, tolerance * std::abs(wanted));
    sum -= wanted;
    const std::size_t Tx = std::max<std::size_t>(1, source.length(b) + (options.source_end ? 1 : 0));
    ASSERT_EQ(found[b].alpha.size(), options.attends() ? Tx * (target.length(b) + 1) : 0);
    for (std::size_t i = 0; i < found[b].alpha.size(); ++i) {
      EXPECT_NEAR(found[b].alpha[i], expected.alpha[i / Tx][i % Tx], 10 * tolerance) << i / Tx << ", " << i % Tx;
    }
  }
  EXPECT_NEAR(model.loss(source, target).negative_log_likelihood, sum, tolerance * sum);
}

#ifdef RNNSEARCH_DOUBLE
/// gradient: the whole one of the model, of which some elements of every parameter are compared.
void expect_central_differences(Model& model, const std::vector<double>& gradient, std::size_t elements,
                                const std::function<double()>& loss) {
  for (const Parameter& parameter : model.layout().parameters) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < parameter.rows(); ++i) {
      for (std::size_t j = 0; j < parameter.cols(); ++j) places.push_back(parameter.offset + i * parameter.stride + j);
    }
    std::vector<double> values, found;
    for (const std::size_t place : places) {
      values.push_back(model.parameters()[place]);
      found.push_back(gradient[place]);
    }
    const auto write = [&] {
      for (std::size_t i = 0; i < places.size(); ++i) model.parameters()[places[i]] = values[i];
    };
    support::expect_gradient(values, found, [&] { return write(), loss(); },
                             {.tolerance = 1e-6, .floor = 1e-8, .maximum_elements = elements, .name = parameter.name});
    write();
  }
}

/// loss: of what the gradient is of.
void expect_gradient_of_central_differences(
    Model& model, const GradientOptions& how,
    const std::function<double(const Sentences& source, const Sentences& target)>& loss_of) {
  set_thread_count(1);  // for so little work a second one costs more than it helps
  fill(model, 21);
  Random random(22);
  Sentences source, target;
  for (const std::size_t length : {3u, 1u, 0u, 5u, 3u}) source.add(random_sentence(random, length, 12));
  for (const std::size_t length : {2u, 4u, 1u, 0u, 6u}) target.add(random_sentence(random, length, 13));
  const Loss loss = model.accumulate_gradient(source, target, how);
  const std::vector<double> gradient = whole_gradient(model);
  EXPECT_EQ(loss.words, 18u);
  EXPECT_NEAR(loss.negative_log_likelihood, loss_of(source, target), 1e-10);
  expect_central_differences(model, gradient, 4, [&] { return loss_of(source, target); });
}

TEST_P(Systems, HaveTheGradientOfCentralDifferencesInEveryParameter) {
  Model model(GetParam().options);
  expect_gradient_of_central_differences(model, {}, [&](const Sentences& source, const Sentences& target) {
    return model.loss(source, target).negative_log_likelihood;
  });
}

/// RNNsearch and RNNencdec, with either word in the state, plain or with all that may be added.
class EveryElement : public Systems {};

TEST_P(EveryElement, HasTheGradientOfCentralDifferences) {
  Model model(GetParam().options);
  fill(model, 7);
  Random random(7);
  const Sentences source = random_sentences(random, 5, 6, 9), target = random_sentences(random, 5, 6, 10);
  model.accumulate_gradient(source, target);
  expect_central_differences(model, whole_gradient(model), 1000,
                             [&] { return model.loss(source, target).negative_log_likelihood; });
}

std::vector<Variant> plain_and_full() {
  std::vector<Variant> some = variants(widths(9, 4, 5, 6, 3), 4);
  std::erase_if(some, [](const Variant& one) {
    const ModelOptions& o = one.options;
    return o.gate_biases != (o.readout_rank > 0) || o.embedding_biases == o.gate_biases;
  });
  return some;
}
INSTANTIATE_TEST_SUITE_P(Rnnsearch, EveryElement, testing::ValuesIn(plain_and_full()), name_of_case);

TEST_P(Systems, GiveABatchTheScoresOfItsSentencesOneByOne) {
  Model model(GetParam().options);
  fill(model, 31);
  Random random(32);
  const Sentences source = random_sentences(random, 6, 12, 12), target = random_sentences(random, 6, 12, 13);
  const std::vector<double> together = model.score(source, target);
  for (std::size_t b = 0; b < source.size(); ++b) {
    Sentences one, other;
    one.add(source[b]);
    other.add(target[b]);
    EXPECT_NEAR(model.score(one, other)[0], together[b], 1e-12 * std::abs(together[b]));
  }
}

/// Rows of a search, two of each sentence and in another order every step, against forced decoding.
TEST_P(Systems, PredictStepByStepWhatTheyScoreAtOnce) {
  Model model(GetParam().options);
  fill(model, 41);
  Random random(42);
  Sentences source, target;
  for (const std::size_t length : {7u, 0u, 4u}) {
    source.add(random_sentence(random, length, 12));
    std::vector<WordId> words = random_sentence(random, 9, 13);
    std::replace(words.begin(), words.end(), kStart, kUnknown);
    target.add(words);
  }
  const auto expected = model.align(source, target);
  const auto encoded = model.encode(source);
  const std::size_t K = model.options().target_words;
  const std::vector<std::uint32_t> first{2, 0, 1, 1, 2, 0};
  std::vector<double> scores(source.size(), 0.0);
  const std::size_t R = first.size(), longest = 8;
  SearchState state = model.start(encoded);
  state.select(first, std::vector<WordId>(R, kStart));
  for (std::size_t i = 0; i <= 9; ++i) {
    const std::size_t at = model.options().right_to_left() && i < 9 ? 8 - i : i;
    std::vector<double> log_p(R * K, NAN), alpha(R * longest, NAN);
    model.predict(encoded, state,
                  {{log_p.data(), R, K}, i % 2 == 0 ? MatrixView<Real>{alpha.data(), R, longest} : MatrixView<Real>{}});
    std::vector<WordId> word;
    for (std::size_t row = 0; row < R; ++row) {
      const std::uint32_t b = state.sentence[row];
      word.push_back(i < 9 ? target[b][at] : kEnd);
      scores[b] += log_p[row * K + word.back()] / 2;
      const std::size_t Tx = std::max<std::size_t>(1, source.length(b) + (model.options().source_end ? 1 : 0));
      for (std::size_t j = 0; j < longest && i % 2 == 0; ++j) {
        const double wanted = model.options().attends() && j < Tx ? expected[b].alpha[at * Tx + j] : 0;
        ASSERT_NEAR(alpha[row * longest + j], wanted, 1e-12) << "step " << i << ", row " << row;
      }
    }
    if (i == 9) break;
    std::vector<std::uint32_t> parent(R);
    std::vector<WordId> parent_word;
    for (std::size_t row = 0; row < R; ++row) parent[row] = static_cast<std::uint32_t>((row + 1) % R);
    for (const auto row : parent) parent_word.push_back(word[row]);
    state.select(parent, parent_word);
    model.advance(state);
  }
  for (std::size_t b = 0; b < source.size(); ++b) {
    EXPECT_NEAR(scores[b], expected[b].log_probability, 1e-11 * std::abs(scores[b]));
  }
}
#endif

#ifndef RNNSEARCH_DOUBLE
TEST_P(Systems, ComputeTheSameBitsOnAnyNumberOfThreads) {
  ModelOptions options = GetParam().options;
  options.source_words = options.target_words = 300;
  Random random(51);
  const Sentences source = random_sentences(random, 12, 20, 300), target = random_sentences(random, 12, 20, 300);
  for (const auto precision : {kernels::Precision::kFloat32, kernels::Precision::kBFloat16}) {
    kernels::set_precision(precision);
    std::vector<float> expected;
    for (const std::size_t threads : {1u, 2u}) {
      set_thread_count(threads);
      Model model(options);
      fill(model, 52);
      const Loss loss = model.accumulate_gradient(source, target);
      EXPECT_TRUE(std::isfinite(loss.negative_log_likelihood));
      auto gradient = whole_gradient(model);
      for (const float value : gradient) ASSERT_TRUE(std::isfinite(value));
      if (threads == 1)
        expected = std::move(gradient);
      else
        EXPECT_EQ(std::memcmp(gradient.data(), expected.data(), expected.size() * sizeof(float)), 0);
    }
  }
  kernels::set_precision(kernels::Precision::kFloat32);
}

TEST_P(Systems, FinishEachPartOfTheGradientOnce) {
  Model model(GetParam().options);
  fill(model, 61);
  const auto parts = model.gradient_parts();
  std::vector<int> elements(model.gradient().size()), tables(model.table_gradients().size());
  for (const auto& part : parts) {
    if (part.table >= 0) ++tables[static_cast<std::size_t>(part.table)];
    for (std::size_t i = 0; i < part.size; ++i) ++elements[part.first + i];
  }
  EXPECT_EQ(elements, std::vector<int>(elements.size(), 1));
  EXPECT_EQ(tables, std::vector<int>(tables.size(), 1));
  Random random(62);
  const Sentences source = random_sentences(random, 4, 7, 12), target = random_sentences(random, 4, 7, 13);
  const auto copy_of = [&](const GradientPart& part) {
    if (part.table < 0) {
      const auto values = model.gradient().subspan(part.first, part.size);
      return std::vector<float>(values.begin(), values.end());
    }
    const auto rows = model.table_gradients()[static_cast<std::size_t>(part.table)].rows.rows();
    return std::vector<float>(rows.data, rows.data + rows.rows * rows.cols);
  };
  for (int batch = 0; batch < 3; ++batch) {  // the last one without pairs
    std::vector<std::vector<float>> finished;
    const GradientOptions how{.finished = [&](const GradientPart& part) {
      ASSERT_EQ(part.first, parts[finished.size()].first);
      finished.push_back(copy_of(part));
    }};
    model.accumulate_gradient(batch < 2 ? source : Sentences(), batch < 2 ? target : Sentences(), how);
    ASSERT_EQ(finished.size(), parts.size());
    for (std::size_t part = 0; part < parts.size(); ++part) EXPECT_EQ(finished[part], copy_of(parts[part])) << part;
  }
}

// The sums of the source words over the ranks take longest, and weights can be computed while they travel.
TEST(GradientPartsOfRnnsearch, OfTheSourceWordsComeBeforeTheEncodersWeights) {
  const Model model(small());
  const auto parts = model.gradient_parts();
  ASSERT_GE(parts.size(), 3U);
  EXPECT_EQ(parts[parts.size() - 3].table, 0);
  const std::size_t m = 6, n = 8, of_direction = m * 3 * n + n + n * 3 * n;
  for (const auto& part : parts.last(2)) EXPECT_EQ(part.table, -1);
  EXPECT_EQ(parts[parts.size() - 2].size, m + of_direction);  // with the bias of the embedding
  EXPECT_EQ(parts.back().size, of_direction);
}
#endif

INSTANTIATE_TEST_SUITE_P(Every, Systems, testing::ValuesIn(all_systems()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Rnnsearch, Systems, testing::ValuesIn(variants(small(), 4)), name_of_case);
INSTANTIATE_TEST_SUITE_P(TurnedRound, Systems, testing::ValuesIn(variants(with(small(), kTurnedRound), 4)),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Combined, Systems, testing::ValuesIn(all_combinations(widths(12, 4, 6, 5, 3))), name_of_case);

// ---- with guided alignment

/// For each pair some links: of words with one, several and no links, and one link twice over.
Sentences random_links(Random& random, const Sentences& source, const Sentences& target) {
  Sentences links;
  for (std::size_t b = 0; b < source.size(); ++b) {
    std::vector<WordId> of_pair;
    for (std::size_t i = 0; i < target.length(b) && source.length(b) > 0; ++i) {
      for (std::uint64_t k = random.below(4); k > 0; --k) {
        of_pair.push_back(static_cast<WordId>(random.below(source.length(b))));
        of_pair.push_back(static_cast<WordId>(i));
      }
    }
    links.add(of_pair);
  }
  return links;
}

/// Systems whose attention sees the whole sentence, with and without dropout, in every order of words.
std::vector<Variant> guided_systems() {
  std::vector<Variant> all;
  for (const auto& systems : {all_systems(), dropping_systems()}) {
    for (const Variant& system : systems) {
      if (!system.options.attends() || system.options.attention_window != AttentionWindow::kGlobal) continue;
      all.push_back(system);
    }
  }
  all.push_back({"rnnsearch", small()});
  all.push_back({"rnnsearch_turned_round", with(small(), kTurnedRound)});
  return all;
}

class GuidedSystems : public testing::TestWithParam<Variant> {
 protected:
  void TearDown() override { set_thread_count(allowed_cpus()); }
};

#ifdef RNNSEARCH_DOUBLE
/// Equation: see GuidedAlignment; the weights of attention are those of `align`.
double alignment_cost_of(Model& model, double weight, const Sentences& source, const Sentences& target,
                         const Sentences& links) {
  double cost = 0;
  const auto alignments = model.align(source, target);
  for (std::size_t b = 0; b < source.size(); ++b) {
    const std::size_t Tx = std::max<std::size_t>(1, source.length(b) + (model.options().source_end ? 1 : 0));
    for (std::size_t i = 0; i < target.length(b); ++i) {
      std::vector<std::size_t> to;
      for (std::size_t k = 0; k < links[b].size(); k += 2) {
        if (links[b][k + 1] == i) to.push_back(links[b][k]);
      }
      for (const std::size_t j : to) cost -= std::log(alignments[b].alpha[i * Tx + j]) / static_cast<double>(to.size());
    }
  }
  return weight * cost;
}

TEST_P(GuidedSystems, HaveTheGradientOfCentralDifferencesInEveryParameter) {
  set_thread_count(1);
  Model model(GetParam().options);
  Random random(23);
  Sentences source, target;
  for (const std::size_t length : {3u, 1u, 0u, 5u, 3u}) source.add(random_sentence(random, length, 12));
  for (const std::size_t length : {2u, 4u, 1u, 0u, 6u}) target.add(random_sentence(random, length, 13));
  const Sentences links = random_links(random, source, target);
  const GradientOptions how{.dropout_seed = kDropoutSeed, .guided_alignment = {.weight = 0.7, .links = &links}};
  fill(model, 24);
  const Loss loss = model.accumulate_gradient(source, target, how);
  EXPECT_GT(loss.alignment, 1);
  if (!GetParam().options.drops()) {
    EXPECT_NEAR(loss.alignment, alignment_cost_of(model, 0.7, source, target, links), 1e-10);
    EXPECT_NEAR(loss.negative_log_likelihood, model.loss(source, target).negative_log_likelihood, 1e-10);
  }
  expect_central_differences(model, whole_gradient(model), 2, [&] {
    const Loss at = model.accumulate_gradient(source, target, how);
    return at.negative_log_likelihood + at.alignment;
  });
}
#endif

#ifdef RNNSEARCH_DOUBLE
/// The gradients of the pairs, one by one, weighted by hand and added.
TEST_P(GuidedSystems, MultiplyTheGradientOfEachPairByItsWeight) {
  set_thread_count(1);
  Model model(GetParam().options);
  fill(model, 27);
  Random random(28);
  const Sentences source = random_sentences(random, 6, 9, 12), target = random_sentences(random, 6, 9, 13);
  const Sentences links = random_links(random, source, target);
  const std::vector<float> weights{0.5F, 0, 2, 1, 3.25F, 0.125F};
  GradientOptions how{
      .label_smoothing = 0.1, .dropout_seed = kDropoutSeed, .guided_alignment = {.weight = 0.7, .links = &links}};
  const Loss unweighted = model.accumulate_gradient(source, target, how);
  how.weights = weights;
  model.zero_gradient();
  const Loss loss = model.accumulate_gradient(source, target, how);
  EXPECT_EQ(loss.negative_log_likelihood, unweighted.negative_log_likelihood);
  EXPECT_EQ(loss.alignment, unweighted.alignment);
  const std::vector<double> found = whole_gradient(model);
  std::vector<double> expected(found.size());
  how.weights = {};
  for (std::size_t b = 0; b < source.size(); ++b) {
    Sentences one, other, its_links;
    one.add(source[b]);
    other.add(target[b]);
    its_links.add(links[b]);
    how.guided_alignment.links = &its_links;
    how.dropout_seed.first_pair = kDropoutSeed.first_pair + b * kDropoutSeed.pair_stride;
    model.zero_gradient();
    model.accumulate_gradient(one, other, how);
    const std::vector<double> gradient = whole_gradient(model);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += double{weights[b]} * gradient[i];
  }
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i], 1e-11 * (1 + std::abs(expected[i]))) << i;
    largest = std::max(largest, std::abs(expected[i]));
  }
  EXPECT_GT(largest, 0.1);
}
#endif

#ifndef RNNSEARCH_DOUBLE
/// Without links, and with a weight of 0, the bits are those of a gradient without guided alignment.
TEST_P(GuidedSystems, ComputeWithoutLinksWhatUnguidedOnesDo) {
  Random random(25);
  const Sentences source = random_sentences(random, 6, 9, 12), target = random_sentences(random, 6, 9, 13);
  const Sentences links = random_links(random, source, target);
  Sentences none;
  for (std::size_t b = 0; b < source.size(); ++b) none.add({});
  std::vector<std::vector<float>> gradients;
  for (const GuidedAlignment& guided :
       {GuidedAlignment{}, GuidedAlignment{0, &links}, GuidedAlignment{1, &none}, GuidedAlignment{1, &links}}) {
    Model model(GetParam().options);
    fill(model, 26);
    const Loss loss =
        model.accumulate_gradient(source, target, {.dropout_seed = kDropoutSeed, .guided_alignment = guided});
    EXPECT_EQ(loss.alignment > 0, gradients.size() == 3);
    gradients.push_back(whole_gradient(model));
  }
  EXPECT_EQ(gradients[1], gradients[0]);
  EXPECT_EQ(gradients[2], gradients[0]);
  EXPECT_NE(gradients[3], gradients[0]);
  for (const float weight : {1.0F, 2.0F}) {
    const std::vector<float> weights(source.size(), weight);
    Model model(GetParam().options);
    fill(model, 26);
    model.accumulate_gradient(source, target,
                              {.dropout_seed = kDropoutSeed, .guided_alignment = {1, &links}, .weights = weights});
    EXPECT_EQ(whole_gradient(model) == gradients[3], weight == 1) << "weights of " << weight;
  }
}
#endif

INSTANTIATE_TEST_SUITE_P(Every, GuidedSystems, testing::ValuesIn(guided_systems()), name_of_case);

// ---- with dropout

class DroppingSystems : public testing::TestWithParam<Variant> {
 protected:
  void TearDown() override { set_thread_count(allowed_cpus()); }
};

#ifdef RNNSEARCH_DOUBLE
/// What the masks leave of one sentence, unit by unit.
systems::Drop drop_of(const ModelOptions& options, const DropoutSeed& seed, std::uint64_t sentence) {
  return [&options, seed, sentence](Activations activations, std::size_t number, std::size_t step, systems::Vector x) {
    Dropout dropout(options);
    const Dropout::Batch batch(dropout, seed);
    kernels::DropoutMask mask = dropout.mask(activations, number);
    const auto at = static_cast<std::uint32_t>(step);
    if (activations == Activations::kWholeSourceWord || activations == Activations::kWholeTargetWord) {
      const auto word = static_cast<WordId>(number);
      mask = dropout.mask_of_words(activations, {});
      mask.sentences = {&sentence, 1};
      mask.steps = {options.dropout_kind == DropoutKind::kPlain ? &at : &word, 1};
      kernels::drop_rows(mask, {x.data(), 1, x.size()});
      return x;
    }
    const bool each_step = options.dropout_kind == DropoutKind::kPlain || activations == Activations::kAttention;
    mask.sentences = {&sentence, 1};
    if (each_step) mask.steps = {&at, 1};
    kernels::drop(mask, {x.data(), 1, x.size()});
    return x;
  };
}

TEST_P(DroppingSystems, AgreeWithTheEquationsOfWhatIsLeft) {
  const ModelOptions& options = GetParam().options;
  Model model(options);
  fill(model, 71);
  const reference::Parameters parameters = named(model);
  Random random(72);
  const Sentences source = random_sentences(random, 5, 9, 12), target = random_sentences(random, 5, 9, 13);
  double expected = 0;
  for (std::size_t b = 0; b < source.size(); ++b) {
    const systems::System system(parameters, model.options(), drop_of(options, kDropoutSeed, 2 + 3 * b));
    expected -=
        system.run({source[b].begin(), source[b].end()}, {target[b].begin(), target[b].end()}).log_probability();
  }
  const double found =
      model.accumulate_gradient(source, target, {.dropout_seed = kDropoutSeed}).negative_log_likelihood;
  EXPECT_NEAR(found, expected, 1e-10 * expected);
  EXPECT_GT(std::abs(found - model.loss(source, target).negative_log_likelihood), 1e-3) << "nothing is dropped";
}

TEST_P(DroppingSystems, HaveTheGradientOfCentralDifferencesInEveryParameter) {
  Model model(GetParam().options);
  const GradientOptions how{.dropout_seed = kDropoutSeed};
  expect_gradient_of_central_differences(model, how, [&](const Sentences& source, const Sentences& target) {
    return model.accumulate_gradient(source, target, how).negative_log_likelihood;
  });
}

/// Cut as by three ranks, in pieces: the same numbers, the same masks.
TEST_P(DroppingSystems, DropTheSameHoweverABatchIsCut) {
  Model whole(GetParam().options), cut(GetParam().options);
  fill(whole, 81);
  fill(cut, 81);
  Random random(82);
  const Sentences source = random_sentences(random, 8, 9, 12), target = random_sentences(random, 8, 9, 13);
  const DropoutSeed seed{.seed = 3, .update = 5};
  const double expected = whole.accumulate_gradient(source, target, {.dropout_seed = seed}).negative_log_likelihood;
  double found = 0;
  for (const std::size_t rank : {2u, 0u, 1u}) {
    Sentences a, b;
    for (std::size_t i = rank; i < source.size(); i += 3) {
      a.add(source[i]);
      b.add(target[i]);
    }
    const DropoutSeed share{.seed = 3, .update = 5, .first_pair = rank, .pair_stride = 3};
    found += cut.accumulate_gradient(a, b, {.dropout_seed = share}).negative_log_likelihood;
  }
  EXPECT_NEAR(found, expected, 1e-12 * expected);
  const auto a = whole_gradient(whole), b = whole_gradient(cut);
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(b[i], a[i], 1e-11 * (1 + std::abs(a[i]))) << i;
  const DropoutSeed later{.seed = 3, .update = 6}, other{.seed = 4, .update = 5};
  for (const DropoutSeed& different : {later, other}) {
    const double loss = whole.accumulate_gradient(source, target, {.dropout_seed = different}).negative_log_likelihood;
    EXPECT_GT(std::abs(loss - expected), 1e-6);
  }
}
#endif

#ifndef RNNSEARCH_DOUBLE
/// What is computed without a gradient has the bits of the model without dropout, before and after one.
TEST_P(DroppingSystems, DropNothingInInference) {
  ModelOptions without = GetParam().options;
  without.dropout = without.attention_dropout = without.source_word_dropout = without.target_word_dropout = 0;
  without.dropout_kind = DropoutKind::kPlain;
  Model model(GetParam().options), plain(without);
  fill(model, 91);
  fill(plain, 91);
  Random random(92);
  const Sentences source = random_sentences(random, 6, 12, 12), target = random_sentences(random, 6, 12, 13);
  for (const bool after : {false, true}) {
    if (after) model.accumulate_gradient(source, target, {.dropout_seed = kDropoutSeed});
    EXPECT_EQ(model.loss(source, target).negative_log_likelihood, plain.loss(source, target).negative_log_likelihood);
    const auto encoded = model.encode(source), expected = plain.encode(source);
    for (const auto member : {&Encoded::annotations, &Encoded::contexts, &Encoded::initial_states}) {
      const auto found = (encoded.*member).view(), wanted = (expected.*member).view();
      const std::size_t bytes = found.rows * found.cols * sizeof(Real);
      ASSERT_EQ(bytes, wanted.rows * wanted.cols * sizeof(Real));
      EXPECT_TRUE(bytes == 0 || std::memcmp(found.data, wanted.data, bytes) == 0);
    }
    const std::size_t R = source.size(), K = without.target_words;
    std::vector<std::uint32_t> same(R);
    std::iota(same.begin(), same.end(), 0u);
    std::vector<std::vector<float>> log_p(2), next(2);
    for (const std::size_t i : {0u, 1u}) {
      Model& of = i == 0 ? model : plain;
      log_p[i].resize(R * K);
      SearchState state = of.start(encoded);
      of.predict(encoded, state, {{log_p[i].data(), R, K}});
      state.select(same, std::vector<WordId>(R, 5));
      of.advance(state);
      for (const auto& part : {state.states.view(), state.fed.view()}) {
        next[i].insert(next[i].end(), part.data, part.data + part.rows * part.cols);
      }
    }
    EXPECT_EQ(log_p[0], log_p[1]);
    EXPECT_EQ(next[0], next[1]);
  }
}

TEST_P(DroppingSystems, ComputeTheSameBitsOnAnyNumberOfThreads) {
  Random random(51);
  const Sentences source = random_sentences(random, 12, 20, 12), target = random_sentences(random, 12, 20, 13);
  std::vector<float> expected;
  for (const std::size_t threads : {1u, 2u}) {
    set_thread_count(threads);
    Model model(GetParam().options);
    fill(model, 52);
    model.accumulate_gradient(source, target, {.dropout_seed = kDropoutSeed});
    const auto gradient = whole_gradient(model);
    if (threads == 1)
      expected = gradient;
    else
      EXPECT_EQ(std::memcmp(gradient.data(), expected.data(), expected.size() * sizeof(float)), 0);
  }
}
#endif

INSTANTIATE_TEST_SUITE_P(Every, DroppingSystems, testing::ValuesIn(dropping_systems()), name_of_case);

INSTANTIATE_TEST_SUITE_P(DroppingWords, DroppingSystems, testing::ValuesIn(dropping_words("plain")), name_of_case);
INSTANTIATE_TEST_SUITE_P(DroppingWordsTogether, DroppingSystems, testing::ValuesIn(dropping_words("variational")),
                         name_of_case);

#ifndef RNNSEARCH_DOUBLE
TEST(Dropout, OfNothingHasTheBitsOfAModelWithoutIt) {
  ModelOptions options = small();
  options.layers = 2;
  Model model(options), other(options);
  fill(model, 1);
  fill(other, 1);
  Random random(2);
  const Sentences source = random_sentences(random, 5, 9, 12), target = random_sentences(random, 5, 9, 13);
  EXPECT_EQ(model.accumulate_gradient(source, target, {.dropout_seed = kDropoutSeed}).negative_log_likelihood,
            other.accumulate_gradient(source, target).negative_log_likelihood);
  EXPECT_EQ(whole_gradient(model), whole_gradient(other));
}
#else
/// The readout of one linear layer is linear in what is dropped there: the mean over many masks is the sum itself.
TEST(Dropout, KeepsTheExpectationOfWhatIsDropped) {
  ModelOptions options = small();
  options.dropout = 0.25;
  Dropout dropout(options);
  constexpr std::size_t kUpdates = 20000;
  systems::Vector mean(8, 0.0);
  for (std::size_t update = 0; update < kUpdates; ++update) {
    const systems::Vector x =
        drop_of(options, {.seed = 1, .update = update}, 4)(Activations::kReadout, 0, 3, {1, -2, 3, 0.5, 1, 1, -1, 2});
    for (std::size_t i = 0; i < x.size(); ++i) mean[i] += x[i] / kUpdates;
  }
  const systems::Vector expected{1, -2, 3, 0.5, 1, 1, -1, 2};
  // one draw deviates by sqrt(P / (1 - P)) of the value
  const double deviation = std::sqrt(0.25 / 0.75 / kUpdates);
  for (std::size_t i = 0; i < mean.size(); ++i) {
    EXPECT_NEAR(mean[i] / expected[i], 1, 4.5 * deviation) << i;
    EXPECT_NE(mean[i], expected[i]);
  }
}

TEST(Dropout, FollowsItsRampFromUpdateToUpdate) {
  ModelOptions options = widths(12, 6, 8, 5, 3);
  options.dropout = {0, 0.5, 4};
  options.source_word_dropout = {0.5, 0, 2};
  Dropout dropout(options);
  std::vector<double> units, words;
  for (std::uint64_t update = 1; update <= 6; ++update) {
    const Dropout::Batch batch(dropout, {.seed = 1, .update = update});
    units.push_back(dropout.mask(Activations::kReadout).share);
    words.push_back(dropout.mask_of_words(Activations::kWholeSourceWord, {}).share);
  }
  EXPECT_EQ(units, (std::vector<double>{0, 0.125, 0.25, 0.375, 0.5, 0.5}));
  EXPECT_EQ(words, (std::vector<double>{0.5, 0.25, 0, 0, 0, 0}));
}
#endif

}  // namespace
}  // namespace rnnsearch::model
