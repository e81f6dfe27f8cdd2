#include "cli/commands.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>
#include <optional>

#include "cli/precision.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/translation.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/figures.h"
#include "rnnsearch/base/json.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/corpus/text_lines.h"
#include "rnnsearch/kernels/parallel.h"
#include "rnnsearch/train/shared_files.h"

namespace rnnsearch::cli {

int run_score(const Arguments& arguments) {
  std::filesystem::path model, source_path, target_path;
  std::size_t batch_sentences = 80;
  ThreadOptions threads;
  std::string precision;
  bool json = false;
  Options options("score",
                  "Prints, for each line, the natural logarithm of the probability that a model gives to a "
                  "translation, the end of the sentence included (forced decoding). Under mpirun the pairs are "
                  "distributed over the ranks. After SIGTERM or SIGUSR1 it ends with exit code 85 and prints nothing.");
  options.group("Files");
  options.add("model", model,
              {.help = "run directory (its best checkpoint, otherwise its latest) or checkpoint file",
               .value = "RUN|FILE",
               .required = true});
  options.add("source", source_path,
              {.help = "source sentences, one a line, or a WMT test set (FILE.sgm, FILE.xml)",
               .value = "FILE",
               .required = true});
  options.add("target", target_path,
              {.help = "translations of --source, line by line", .value = "FILE", .required = true});
  options.add("json", json, {.help = "print one JSON object with all scores, their sum and the perplexity"});
  options.group("Machine");
  options.add("batch-sentences", batch_sentences,
              {.help = "number of pairs scored together; more need more memory", .low = 1, .high = 100000});
  add_threads(options, threads);
  add_precision(options, precision);
  if (!options.parse(arguments)) return 0;

  const comm::Communicator world;
  check_same_options(world, options);
  settle_threads(threads, world);
  set_precision(precision, world);
  std::vector<std::string> sources, targets;
  {
    const PatienceForPipes patience({source_path, target_path}, threads.stall_timeout, world);
    comm::root_does(world, [&] {
      sources = corpus::read_lines(source_path, corpus::TestSetPart::kSource);
      targets = corpus::read_lines(target_path, corpus::TestSetPart::kReference);
      corpus::check_same_lines({source_path, corpus::TestSetPart::kSource, sources.size()},
                               {target_path, corpus::TestSetPart::kReference, targets.size()});
    });
  }
  share_lines(sources, world);
  share_lines(targets, world);
  auto loaded = train::open_model(model, world);
  Sentences source, target;
  std::vector<double> scores(sources.size());
  const auto ranks = static_cast<std::size_t>(world.size()), rank = static_cast<std::size_t>(world.rank());
  const auto score_own_share = [&] {
    const kernels::Interruptible interruptible(stop_signal_came);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      stop_if_signal_came();
      source.add(ids_of(loaded.pipeline.to_words(sources[i], corpus::Side::kSource), loaded.source_vocabulary));
      target.add(ids_of(loaded.pipeline.to_words(targets[i], corpus::Side::kTarget), loaded.target_vocabulary));
    }
    std::vector<std::size_t> order(source.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return target.length(a) > target.length(b); });
    Progress progress(!world.is_root());
    // Batches are cut before they are dealt out, so that a score does not depend on the number of ranks.
    for (std::size_t first = rank * batch_sentences; first < order.size(); first += ranks * batch_sentences) {
      stop_if_signal_came();
      const std::size_t count = std::min(batch_sentences, order.size() - first);
      Sentences batch_source, batch_target;
      for (std::size_t i = 0; i < count; ++i) {
        batch_source.add(source[order[first + i]]);
        batch_target.add(target[order[first + i]]);
      }
      const auto batch = loaded.model.score(batch_source, batch_target);
      for (std::size_t i = 0; i < count; ++i) scores[order[first + i]] = batch[i];
      progress.show(text_of("[score] ", first + count, " of ", order.size(), " pairs"));
    }
  };
  try {
    score_own_share();
  } catch (const kernels::Interrupted&) {  // to be agreed on by all ranks
  }
  if (comm::stop_signal_came_anywhere(world)) throw comm::Stopped("a signal asked to stop; no score was printed");
  if (ranks > 1) world.all_reduce(std::span<double>(scores));  // each is 0 on all ranks but one
  const auto nan = std::find_if(scores.begin(), scores.end(), [](double score) { return !std::isfinite(score); });
  std::optional<std::size_t> nan_line;
  if (nan != scores.end()) nan_line = static_cast<std::size_t>(nan - scores.begin());
  refuse_nan(world, nan_line, {source_path.string()});
  if (!world.is_root()) return 0;

  if (!json) {
    for (const double score : scores) std::cout << fixed(score, 6) << "\n";
    return 0;
  }
  const double sum = std::accumulate(scores.begin(), scores.end(), 0.0);
  const std::size_t words = target.words.size() + target.size();  // </s> counted
  Json result = Json::object();
  result["log_probability"] = sum;
  result["target_words"] = words;
  result["perplexity"] = std::exp(-sum / static_cast<double>(words));
  result["lines"] = Json::array({scores.begin(), scores.end()});
  std::cout << result.dump(2) << "\n";
  return 0;
}

}  // namespace rnnsearch::cli
