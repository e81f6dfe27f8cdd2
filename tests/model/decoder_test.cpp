#include "model/decoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "model/impl.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/kernels/precision.h"
#include "rnnsearch/model/option_rules.h"
#include "rnnsearch/model/systems.h"
#include "tests/model/fixtures.h"
#include "tests/model/systems.h"
#include "tests/support/gradient_check.h"
#include "tests/support/whole_gradient.h"

namespace rnnsearch::model {
namespace {

/// Every choice there is, in the company its source gave it, and the two orders of a step with company of their own.
std::vector<Variant> all_systems(const ModelOptions& widths) {
  std::vector<Variant> all;
  const auto add = [&](const char* name, ModelOptions o) { all.push_back({name, o}); };

  ModelOptions notebook = widths;  // tanh cells, s_i read out, linear readout
  notebook.cell = Cell::kTanh;
  notebook.encoder = Encoder::kBidirectional;
  notebook.initial_state = InitialState::kZero;
  notebook.state_word = Step::kPrevious;
  notebook.readout = Readout::kLinear;
  notebook.readout_state = Step::kCurrent;
  notebook.start = Start::kEmbedded;
  add("notebook", notebook);
  ModelOptions o = notebook;
  o.attention = attention_of("general");
  add("notebook_general", o);
  o = notebook;
  o.feedback = Feedback::kOutput;
  o.embedding_biases = false;
  add("notebook_as_printed", o);
  o.embedding_biases = true;
  o.readout_rank = 4;
  o.layers = 2;
  add("notebook_as_printed_factored", o);
  o = notebook;
  o.attention = attention_of("general");
  o.encoder_state = widths.state / 2;  // [forward; backward] is as wide as s
  o.attention = attention_of("dot");
  add("notebook_dot", o);
  o.attention = attention_of("scaled-dot");
  o.readout_rank = 4;
  add("notebook_scaled_dot_factored", o);

  ModelOptions seq2seq = widths;
  seq2seq.attention = Attention::kNone;
  seq2seq.encoder = Encoder::kForward;
  seq2seq.initial_state = InitialState::kFinal;
  seq2seq.state_word = Step::kPrevious;
  seq2seq.state_inputs = {.word = true};
  seq2seq.readout_inputs = {.state = true};
  seq2seq.readout = Readout::kLinear;
  seq2seq.readout_state = Step::kCurrent;
  seq2seq.start = Start::kEmbedded;
  add("seq2seq_gru", seq2seq);
  o = seq2seq;
  o.cell = Cell::kTanh;
  add("seq2seq_tanh", o);
  o.cell = Cell::kLstm;
  o.layers = 2;
  o.gate_biases = true;
  add("seq2seq_lstm_of_two_layers", o);
  o.initial_state = InitialState::kProjected;
  o.embedding_biases = false;
  add("seq2seq_lstm_projected", o);
  for (const auto& [name, cell] :
       {std::pair{"gru", Cell::kGru}, std::pair{"tanh", Cell::kTanh}, std::pair{"lstm", Cell::kLstm}}) {
    o = seq2seq;  // the encoder reads <start> and <end> around the sentence
    o.source_start = true;
    o.cell = cell;
    add(fmt::format("seq2seq_{}_from_start_symbol", name).c_str(), o);
    o.layers = 2;
    o.state_inputs.context = o.readout_inputs.context = true;
    o.encoder = Encoder::kBidirectional;
    o.initial_state = InitialState::kBackward;
    add(fmt::format("seq2seq_{}_from_start_symbol_bidirectional_with_context", name).c_str(), o);
  }

  ModelOptions replication = widths;
  replication.cell = Cell::kMlp;
  replication.attention = attention_of("mlp");
  replication.initial_state = InitialState::kForward;
  replication.state_word = Step::kPrevious;
  replication.readout = Readout::kMlp;
  replication.readout_state = Step::kCurrent;
  replication.feedback = Feedback::kOutput;
  add("replication", replication);
  o = replication;
  o.source_end = false;
  add("replication_of_sources_without_end_symbol", o);
  o.initial_state = InitialState::kZero;
  add("replication_without_the_path_between_states", o);
  o = replication;
  o.readout_inputs = {.state = true};
  add("replication_without_shortcuts", o);
  o = replication;
  o.state_inputs = {.context = true};
  add("replication_without_the_word_in_the_state", o);
  o.readout_inputs = {.state = true, .context = true};
  add("replication_without_the_word", o);
  o.feedback = Feedback::kWord;
  add("replication_without_the_word_fed_with_words", o);
  o = replication;
  o.state_inputs = {};
  add("replication_with_a_state_that_sees_itself_alone", o);
  o = replication;
  o.feedback = Feedback::kWord;
  o.readout_rank = 3;
  add("replication_fed_with_words", o);

  ModelOptions stacked = widths;
  stacked.gru_reset = GruReset::kAfter;
  stacked.gate_biases = true;
  stacked.layers = 2;
  stacked.encoder = Encoder::kForward;
  stacked.initial_state = InitialState::kFinal;
  stacked.state_word = Step::kPrevious;
  stacked.readout = Readout::kLinear;
  stacked.readout_inputs = {.state = true};
  stacked.readout_state = Step::kCurrent;
  stacked.start = Start::kEmbedded;
  add("stacked_gru", stacked);
  o = stacked;
  o.gate_biases = false;
  o.layers = 3;
  o.encoder = Encoder::kBidirectional;
  o.initial_state = InitialState::kBackward;
  add("stacked_gru_bidirectional", o);

  ModelOptions luong = widths;
  luong.cell = Cell::kLstm;
  luong.gate_biases = true;
  luong.layers = 2;
  luong.encoder = Encoder::kForward;
  luong.attend_from = Step::kCurrent;
  luong.initial_state = InitialState::kFinal;
  luong.state_word = Step::kPrevious;
  luong.state_inputs = {.word = true};
  luong.readout = Readout::kTanh;
  luong.readout_inputs = {.state = true, .context = true};
  luong.readout_state = Step::kCurrent;
  luong.input_feeding = true;
  luong.start = Start::kEmbedded;
  luong.attention = attention_of("general");
  add("luong_general", luong);
  o = luong;
  o.attention = attention_of("dot");
  add("luong_dot", o);
  o.attention = attention_of("concat");
  o.input_feeding = false;
  add("luong_concat_without_feeding", o);
  o = luong;
  o.window = 2;
  o.attention_window = AttentionWindow::kLocalP;
  add("luong_local_p", o);
  o.attention = attention_of("dot");
  o.attention_window = AttentionWindow::kLocalM;
  add("luong_local_m", o);
  o.cell = Cell::kGru;
  o.layers = 1;
  o.attention = Attention::kAdditive;
  o.readout = Readout::kMaxout;
  o.encoder = Encoder::kBidirectional;
  o.initial_state = InitialState::kForward;
  add("gru_local_m_maxout_fed", o);

  ModelOptions search = widths;  // the readout reads s_{i-1}
  search.cell = Cell::kLstm;
  add("rnnsearch_lstm", search);
  o = search;
  o.layers = 2;
  o.state_word = Step::kPrevious;
  o.encoder_state = 5;
  add("rnnsearch_lstm_of_two_layers", o);
  o.cell = Cell::kTanh;
  o.attention = attention_of("mlp");
  o.readout_inputs = {.state = true, .context = true};
  o.state_inputs = {.context = true};
  o.readout = Readout::kTanh;
  add("rnnsearch_tanh_without_words", o);
  o = search;
  o.cell = Cell::kMlp;
  o.attention_window = AttentionWindow::kLocalP;
  o.window = 3;
  add("rnnsearch_mlp_local_p", o);
  o = search;
  o.attention = Attention::kNone;
  add("rnnencdec_lstm", o);
  o.encoder = Encoder::kBidirectional;
  o.initial_state = InitialState::kZero;
  o.readout_inputs = {.state = true, .word = true};
  add("rnnencdec_lstm_bidirectional_from_zero", o);
  o = widths;  // every shape of a fixed context: without and with the tanh layer of Cho et al. (2014)
  o.attention = Attention::kNone;
  for (const auto fixed : {FixedContext::kLastState, FixedContext::kTanh}) {
    o.fixed_context = fixed;
    const std::string name = fixed == FixedContext::kTanh ? "cho_2014" : "rnnencdec";
    const auto add_fixed = [&](const char* of, const std::function<void(ModelOptions&)>& change) {
      ModelOptions changed = o;
      change(changed);
      all.push_back({name + of, changed});
    };
    add_fixed("", [](auto&) {});
    add_fixed("_of_two_layers", [](auto& x) { x.layers = 2; });
    add_fixed("_with_a_narrow_encoder", [](auto& x) { x.encoder_state = 5; });
    add_fixed("_bidirectional", [](auto& x) { x.encoder = Encoder::kBidirectional; });
    add_fixed("_bidirectional_with_a_narrow_encoder", [](auto& x) {
      x.encoder = Encoder::kBidirectional;
      x.encoder_state = 5;
      x.layers = 2;
    });
    add_fixed("_context_in_the_state_alone", [](auto& x) { x.readout_inputs.context = false; });
    add_fixed("_context_in_the_readout_alone", [](auto& x) {
      x.state_inputs.context = false;
      x.encoder_state = 3;
    });
    add_fixed("_linear_readout_of_the_new_state", [](auto& x) {
      x.state_word = Step::kPrevious;
      x.readout_state = Step::kCurrent;
      x.readout = Readout::kLinear;
      x.cell = Cell::kLstm;
      x.encoder_state = 7;
    });
  }

  for (const ModelOptions& system : {notebook, stacked, luong}) {
    o = system;
    o.layer_normalization = true;
    o.gate_biases = false;
    add((name_of(o.cell) + "_normalised").c_str(), o);
  }
  o.encoder = Encoder::kBidirectional;
  o.initial_state = InitialState::kProjected;
  add("lstm_normalised_bidirectional", o);
  // The source from its last word to the first, and the target too.
  const auto add_turned = [&](const std::string& name, ModelOptions turned) {
    turned.reverse_source = true;
    add((name + "_of_a_reversed_source").c_str(), turned);
    turned.target_direction = TargetDirection::kRightToLeft;
    if (turned.attention_window != AttentionWindow::kLocalM) add((name + "_turned_round").c_str(), turned);
    turned.reverse_source = false;
    if (turned.attention_window != AttentionWindow::kLocalM) add((name + "_right_to_left").c_str(), turned);
  };
  add_turned("notebook", notebook);
  add_turned("seq2seq", seq2seq);
  o = seq2seq;
  o.source_start = true;
  add_turned("seq2seq_from_start_symbol", o);
  o = replication;
  o.source_end = false;
  add_turned("replication_of_sources_without_end_symbol", o);
  o = luong;
  o.window = 2;
  o.attention_window = AttentionWindow::kLocalP;
  add_turned("luong_local_p", o);
  o.attention_window = AttentionWindow::kLocalM;
  add_turned("luong_local_m", o);
  // Every tie of the embeddings, with the equations of RNNsearch, RNNencdec, Luong's (whose readout is fed back) and
  // seq2seq's.
  for (const auto tied : {TiedEmbeddings::kTarget, TiedEmbeddings::kSourceTarget, TiedEmbeddings::kAll}) {
    const auto add_tied = [&](const std::string& name, ModelOptions tie) {
      tie.tied_embeddings = tied;
      if (tie.ties_sides()) tie.source_words = tie.target_words;
      all.push_back({name + "_tied_" +
                         (tied == TiedEmbeddings::kTarget ? "target"
                          : tied == TiedEmbeddings::kAll  ? "all"
                                                          : "sides"),
                     tie});
    };
    o = widths;
    o.maxout = o.embedding;
    add_tied("rnnsearch", o);
    o = widths;
    o.readout_rank = o.embedding;
    o.embedding_biases = false;
    o.state_word = Step::kPrevious;
    add_tied("rnnsearch_factored", o);
    o.attention = Attention::kNone;
    add_tied("rnnencdec_factored", o);
    o = notebook;
    o.feedback = Feedback::kOutput;
    add_tied("notebook_as_printed", o);
    o = luong;
    o.embedding_biases = false;
    o.embedding = o.state;
    add_tied("luong", o);
    o = seq2seq;
    o.embedding = o.state;
    add_tied("seq2seq", o);
    o.source_start = true;
    add_tied("seq2seq_from_start_symbol", o);
  }
  return all;
}

/// Systems that drop: all there are with one kind or the other, and cells of two layers with both.
std::vector<Variant> dropping_systems(const ModelOptions& widths) {
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
  for (const Variant& system : all_systems(widths)) {
    add(system.name, system.options, all.size() % 2 == 0 ? DropoutKind::kVariational : DropoutKind::kPlain);
    if (all.size() % 3 == 0) add_words_alone(system.name, system.options, all.back().options.dropout_kind);
  }
  for (const DropoutKind kind : {DropoutKind::kPlain, DropoutKind::kVariational}) {
    for (const Step word : {Step::kPrevious, Step::kCurrent}) {
      for (const Attention attention : {Attention::kAdditive, Attention::kNone}) {
        ModelOptions o = widths;
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
      ModelOptions o = widths;
      o.cell = cell;
      o.layers = 2;
      add("rnnsearch_of_two_layers_" + name_of(cell), o, kind);
    }
  }
  ModelOptions search = widths;
  search.attention_dropout = 0.5;
  all.push_back({"rnnsearch_attention_only", search});
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

ModelOptions dropping_words(ModelOptions options, DropoutKind kind) {
  options.source_word_dropout = 0.3;
  options.target_word_dropout = 0.25;
  options.dropout_kind = kind;
  return options;
}
ModelOptions turned_round(ModelOptions options) {
  options.reverse_source = true;
  options.target_direction = TargetDirection::kRightToLeft;
  return options;
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
  std::vector<int> elements(model.gradient().size());
  for (const auto& part : model.gradient_parts()) {
    for (std::size_t i = 0; i < part.size; ++i) ++elements[part.first + i];
  }
  EXPECT_EQ(elements, std::vector<int>(elements.size(), 1));
  Random random(62);
  const Sentences source = random_sentences(random, 4, 7, 12), target = random_sentences(random, 4, 7, 13);
  std::vector<std::vector<float>> finished;
  const auto copy_of = [&](const GradientPart& part) {
    const auto& [first, size, table] = part;
    if (table < 0)
      return std::vector<float>(model.gradient().begin() + static_cast<std::ptrdiff_t>(first),
                                model.gradient().begin() + static_cast<std::ptrdiff_t>(first + size));
    const auto rows = model.table_gradients()[static_cast<std::size_t>(table)].rows.rows();
    return std::vector<float>(rows.data, rows.data + rows.rows * rows.cols);
  };
  model.accumulate_gradient(source, target, {.finished = [&](const GradientPart& part) {
                              ASSERT_EQ(part.first, model.gradient_parts()[finished.size()].first);
                              finished.push_back(copy_of(part));
                            }});
  ASSERT_EQ(finished.size(), model.gradient_parts().size());
  for (std::size_t part = 0; part < finished.size(); ++part)
    EXPECT_EQ(finished[part], copy_of(model.gradient_parts()[part])) << part;
}
#endif

INSTANTIATE_TEST_SUITE_P(Every, Systems, testing::ValuesIn(all_systems(widths(12, 6, 8, 5, 3))), name_of_case);
INSTANTIATE_TEST_SUITE_P(Rnnsearch, Systems, testing::ValuesIn(variants(widths(12, 6, 8, 5, 3), 4)), name_of_case);
INSTANTIATE_TEST_SUITE_P(TurnedRound, Systems, testing::ValuesIn(variants(turned_round(widths(12, 6, 8, 5, 3)), 4)),
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
std::vector<Variant> guided_systems(const ModelOptions& widths) {
  std::vector<Variant> all;
  for (const auto& systems : {all_systems(widths), dropping_systems(widths)}) {
    for (const Variant& system : systems) {
      if (!system.options.attends() || system.options.attention_window != AttentionWindow::kGlobal) continue;
      all.push_back(system);
    }
  }
  for (const bool turned : {false, true}) {
    ModelOptions o = widths;
    o.reverse_source = turned;
    o.target_direction = turned ? TargetDirection::kRightToLeft : TargetDirection::kLeftToRight;
    all.push_back({turned ? "rnnsearch_turned_round" : "rnnsearch", o});
  }
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

INSTANTIATE_TEST_SUITE_P(Every, GuidedSystems, testing::ValuesIn(guided_systems(widths(12, 6, 8, 5, 3))), name_of_case);

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
    EXPECT_TRUE(encoded.annotations == expected.annotations && encoded.contexts == expected.contexts);
    EXPECT_TRUE(encoded.initial_states == expected.initial_states);
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

INSTANTIATE_TEST_SUITE_P(Every, DroppingSystems, testing::ValuesIn(dropping_systems(widths(12, 6, 8, 5, 3))),
                         name_of_case);

INSTANTIATE_TEST_SUITE_P(DroppingWords, DroppingSystems,
                         testing::ValuesIn(variants(dropping_words(widths(12, 6, 8, 5, 3), DropoutKind::kPlain), 4)),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(DroppingWordsTogether, DroppingSystems,
                         testing::ValuesIn(variants(dropping_words(widths(12, 6, 8, 5, 3), DropoutKind::kVariational),
                                                    4)),
                         name_of_case);

#ifndef RNNSEARCH_DOUBLE
TEST(Dropout, OfNothingHasTheBitsOfAModelWithoutIt) {
  ModelOptions options = widths(12, 6, 8, 5, 3);
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
  ModelOptions options = widths(12, 6, 8, 5, 3);
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
#endif

}  // namespace
}  // namespace rnnsearch::model
