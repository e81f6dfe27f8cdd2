#include "cli/train.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <memory>
#include <sstream>

#include "cli/placement.h"
#include "cli/progress.h"
#include "cli/validation.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/base/version.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/kernels/instruction_set.h"
#include "rnnsearch/kernels/parallel.h"
#include "rnnsearch/storage/hdf5.h"
#include "rnnsearch/train/trainer.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;

/// "Stopped early, resume me": what batch scripts requeue on (EX_TEMPFAIL's neighbours are taken by shells and
/// sysexits).
constexpr int kStoppedBySignal = 85;

struct Settings {
  fs::path corpus, run;
  model::ModelOptions model;
  train::TrainOptions train;
  ValidationOptions validation;
  std::size_t threads = 0;
};

void declare(Options& options, Settings& s) {
  options.group("Files");
  options.add("corpus", s.corpus, {.help = "made by rnnsearch prepare", .value = "FILE", .required = true});
  options.add("run", s.run,
              {.help = "the run's folder: made, or gone on with", .value = "DIR", .required = true, .recorded = false});
  options.add("resume", s.train.resume,
              {.help = "auto: from the run's newest checkpoint, if there is one; never; or a checkpoint's path",
               .value = "auto|never|FILE",
               .recorded = false});

  options.group("Model");
  model::ModelOptions& m = s.model;
  options.add("attention", m.attention, model::attention_of, model::name_of,
              {.help = "additive: RNNsearch; none: RNNencdec", .choices = {"additive", "none"}});
  options.add("embedding", m.embedding, {.help = "m, width of a word's vector", .low = 1, .high = 1e6});
  options.add("state", m.state, {.help = "n, width of the recurrent states", .low = 1, .high = 1e6});
  options.add("alignment", m.alignment, {.help = "n', width of the alignment model", .low = 1, .high = 1e6});
  options.add("maxout", m.maxout, {.help = "l, maxout units of the readout", .low = 1, .high = 1e6});
  options.add("readout-rank", m.readout_rank,
              {.help = "rank of the output matrix; 0: not factored", .low = 0, .high = 1e6});
  options.add(
      "state-word", m.state_word, model::state_word_of, model::name_of,
      {.help = "the word that updates the decoder's state: y_i or y_{i-1}", .choices = {"current", "previous"}});
  options.add("gate-biases", m.gate_biases, {.help = "biases of the gates"});
  options.add("embedding-biases", m.embedding_biases, {.help = "a bias on the word vectors of each side"});
  options.add("initial-deviation", m.initial_deviation,
              {.help = "of the weights that are not recurrent, when training begins", .low = 0});

  options.group("Training");
  train::TrainOptions& t = s.train;
  options.add("batch-sentences", t.batch_sentences,
              {.help = "sentence pairs in an update, all ranks together", .low = 1, .high = 1e9});
  options.add("pool-batches", t.pool_batches, {.help = "batches sorted by length together", .low = 1, .high = 1e6});
  options.add("seed", t.seed, {.help = "of the weights and of the order of the data"});
  options.add("optimizer", t.optimizer, train::optimizer_of, train::name_of,
              {.help = "of the update", .choices = {"adadelta", "adam"}});
  options.add("learning-rate", t.learning_rate, {.help = "1 for Adadelta, some 0.001 for Adam", .low = 0});
  options.add("rho", t.rho, {.help = "decay of Adadelta"});
  options.add("epsilon", t.epsilon, {.help = "of Adadelta"});
  options.add("adam-beta1", t.adam_beta1, {.help = "decay of Adam's mean"});
  options.add("adam-beta2", t.adam_beta2, {.help = "decay of Adam's square"});
  options.add("adam-epsilon", t.adam_epsilon, {.help = "of Adam"});
  options.add("gradient-of", t.gradient_of, train::gradient_of_of, train::name_of,
              {.help = "the batch's summed cost, or that divided by its sentences or target words",
               .choices = {"sum", "sentence", "word"}});
  options.add("clip-norm", t.clip_norm, {.help = "largest norm of that gradient; 0: no limit", .low = 0});
  options.add("max-skipped", t.max_skipped,
              {.help = "updates in a row that may be skipped because the gradient is not finite", .low = 1});
  options.add("schedule", t.schedule, train::schedule_of, train::name_of,
              {.help = "of the learning rate", .choices = {"constant", "inverse-square-root", "plateau"}});
  options.add("warmup-updates", t.warmup_updates, {.help = "updates in which the learning rate rises from 0"});
  options.add("plateau-patience", t.plateau_patience,
              {.help = "validations without a lower dev loss until the learning rate is halved", .low = 1});

  options.group("When to stop (the first limit reached; 0: no limit)");
  options.add("max-updates", t.max_updates, {.help = "updates in all"});
  options.add("max-epochs", t.max_epochs, {.help = "passes over the corpus"});
  options.add("max-minutes", t.max_minutes, {.help = "of training, over all attempts", .low = 0});
  options.add("early-stop-patience", t.early_stop_patience, {.help = "validations without gain in best-metric"});

  options.group("Validation");
  options.add("validate-every", t.validate_every, {.help = "updates; 0: never"});
  options.add("best-metric", t.best_metric, train::best_metric_of, train::name_of,
              {.help = "what makes a checkpoint the best", .choices = {"loss", "bleu"}});
  options.add("validate-bleu", s.validation.validate_bleu, {.help = "translate the dev set and score it"});
  options.add("validate-beam", s.validation.validate_beam,
              {.help = "of that; 1 is greedy search", .low = 1, .high = 1000});
  options.add("validate-sentences", s.validation.validate_sentences,
              {.help = "dev sentences together, on each rank", .low = 1, .high = 1e5});

  options.group("Record");
  options.add("checkpoint-every", t.checkpoint_every, {.help = "updates; 0: only by the clock"});
  options.add("checkpoint-minutes", t.checkpoint_minutes, {.help = "since the last; 0: only by updates", .low = 0});
  options.add("keep-checkpoints", t.keep_checkpoints, {.help = "the newest; the best is kept besides", .low = 2});
  options.add("log-every", t.log_every, {.help = "updates between lines of log.jsonl", .low = 1});
  options.group("Machine");
  add_threads(options, s.threads);
}

