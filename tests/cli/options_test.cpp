#include "rnnsearch/cli/options.h"

#include "cli/options/common.h"
#include "cli/options/help.h"
#include "cli/options/training_options.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/model/options.h"
#include "rnnsearch/train/options.h"
#include "tests/support/test.h"

namespace rnnsearch::cli {
namespace {

enum class Shape { kRound, kSquare };
constexpr auto names_of(Shape) { return std::array{Named{Shape::kRound, "round"}, Named{Shape::kSquare, "square"}}; }

struct Settings {
  std::uint64_t beam = 10;
  double rate = 0.25;
  bool normalize = false;
  bool biases = true;
  std::string tokenizer = "words";
  std::filesystem::path output;
  std::vector<std::string> test;
  std::vector<std::uint64_t> edges{10, 20};
  std::optional<std::uint64_t> limit;
  Shape shape = Shape::kRound;
};

struct Fixture {
  Settings settings;
  Options options{"cook", "Cooks.", "--beam 3"};
  Fixture() {
    options.group("Search");
    options.add("beam", settings.beam, within(1, 1000), "hypotheses kept");
    options.add("rate", settings.rate, at_least(0), "how fast");
    options.add("normalize", settings.normalize, "divide by length");
    options.add("biases", settings.biases, "have biases");
    options.group("Text");
    options.add("tokenizer", settings.tokenizer, Choices{{"words", "none"}}, "how to cut");
    options.add("output", settings.output, Placeholder{"FILE"}, kNotRecorded, "the file to write");
    options.add("test", settings.test, Placeholder{"NAME"}, "a test set");
    options.add("edges", settings.edges, "bucket edges");
    options.add("limit", settings.limit, "stop there");
    options.add("shape", settings.shape, "its shape");
  }
};

const std::string kAccepted = message_of([] {});

std::string refusal(const Arguments& arguments) {
  Fixture fixture;
  return message_of([&] { fixture.options.parse(arguments); });
}

TEST(Options, SetTheFieldsFromTheCommandLine) {
  Fixture f;
  EXPECT_TRUE(f.options.parse({"--beam", "3", "--rate=1e-3", "--normalize", "--biases=false", "--test", "a", "--test=b",
                               "--edges", "5,15", "--limit", "7", "--shape", "square", "--output", "x.h5"}));
  EXPECT_EQ(f.settings.beam, 3u);
  EXPECT_EQ(f.settings.rate, 1e-3);
  EXPECT_TRUE(f.settings.normalize);
  EXPECT_FALSE(f.settings.biases);
  EXPECT_THAT(f.settings.test, ElementsAre("a", "b"));
  EXPECT_THAT(f.settings.edges, ElementsAre(5, 15));
  EXPECT_EQ(f.settings.limit, 7u);
  EXPECT_THAT(f.options.given_in("Text"), ElementsAre("output", "test", "edges", "limit", "shape"));
  EXPECT_EQ(f.settings.shape, Shape::kSquare);
  EXPECT_EQ(f.settings.output, "x.h5");
  EXPECT_TRUE(f.options.given("beam"));
  EXPECT_FALSE(f.options.given("tokenizer"));
}

TEST(Options, LetTheCommandLineWinOverTheFile) {
  Scratch scratch;
  write_file_atomically(scratch / "c.ini", "# why\nbeam = 3\nrate = 2\ntest = a\ntest = b\nnormalize = true\n");
  Fixture f;
  f.options.parse({"--config", (scratch / "c.ini").string(), "--beam", "5", "--test", "c", "--normalize=no"});
  EXPECT_EQ(f.settings.beam, 5u);
  EXPECT_EQ(f.settings.rate, 2);
  EXPECT_FALSE(f.settings.normalize);
  EXPECT_THAT(f.settings.test, ElementsAre("c"));
}

TEST(Options, RenderAnIniThatRepeatsTheRun) {
  Fixture f;
  f.options.parse({"--beam", "3", "--rate", "0.1", "--test", "a b", "--test", "c", "--shape", "square", "--biases=0"});
  const std::string ini = f.options.ini();
  Scratch scratch;
  write_file_atomically(scratch / "c.ini", ini);
  Fixture again;
  again.options.parse({"--config", (scratch / "c.ini").string()});
  EXPECT_EQ(again.options.ini(), ini);
  EXPECT_EQ(again.settings.rate, 0.1);
  EXPECT_THAT(again.settings.test, ElementsAre("a b", "c"));
  EXPECT_FALSE(again.settings.biases);
  EXPECT_THAT(ini, Not(HasSubstr("output")));
  EXPECT_THAT(ini, Not(HasSubstr("limit")));
}

TEST(Options, AreRefusedWithTheNearestNameWhenUnknown) {
  EXPECT_EQ(refusal({"--bema", "3"}), "unknown option '--bema': did you mean '--beam'?");
  EXPECT_EQ(refusal({"--bea=3"}), "unknown option '--bea': did you mean '--beam'?");
  EXPECT_EQ(refusal({"--quite-another"}), "unknown option '--quite-another': rnnsearch cook --help names them all");
}

TEST(Options, AreRefusedInAFileWithItsNameAndTheNearestKey) {
  Scratch scratch;
  const std::string file = (scratch / "c.ini").string();
  const auto refused = [&](const char* text) {
    write_file_atomically(file, text);
    return refusal({"--config", file});
  };
  EXPECT_EQ(refused("tokeniser = words\n"), file + ": unknown key 'tokeniser': did you mean 'tokenizer'?");
  EXPECT_EQ(refused("beam = many\n"), file + ": beam is 'many' but must be a whole number from 1 to 1000");
  EXPECT_EQ(refused("beam = 1\nbeam = 2\n"), file + ": beam is given twice");
  EXPECT_EQ(refused("beam 3\n"), file + ": 'beam 3' is not of the form 'key = value'");
  EXPECT_EQ(refused("[search]\nbeam = 3\n"), file + ": '[search]' is not of the form 'key = value'");
  EXPECT_THAT(refusal({"--config", file + ".not"}), HasSubstr("c.ini.not"));
}

TEST(Options, SayWhatWasFoundAndWhatIsExpected) {
  EXPECT_EQ(refusal({"--beam", "0"}), "--beam is '0' but must be a whole number from 1 to 1000");
  EXPECT_EQ(refusal({"--beam", "1001"}), "--beam is '1001' but must be a whole number from 1 to 1000");
  EXPECT_EQ(refusal({"--beam=-1"}), "--beam is '-1' but must be a whole number from 1 to 1000");
  EXPECT_EQ(refusal({"--beam", "3x"}), "--beam is '3x' but must be a whole number from 1 to 1000");
  EXPECT_EQ(refusal({"--limit", "18446744073709551616"}),
            "--limit is '18446744073709551616' but must be a whole number");
  EXPECT_EQ(refusal({"--rate", "nan"}), "--rate is 'nan' but must be a number of at least 0");
  EXPECT_EQ(refusal({"--tokenizer", "13a"}), "--tokenizer is '13a' but must be words or none");
  EXPECT_EQ(refusal({"--edges", "1,,2"}), "--edges is '1,,2' but must be whole numbers with commas between them");
  EXPECT_EQ(refusal({"--edges", "1,2,"}), "--edges is '1,2,' but must be whole numbers with commas between them");
  EXPECT_EQ(refusal({"--normalize=maybe"}), "--normalize is 'maybe' but must be true or false");
  EXPECT_EQ(refusal({"--shape", "flat"}), "--shape is 'flat' but must be round or square");
}

TEST(Options, HaveTheLastOfSeveralValuesOnTheCommandLine) {
  Scratch scratch;
  write_file_atomically(scratch / "a.ini", "beam = 5\n");
  write_file_atomically(scratch / "b.ini", "rate = 2\n");
  Fixture f;
  f.options.parse({"--beam", "3", "--test", "a", "--beam=4", "--test", "b", "--config", (scratch / "a.ini").string(),
                   "--config", (scratch / "b.ini").string()});
  EXPECT_EQ(f.settings.beam, 4u);
  EXPECT_EQ(f.settings.rate, 2);
  EXPECT_THAT(f.settings.test, ElementsAre("a", "b"));
}

TEST(Options, AreRefusedWithoutValueAndWithoutDashes) {
  EXPECT_EQ(refusal({"--normalize", "--beam", "3"}), kAccepted);
  for (const Arguments& arguments : {Arguments{"--beam"}, {"--beam", "--normalize"}, {"--beam", ""}, {"--beam="}}) {
    EXPECT_EQ(refusal(arguments),
              "--beam needs a value: it is missing or empty, perhaps because a variable is not set; give one, or leave "
              "the option out");
  }
  EXPECT_EQ(refusal({"corpus.h5"}), "unexpected argument 'corpus.h5': options begin with --");
  EXPECT_EQ(refusal({"--normalize", "corpus.h5"}), "--normalize is 'corpus.h5' but must be true or false");
  EXPECT_EQ(refusal({"-b", "3"}), "unexpected argument '-b': options begin with --");
}

TEST(Options, AreMissedWhenRequired) {
  std::string output;
  Options options("cook", "Cooks.", "");
  options.add("output", output, kRequired, "the file to write");
  EXPECT_THAT([&] { options.parse({}); },
              testing::ThrowsMessage<Error>(std::string("--output is missing: the file to write")));
}

TEST(Options, ExplainThemselvesByGroupWithDefaults) {
  const std::string help = Fixture().options.help();
  EXPECT_LT(help.find("Search:"), help.find("Text:"));
  EXPECT_LT(help.find("Text:"), help.find("General:"));
  EXPECT_THAT(help, HasSubstr("--beam N"));
  EXPECT_THAT(help, HasSubstr("hypotheses kept [10]"));
  EXPECT_THAT(help, HasSubstr("--tokenizer words|none"));
  EXPECT_THAT(help, HasSubstr("--output FILE"));
  EXPECT_THAT(help, HasSubstr("[10,20]"));
  EXPECT_THAT(help, Not(HasSubstr("[false]")));
}

TEST(Presets, AreListedAndRefusedWithTheNearestName) {
  Fixture f;
  f.options.offer_presets();
  EXPECT_THAT(
      [&] {
        f.options.parse({"--preset", "no-such-preset-at-all"});
      },
      testing::ThrowsMessage<Error>(HasSubstr("unknown preset 'no-such-preset-at-all'")));
  for (const Preset& preset : presets()) EXPECT_THAT(f.options.help(), HasSubstr(preset.name));
}

TEST(EditDistance, CountsInsertionsDeletionsSubstitutionsAndSwaps) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("beam", "bema"), 1u);
  EXPECT_EQ(edit_distance("same", "same"), 0u);
}

