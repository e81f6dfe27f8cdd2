// Every option of `train` is given another value when a run is resumed, and what happens is what its word says.
#include "cli/options/training_options.h"

#include "rnnsearch/base/file.h"
#include "rnnsearch/cli/command.h"
#include "tests/cli/run.h"
#include "tests/support/test.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;
using Values = std::map<std::string, std::string>;

/// Another value than that of the run, and what else both attempts need so that the two values make sense. CORPUS,
/// COPY, RUN and CHECKPOINT stand for files.
struct Another {
  const char* value;
  Values with{};
};
constexpr const char* kAlone =
    "corpus COPY resume CHECKPOINT initial-model RUN attention general embedding 10 state 10 "
    "encoder-state 4 alignment 10 maxout 10 readout-rank 4 cell lstm gru-reset after layers 2 encoder forward "
    "reverse-source true target-direction right-to-left attention-window local-m initial-state zero "
    "state-word previous state-inputs word readout tanh readout-inputs state,word start embedded "
    "gate-biases true embedding-biases false dropout 0.1 attention-dropout 0.1 source-word-dropout 0.1 "
    "target-word-dropout 0.1 tied-embeddings source-target initialization xavier initial-deviation 0.02 "
    "batch-sentences 11 batch-words 100 accumulate 2 pool-batches 3 shuffle once batch-order by-length seed 2 "
    "prefetch false optimizer adadelta learning-rate 0.001 rho 0.9 epsilon 1e-05 adam-beta1 0.8 "
    "adam-beta2 0.99 adam-epsilon 1e-07 gradient-of word label-smoothing 0.1 sampled-softmax 20 guided-alignment 0.5 "
    "clip-norm 2 average-decay 0.5 max-skipped 10 schedule plateau warmup-updates 3 plateau-patience 2 "
    "halve-after-epochs 3 halve-every-epochs 2 overlap false reproducible-shards 2 max-updates 5 "
    "max-epochs 100 max-minutes 100 early-stop-patience 9 stop-before 5 validate-every 3 validate-minutes 5 "
    "validation-share 0.5 best-metric bleu validate-bleu false validate-beam 2 validate-sentences 32 "
    "checkpoint-every 3 checkpoint-minutes 5 synchronous-checkpoints true keep-checkpoints 3 log-every 2 "
    "oversubscribe true stall-timeout 100 allow-other-arithmetic true ";
const std::map<std::string, Another> kOthers = [] {
  std::map<std::string, Another> all{
      {"mix", {"COPY:1", {{"mix", "CORPUS:1"}}}},
      {"initial-optimizer", {"true", {{"initial-model", "RUN"}}}},
      {"source-start", {"true", {{"attention", "none"}}}},
      {"source-end", {"false", {{"attention", "none"}, {"source-start", "true"}}}},
      {"attend-from",
       {"current", {{"readout-state", "current"}, {"state-word", "previous"}, {"state-inputs", "word"}}}},
      {"window", {"4", {{"attention-window", "local-m"}}}},
      {"fixed-context", {"tanh", {{"attention", "none"}}}},
      {"readout-state", {"current", {{"state-word", "previous"}}}},
      {"input-feeding", {"true", {{"readout-state", "current"}, {"state-word", "previous"}}}},
      {"feedback", {"output", {{"readout-state", "current"}, {"state-word", "previous"}}}},
      {"layer-normalization", {"true", {{"gru-reset", "after"}}}},
      {"dropout-kind", {"variational", {{"dropout", "0.1"}}}},
      {"scale-learning-rate", {"square-root", {{"scale-learning-rate", "linear"}, {"reference-batch", "20"}}}},
      {"reference-batch", {"10", {{"scale-learning-rate", "linear"}, {"reference-batch", "20"}}}},
      {"momentum", {"0.5", {{"optimizer", "sgd"}}}},
      {"threads", {"2", {{"oversubscribe", "true"}}}},
      {"precision", {"bf16", {{"allow-other-arithmetic", "true"}}}},
  };
  static std::vector<std::string> words;
  std::istringstream stream(kAlone);
  for (std::string word; stream >> word;) words.push_back(word);
  for (std::size_t i = 0; i < words.size(); i += 2) all[words[i]] = {words[i + 1].c_str()};
  return all;
}();