std::string fixed(double value, int digits) {
  std::ostringstream stream;
  stream.precision(digits);
  stream << std::fixed << value;
  return std::move(stream).str();
}

/// "1h05m", "12m30s", "45s"
std::string duration(double seconds) {
  const auto s = static_cast<long long>(std::llround(seconds));
  const auto two = [](long long n) { return text_of(n < 10 ? "0" : "", n); };
  if (s >= 3600) return text_of(s / 3600, "h", two(s % 3600 / 60), "m");
  return s >= 60 ? text_of(s / 60, "m", two(s % 60), "s") : text_of(s, "s");
}

/// What the root says on standard error.
class Reporter final : public train::Progress {
 public:
  void resumed(const fs::path& checkpoint, const train::TrainingState& state) override {
    live_.say(text_of("[train] goes on from ", checkpoint.string(), ": update ", state.update, ", epoch ",
                      state.position.epoch + 1, ", ", duration(state.elapsed_seconds), " of training behind it"));
  }
  void updated(const train::UpdateReport& r) override {
    const double busy = r.data_seconds + r.compute_seconds + r.communication_seconds + r.optimizer_seconds;
    const auto percent = [&](double part) { return text_of(std::lround(100 * part / busy), "%"); };
    live_.show(text_of("[train] update ", r.update, ", epoch ", r.epoch + 1, " ", std::lround(100 * r.epoch_share),
                       "%, loss ", fixed(r.loss_per_word, 3), ", norm ", fixed(r.gradient_norm, 2), ", ",
                       std::lround(r.source_words_per_second), " + ", std::lround(r.target_words_per_second),
                       " words/s, ", percent(r.compute_seconds + r.optimizer_seconds), " compute ",
                       percent(r.communication_seconds), " communication ", percent(r.data_seconds), " data",
                       r.seconds_left < 0 ? "" : ", " + duration(r.seconds_left) + " left"));
  }
  void validated(std::uint64_t update, const train::ValidationResult& result, bool best) override {
    live_.say(text_of("[train] update ", update, ": dev loss ", fixed(result.loss_per_word, 4), " a word (perplexity ",
                      fixed(std::exp(result.loss_per_word), 2), ")",
                      std::isfinite(result.bleu) ? ", dev BLEU " + fixed(result.bleu, 2) : "",
                      best ? ", the best yet" : ""));
  }
  void checkpointed(const fs::path& path, double seconds) override {
    live_.show(text_of("[train] wrote ", path.filename().string(), " in ", fixed(seconds, 1), " s"));
  }
  void say(const std::string& line) { live_.say(line); }

 private:
  cli::Progress live_;
};

