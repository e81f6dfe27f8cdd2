#include "rnnsearch/cli/command.h"

#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/options/common.h"
#include "cli/options/translation_options.h"
#include "cli/progress.h"
#include "cli/resumable_output.h"
#include "rnnsearch/base/json.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/corpus/text_lines.h"
#include "rnnsearch/decode/translate_lines.h"

namespace rnnsearch::cli {
namespace {

struct Settings {
  ModelChoice models;
  std::filesystem::path source_path, target_path, output, json;
  LineLimit line_limit;
  std::size_t batch_sentences = 80;
  ThreadOptions threads;
  std::string precision;
};

void declare(Options& options, Settings& s) {
  options.group("Files");
  add_models(options, s.models);
  options.add("source", s.source_path, kInputFile, kRequired, "source sentences, one per line");
  options.add("target", s.target_path, kInputFile, kRequired, "translations of --source, line by line");
  options.add("output", s.output, kBasic, kOutputText,
              "file for the scores, which appears when all pairs are scored; an interrupted command that is repeated "
              "continues [standard output]");
  declare(options, s.line_limit);
  add_json(options, s.json, "all scores, their sum and the perplexity");
  options.group("Machine");
  options.add("batch-sentences", s.batch_sentences, within(1, 100000),
              "number of sentence pairs that a rank scores together; more take more memory");
  add_threads(options, s.threads);
  add_precision(options, s.precision, ModelUse::kTrained);
}

void check(const Options& options, Settings& s) {
  check_models(options, s.models);
  if (!s.json.empty() && !s.output.empty() && s.output != "-")
    throw UsageError("--json holds all scores, and --output may continue those of an earlier attempt; leave one out");
}

int work(const Options& options, Settings& s, const comm::Communicator& communicator) {
  settle_threads(s.threads, communicator);
  set_precision(s.precision, communicator);
  std::vector<std::string> sources, targets;
  root_reads({s.source_path, s.target_path}, s.threads.stall_timeout, communicator, [&] {
    sources = corpus::read_lines(s.source_path, s.line_limit);
    targets = corpus::read_lines(s.target_path, s.line_limit);
    corpus::check_same_lines({s.source_path, sources.size()}, {s.target_path, targets.size()});
  });
  OpenModels opened(s.models, communicator);
  const decode::Translator translator = opened.translator();
  const auto input_line = [&](std::size_t i) { return sources[i] + "\t" + targets[i]; };
  std::optional<ResumableOutput> sink;
  Progress progress(!communicator.is_root());
  comm::root_does(communicator, [&] {
    Config dependencies = dependencies_of(options, {"source", "target", "output", "model", "batch-sentences"});
    dependencies["--model"] = opened.digests();
    sink.emplace(std::vector<OutputPath>{{"--output", s.output}}, std::move(dependencies));
    sink->skip(s.source_path.string(), [&, i = std::size_t{0}]() mutable {
      return i < sources.size() ? std::optional(input_line(i++)) : std::nullopt;
    });
    if (sink->lines() > 0) progress.say(fmt::format("[score] continues after line {}", sink->lines()));
  });
  // In portions that depend on the text alone, so that an interrupted command has the bits of an undisturbed one.
  const std::size_t portion = 16 * s.batch_sentences;
  std::vector<double> scores;
  std::size_t words = 0;  // of the targets, </s> counted
  std::array<std::uint64_t, 2> range{sink ? sink->lines() : 0, sources.size()};
  communicator.broadcast(std::span<std::uint64_t>(range));
  for (std::size_t first = range[0]; first < range[1]; first += portion) {
    std::vector<decode::WordPair> pairs;
    const std::size_t count = std::min<std::size_t>(portion, range[1] - first);
    if (communicator.is_root()) {
      decode::until_stopped([&] {
        pairs = decode::word_pairs(translator, std::span(sources).subspan(first, count),
                                   std::span(targets).subspan(first, count));
      });
      for (const auto& pair : pairs) words += pair.target.size() + 1;
    }
    const auto found = decode::score_pairs(
        translator.ensemble, pairs, s.batch_sentences, communicator,
        [&](std::size_t done) { progress.show(fmt::format("[score] {} of {} pairs", first + done, range[1])); });
    if (comm::stop_signal_came_anywhere(communicator)) throw comm::Stopped(sink ? sink->stopped() : "");
    decode::refuse_nan(communicator, decode::first_nan(found), {s.source_path.string(), first});
    if (!communicator.is_root()) continue;
    for (std::size_t i = 0; i < count; ++i) {
      scores.push_back(*found[i]);
      if (s.json != "-") sink->write(0, fixed(scores.back(), 6) + "\n");
      sink->end_line(input_line(first + i));
    }
    sink->commit();
  }
  if (!communicator.is_root()) return 0;
  const auto all = [&] {
    const double sum = std::accumulate(scores.begin(), scores.end(), 0.0);
    return Json::object({{"log_probability", sum},
                         {"target_words", words},
                         {"perplexity", std::exp(-sum / static_cast<double>(words))},
                         {"lines", scores}});
  };
  print_results(s.json, all, [&] { sink->publish(); });
  return 0;
}

}  // namespace

std::unique_ptr<Invocation> make_score() {
  return invocation_of<Settings>(
      {"score",
       "Prints, for each line, the natural logarithm of the probability that a model, or an ensemble, gives to a "
       "translation, the end of the sentence included (forced decoding). Under mpirun the pairs are distributed over "
       "the ranks. After SIGTERM or SIGUSR1 the command ends with exit code 85. With --output the same command then "
       "continues, also after a crash and on another number of ranks.",
       "--model runs/small --source test.en --target test.fr"},
      declare, check, work);
}

}  // namespace rnnsearch::cli