TEST(Nearest, StaysSilentWhenNothingIsNear) {
  const std::vector<std::string> names{"beam", "seed"};
  EXPECT_EQ(nearest("seeds", names), "seed");
  EXPECT_FALSE(nearest(std::string(1000000, 's'), names));  // takes no time
  EXPECT_FALSE(nearest("quite-another", names));
}

std::string refusal_of_ranks(const std::vector<std::string>& names) {
  std::vector<std::string> hosts;
  for (std::size_t rank = 0; rank < names.size(); ++rank) hosts.push_back(fmt::format("node{}", rank));
  return message_of([&] { check_arithmetic_is_one(names, hosts); });
}

TEST(Precision, TakesRanksThatComputeAlike) {
  EXPECT_EQ(refusal_of_ranks({"bf16-amx"}), "nothing was thrown");
  EXPECT_EQ(refusal_of_ranks({"f32", "f32", "f32"}), "nothing was thrown");
}

TEST(Precision, RefusesRanksThatComputeDifferentlyAndNamesTheFirst) {
  EXPECT_EQ(refusal_of_ranks({"bf16-amx", "bf16-amx", "bf16-avx512", "bf16-avx512"}),
            "node0 (rank 0) computes in bf16-amx and node2 (rank 2) in bf16-avx512, so they would round sums "
            "differently; give --precision f32, or set RNNSEARCH_SIMD=avx512 on all hosts");
  EXPECT_EQ(refusal_of_ranks({"f32-sse2", "f32"}),
            "node0 (rank 0) computes in f32-sse2 and node1 (rank 1) in f32, so they would round sums differently; set "
            "RNNSEARCH_SIMD=sse2 on all hosts");
}

