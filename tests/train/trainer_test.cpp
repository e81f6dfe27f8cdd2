#include "rnnsearch/train/trainer.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "rnnsearch/base/file.h"
#include "rnnsearch/base/json.h"
#include "tests/support/test.h"
#include "tests/train/random_attempts.h"
#include "tests/train/tiny_training.h"

namespace rnnsearch::train {
namespace {

TEST_F(Training, LearnsSomething) {
  TrainOptions options = tiny_options();
  options.max_updates = 250;
  options.learning_rate = 2e-2;
  const auto outcome = run("run", options);
  ASSERT_EQ(outcome.updates.size(), 250U);
  EXPECT_EQ(outcome.result.reason, StopReason::kUpdates);
  EXPECT_NEAR(outcome.updates.front().loss_per_word, std::log(13.0), 0.05);  // 13 words, all alike at first
  double last_epoch = 0;
  for (std::size_t i = 225; i < 250; ++i) last_epoch += outcome.updates[i].loss_per_word / 25;
  EXPECT_LT(last_epoch, 2.1);  // words without their order would give some 2.4
  EXPECT_EQ(outcome.result.state.position, (corpus::DataPosition{10, 0}));
}

TEST_F(Training, EndsWithTheSameBitsHoweverItIsCutIntoAttempts) {
  expect_no_difference_by_random_attempts(corpus_, scratch_.path(), 6, true);
}

/// The updates that were validated, by the log.
std::vector<std::uint64_t> validated_updates(const std::string& log) {
  std::vector<std::uint64_t> updates;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    const Json record = parse_json(line, "log.jsonl");
    if (as_string(record.at("event")) != "validation") continue;
    updates.push_back(static_cast<std::uint64_t>(as_integer(record.at("update"))));
    EXPECT_GE(as_number(record.at("seconds")), 0);
    EXPECT_GT(as_number(record.at("share")), 0);
    EXPECT_LT(as_number(record.at("share")), 1);
  }
  return updates;
}

TEST_F(Training, PutsOffValidationsBeyondTheirShareAndComputesTheSameBits) {
  using Updates = std::vector<std::uint64_t>;
  const auto whole = run("whole", tiny_options(), dev_loss(corpus_));
  EXPECT_EQ(validated_updates(log("whole")), (Updates{10, 20, 30, 40, 50}));
  TrainOptions options = tiny_options();
  options.validation_share = 1e-12;  // no second one ever fits
  EXPECT_TRUE(run("share", options, dev_loss(corpus_)).weights == whole.weights);
  EXPECT_EQ(validated_updates(log("share")), (Updates{10, 50})) << "the first one, and that of the end";
  options.validation_share = 1 - 1e-9;  // what each takes always fits
  EXPECT_TRUE(run("all", options, dev_loss(corpus_)).weights == whole.weights);
  EXPECT_EQ(validated_updates(log("all")), (Updates{10, 20, 30, 40, 50}));
  options.validate_every = 0;
  options.validate_minutes = 1e-12;
  options.max_updates = 3;
  run("minutes", options, dev_loss(corpus_));
  EXPECT_EQ(validated_updates(log("minutes")), (Updates{1, 2, 3}));
}

/// Dev losses by update, and a best among them that is no part of the schedule.
Validator losses(std::map<std::uint64_t, double> by_update) {
  return [by_update = std::move(by_update)](auto&, std::uint64_t update, const auto&) {
    const auto found = by_update.find(update);
    return ValidationResult{found == by_update.end() ? 5 : found->second, std::nan(""), false};
  };
}

TEST_F(Training, CountsAValidationAtALimitNeitherForItsPatienceNorForThePlateau) {
  for (const bool plateau : {false, true}) {
    TrainOptions options = tiny_options();
    options.schedule = plateau ? Schedule::kPlateau : Schedule::kConstant;
    options.plateau_patience = 2;
    options.early_stop_patience = plateau ? 0 : 2;
    options.max_updates = 40;
    // At 13, where the first attempt ends, the model is the best of all; at 17, where the second does, the worst.
    const auto validator = losses({{10, 4}, {13, 2}, {17, 9}, {20, 3}, {30, 3.5}});
    const std::string name = plateau ? "plateau" : "patience";
    const auto whole = run("whole-" + name, options, validator);
    for (const std::uint64_t limit : {13U, 17U}) {
      TrainOptions part = options;
      part.max_updates = limit;
      const auto outcome = run("parts-" + name, part, validator);
      EXPECT_EQ(outcome.result.state.best_update, 13U);
      EXPECT_EQ(outcome.result.state.validated_update, limit);
    }
    const auto last = run("parts-" + name, options, validator);
    EXPECT_EQ(last.result.reason, whole.result.reason) << name;
    EXPECT_EQ(last.result.state.update, whole.result.state.update) << name;
    EXPECT_EQ(last.result.state.plateau.factor, whole.result.state.plateau.factor) << name;
    EXPECT_EQ(last.updates.back().learning_rate, whole.updates.back().learning_rate) << name;
    EXPECT_EQ(whole.result.state.best_update, 20U);
    EXPECT_EQ(last.result.state.best_update, 13U) << "a better checkpoint is forgotten";
    EXPECT_EQ(read_file(scratch_ / ("parts-" + name) / "checkpoints" / "best"), "update-00000013.h5\n");
  }
}

TEST_F(Training, LogsTheUpdatesBeforeAnInterruptionToo) {
  TrainOptions options = tiny_options();
  options.log_every = 10;
  options.checkpoint_every = 3;
  options.max_updates = 20;
  const auto whole = run("whole", options);
  for (const bool crash : {false, true}) {
    const std::string folder = crash ? "crash" : "limit";
    TrainOptions part = options;
    part.max_updates = 17;
    try {
      attempt(corpus_, scratch_ / folder, part, {}, {}, [&](std::uint64_t update) {
        if (crash && update == 16) throw std::runtime_error("as a crash would");
      });
    } catch (const std::runtime_error&) {
    }
    const auto last = run(folder, options).updates.back();
    EXPECT_EQ(last.pairs, whole.updates.back().pairs) << folder;
    EXPECT_EQ(last.source_words, whole.updates.back().source_words) << folder;
    EXPECT_EQ(last.target_words, whole.updates.back().target_words) << folder;
    EXPECT_EQ(last.loss_per_word, whole.updates.back().loss_per_word) << folder;
  }
}

TEST_F(Training, GoesOnFromACheckpointWhoseFirstValidationWasNan) {
  TrainOptions options = tiny_options();
  options.schedule = Schedule::kPlateau;
  options.max_updates = 10;
  const auto validator = losses({{10, std::nan("")}, {20, std::numeric_limits<double>::infinity()}, {30, 4}, {40, 3}});
  EXPECT_EQ(run("run", options, validator).result.state.best_update, 0U);
  options.max_updates = 40;
  const auto resumed = run("run", options, validator);
  EXPECT_EQ(resumed.result.state.best_update, 40U);
  EXPECT_EQ(resumed.result.state.plateau.best_loss, 3);
  EXPECT_EQ(resumed.result.state.plateau.validations_without_gain, 0U);
}

/// 25 updates an epoch.
TEST_F(Training, HalvesTheLearningRateWhereTheEpochsSay) {
  TrainOptions options = tiny_options();
  options.optimizer = OptimizerKind::kSgd;
  options.learning_rate = 1;
  options.schedule = Schedule::kHalving;
  options.halve_after_epochs = 1;
  options.halve_every_epochs = 0.5;
  const auto updates = run("run", options).updates;
  ASSERT_EQ(updates.size(), 50U);
  for (const auto& update : updates)
    EXPECT_EQ(update.learning_rate, update.update <= 25 ? 1 : update.update <= 38 ? 0.5 : 0.25) << update.update;
}

TEST_F(Training, LogsTheNormOfTheParameters) {
  const auto outcome = run("run", tiny_options());
  double squares = 0;
  for (std::size_t i = 0; i < outcome.weights.size(); i += sizeof(float)) {
    float weight = 0;
    std::memcpy(&weight, outcome.weights.data() + i, sizeof(float));
    squares += static_cast<double>(weight) * static_cast<double>(weight);
  }
  EXPECT_NEAR(outcome.updates.back().parameter_norm / std::sqrt(squares), 1, 1e-12);
  EXPECT_EQ(outcome.updates.back().skipped_share, 0);
}

TEST_F(Training, StopsEarlyAndKeepsTheBest) {
  TrainOptions options = tiny_options();
  options.early_stop_patience = 2;
  options.checkpoint_every = 10;
  options.best_metric = BestMetric::kBleu;
  options.max_updates = 0;
  const Validator scores = [](auto&, std::uint64_t update, const auto&) {
    return ValidationResult{1, update == 20 ? 30.0 : 20.0, false};
  };
  const auto outcome = run("run", options, scores);
  EXPECT_EQ(outcome.result.reason, StopReason::kPatience);
  EXPECT_EQ(outcome.result.state.update, 40U);
  EXPECT_EQ(outcome.result.state.best_update, 20U);
  const auto checkpoints = scratch_ / "run" / "checkpoints";
  EXPECT_EQ(read_file(checkpoints / "best"), "update-00000020.h5\n");
  EXPECT_EQ(read_file(checkpoints / "latest"), "update-00000040.h5\n");
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(checkpoints)) files.push_back(entry.path().filename());
  EXPECT_THAT(files, testing::UnorderedElementsAre("best", "latest", "update-00000020.h5", "update-00000030.h5",
                                                   "update-00000040.h5"));
  EXPECT_EQ(load_model(checkpoints / "update-00000020.h5").update, 20U);
}

