#include "rnnsearch/model/options.h"

#include "rnnsearch/model/model.h"
#include "tests/model/fixtures.h"
#include "tests/support/test.h"

namespace rnnsearch::model {
namespace {

using testing::ThrowsMessage;

ModelOptions rnnsearch_50() {
  ModelOptions options;
  options.source_words = options.target_words = 30000;
  return options;
}

constexpr const char* kNone = "attention=none ";
constexpr const char* kLuong =
    "attend-from=current readout-state=current state-word=previous state-inputs=word readout=tanh "
    "readout-inputs=state,context ";
constexpr const char* kFedBack = "readout-state=current state-word=previous readout=mlp feedback=output ";

TEST(SystemOf, IsTheNameInTheLiteratureAndElseWhatTheSystemIsMadeOf) {
  struct Named {
    std::string settings, name;
  };
  const std::string sutskever = std::string(kNone) +
                                "cell=lstm initial-state=final state-word=previous state-inputs=word readout=linear "
                                "readout-inputs=state readout-state=current ";
  const std::string local =
      std::string(kLuong) + "cell=lstm layers=2 encoder=forward attention=dot attention-window=local-m ";
  for (const auto& [settings, name] : {
           Named{"", "RNNsearch"},
           {kNone, "RNNencdec"},
           {kNone + std::string("fixed-context=tanh"),
            "RNN encoder-decoder with the tanh context of Cho et al. (2014)"},
           {"dropout=0.1", "RNNsearch"},
           {"attention-dropout=0.1", "RNNsearch"},
           {"source-word-dropout=0.1 target-word-dropout=0.1", "RNNsearch"},
           {"source-word-dropout=0.1 target-word-dropout=0.1 dropout-kind=variational", "RNNsearch"},
           {"readout-rank=620 tied-embeddings=target", "RNNsearch, tied embeddings (target)"},
           {"readout-rank=620 tied-embeddings=source-target", "RNNsearch, tied embeddings (source-target)"},
           {"readout-rank=620 tied-embeddings=all", "RNNsearch, tied embeddings (all)"},
           {"readout-rank=620 tied-embeddings=target source-words=10", "RNNsearch, tied embeddings (target)"},
           {"state=620 tied-embeddings=target source-words=10 readout=linear readout-inputs=state",
            "gru cells, bidirectional encoder, additive attention from the previous state, tied embeddings (target)"},
           {kNone + std::string("source-start=true"), "gru cells, forward encoder, one fixed context"},
           {sutskever + "source-start=true", "traditional sequence to sequence; lstm cells, forward encoder"},
           {sutskever, "Sutskever et al. (2014); lstm cells, forward encoder"},
           {sutskever + "reverse-source=true", "Sutskever et al. (2014); lstm cells, forward encoder, reversed source"},
           {"reverse-source=true target-direction=right-to-left", "RNNsearch, reversed source, right to left"},
           {"cell=lstm", "lstm cells, bidirectional encoder, additive attention from the previous state"},
           {local, "Luong et al. (2015), local-m, dot, no input feeding; 2 layers of lstm cells, forward encoder"},
           {local + "readout=maxout",
            "2 layers of lstm cells, forward encoder, dot attention from the current state, local-m window of 10"},
       }) {
    const ModelOptions options = with(rnnsearch_50(), settings);
    EXPECT_NO_THROW(check(options)) << settings;
    EXPECT_EQ(system_of(options), name) << settings;
  }
}

void expect_refused(const ModelOptions& options, const std::string& what, const std::string& next) {
  EXPECT_THAT([&] { check(options); },
              ThrowsMessage<Error>(AllOf(HasSubstr(what), HasSubstr(next), Not(HasSubstr("{")))));
}

TEST(CheckOfOptions, RefusesWhatMakesNoSenseAndSaysWhyAndWhatToDo) {
  struct Refusal {
    std::string settings, what, next;
  };
  const std::string none = kNone, luong = kLuong, fed_back = kFedBack;
  for (const auto& [settings, what, next] : {
           Refusal{"attention=dot", "2000 wide where the state is 1000", "general"},
           {"tied-embeddings=target", "620 wide, and what it multiplies is 500 wide",
            "readout-rank = 620 or maxout = 620"},
           {"tied-embeddings=all readout-rank=500", "620 wide, and what it multiplies is 500 wide",
            "choose readout-rank = 620, or"},
           {"tied-embeddings=target readout=linear readout-inputs=state",
            "620 wide, and what it multiplies is 1000 wide", "choose readout-rank = 620"},
           {"tied-embeddings=source-target source-words=29999", "29999 words where the target's has 30000",
            "--joint-vocabulary"},
           {"attend-from=current", "no s_i to attend from", "readout-state = current"},
           {"attend-from=current readout-state=current state-word=previous", "c_i is made from s_i", "input-feeding"},
           {"readout-state=current", "the word y_i that it is to predict", "state-word = previous"},
           {"input-feeding=true", "input-feeding with readout-state = previous", "readout-state = current"},
           {"input-feeding=true state-word=previous readout-state=current readout=linear", "no vector of its own",
            "tanh"},
           {"source-start=true", "source-start with attention = additive", "attention = none"},
           {"initial-state=final", "both ends", "backward"},
           {"initial-state=backward encoder=forward", "no backward state", "final"},
           {"initial-state=forward encoder-state=500", "500", "projected"},
           {none + "initial-state=zero state-inputs=word readout-inputs=state", "nothing of the source", "context"},
           {"state-inputs=word readout-inputs=state", "nothing reads what is attended to", "attention = none"},
           {none + "attention-window=local-m", "nothing to look through", "global"},
           {"fixed-context=tanh", "fixed-context = tanh with attention = additive", "last-state"},
           {none + "fixed-context=tanh state-inputs=word readout-inputs=state,word", "nothing reads it", "add context"},
           {"cell=lstm gru-reset=after", "no reset gate", "gru"},
           {"cell=mlp state=999", "half as wide", "even"},
           {luong + "input-feeding=true attend-from=previous attention=none", "input-feeding with attention = none",
            "choose a score"},
           {luong + "input-feeding=true attend-from=previous state-inputs=word,context readout-inputs=state",
            "would not know what was attended to", "context to readout-inputs"},
           {fed_back + "state-word=current", "the readout's vector of the step before", "state-word = previous"},
           {fed_back + "readout=tanh start=embedded",
            "the embedding of <s>, 620 wide, would stand for the readout's vector, which is 1000 wide", "start = zero"},
           {fed_back + "input-feeding=true", "both hand on the same vector", "one of them"},
           {"start=embedded readout-inputs=state,context", "nothing reads the word before", "start = zero"},
           {none + "readout-inputs=word,context", "nothing would read the decoder's state", "add state"},
           {none + "encoder=bidirectional state-inputs=word readout-inputs=state", "nothing reads the other",
            "encoder = forward"},
           {"readout-inputs=none", "readout-inputs = none", "state, word and context"},
           {"state-inputs=none readout-inputs=state,word", "nothing reads what is attended to", "add context"},
           {none + "state-inputs=none", "state-inputs = none without attention", "choose a score"},
           {"attention-window=local-m target-direction=right-to-left", "that word is the i-th from the end",
            "local-p or global"},
           {"dropout=1", "dropout is 1", "below 1"},
           {"dropout=-0.1", "dropout is -0.1", "at least 0"},
           {"dropout-kind=variational", "nothing is dropped", "plain"},
           {"source-word-dropout=1", "source-word-dropout is 1", "below 1"},
           {"target-word-dropout=0.1 state-word=previous readout-state=current feedback=output",
            "the decoder reads no target word", "target-word-dropout = 0"},
           {"target-word-dropout=0.1 state-inputs=context readout-inputs=state,context",
            "the decoder reads no target word", "target-word-dropout = 0"},
           {none + "attention-dropout=0.1", "no weights to drop", "attention-dropout = 0"},
           {"cell=mlp layer-normalization=true", "layer-normalization with cell = mlp", "gru, lstm and tanh"},
           {"layer-normalization=true", "equation 21", "gru-reset = after"},
           {"layers=0", "layers is 0", "from 1 to 100"},
           {"attention-window=local-p window=0", "window is 0", "from 1 to 1000000"},
       }) {
    SCOPED_TRACE(settings);
    expect_refused(with(rnnsearch_50(), settings), what, next);
  }
  for (const double number : {HUGE_VAL, 1e39, std::nan("")}) {  // what no text reads as
    ModelOptions options = rnnsearch_50();
    options.initial_deviation = number;
    expect_refused(options, fmt::format("initial-deviation is {}", number), "at most 1e37");
  }
  ModelOptions options = rnnsearch_50();
  options.attention_dropout = NAN;
  expect_refused(options, "attention-dropout is nan", "below 1");
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

// 80 pairs of 25 words a side
constexpr BatchSize kBatch{.pairs = 80, .source_words = 2000, .target_words = 2000};
constexpr BatchSize kTwice{.pairs = 160, .source_words = 4000, .target_words = 4000};

ModelOptions paper() {
  ModelOptions options;
  options.source_words = options.target_words = 30000;
  return options;
}

// 2 rows inputs outputs of every product of an update, added up one by one by a program of its own (forward, gradient
// of the input, gradient of the weights); it leaves out s_0.
TEST(UpdateFlop, IsThatOfTheProductsOneByOne) {
  EXPECT_NEAR(update_flop(paper(), kBatch).total() / 506.4e9, 1, 0.01);
  const ModelOptions small =
      with({}, "source-words=8000 target-words=8000 embedding=256 state=512 alignment=512 maxout=256");
  EXPECT_NEAR(update_flop(small, kBatch).total() / 106.4e9, 1, 0.01);
}

TEST(ForwardFlop, IsThePartOfAnUpdateWithoutGradients) {
  const ProductFlop forward = forward_flop(paper(), kBatch), update = update_flop(paper(), kBatch);
  EXPECT_DOUBLE_EQ(3 * forward.encoder, update.encoder);
  EXPECT_DOUBLE_EQ(3 * forward.decoder, update.decoder);
  EXPECT_DOUBLE_EQ(3 * forward.readout, update.readout);
}

TEST(UpdateFlop, KnowsTheFactoredOutputMatrix) {
  ModelOptions factored = paper();
  factored.readout_rank = 620;
  const double whole = 500.0 * 30000, factors = 500.0 * 620 + 620.0 * 30000;
  EXPECT_DOUBLE_EQ(update_flop(factored, kBatch).total() - update_flop(paper(), kBatch).total(),
                   6 * 2000 * (factors - whole));
}

TEST(UpdateFlop, WithoutAttentionHasOneEncoderAndOneContextASentence) {
  ModelOptions none = paper();
  none.attention = Attention::kNone;
  const double m = 620, n = 1000, l = 500, K = 30000;
  const double source_word = 3 * n * (m + n);
  const double target_word = 3 * n * (m + n) + 2 * l * (n + m + n) + l * K;
  const double sentence = n * n + n * 3 * n;  // s_0, C c
  EXPECT_DOUBLE_EQ(update_flop(none, kBatch).total(), 6 * (2000 * (source_word + target_word) + 80 * sentence));
}

TEST(UpdateFlop, KnowsTheVectorOfALinearReadoutThatIsFedBack) {
  const ModelOptions notebook =
      with(paper(),
           "embedding=16 state=16 alignment=16 cell=tanh initial-state=zero state-word=previous readout=linear "
           "readout-state=current feedback=output");
  const double n = 16, m = 16, C = 32, K = 30000;
  const double source_word = 2 * n * (m + n) + n * C;                            // W_fwd, W_bwd, U_a
  const double target_word = n * n + n * (m + C + n) + m * (n + C + m) + m * K;  // W_a, W_dec, W_out, W_o
  EXPECT_DOUBLE_EQ(update_flop(notebook, kBatch).total(), 6 * 2000 * (source_word + target_word));
}

TEST(UpdateFlop, CountsTheStartSymbolThatTheEncoderReads) {
  ModelOptions none = paper();
  none.attention = Attention::kNone;
  none.layers = 2;
  const double without = update_flop(none, kBatch).total();
  none.source_start = true;
  constexpr BatchSize kStarted{.pairs = 80, .source_words = 2000 + 80, .target_words = 2000};
  const double m = 620, n = 1000;
  EXPECT_DOUBLE_EQ(update_flop(none, kStarted).total() - without, 6 * 80 * (3 * n * (m + n) + 3 * n * (n + n)));
}

TEST(UpdateFlop, DividesIntoThePhasesOfAnUpdate) {
  const ProductFlop flop = update_flop(paper(), kBatch);
  const double m = 620, n = 1000, A = 1000, l = 500, K = 30000;
  EXPECT_DOUBLE_EQ(flop.encoder, 6 * (2000 * (2 * 3 * n * (m + n) + 2 * n * A) + 80 * n * n));
  EXPECT_DOUBLE_EQ(flop.decoder, 6 * 2000 * (n * A + 3 * n * (m + n + 2 * n)));
  EXPECT_DOUBLE_EQ(flop.readout, 6 * 2000 * (2 * l * (n + m + 2 * n) + l * K));
}

// Those of the input of the lowest layer of the encoder, in both directions, and of the decoder. The readout multiplies
// the embedding at every place of the word.
TEST(UpdateFlop, CountsAnEmbeddingThatIsMultipliedForAllItsPlacesOnce) {
  BatchSize repeats = kBatch;
  repeats.source_embeddings = 900;
  repeats.target_embeddings = 1200;
  const double m = 620, n = 1000;
  const ProductFlop all = update_flop(paper(), kBatch), once = update_flop(paper(), repeats);
  EXPECT_DOUBLE_EQ(all.encoder - once.encoder, 6.0 * 1100 * 2 * 3 * n * m);
  EXPECT_DOUBLE_EQ(all.decoder - once.decoder, 6.0 * 800 * 3 * n * m);
  EXPECT_DOUBLE_EQ(all.readout, once.readout);
}

TEST(UpdateFlop, GrowsWithTheBatch) {
  EXPECT_DOUBLE_EQ(update_flop(paper(), kTwice).total(), 2 * update_flop(paper(), kBatch).total());
  EXPECT_EQ(update_flop(paper(), {}).total(), 0);
}

}  // namespace
}  // namespace rnnsearch::model