TrainingSettings settings_of(const char* preset) {
  TrainingSettings settings;
  Options options("train", "", "");
  options.offer_presets();
  add_training_options(options, settings);
  EXPECT_TRUE(options.parse({"--preset", preset}));
  return settings;
}

TEST(Presets, AreAllSystemsThatMakeSense) {
  for (const Preset& preset : presets()) {
    SCOPED_TRACE(preset.name);
    TrainingSettings settings = settings_of(preset.name);
    settings.model.source_words = settings.model.target_words = 30000;
    EXPECT_NO_THROW(model::check(settings.model));
    EXPECT_NO_THROW(train::check(settings.train));
    const std::string name = preset.name, system = model::system_of(settings.model);
    EXPECT_EQ(system == "RNNsearch" || system == "RNNencdec", name.starts_with("rnn") || name == "small");
  }
}

TEST(Presets, ChangeTheOptionsThatTheyState) {
  const TrainingSettings longer = settings_of("rnnsearch-50"), shorter = settings_of("rnnsearch-30"),
                         baseline = settings_of("rnnencdec-30");
  EXPECT_EQ(longer.model.state, 1000U);
  EXPECT_TRUE(shorter.model == longer.model);
  EXPECT_EQ(longer.train.max_updates, 288000U);
  EXPECT_EQ(shorter.train.max_updates, 471000U);
  EXPECT_EQ(baseline.model.state, 1000U);  // of rnnsearch-50, which rnnencdec-50 changes
  EXPECT_FALSE(baseline.model.attends());
  EXPECT_EQ(baseline.train.max_updates, 846000U);
}

/// The options with which tests/model/notebook_replay_test.cpp replays the notebook.
TEST(Presets, HaveTheNotebookAsItIsPrinted) {
  model::ModelOptions printed;
  printed.embedding = printed.state = printed.alignment = 16;
  printed.cell = model::Cell::kTanh;
  printed.encoder = model::Encoder::kBidirectional;
  printed.initial_state = model::InitialState::kZero;
  printed.state_word = model::Step::kPrevious;
  printed.readout = model::Readout::kLinear;
  printed.readout_state = model::Step::kCurrent;
  printed.feedback = model::Feedback::kOutput;
  printed.start = model::Start::kEmbedded;
  printed.embedding_biases = false;
  printed.source_end = false;
  printed.initialization = model::Initialization::kGaussian;
  printed.initial_deviation = 0.01;
  EXPECT_TRUE(settings_of("notebook-as-printed").model == printed);
}

}  // namespace
}  // namespace rnnsearch::cli
