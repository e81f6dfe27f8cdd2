#include "rnnsearch/model/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "rnnsearch/base/error.h"

namespace rnnsearch::model {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

ModelOptions rnnsearch_50() {
  ModelOptions options;
  options.source_words = options.target_words = 30000;
  return options;
}

void expect_refused(const std::function<void(ModelOptions&)>& change, const std::string& what,
                    const std::string& next) {
  ModelOptions options = rnnsearch_50();
  change(options);
  EXPECT_THAT([&] { check(options); },
              ThrowsMessage<Error>(AllOf(HasSubstr(what), HasSubstr(next), Not(HasSubstr("{")))));
}

TEST(CheckOfOptions, LetsThePapersSystemsPass) {
  ModelOptions options = rnnsearch_50();
  EXPECT_NO_THROW(check(options));
  EXPECT_EQ(system_of(options), "RNNsearch");
  options.attention = Attention::kNone;
  EXPECT_NO_THROW(check(options));
  EXPECT_EQ(system_of(options), "RNNencdec");
  options.fixed_context = FixedContext::kTanh;
  EXPECT_NO_THROW(check(options));
  EXPECT_EQ(system_of(options), "RNN encoder-decoder with the tanh context of Cho et al. (2014)");
  for (Ramp ModelOptions::*share : {&ModelOptions::dropout, &ModelOptions::attention_dropout}) {
    options = rnnsearch_50();
    options.*share = 0.1;
    EXPECT_NO_THROW(check(options));
    EXPECT_EQ(system_of(options), "RNNsearch");
  }
}

TEST(CheckOfOptions, LetsRnnsearchDropWords) {
  for (const auto kind : {DropoutKind::kPlain, DropoutKind::kVariational}) {
    ModelOptions options = rnnsearch_50();
    options.source_word_dropout = options.target_word_dropout = 0.1;
    options.dropout_kind = kind;
    EXPECT_NO_THROW(check(options));
    EXPECT_EQ(system_of(options), "RNNsearch");
  }
}

TEST(CheckOfOptions, LetsTablesBeOneWhereTheyFit) {
  ModelOptions options = rnnsearch_50();
  options.readout_rank = 620;
  for (const TiedEmbeddings tied : {TiedEmbeddings::kTarget, TiedEmbeddings::kSourceTarget, TiedEmbeddings::kAll}) {
    const std::string name = name_of(tied);
    options.tied_embeddings = tied;
    EXPECT_NO_THROW(check(options)) << name;
    EXPECT_EQ(system_of(options), fmt::format("RNNsearch, tied embeddings ({})", name));
  }
  options.source_words = 10;
  options.tied_embeddings = TiedEmbeddings::kTarget;
  EXPECT_NO_THROW(check(options));
  options.readout = Readout::kLinear;
  options.readout_rank = 0;
  options.readout_inputs = {.state = true};
  EXPECT_THROW(check(options), Error);
  options.state = options.embedding;
  EXPECT_NO_THROW(check(options));
}

TEST(CheckOfOptions, RefusesWhatMakesNoSenseAndSaysWhyAndWhatToDo) {
  expect_refused([](auto& o) { o.attention = attention_of("dot"); }, "2000 wide where the state is 1000", "general");
  expect_refused([](auto& o) { o.tied_embeddings = TiedEmbeddings::kTarget; },
                 "620 wide, and what it multiplies is 500 wide", "readout-rank = 620 or maxout = 620");
  expect_refused(
      [](auto& o) {
        o.tied_embeddings = TiedEmbeddings::kAll;
        o.readout_rank = 500;
      },
      "620 wide, and what it multiplies is 500 wide", "choose readout-rank = 620, or");
  expect_refused(
      [](auto& o) {
        o.tied_embeddings = TiedEmbeddings::kSourceTarget;
        o.source_words = 29999;
      },
      "29999 words where the target's has 30000", "--joint-vocabulary");
  expect_refused([](auto& o) { o.attend_from = Step::kCurrent; }, "no s_i to attend from", "readout-state = current");
  expect_refused(
      [](auto& o) {
        o.attend_from = o.readout_state = Step::kCurrent;
        o.state_word = Step::kPrevious;
      },
      "c_i is made from s_i", "input-feeding");
  expect_refused([](auto& o) { o.readout_state = Step::kCurrent; }, "the word y_i that it is to predict",
                 "state-word = previous");
  expect_refused([](auto& o) { o.input_feeding = true; }, "input-feeding with readout-state = previous",
                 "readout-state = current");
  expect_refused(
      [](auto& o) {
        o.input_feeding = true;
        o.state_word = Step::kPrevious;
        o.readout_state = Step::kCurrent;
        o.readout = Readout::kLinear;
      },
      "no vector of its own", "tanh");
  expect_refused([](auto& o) { o.source_start = true; }, "source-start with attention = additive", "attention = none");
  expect_refused([](auto& o) { o.initial_state = InitialState::kFinal; }, "both ends", "backward");
  expect_refused(
      [](auto& o) {
        o.initial_state = InitialState::kBackward;
        o.encoder = Encoder::kForward;
      },
      "no backward state", "final");
  expect_refused(
      [](auto& o) {
        o.initial_state = InitialState::kForward;
        o.encoder_state = 500;
      },
      "500", "projected");
  expect_refused(
      [](auto& o) {
        o.attention = Attention::kNone;
        o.initial_state = InitialState::kZero;
        o.state_inputs = {.word = true};
        o.readout_inputs = {.state = true};
      },
      "nothing of the source", "context");
  expect_refused(
      [](auto& o) {
        o.state_inputs = {.word = true};
        o.readout_inputs = {.state = true};
      },
      "nothing reads what is attended to", "attention = none");
  expect_refused(
      [](auto& o) {
        o.attention = Attention::kNone;
        o.attention_window = AttentionWindow::kLocalM;
      },
      "nothing to look through", "global");
  expect_refused([](auto& o) { o.fixed_context = FixedContext::kTanh; },
                 "fixed-context = tanh with attention = additive", "last-state");
  expect_refused(
      [](auto& o) {
        o.attention = Attention::kNone;
        o.fixed_context = FixedContext::kTanh;
        o.state_inputs = {.word = true};
        o.readout_inputs = {.state = true, .word = true};
      },
      "nothing reads it", "add context");
  expect_refused(
      [](auto& o) {
        o.cell = Cell::kLstm;
        o.gru_reset = GruReset::kAfter;
      },
      "no reset gate", "gru");
  expect_refused(
      [](auto& o) {
        o.cell = Cell::kMlp;
        o.state = 999;
      },
      "half as wide", "even");
  const auto luong = [](auto& o) {
    o.attend_from = o.readout_state = Step::kCurrent;
    o.state_word = Step::kPrevious;
    o.state_inputs = {.word = true};
    o.readout = Readout::kTanh;
    o.readout_inputs = {.state = true, .context = true};
    o.input_feeding = true;
  };
  expect_refused(
      [&](auto& o) {
        luong(o);
        o.attention = Attention::kNone;
        o.attend_from = Step::kPrevious;
      },
      "input-feeding with attention = none", "choose a score");
  expect_refused(
      [&](auto& o) {
        luong(o);
        o.state_inputs = {.word = true, .context = true};
        o.attend_from = Step::kPrevious;
        o.readout_inputs = {.state = true};
      },
      "would not know what was attended to", "context to readout-inputs");
  const auto fed_back = [](auto& o) {
    o.readout_state = Step::kCurrent;
    o.state_word = Step::kPrevious;
    o.readout = Readout::kMlp;
    o.feedback = Feedback::kOutput;
  };
  expect_refused(
      [&](auto& o) {
        fed_back(o);
        o.state_word = Step::kCurrent;
      },
      "the readout's vector of the step before", "state-word = previous");
  expect_refused(
      [&](auto& o) {
        fed_back(o);
        o.readout = Readout::kTanh;
        o.start = Start::kEmbedded;
      },
      "the embedding of <s>, 620 wide, would stand for the readout's vector, which is 1000 wide", "start = zero");
  expect_refused(
      [&](auto& o) {
        fed_back(o);
        o.input_feeding = true;
      },
      "both hand on the same vector", "one of them");
  expect_refused(
      [](auto& o) {
        o.start = Start::kEmbedded;
        o.readout_inputs = {.state = true, .context = true};
      },
      "nothing reads the word before", "start = zero");
  expect_refused(
      [](auto& o) {
        o.attention = Attention::kNone;
        o.readout_inputs = {.word = true, .context = true};
      },
      "nothing would read the decoder's state", "add state");
  expect_refused(
      [](auto& o) {
        o.attention = Attention::kNone;
        o.encoder = Encoder::kBidirectional;
        o.state_inputs = {.word = true};
        o.readout_inputs = {.state = true};
      },
      "nothing reads the other", "encoder = forward");
  expect_refused([](auto& o) { o.initial_deviation = HUGE_VAL; }, "initial-deviation is inf", "at most 1e37");
  expect_refused([](auto& o) { o.initial_deviation = 1e39; }, "initial-deviation is 1e+39", "at most 1e37");
  expect_refused([](auto& o) { o.initial_deviation = NAN; }, "initial-deviation is nan", "at most 1e37");
  expect_refused([](auto& o) { o.readout_inputs = {}; }, "readout-inputs = none", "state, word and context");
  expect_refused(
      [](auto& o) {
        o.state_inputs = {};
        o.readout_inputs = {.state = true, .word = true};
      },
      "nothing reads what is attended to", "add context");
  expect_refused(
      [](auto& o) {
        o.attention = Attention::kNone;
        o.state_inputs = {};
      },
      "state-inputs = none without attention", "choose a score");
  expect_refused(
      [](auto& o) {
        o.attention_window = AttentionWindow::kLocalM;
        o.target_direction = TargetDirection::kRightToLeft;
      },
      "that word is the i-th from the end", "local-p or global");
  expect_refused([](auto& o) { o.dropout = 1; }, "dropout is 1", "below 1");
  expect_refused([](auto& o) { o.dropout = -0.1; }, "dropout is -0.1", "at least 0");
  expect_refused([](auto& o) { o.attention_dropout = NAN; }, "attention-dropout is nan", "below 1");
  expect_refused([](auto& o) { o.dropout_kind = DropoutKind::kVariational; }, "nothing is dropped", "plain");
  expect_refused([](auto& o) { o.source_word_dropout = 1; }, "source-word-dropout is 1", "below 1");
  expect_refused(
      [](auto& o) {
        o.target_word_dropout = 0.1;
        o.state_word = Step::kPrevious;
        o.readout_state = Step::kCurrent;
        o.feedback = Feedback::kOutput;
      },
      "the decoder reads no target word", "target-word-dropout = 0");
  expect_refused(
      [](auto& o) {
        o.target_word_dropout = 0.1;
        o.state_inputs.word = o.readout_inputs.word = false;
      },
      "the decoder reads no target word", "target-word-dropout = 0");
  expect_refused(
      [](auto& o) {
        o.attention = Attention::kNone;
        o.attention_dropout = 0.1;
      },
      "no weights to drop", "attention-dropout = 0");
  expect_refused(
      [](auto& o) {
        o.cell = Cell::kMlp;
        o.layer_normalization = true;
      },
      "layer-normalization with cell = mlp", "gru, lstm and tanh");
  expect_refused([](auto& o) { o.layer_normalization = true; }, "equation 21", "gru-reset = after");
  expect_refused([](auto& o) { o.layers = 0; }, "layers is 0", "from 1 to 100");
  expect_refused(
      [](auto& o) {
        o.attention_window = AttentionWindow::kLocalP;
        o.window = 0;
      },
      "window is 0", "from 1 to 1000000");
}

TEST(NamesOfSystems, TellTheTraditionalSequenceToSequenceFromSutskevers) {
  ModelOptions o = rnnsearch_50();
  o.attention = Attention::kNone;
  o.source_start = true;
  EXPECT_NO_THROW(check(o));
  EXPECT_NE(system_of(o), "RNNencdec");
  o.cell = Cell::kLstm;
  o.initial_state = InitialState::kFinal;
  o.state_word = Step::kPrevious;
  o.state_inputs = {.word = true};
  o.readout = Readout::kLinear;
  o.readout_inputs = {.state = true};
  o.readout_state = Step::kCurrent;
  EXPECT_EQ(system_of(o), "traditional sequence to sequence; lstm cells, forward encoder");
  o.source_start = false;
  EXPECT_EQ(system_of(o), "Sutskever et al. (2014); lstm cells, forward encoder");
  o.reverse_source = true;
  EXPECT_EQ(system_of(o), "Sutskever et al. (2014); lstm cells, forward encoder, reversed source");
}

TEST(NamesOfSystems, SayInWhichOrderWordsAreReadAndWritten) {
  ModelOptions o = rnnsearch_50();
  o.reverse_source = true;
  o.target_direction = TargetDirection::kRightToLeft;
  EXPECT_NO_THROW(check(o));
  EXPECT_EQ(system_of(o), "RNNsearch, reversed source, right to left");
}

TEST(NamesOfSystems, AreThoseOfTheLiteratureAndElseWhatTheyAreMadeOf) {
  ModelOptions o = rnnsearch_50();
  o.cell = Cell::kLstm;
  EXPECT_EQ(system_of(o), "lstm cells, bidirectional encoder, additive attention from the previous state");
  o.layers = 2;
  o.encoder = Encoder::kForward;
  o.attention = attention_of("dot");
  o.attend_from = o.readout_state = Step::kCurrent;
  o.attention_window = AttentionWindow::kLocalM;
  o.state_word = Step::kPrevious;
  o.state_inputs = {.word = true};
  o.readout = Readout::kTanh;
  o.readout_inputs = {.state = true, .context = true};
  EXPECT_NO_THROW(check(o));
  EXPECT_EQ(system_of(o),
            "Luong et al. (2015), local-m, dot, no input feeding; 2 layers of lstm cells, forward encoder");
  o.readout = Readout::kMaxout;
  EXPECT_EQ(system_of(o),
            "2 layers of lstm cells, forward encoder, dot attention from the current state, local-m window of 10");
}

TEST(NamesOfOptions, ReadBackAsWhatTheyName) {
  for (const std::string& name : attention_names()) EXPECT_EQ(name_of(attention_of(name)), name);
  EXPECT_EQ(attention_names().front(), "none");
  EXPECT_EQ(attention_names().size(), kernels::scores().size() + 1);
  EXPECT_THAT(
      [] { attention_of("adaptive"); },
      ThrowsMessage<Error>(AllOf(HasSubstr("choose none, additive, "), HasSubstr(" or " + attention_names().back()))));
}

TEST(OptionTable, ReadsBackWhatItWrites) {
  ModelOptions options = rnnsearch_50();
  const OptionList list = options_of(options);
  for (const Option& option : list.rows()) {
    std::vector<std::string> texts = option.choices;
    if (texts.empty()) texts.push_back(option.text());
    for (const std::string& text : texts) {
      EXPECT_TRUE(option.read(text)) << option.name << " = " << text;
      EXPECT_EQ(option.text(), text) << option.name;
    }
    EXPECT_EQ(option.read("nothing of the kind"), false) << option.name;
    EXPECT_EQ(option.later, Later::kFixed) << option.name;
  }
}

TEST(OptionTable, HasNoNameTwice) {
  ModelOptions options;
  const OptionList list = options_of(options);
  std::set<std::string_view> names;
  for (const Option& option : list.rows()) EXPECT_TRUE(names.insert(option.name).second) << option.name;
}

TEST(OptionTable, KnowsWhichInputsAnOptionMayName) {
  ModelOptions options;
  const OptionList list = options_of(options);
  const Option &state = *list.find("state-inputs"), &readout = *list.find("readout-inputs");
  for (const char* names : {"state,word,context", "state", "word,context", "none"}) {
    EXPECT_TRUE(readout.read(names)) << names;
    EXPECT_EQ(readout.text(), names);
  }
  EXPECT_TRUE(state.read("context,word"));
  EXPECT_EQ(state.text(), "word,context");
  EXPECT_FALSE(state.read("state,word"));
  EXPECT_THAT(state.expected(), HasSubstr("word and context"));
  for (const char* names : {"word,word", "word,", ""}) EXPECT_FALSE(readout.read(names)) << names;
}

}  // namespace
}  // namespace rnnsearch::model
