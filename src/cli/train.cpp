#include "rnnsearch/cli/command.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "cli/options/common.h"
#include "cli/options/training_options.h"
#include "cli/progress.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/base/version.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/kernels/instruction_set.h"
#include "rnnsearch/model/options.h"
#include "rnnsearch/train/run_directory.h"
#include "rnnsearch/train/trainer.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;

struct Settings : TrainingSettings {
  fs::path corpus, run;
  std::vector<std::string> mix;
  ThreadOptions threads;
  std::string precision;
  bool allow_other_arithmetic = false;
  std::optional<int> check_ranks;
};

void declare(Options& options, Settings& s) {
  options.group("Files");
  options.add("corpus", s.corpus, kInputFile, kRequired, Later::kFree,
              "corpus file made by rnnsearch prepare. A run resumes only with the training text that it began with; "
              "the file may have another name, or another dev set, with which scores are then measured anew");
  add_mixture(options, s.mix);
  options.add("run", s.run, Placeholder{"DIR"}, Path{.kind = Path::kOutputRun}, kRequired, kNotRecorded, Later::kFree,
              "run directory; created, or resumed if it holds a run");
  add_training_options(options, s);
  options.group("Machine");
  add_threads(options, s.threads);
  add_precision(options, s.precision, ModelUse::kTraining);
  options.add("allow-other-arithmetic", s.allow_other_arithmetic, kNotRecorded, Later::kFree,
              "resume a run whose precision or processor was another, which changes the last digits of its results");
  options.add("check-ranks", s.check_ranks, kNotRecorded, Later::kFree, within(1, 1e6),
              "number of ranks that the training will have, for --check [the ranks that check]");
  options.offer_presets();
  options.explain_later();
}

/// What the root says on standard error.
class Reporter final : public train::Progress {
 public:
  void began_with(const train::Transferred& t, bool optimizer) override {
    live_.say(fmt::format("[train] begins with the parameters of {} (update {}) and {} optimizer state", t.checkpoint,
                          t.update, optimizer ? "its" : "a new"));
    for (const auto& [side, match] : {std::pair("source", t.source), std::pair("target", t.target)}) {
      live_.say(
          fmt::format("[train] {} vocabulary: {} of {} words are among the {} of that model, {} are initialized anew",
                      side, match.found, match.words, match.other_words, match.words - match.found));
    }
    if (!t.other_text.empty()) {
      live_.say(fmt::format(
          "[train] warning: the text of that model was split differently ({}), so its words may have other meanings; "
          "prepare the corpus with --vocabulary-of that of the initial model, or with the same options",
          t.other_text));
    }
  }
  void resumed(const fs::path& checkpoint, const train::TrainingState& state) override {
    live_.say(fmt::format("[train] resumes from {}: update {}, epoch {}, {} of training so far", checkpoint,
                          state.update, state.position.epoch + 1, duration(state.elapsed_seconds)));
  }
  void updated(const train::UpdateReport& r) override {
    const auto percent = [&](double part) { return fmt::format("{}%", std::lround(100 * part / r.seconds)); };
    live_.show(
        fmt::format("[train] update {}, epoch {} {}%, loss {:.3f}, norm {:.2f}, {} + {} words/s, {} compute {} "
                    "communication {} data{}",
                    r.update, r.epoch + 1, std::lround(100 * r.epoch_share), r.loss_per_word, r.gradient_norm,
                    std::lround(r.source_words_per_second), std::lround(r.target_words_per_second),
                    percent(r.compute_seconds + r.optimizer_seconds), percent(r.communication_seconds),
                    percent(r.data_seconds), r.seconds_left < 0 ? "" : ", " + duration(r.seconds_left) + " left"));
  }
  void validated(std::uint64_t update, const train::ValidationResult& result, bool best) override {
    if (!std::isfinite(result.loss_per_word)) {
      live_.say(
          fmt::format("[train] update {}: the dev loss is NaN or infinite, because the training diverged", update));
      return;
    }
    live_.say(fmt::format(
        "[train] update {}: dev loss {:.4f} per word (perplexity {:.4g}){}{}{}{}", update, result.loss_per_word,
        std::exp(result.loss_per_word), std::isfinite(result.bleu) ? ", dev BLEU " + fixed(result.bleu, 2) : "",
        std::isfinite(result.chrf) ? ", chrF " + fixed(result.chrf, 2) : "",
        std::isfinite(result.ter) ? ", TER " + fixed(result.ter, 2) : "", best ? ", the best yet" : ""));
    if (!example_.empty()) live_.say("[train] its translation: " + std::exchange(example_, ""));
  }
  void checkpointed(const fs::path& path, double seconds, double pause_seconds) override {
    live_.show(fmt::format("[train] wrote {} in {:.1f} s, of which updates waited {:.2f} s", path.filename(), seconds,
                           pause_seconds));
  }
  void say(const std::string& line) { live_.say(line); }

