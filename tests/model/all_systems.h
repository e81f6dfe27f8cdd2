// The systems that the model's tests go through, and the check of their gradients.
#pragma once

#include "rnnsearch/base/parallel.h"
#include "rnnsearch/model/options.h"
#include "tests/model/fixtures.h"
#include "tests/support/gradient_check.h"
#include "tests/support/test.h"
#include "tests/support/whole_gradient.h"

namespace rnnsearch::model {

inline ModelOptions small() { return widths(12, 6, 8, 5, 3); }
inline constexpr const char* kTurnedRound = "reverse-source=true target-direction=right-to-left";

inline std::string name_of_case(const testing::TestParamInfo<Variant>& chosen) { return chosen.param.name; }

/// `options` with each choice of settings of each axis, but what `check` refuses.
inline void add_product(std::vector<Variant>& all, const std::string& name, const ModelOptions& options,
                        std::span<const std::vector<std::string>> axes) {
  if (!axes.empty()) {
    for (const std::string& settings : axes.front())
      add_product(all, name + "_" + settings, with(options, settings), axes.subspan(1));
    return;
  }
  try {
    check(options);
  } catch (const Error&) {
    return;
  }
  all.push_back({name, options});
  std::replace_if(
      all.back().name.begin(), all.back().name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
}

inline std::vector<std::string> each(const std::string& option, const std::vector<std::string>& values) {
  std::vector<std::string> settings;
  for (const std::string& value : values) settings.push_back(option + "=" + value);
  return settings;
}

/// RNNsearch and RNNencdec with either word in the state, with and without gate biases, embedding biases and a factored
/// readout.
inline std::vector<Variant> variants(const ModelOptions& widths, std::size_t readout_rank) {
  std::vector<Variant> all;
  const std::vector<std::string> axes[] = {
      each("attention", {"additive", "none"}), each("state-word", all_names<Step>()),
      each("gate-biases", {"false", "true"}), each("embedding-biases", {"false", "true"}),
      each("readout-rank", {"0", std::to_string(readout_rank)})};
  add_product(all, "", widths, axes);
  return all;
}

/// What sets a system apart from one of an earlier row; without a base, from RNNsearch.
struct SystemRow {
  std::string name, base, settings;
};

/// Every choice there is, in the company its source gave it, and the two orders of a step with company of their own.
inline std::vector<Variant> all_systems() {
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

/// Each choice through all its values, together with those that it has to do with.
inline std::vector<Variant> all_combinations() {
  // s_i is made, then read
  const std::string base = "state-word=previous readout-state=current readout=tanh start=embedded ";
  const std::vector<std::string> encoders{"encoder=forward", "encoder=bidirectional"};
  const std::vector<std::string> readouts = each("readout", all_names<Readout>());
  const std::vector<std::string> inputs{"state",         "word",         "state,word",        "context",
                                        "state,context", "word,context", "state,word,context"};
  const struct {
    const char *name, *settings;
    std::vector<std::vector<std::string>> axes;
  } grids[] = {
      {"cell",
       "",
       {each("cell", all_names<Cell>()),
        each("gru-reset", all_names<GruReset>()),
        {"gate-biases=true", "layers=2", "layers=3 gate-biases=true"},
        encoders}},
      // widths of more than a vector
      {"score",
       "encoder=forward window=2 state=19 alignment=21",
       {each("attention", attention_names()),
        {"attend-from=previous", "attend-from=current state-inputs=word"},
        each("attention-window", all_names<AttentionWindow>()),
        {"", "input-feeding=true", "encoder-state=23"}}},
      {"begin",
       "layers=2",
       {each("initial-state", all_names<InitialState>()),
        encoders,
        {"attention=none state-inputs=word readout-inputs=state,word", "attention=none",
         "attention=general state-inputs=word", "attention=general"},
        {"cell=gru", "cell=lstm"}}},
      {"fed_back",
       "feedback=output",
       {readouts, each("start", all_names<Start>()), {"readout-rank=0", "readout-rank=3"}}},
      {"read",
       "",
       {each("readout-inputs", inputs),
        readouts,
        each("readout-state", all_names<Step>()),
        {"start=zero", "readout-rank=3"}}},
      {"update",
       "",
       {{"feedback=word", "feedback=output start=zero"},
        {"state-inputs=word", "state-inputs=context", "state-inputs=word,context"},
        each("readout-inputs", inputs)}},
  };
  std::vector<Variant> all;
  for (const auto& grid : grids)
    add_product(all, grid.name, with(widths(12, 4, 6, 5, 3), base + grid.settings), grid.axes);
  return all;
}

#ifdef RNNSEARCH_DOUBLE
/// gradient: the whole one of the model. Compared are all elements of a small model, some of every parameter of others.
inline void expect_central_differences(Model& model, const std::vector<double>& gradient,
                                       const std::function<double()>& loss) {
  const std::size_t elements = model.layout().size < 700 ? 700 : 4;
  for (const Parameter& parameter : model.layout().parameters) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < parameter.rows(); ++i)
      for (std::size_t j = 0; j < parameter.cols(); ++j) places.push_back(parameter.offset + i * parameter.stride + j);
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
inline void expect_gradient_of_central_differences(
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
  expect_central_differences(model, gradient, [&] { return loss_of(source, target); });
}
#endif

}  // namespace rnnsearch::model