class Resumed : public testing::Test {
 protected:
  void SetUp() override {
    set_log_sink([this](std::string_view line) { said_ += fmt::format("{}\n", line); });
    const auto write = [&](const char* name, int lines, const char* line) {
      std::ofstream file(scratch_ / name);
      for (int i = 0; i < lines; ++i) file << "w" << i % 7 << " " << line << "\n";
    };
    write("train", 60, "w1 w2 w3");
    write("dev", 10, "w2 w1");
    std::ofstream links(scratch_ / "links");
    for (int i = 0; i < 60; ++i) links << "0-0 1-1\n";
    links.close();
    prepare("dev", "corpus.h5");
    fs::copy(file("CORPUS"), file("COPY"));
  }
  void TearDown() override { set_log_sink({}); }

  /// Makes a corpus of the training text and this dev set.
  void prepare(const char* dev, const char* corpus) {
    const auto path = [&](const char* name) { return (scratch_ / name).string(); };
    testing::internal::CaptureStdout();
    run(make_prepare(), {"--train-source", path("train"), "--train-target", path("train"), "--train-alignments",
                         path("links"), "--dev-source", path(dev), "--dev-target", path(dev), "--tokenizer", "none",
                         "--joint-vocabulary", "--output", path(corpus)});
    testing::internal::GetCapturedStdout();
  }

  std::string file(std::string name) const {
    for (const auto& [letters, path] : {std::pair("CORPUS", "corpus.h5"),
                                        {"COPY", "copy.h5"},
                                        {"CHECKPOINT", "plain/checkpoints/update-00000002.h5"},
                                        {"RUN", "plain"}}) {
      if (const auto at = name.find(letters); at != name.npos) {
        return name.replace(at, std::string(letters).size(), (scratch_ / path).string());
      }
    }
    return name;
  }
  /// The exit code of an attempt at a run with these values; what it says is in said_.
  int train(const std::string& run, const Values& values) {
    Values all{{"corpus", "CORPUS"},
               {"run", (scratch_ / run).string()},
               {"embedding", "8"},
               {"state", "8"},
               {"alignment", "8"},
               {"maxout", "8"},
               {"optimizer", "adam"},
               {"learning-rate", "0.003"},
               {"batch-sentences", "10"},
               {"gradient-of", "sentence"},
               {"validate-every", "2"},
               {"max-updates", "4"},
               {"checkpoint-minutes", "0"},
               {"log-every", "1"},
               {"threads", "1"},
               {"precision", "f32"}};
    for (const auto& [name, value] : values) all[name] = value;
    Arguments arguments;
    for (const auto& [name, value] : all) arguments.push_back("--" + name + "=" + file(value));
    said_.clear();
    testing::internal::CaptureStderr();
    try {
      const int code = cli::run(make_train(), arguments);
      said_ += testing::internal::GetCapturedStderr();
      return code;
    } catch (...) {
      testing::internal::GetCapturedStderr();
      throw;
    }
  }
  /// A new copy of a run of two updates with these values, which is made once.
  std::string copy_of_run(Values values) {
    std::string& key = made_[values];
    if (key.empty()) {
      key = values.empty() ? "plain" : fmt::format("with-{}", made_.size());
      values["max-updates"] = "2";
      EXPECT_EQ(train(key, values), 0) << key;
    }
    const std::string copy = fmt::format("copy-{}", ++copies_);
    fs::copy(scratch_ / key, scratch_ / copy, fs::copy_options::recursive);
    return copy;
  }
  std::string recorded(const std::string& run, const std::string& option) const {
    const std::string ini = read_file(scratch_ / run / "config.ini"), key = "\n" + option + " = ";
    const auto at = ini.find(key);
    return at == ini.npos ? "" : ini.substr(at + key.size(), ini.find('\n', at + 1) - at - key.size());
  }

  Scratch scratch_;
  std::string said_;
  std::map<Values, std::string> made_;  // runs of two updates
  int copies_ = 0;
};