/// The loss falls; BLEU is 30, and then 20.
Validator falling_loss(double from) {
  return [from](auto&, std::uint64_t update, const auto&) {
    return ValidationResult{from - static_cast<double>(update) / 100, update <= 10 ? 30.0 : 20.0, false};
  };
}

TEST_F(Training, MeasuresAnewWhatWasMeasuredByAnotherMetricOrOnAnotherDevSet) {
  TrainOptions options = tiny_options();
  options.max_updates = 20;
  options.schedule = Schedule::kPlateau;
  for (const bool metric : {true, false}) {
    const std::string folder = metric ? "metric" : "dev-set";
    options.best_metric = metric ? BestMetric::kBleu : BestMetric::kLoss;
    const auto first = run(folder, options, metric ? falling_loss(5) : losses({{10, 1}, {20, 1.5}}));
    EXPECT_EQ(first.result.state.best_update, 10U);
    EXPECT_EQ(first.result.state.plateau.factor, metric ? 1 : 0.5);
    TrainOptions more = options;
    more.best_metric = BestMetric::kLoss;
    more.early_stop_patience = 2;
    more.max_updates = 20;
    const auto resume = [&] {
      return attempt(corpus_, scratch_ / folder, more, falling_loss(5), {}, {}, {}, metric ? "dev" : "hard");
    };
    EXPECT_EQ(resume().result.state.best_update, 20U) << "the newest checkpoint is measured, too";
    more.max_updates = 60;
    const auto last = resume();
    EXPECT_EQ(last.result.reason, StopReason::kUpdates);
    EXPECT_EQ(last.result.state.best_update, 60U);
    EXPECT_EQ(last.result.state.plateau.factor, metric ? 1 : 0.5) << "the rate stays what it has become";
    EXPECT_EQ(read_file(scratch_ / folder / "checkpoints/best"), "update-00000060.h5\n");
    const std::string from = metric ? "bleu on dev" : "loss on dev", to = metric ? "loss on dev" : "loss on hard";
    EXPECT_THAT(log(folder), HasSubstr(R"("what":"scores","from":")" + from + R"(","to":")" + to + "\""));
  }
}

