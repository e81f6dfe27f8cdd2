#include "cli/commands.h"

#include <cmath>
#include <iostream>
#include <numeric>

#include "cli/models.h"
#include "cli/precision.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/json.h"
#include "rnnsearch/base/number_text.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/corpus/text_lines.h"
#include "rnnsearch/decode/score_pairs.h"
#include "rnnsearch/decode/spread.h"

namespace rnnsearch::cli {
namespace {

struct Settings {
  ModelChoice models;
  std::filesystem::path source_path, target_path;
  LineLimit line_limit;
  std::size_t batch_sentences = 80;
  ThreadOptions threads;
  std::string precision;
  bool json = false;
};

void declare(Options& options, Settings& s) {
  options.group("Files");
  add_models(options, s.models);
  options.add("source", s.source_path,
              {.help = "source sentences, one per line, or a WMT test set (FILE.sgm, FILE.xml)",
               .value = "FILE",
               .required = true});
  options.add("target", s.target_path,
              {.help = "translations of --source, line by line", .value = "FILE", .required = true});
  options.take(line_limit_table(), s.line_limit);
  options.add("json", s.json, {.help = "print one JSON object with all scores, their sum and the perplexity"});
  options.group("Machine");
  options.add("batch-sentences", s.batch_sentences,
              {.help = "number of sentence pairs that a rank scores together; more take more memory",
               .low = 1,
               .high = 100000});
  add_threads(options, s.threads);
  add_precision(options, s.precision, ModelUse::kTrained);
}

void check(const Options& options, Settings& s) {
  check_models(options, s.models);
}

int work(const Options& options, Settings& s) {
  const comm::Communicator world;
  check_same_options(world, options);
  settle_threads(s.threads, world);
  set_precision(s.precision, world);
  std::vector<std::string> sources, targets;
  {
    const PatienceForPipes patience({s.source_path, s.target_path}, s.threads.stall_timeout, world);
    comm::root_does(world, [&] {
      sources = corpus::read_lines(s.source_path, corpus::TestSetPart::kSource, s.line_limit);
      targets = corpus::read_lines(s.target_path, corpus::TestSetPart::kReference, s.line_limit);
      corpus::check_same_lines({s.source_path, corpus::TestSetPart::kSource, sources.size()},
                               {s.target_path, corpus::TestSetPart::kReference, targets.size()});
    });
  }
  OpenModels opened(s.models, world);
  const decode::Translator translator = opened.translator();
  std::vector<decode::WordPair> pairs;
  std::size_t words = 0;  // of the targets, </s> counted
  if (world.is_root()) {
    decode::until_stopped([&] { pairs = decode::word_pairs(translator, sources, targets); });
    for (const auto& pair : pairs) words += pair.target.size() + 1;
  }
  Progress progress(!world.is_root());
  const auto found = decode::score_pairs(translator.ensemble, pairs, s.batch_sentences, world, [&](std::size_t done) {
    progress.show(text_of("[score] ", done, " of ", pairs.size(), " pairs"));
  });
  if (comm::stop_signal_came_anywhere(world)) throw comm::Stopped("a signal asked to stop; no score was printed");
  decode::refuse_nan(world, decode::first_nan(found), {s.source_path.string()});
  if (!world.is_root()) return 0;
  std::vector<double> scores;
  scores.reserve(found.size());
  for (const auto& of_pair : found) scores.push_back(*of_pair);

  if (!s.json) {
    for (const double score : scores) std::cout << fixed(score, 6) << "\n";
    return 0;
  }
  const double sum = std::accumulate(scores.begin(), scores.end(), 0.0);
  Json result = Json::object();
  result["log_probability"] = sum;
  result["target_words"] = words;
  result["perplexity"] = std::exp(-sum / static_cast<double>(words));
  result["lines"] = Json::array({scores.begin(), scores.end()});
  std::cout << result.dump(2) << "\n";
  return 0;
}

}  // namespace

std::unique_ptr<Invocation> make_score() {
  return std::make_unique<InvocationOf<Settings>>(
      "score",
      "Prints, for each line, the natural logarithm of the probability that a model, or an ensemble, gives to a "
      "translation, the end of the sentence included (forced decoding). Under mpirun the pairs are distributed over "
      "the ranks. After SIGTERM or SIGUSR1 the command ends with exit code 85 and prints nothing.",
      Steps<Settings>{declare, check, work});
}

}  // namespace rnnsearch::cli