  /// Says a dev sentence and its reference, and after each validation, how it is translated then.
  void show_example(const corpus::EvaluationSet& dev, std::size_t line) {
    say(fmt::format("[train] a dev sentence: {}", printable(dev.source_text[line])));
    say(fmt::format("[train] its reference: {}", printable(dev.references[0][line])));
  }
  void translated(const std::string& example) { example_ = printable(example); }

 private:
  cli::Progress live_;
  std::string example_;  // its translation, if it is yet to be shown
};

Json environment_of(const Settings& s, const Arguments& arguments, const std::vector<site::RankPlace>& places,
                    const std::string& fingerprint, std::size_t parameters) {
  std::string command = "rnnsearch train";
  for (const auto& argument : arguments) command += " " + argument;
  Json ranks = Json::array();
  for (const auto& place : places) {
    ranks.push_back(Json::object({{"host", place.host}, {"threads", place.threads}, {"cpus", place.cpus}}));
  }
  return Json::object({{"version", kVersion},
                       {"compiler", kCompiler},
                       {"instruction_set", std::string(kernels::instruction_set())},
                       {"precision", s.precision},
                       {"arithmetic", kernels::arithmetic()},
                       {"libraries", train::libraries()},
                       {"started", utc(std::time(nullptr))},
                       {"command", command},
                       {"folder", fs::current_path().string()},
                       {"corpus", s.corpus.string()},
                       {"corpus_fingerprint", fingerprint},
                       {"seed", s.train.seed},
                       {"parameters", parameters},
                       {"ranks", std::move(ranks)}});
}

void check(const Options& options, Settings& s) {
  options.refuse(!options.only_checks(), {"check-ranks"}, "--{0} belongs to --check; leave it out, or give both");
  check_usage([&] {
    options.check_each_once({"mix"});
    train::check(s.train);
    train::check(s.train, s.model);
    model::ModelOptions model = s.model;  // with any vocabulary, because the corpus has not been opened
    model.source_words = model.target_words = 4;
    model::check(model);
    if (s.train.best_metric != train::BestMetric::kLoss && !s.validation.validate_bleu)
      throw Error("best-metric is {} but validate-bleu is false; change one of them", name_of(s.train.best_metric));
    s.validation.ter = s.train.best_metric == train::BestMetric::kTer;
    s.validation.same_on_any_ranks = s.train.reproducible_shards > 0;
  });
}