TEST_F(Training, HasABestOfItsOwnWhereItBeganWithTheCheckpointOfAnotherRun) {
  TrainOptions options = tiny_options();
  options.max_updates = 20;
  options.early_stop_patience = 2;
  run("parent", options, losses({{10, 1}, {20, 2}}));
  options.resume = (scratch_ / "parent/checkpoints/update-00000020.h5").string();
  options.max_updates = 50;
  const auto child = run("child", options, falling_loss(5));
  EXPECT_EQ(child.result.reason, StopReason::kUpdates) << "its patience is its own, too";
  EXPECT_EQ(child.updates.front().update, 21U);
  EXPECT_EQ(read_file(scratch_ / "child/checkpoints/best"), "update-00000050.h5\n");
  options.max_updates = 60;
  const auto again = run("child", options, losses({{60, 6}}));  // the same command
  EXPECT_EQ(again.updates.front().update, 51U);
  EXPECT_EQ(again.result.state.best_update, 50U);
}

TEST_F(Training, HasNoBestWhoseFileIsGone) {
  TrainOptions options = tiny_options();
  options.max_updates = 20;
  run("run", options, losses({{10, 1}, {20, 2}}));
  std::filesystem::remove(scratch_ / "run/checkpoints/update-00000010.h5");
  options.max_updates = 30;
  EXPECT_EQ(run("run", options, losses({{30, 3}})).result.state.best_update, 30U);
}