TEST_F(Resumed, DoesWithEveryOptionWhatItsWordSays) {
  const auto command = make_train();
  std::set<std::string> recorded_options;
  for (const auto& [name, value] : command->options.values()) recorded_options.insert(name);
  recorded_options.insert({"mix", "stop-before"});  // which have no default
  std::map<Later, int> cells;
  copy_of_run({});
  for (const Option& option : command->options.rows()) {
    if (!option.read) continue;  // --help and others that set no field
    const std::string& name = option.name;
    const Later word = option.later;
    SCOPED_TRACE(name);
    ASSERT_NE(word, Later::kUnsaid);
    // A run of another name is another run, and check-ranks belongs to --check.
    if (name == "run" || name == "check-ranks") continue;
    ASSERT_TRUE(kOthers.contains(name)) << "the option needs another value above";
    const auto& [other, with] = kOthers.at(name);
    const std::string run = copy_of_run(with), before = recorded(run, name), value = file(other);
    Values now = with;
    now[name] = other;
    ++cells[word];
    if (word == Later::kFixed) {
      const std::string refusal = message_of([&] { train(run, now); });
      EXPECT_THAT(refusal,
                  HasSubstr(fmt::format("holds another run: its {} is {}, now it is {}", name, before, value)));
      EXPECT_EQ(recorded(run, name), before);
      EXPECT_FALSE(fs::exists(scratch_ / run / "checkpoints/update-00000004.h5"));
      continue;
    }
    EXPECT_EQ(message_of([&] { EXPECT_EQ(train(run, now), 0); }), message_of([] {}));
    const std::string log = read_file(scratch_ / run / "log.jsonl");
    EXPECT_TRUE(fs::exists(scratch_ / run / "checkpoints" /
                           (name == "max-updates" ? "update-00000005.h5" : "update-00000004.h5")));
    if (word == Later::kFirst) {
      EXPECT_EQ(recorded(run, name), before);
      EXPECT_THAT(log, Not(HasSubstr(fmt::format("\"what\":\"{}\"", name))));
      EXPECT_THAT(said_, HasSubstr(fmt::format("[train] {} = {} is ignored, because this run has begun", name, value)));
    } else if (recorded_options.contains(name)) {
      EXPECT_EQ(recorded(run, name), value);
      EXPECT_THAT(log, HasSubstr(fmt::format(R"("what":"{}","from":"{}","to":"{})"
                                             "\"",
                                             name, before, value)));
      EXPECT_THAT(said_, HasSubstr(fmt::format("[train] {} from here on: {}; before: {}\n", name, value,
                                               before.empty() ? "none" : before)));
    }
  }
  EXPECT_EQ(cells[Later::kFixed] + cells[Later::kFree] + cells[Later::kFirst], static_cast<int>(kOthers.size()));
  EXPECT_EQ(cells[Later::kFirst], 3);
}

TEST_F(Resumed, ResumesWhenTheSameCommandIsRepeatedHoweverItBegan) {
  copy_of_run({});
  for (const Values& values : {Values{{"resume", "CHECKPOINT"}, {"max-updates", "4"}}, Values{{"resume", "never"}},
                               Values{{"initial-model", "RUN"}, {"initial-optimizer", "true"}}}) {
    SCOPED_TRACE(values.begin()->first + values.begin()->second);
    Values first = values;
    first["max-updates"] = "3";
    fs::remove_all(scratch_ / "child");
    EXPECT_EQ(train("child", first), 0);
    const std::string ini = recorded("child", "resume") + recorded("child", "initial-model");
    fs::rename(scratch_ / "plain", scratch_ / "gone");  // what it began with is needed once
    Values again = values;
    again["max-updates"] = "4";
    EXPECT_EQ(train("child", again), 0);
    EXPECT_THAT(said_, HasSubstr("update-00000003.h5: update 3"));
    EXPECT_EQ(recorded("child", "resume") + recorded("child", "initial-model"), ini);
    EXPECT_EQ(train("child", {{"max-updates", "5"}}), 0);  // without what it began with
    EXPECT_EQ(recorded("child", "resume") + recorded("child", "initial-model"), ini);
    fs::rename(scratch_ / "gone", scratch_ / "plain");
  }
}

TEST_F(Resumed, MeasuresItsScoresAnewWithAnotherDevSetOrBeam) {
  std::ofstream(scratch_ / "hard") << "w3 w3 w3\nw4\n";
  prepare("hard", "hard.h5");
  const auto said_after = [&](const Values& before, const Values& now) {
    const std::string run = copy_of_run(before);
    EXPECT_EQ(train(run, now), 0);
    return said_;
  };
  const char* const anew = "[train] scores from here on: ";
  EXPECT_THAT(said_after({}, {{"corpus", (scratch_ / "hard.h5").string()}}), HasSubstr(anew));
  EXPECT_THAT(said_after({}, {{"corpus", "COPY"}}), Not(HasSubstr(anew)));
  EXPECT_THAT(said_after({}, {{"validate-beam", "2"}}), Not(HasSubstr(anew))) << "the loss has no beam";
  EXPECT_THAT(said_after({}, {{"best-metric", "bleu"}}), HasSubstr(anew));
  EXPECT_THAT(said_after({{"best-metric", "bleu"}}, {{"best-metric", "bleu"}, {"validate-beam", "2"}}),
              HasSubstr(", beam 2; before: bleu on dev set "));
}

}  // namespace
}  // namespace rnnsearch::cli