int work(const Options& options, Settings& s, const comm::Communicator& communicator) {
  const std::string_view instruction_set = kernels::instruction_set();  // refuses a wrong RNNSEARCH_SIMD
  ::signal(SIGPIPE, SIG_IGN);  // training goes on without a reader of its messages

  comm::root_does(communicator, [&] {
    check_usage([&] { train::check_ranks(s.train, s.check_ranks.value_or(communicator.size())); });
  });
  const bool only_check = options.only_checks();  // perhaps on another machine than that of the training
  const auto places = only_check ? std::vector<site::RankPlace>() : settle_threads(s.threads, communicator);
  train::Deadline deadline;
  comm::root_does(communicator, [&] {
    deadline = train::deadline_of(s.stop_before, ::getenv, static_cast<double>(std::time(nullptr)));
  });
  s.corpus = fs::absolute(s.corpus).lexically_normal();
  for (std::string* const path : {&s.train.initial_model, &s.train.resume}) {
    if (!path->empty() && *path != "auto" && *path != "never") *path = fs::absolute(*path).lexically_normal().string();
  }
  const corpus::Corpus corpus = train::open_corpus(s.corpus, communicator);
  const Mixture mixture(s.mix, corpus, communicator);
  s.model.source_words = corpus.source_vocabulary().size();
  s.model.target_words = corpus.target_vocabulary().size();
  if (s.model.ties_sides() && corpus.source_vocabulary().words() != corpus.target_vocabulary().words()) {
    throw comm::AgreedError(
        fmt::format("{} has a vocabulary for each side, and tied-embeddings = {} needs one for both; prepare it with "
                    "--joint-vocabulary, or choose tied-embeddings = target or none",
                    s.corpus, model::name_of(s.model.tied_embeddings)));
  }
  comm::root_does(communicator, [&] {
    check_usage([&] {
      model::check(s.model);
      options.ini();  // the record of the run holds it: refuses what it cannot hold
    });
  });
  if (s.train.guided_alignment.largest() > 0 && !mixture.has_alignments()) {
    throw comm::AgreedError(
        fmt::format("{} has no word alignments, which guided-alignment needs; prepare it with --learn-alignments "
                    "or --train-alignments, or choose guided-alignment = 0",
                    s.corpus));
  }
  const auto sets = corpus.set_names();
  const bool has_dev = std::find(sets.begin(), sets.end(), "dev") != sets.end();
  if (!has_dev && (s.train.early_stop_patience > 0 || s.train.schedule == train::Schedule::kPlateau)) {
    throw comm::AgreedError(
        fmt::format("{} has no dev set, which early-stop-patience and the schedule plateau need; prepare it with "
                    "--dev-source and --dev-target",
                    s.corpus));
  }

  std::unique_ptr<train::RunDirectory> run;
  std::unique_ptr<Reporter> reporter;
  std::string arithmetic;  // of the checkpoint to resume
  comm::root_does(communicator, [&] {
    const comm::Activity activity(communicator, "verifies the newest checkpoint");
    run = std::make_unique<train::RunDirectory>(s.run, s.train, train::identity_of(s.model, s.train), only_check);
    stop_if_signal_came();
    const auto& checkpoint = run->checkpoint_to_resume();
    if (!checkpoint) return;
    arithmetic = train::arithmetic_of(*checkpoint);
    const std::string precision = arithmetic.substr(0, arithmetic.find('-'));
    if (s.precision == "auto") s.precision = precision;
    if (only_check) arithmetic = precision;  // the processor that checks may be another than that which trains
  });
  if (!only_check) s.precision = kernels::name_of(set_precision(s.precision, communicator));
  comm::root_does(communicator, [&] {
    const std::string now = only_check ? s.precision : kernels::arithmetic();
    if (arithmetic.empty() || arithmetic == now || s.allow_other_arithmetic) return;
    throw Error(
        "the run {} was computed in {} so far and would go on in {}, with other last digits than the same run "
        "undisturbed; go on with its --precision and on processors like those before, or give "
        "--allow-other-arithmetic",
        s.run, arithmetic, now);
  });
  model::Model model(s.model, s.train.sampled_softmax > 0);
  if (communicator.is_root() && !only_check) {
    run->set_record(options.ini(),
                    environment_of(s, options.arguments(), places, corpus::fingerprint_of(corpus, mixture.others()),
                                   model.parameters().size()));
    reporter = std::make_unique<Reporter>();
    for (const auto& line : describe(places)) reporter->say(line);
    reporter->say(fmt::format("[train] {}, {} parameters", model::system_of(s.model), model.parameters().size()));
    reporter->say(fmt::format("[train] {} pairs, {}, {}, {}; run folder {}", corpus.train_pairs(),
                              name_of(s.train.optimizer), instruction_set, kernels::arithmetic(), s.run));
    for (const auto& line : mixture.lines()) reporter->say("[train] " + line);
    if (const double bytes = train::snapshot_bytes(s.train, model.parameters().size()); bytes > 0) {
      reporter->say(
          fmt::format("[train] checkpoints are written in the background, from a copy that takes {:.2f} GB of memory "
                      "on rank 0 (none with --synchronous-checkpoints)",
                      bytes / 1e9));
    }
    if (!deadline.line.empty()) reporter->say("[train] " + deadline.line);
    const bool limited = s.train.max_updates + s.train.max_epochs + s.train.early_stop_patience > 0;
    if (!limited && s.train.max_minutes == 0 && !deadline.unix_seconds) {
      reporter->say(fmt::format(
          "[train] no limit is set (--max-updates, --max-epochs, --max-minutes, --early-stop-patience): training goes "
          "on until {} stops it with a checkpoint",
          communicator.size() > 1 ? "SIGUSR1 to the launcher" : "Ctrl-C or SIGTERM"));
    }
    if (s.train.scale_learning_rate != train::ScaleLearningRate::kNone) {
      reporter->say(fmt::format("[train] learning rate {:g}, scaled from {:g} for a batch of {}",
                                train::scaled_learning_rate(s.train), s.train.learning_rate, s.train.reference_batch));
    }
    if (s.train.label_smoothing.largest() > 0) {
      reporter->say(
          fmt::format("[train] label smoothing {} applies to the gradient; reported losses of training and "
                      "validation do not include it",
                      value::write(s.train.label_smoothing)));
    }
    if (const auto shards = s.train.reproducible_shards; shards > 0) {
      reporter->say(
          fmt::format("[train] {0} shards of each batch, {1} for each rank: any number of ranks that divides {0} "
                      "computes the same bits",
                      shards, train::shards_of_rank(s.train, communicator.size())));
    } else if (s.model.layer_normalization) {
      reporter->say(
          "[train] layer normalisation magnifies rounding in the first updates: only runs on the same number of "
          "ranks, with the same --accumulate, have the same losses");
    }
    if (!has_dev) reporter->say("[train] the corpus has no dev set: nothing is validated");
  }

  train::Validator validator;
  if (has_dev && validates(s.train)) {
    const auto keep = [&](std::uint64_t update, const std::string& translations) {
      run->write_validation(fmt::format("update-{:08}.txt", update), translations);
    };
    const auto show = [&](const std::string& translation) { reporter->translated(translation); };
    comm::agree(communicator, {fmt::format("the dev set of {}", s.corpus), "", [&] {
                                 validator = make_validator(corpus, communicator, s.validation, keep, show);
                                 return std::string();
                               }});
    if (reporter) {
      const corpus::EvaluationSet dev = corpus.read_set("dev");
      reporter->show_example(dev, example_of(dev.source));
    }
  }
  train::TrainingResult result;
  const auto train_on = [&](const comm::Communicator& ranks) {
    result = train::train({ranks, corpus, model, s.train, run.get(), validator, reporter.get(), deadline.unix_seconds,
                           mixture.others(), has_dev ? dev_set_of(corpus, s.validation, s.train.best_metric) : "",
                           only_check});
  };
  if (only_check) {
    // Alone, because the training may run on another number of ranks.
    comm::root_does(communicator, [&] { train_on(comm::Communicator()); });
    if (communicator.is_root())
      std::cout << fmt::format(
          "nothing is wrong: this would train {} with {} parameters on {} pairs from update {} on, in {}\n",
          model::system_of(s.model), model.parameters().size(), corpus.train_pairs(), result.state.update, s.run);
    return 0;
  }
  train_on(communicator);
  if (reporter) {
    reporter->say(fmt::format("[train] {} after update {}, {} of training; checkpoints in {}",
                              description_of(result.reason), result.state.update,
                              duration(result.state.elapsed_seconds), s.run / "checkpoints"));
    if (result.update_seconds > 0) {
      reporter->say(fmt::format("[train] updates waited {:.2f} s for data, {:.2f}% of their {}", result.data_seconds,
                                100 * result.data_seconds / result.update_seconds, duration(result.update_seconds)));
    }
  }
  return train::is_early(result.reason) ? kStoppedEarly : 0;
}

}  // namespace

std::unique_ptr<Invocation> make_train() {
  return invocation_of<Settings>(
      {"train",
       "Trains a model on a prepared corpus. Under mpirun all ranks compute each update together, and a run may be "
       "resumed on any number of ranks. After SIGTERM or another signal that asks to stop, or shortly before the job "
       "ends (--stop-before), the command writes a checkpoint and ends with exit code 85; the same command then "
       "resumes the run. Options marked (fixed) cannot change when a run is resumed; those marked (first) decide how "
       "an empty run begins and are ignored afterwards; all others may have another value in each attempt.",
       "--preset small --corpus corpus.h5 --run runs/small --max-minutes 60"},
      declare, check, work, true);
}

}  // namespace rnnsearch::cli
