#include "cli/options/benchmark_options.h"

#include <algorithm>

#include "cli/options/json_output.h"
#include "cli/options/mixture_options.h"
#include "cli/options/precision.h"
#include "rnnsearch/base/error.h"

namespace rnnsearch::cli {

void declare(Options& options, BenchmarkSettings& s) {
  options.group("Measurement");
  options.add("updates", s.updates, within(1, 1e6), "number of timed updates");
  options.add("untimed-updates", s.untimed_updates, within(0, 1e6),
              "number of warm-up updates before the timed ones, in which buffers are allocated");
  options.add("estimate-updates", s.estimate_updates, at_least(1),
              "print how long this number of updates would take [max-updates]");
  options.add("decode", s.decode, kBasic,
              "time translation instead of training; every translation is --target-length words long, because an "
              "untrained model does not end sentences");
  options.add("machine", s.machine, kNotRecorded,
              "afterwards measure the machine's rates of matrix products, memory and all-reduces, which takes about "
              "three seconds and 384 MiB for each rank, and show how close each phase of an update comes to them");
  options.add("beam", s.search.beam, within(1, 1000), "beam width for --decode; 1 is greedy search");
  options.add("latency-sentences", s.latency_sentences, within(0, 1e6),
              "with --decode: afterwards translate this number of sentences one at a time, and report the median and "
              "the 99th percentile of the time per sentence; then translate in batches of 1, 2, 4 ... sentences and "
              "report the fastest batch size; 0: measure neither");
  options.add("shortlist-frequent", s.shortlist_frequent, within(0, 1e8),
              "with --decode: translate with shortlists, which hold this number of most frequent target words");
  options.add("shortlist-translations", s.shortlist_translations, within(0, 1e5),
              "with --decode: translate with shortlists, which hold this number of target words, drawn at random, for "
              "each source word; with this and --shortlist-frequent 0 there are no shortlists");

  options.group("Sentences (random words)");
  options.add("source-length", s.source_length, within(1, 1e5),
              "number of words in each source sentence, without </s>");
  options.add("target-length", s.target_length, within(1, 1e5),
              "number of words in each target sentence, without </s>");
  options.add("lengths", s.lengths, kInputFile,
              "file with lengths of real pairs: 'SOURCE TARGET' on each line, in words without </s>; pools are sorted "
              "by length as in training");
  options.add("source-words", s.model.source_words, within(4, 1e8),
              "size of the source vocabulary, including special symbols");
  options.add("target-words", s.model.target_words, within(4, 1e8),
              "size of the target vocabulary, including special symbols");
  options.add("corpus", s.corpus, kInputFile, "take vocabularies and batches from this corpus instead of drawing them");
  options.add("mix", s.mix, Placeholder{"FILE:WEIGHT"}, kWeightedFile,
              "corpora that train mixes with --corpus; ignored, and accepted because the config.ini of such a run has "
              "them: batches are those of --corpus");
  options.group("Output");
  add_json(options, s.json, "the measurements");
  add_training_options(options, s);
  options.group("Machine");
  options.add("threads", s.thread_counts, kBasic, kNotRecorded,
              "number of threads of each rank [the number of CPUs that the rank may use, divided by the number of "
              "ranks that share them]; several numbers, such as 1,2,4,8, time the same updates with each number of "
              "threads and show how an update scales");
  add_thread_limits(options, s.threads);
  add_precision(options, s.precision, ModelUse::kTrained);
  options.offer_presets();
}

void check(const Options& options, BenchmarkSettings& s) {
  const auto not_both = [&](const char* one, const char* other, const char* reason) {
    if (options.given(one) && options.given(other)) throw UsageError("--{} and --{}: {}", one, other, reason);
  };
  for (const char* length : {"source-length", "target-length"}) {
    not_both("lengths", length, "the file gives the length of every sentence; give one of the two");
    not_both("corpus", length, "the corpus gives the length of every sentence; give one of the two");
  }
  not_both("corpus", "lengths", "both determine the sentences of a batch; give one of the two");
  if (s.train.batch_words > 0 && !options.given("corpus")) {
    throw UsageError("--batch-words needs --corpus: without it the size of a batch is counted in sentences");
  }
  not_both("corpus", "source-words", "the corpus has its vocabularies; give one of the two");
  not_both("corpus", "target-words", "the corpus has its vocabularies; give one of the two");
  if (s.decode && options.given("estimate-updates")) {
    throw UsageError(
        "--estimate-updates and --decode: updates belong to training, not to translation; give one of the two");
  }
  if (!s.decode && s.precision == "int8") {
    throw UsageError("--precision int8 applies to translation; give it with --decode");
  }
  for (const char* of_translation : {"beam", "latency-sentences", "shortlist-frequent", "shortlist-translations"}) {
    if (!s.decode && options.given(of_translation))
      throw UsageError("--{} applies to translation; give it with --decode", of_translation);
  }
  if (s.thread_counts) {
    std::vector<std::uint64_t>& counts = *s.thread_counts;
    std::sort(counts.begin(), counts.end());
    if (counts.empty() || counts.front() < 1 || counts.back() > kMostThreads) {
      throw UsageError("--threads is '{}' but must be whole numbers from 1 to {} with commas between them",
                       value::write(counts), kMostThreads);
    }
    if (std::adjacent_find(counts.begin(), counts.end()) != counts.end())
      throw UsageError("--threads has a number twice ({}); give each once", value::write(counts));
  }
  check_usage([&] { train::check(s.train); });
}

}  // namespace rnnsearch::cli