TEST_F(Training, CountsTheTimeOfValidationsOverAllAttempts) {
  TrainOptions options = tiny_options();
  options.max_updates = 10;
  const auto first = run("run", options, dev_loss(corpus_)).result.state;
  EXPECT_GT(first.validations.ended, 0);
  EXPECT_LE(first.validations.ended, first.elapsed_seconds);
  options.max_updates = 20;
  const auto second = run("run", options, dev_loss(corpus_)).result.state;
  EXPECT_GT(second.validations.ended, first.elapsed_seconds - 1);
  EXPECT_GT(second.validations.spent, first.validations.spent);
}

TEST_F(Training, ChoosesTheBestByAnyMetric) {
  const auto scores = [](auto&, std::uint64_t update, const auto&) {
    // each is best at another validation
    return ValidationResult{update == 10 ? 1.0 : 2.0, update == 20 ? 30.0 : 20.0, false, update == 30 ? 50.0 : 40.0,
                            update == 40 ? 60.0 : 70.0};
  };
  TrainOptions options = tiny_options();
  std::uint64_t best = 0;
  for (const auto metric : {BestMetric::kLoss, BestMetric::kBleu, BestMetric::kChrf, BestMetric::kTer}) {
    options.best_metric = metric;
    best += 10;
    EXPECT_EQ(run(name_of(metric), options, scores).result.state.best_update, best) << name_of(metric);
  }
  EXPECT_THAT(log("ter"), HasSubstr(R"("loss_per_word":2.0,"bleu":20.0,"chrf":40.0,"ter":60.0,"best":true)"));
}

TEST_F(Training, StopsByEpochsAndByTheClock) {
  TrainOptions options = tiny_options();
  options.max_updates = 0;
  options.max_epochs = 1;
  const auto epoch = run("epoch", options);
  EXPECT_EQ(epoch.result.reason, StopReason::kEpochs);
  EXPECT_EQ(epoch.result.state.update, 25U);
  options.max_epochs = 0;
  options.max_minutes = 1e-3;
  const auto minutes = run("minutes", options);
  EXPECT_EQ(minutes.result.reason, StopReason::kMinutes);
  EXPECT_GE(minutes.result.state.elapsed_seconds, 0.06);
  EXPECT_TRUE(run("minutes", options).updates.empty());  // the time of earlier attempts counts
  options.validate_every = 1;
  double validations = 0;
  run("slow", options, [&](auto&, std::uint64_t, const auto&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(70));  // more than max-minutes
    return ValidationResult{++validations, 0, false};
  });
  EXPECT_EQ(validations, 1);
}

TEST_F(Training, FollowsTheGradientItWasAskedTo) {
  std::vector<double> norms;
  for (const auto gradient_of : {GradientOf::kSum, GradientOf::kSentence, GradientOf::kWord}) {
    TrainOptions options = tiny_options();
    options.gradient_of = gradient_of;
    options.max_updates = 1;
    norms.push_back(run(name_of(gradient_of), options).updates.front().gradient_norm);
  }
  corpus::BatchOptions first;
  first.batch_sentences = 12;
  first.pool_batches = 4;
  const auto slice = corpus::BatchSequence(corpus_, first, 0, 1).next();
  EXPECT_NEAR(norms[0] / norms[1], static_cast<double>(slice.batch_pairs), 1e-9);
  EXPECT_NEAR(norms[0] / norms[2], static_cast<double>(slice.batch_target_words + slice.batch_pairs), 1e-9);
}

TEST_F(Training, ReadsTheSameBatchesInEveryEpochWhereTheCorpusIsShuffledOnce) {
  // What the updates of an epoch read, in their order.
  using Sizes = std::vector<std::array<std::uint64_t, 3>>;
  const auto epochs_of = [](const Outcome& outcome) {
    std::vector<Sizes> epochs;
    bool next = true;
    for (const UpdateReport& u : outcome.updates) {
      if (next) epochs.emplace_back();
      epochs.back().push_back({u.pairs, u.source_words, u.target_words});
      next = u.epoch_share == 0;  // the epoch that follows is named after the last batch
    }
    return epochs;
  };
  TrainOptions options = tiny_options();
  options.max_updates = 0;
  options.max_epochs = 3;
  const auto every = epochs_of(run("every-epoch", options));
  options.shuffle = Shuffle::kOnce;
  for (const BatchOrder order : {BatchOrder::kShuffled, BatchOrder::kByLength}) {
    options.batch_order = order;
    const auto once = epochs_of(run("once-" + name_of(order), options));
    ASSERT_EQ(once.size(), 3U);
    EXPECT_GT(once[0].size(), 20U);
    EXPECT_EQ(once[1], once[0]);
    EXPECT_EQ(once[2], once[0]);
    if (order == BatchOrder::kShuffled) {
      EXPECT_EQ(once[0], every[0]);
    }
  }
  EXPECT_NE(every[1], every[0]);
  options.shuffle = Shuffle::kEveryEpoch;
  EXPECT_THAT(message_of([&] { run("once-by-length", options); }),
              HasSubstr("its shuffle is once, now it is every-epoch"));
}