Json environment_of(const Settings& s, const Arguments& arguments, const std::vector<RankPlace>& places,
                    const corpus::Corpus& corpus, std::size_t parameters) {
  std::string command = "rnnsearch train";
  for (const auto& argument : arguments) command += " " + argument;
  char now[32] = "";
  const std::time_t time = std::time(nullptr);
  std::tm utc{};
  std::strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", ::gmtime_r(&time, &utc));
  Json ranks = Json::array();
  for (const auto& place : places) {
    ranks.push_back(Json::object({{"host", place.host}, {"threads", place.threads}, {"cpus", place.cpus}}));
  }
  return Json::object({{"version", kVersion},
                       {"compiler", __VERSION__},
                       {"instruction_set", std::string(kernels::instruction_set())},
                       {"libraries", text_of(kernels::libraries(), ", ", storage::library(), ", ", comm::library())},
                       {"started", now},
                       {"command", command},
                       {"folder", fs::current_path().string()},
                       {"corpus", s.corpus.string()},
                       {"corpus_fingerprint", corpus.fingerprint()},
                       {"seed", s.train.seed},
                       {"parameters", parameters},
                       {"ranks", std::move(ranks)}});
}

}  // namespace

int run_train(const Arguments& arguments) {
  Settings s;
  Options options(
      "train",
      "Trains a model on a prepared corpus. On several ranks (mpirun) each update is computed by all of them; "
      "any number of ranks may go on with a run. SIGTERM or SIGUSR1: it writes a checkpoint and ends with "
      "code 85; the same command goes on from there.");
  declare(options, s);
  options.offer_presets();
  if (!options.parse(arguments)) return 0;
  train::check(s.train);
  kernels::set_threads(s.threads);
  const std::string_view instruction_set = kernels::instruction_set();  // refuses a wrong RNNSEARCH_SIMD

  const comm::Communicator world;
  s.corpus = fs::absolute(s.corpus).lexically_normal();
  const corpus::Corpus corpus(s.corpus, world.is_root() ? corpus::Verify::kDigest : corpus::Verify::kSkip);
  s.model.source_words = corpus.source_vocabulary().size();
  s.model.target_words = corpus.target_vocabulary().size();
  const auto sets = corpus.set_names();
  const bool has_dev = std::find(sets.begin(), sets.end(), "dev") != sets.end();
  if (!has_dev && (s.train.early_stop_patience > 0 || s.train.schedule == train::Schedule::kPlateau)) {
    throw Error(text_of("", s.corpus.string(),
                        " has no dev set, which early-stop-patience and the schedule "
                        "plateau need; prepare it with --dev-source and --dev-target"));
  }
  if (s.train.best_metric == train::BestMetric::kBleu && !s.validation.validate_bleu) {
    throw Error("best-metric is bleu but validate-bleu is false; set one of them otherwise");
  }
  model::Model<float> model(s.model);

  const auto places = places_of_ranks(world, s.threads);
  std::unique_ptr<train::RunDirectory> run;
  std::unique_ptr<Reporter> reporter;
  if (world.is_root()) {
    run =
        std::make_unique<train::RunDirectory>(s.run, s.train, train::identity_of(s.model, s.train), options.ini(),
                                              environment_of(s, arguments, places, corpus, model.parameters().size()));
    reporter = std::make_unique<Reporter>();
    for (const auto& line : describe(places)) reporter->say(line);
    reporter->say(text_of("[train] ", corpus.train_pairs(), " pairs, ", model.parameters().size(), " parameters, ",
                          name_of(s.train.optimizer), ", ", instruction_set, "; run folder ", s.run.string()));
    if (!has_dev) reporter->say("[train] the corpus has no dev set: nothing is validated");
  }

  train::Validator validator;
  if (has_dev && s.train.validate_every > 0) {
    validator = make_validator(corpus, world, s.validation, [&](std::uint64_t update, const std::string& translations) {
      std::string digits = std::to_string(update);
      digits.insert(0, digits.size() < 8 ? 8 - digits.size() : 0, '0');
      write_file_atomically(run->validation_path(text_of("update-", digits, ".txt")), translations);
    });
  }
  const auto result = train::train({world, corpus, model, s.train, run.get(), std::move(validator), reporter.get()});
  if (reporter) {
    reporter->say(text_of("[train] ", sentence_of(result.reason), " after update ", result.state.update, ", ",
                          duration(result.state.elapsed_seconds), " of training; checkpoints in ",
                          (s.run / "checkpoints").string()));
  }
  return result.reason == train::StopReason::kSignal ? kStoppedBySignal : 0;
}

}  // namespace rnnsearch::cli