TEST_F(Training, KeepsAnAverageThatDoesNotTouchIt) {
  TrainOptions options = tiny_options();
  const auto plain = run("plain", options, dev_loss(corpus_));
  options.average_decay = 0.8;
  std::vector<std::string> validated;
  const auto averaged =
      run("averaged", options, [&, inner = dev_loss(corpus_)](auto& model, std::uint64_t update, const auto& stop) {
        validated.push_back(bytes_of(model.parameters()));
        return inner(model, update, stop);
      });
  EXPECT_TRUE(averaged.weights == plain.weights);
  ASSERT_EQ(validated.size(), 5U);
  const auto checkpoint = scratch_ / "averaged" / "checkpoints" / "update-00000050.h5";
  EXPECT_TRUE(bytes_of(load_model(checkpoint).model.parameters()) == validated.back()) << "it validates with another";
  EXPECT_FALSE(validated.back() == averaged.weights) << "the average is of one update alone";
}

TEST_F(Training, InPiecesFollowsTheSameBatchesAndGradients) {
  const auto whole = run("whole", tiny_options(), dev_loss(corpus_));
  for (const std::uint64_t pieces : {2U, 5U, 13U}) {  // of batches of 12 pairs: the last has a piece without any
    TrainOptions options = tiny_options();
    options.accumulate = pieces;
    const auto outcome = run(fmt::format("pieces-{}", pieces), options, dev_loss(corpus_));
    ASSERT_EQ(outcome.updates.size(), whole.updates.size());
    EXPECT_NEAR(outcome.updates[0].gradient_norm / whole.updates[0].gradient_norm, 1, 1e-5);
    for (std::size_t i = 0; i < whole.updates.size(); ++i) {
      EXPECT_EQ(outcome.updates[i].pairs, whole.updates[i].pairs);
      EXPECT_EQ(outcome.updates[i].source_words, whole.updates[i].source_words);
      EXPECT_EQ(outcome.updates[i].target_words, whole.updates[i].target_words);
      EXPECT_NEAR(outcome.updates[i].loss_per_word / whole.updates[i].loss_per_word, 1, 1e-5) << i;
    }
    EXPECT_EQ(outcome.result.state.position, whole.result.state.position);
  }
}

TEST_F(Training, ReportsTheLossWithoutItsLabelSmoothing) {
  TrainOptions options = tiny_options();
  const auto plain = run("plain", options);
  options.label_smoothing = 0.3;
  const auto smoothed = run("smoothed", options);
  // The first update's loss is of the same weights, and its gradient another.
  EXPECT_EQ(smoothed.updates.front().loss_per_word, plain.updates.front().loss_per_word);
  EXPECT_NE(smoothed.updates.front().gradient_norm, plain.updates.front().gradient_norm);
  EXPECT_FALSE(smoothed.weights == plain.weights);
  EXPECT_THAT(log("smoothed"), HasSubstr("\"label_smoothing\":0.3"));
}

TEST_F(Training, FollowsARampFromUpdateToUpdate) {
  TrainOptions options = tiny_options();
  options.label_smoothing = 0.3;
  const auto constant = run("constant", options);
  options.label_smoothing = {0.3, 0.3, 2};
  EXPECT_TRUE(run("level", options).weights == constant.weights);
  options.label_smoothing = {0.3, 0, 2};
  const auto falling = run("falling", options);
  EXPECT_EQ(falling.updates.front().gradient_norm, constant.updates.front().gradient_norm);
  EXPECT_NE(falling.updates[1].gradient_norm, constant.updates[1].gradient_norm);
  std::vector<double> logged;
  for (const auto& update : falling.updates) logged.push_back(update.label_smoothing);
  EXPECT_THAT(std::span(logged).first(4), ElementsAre(0.3, 0.15, 0, 0));
}

}  // namespace
}  // namespace rnnsearch::train
