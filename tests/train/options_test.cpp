#include "rnnsearch/train/options.h"

#include "tests/support/test.h"

namespace rnnsearch::train {
namespace {

TEST(ModelConfig, ReadsBackAsTheSameOptionsWithAnotherValueOfEach) {
  model::ModelOptions o;
  o.source_words = 30;
  o.target_words = 31;
  EXPECT_EQ(model_options_of(config_of(o)), o);
  const OptionList list = options_of(o);
  for (const Option& option : list.rows()) {
    const std::string before = option.text();
    std::vector<std::string> others = option.choices;
    others.insert(others.end(), {"true", "false", "word", "state,context", "scaled-dot", "3", "0.25"});
    for (const std::string& other : others)
      if (option.read(other) && option.text() != before) break;
    EXPECT_NE(option.text(), before) << option.name << ": give another value above";
    EXPECT_EQ(model_options_of(config_of(o)), o) << option.name;
  }
}

/// In float32 1e-46 is 0 and 1e39 infinite.
TEST(TrainingOptions, AreRefusedWhereFloat32CannotHoldThem) {
  using O = TrainOptions;
  const std::string kNone = message_of([] {});
  const auto refusal = [](auto field, double value) {
    O options;
    options.optimizer = OptimizerKind::kSgd;
    options.*field = value;
    return message_of([&] { check(options); });
  };
  const std::pair<double O::*, const char*> positive[] = {
      {&O::learning_rate, "learning-rate"}, {&O::epsilon, "epsilon"}, {&O::adam_epsilon, "adam-epsilon"}};
  for (const auto& [field, name] : positive) {
    for (const double value : {0.0, 1e-46, 1e39, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
      EXPECT_THAT(refusal(field, value),
                  StartsWith(fmt::format("{} is {:g}; it must be a number of at least 1.2e-38", name, value)));
    }
    for (const double value : {1e-37, 1e38}) EXPECT_EQ(refusal(field, value), kNone) << name;
  }
  for (const auto field : {&O::rho, &O::adam_beta1, &O::adam_beta2, &O::momentum}) {
    for (const double value : {1 - 1e-9, 1.0, std::nan("")}) EXPECT_THAT(refusal(field, value), HasSubstr("below 1"));
    EXPECT_EQ(refusal(field, 0.9999999), kNone);
  }
  EXPECT_THAT(refusal(&O::clip_norm, 1e-46), HasSubstr("clip-norm is 1e-46"));
  EXPECT_EQ(refusal(&O::clip_norm, 0), kNone);
  O adam;
  adam.optimizer = OptimizerKind::kAdam;
  adam.learning_rate = 1e38;
  EXPECT_THAT(message_of([&] { check(adam); }), HasSubstr("divided by 1 - adam-beta1"));
}

TEST(ReproducibleShards, AreRefusedWhereTheRanksCannotShareThemEvenlyOrTheResultWouldDependOnTheRanks) {
  TrainOptions o;
  EXPECT_NO_THROW(check_ranks(o, 7));
  EXPECT_EQ(shards_of_rank(o, 7), 1U);
  o.reproducible_shards = 12;
  EXPECT_NO_THROW(check(o));
  for (const int ranks : {1, 2, 3, 4, 6, 12}) {
    EXPECT_NO_THROW(check_ranks(o, ranks));
    EXPECT_EQ(shards_of_rank(o, ranks), 12U / static_cast<unsigned>(ranks));
  }
  for (const int ranks : {5, 8, 24}) {
    EXPECT_THAT(message_of([&] { check_ranks(o, ranks); }),
                StartsWith(fmt::format("reproducible-shards = 12 on {0} ranks: each rank needs the same number of "
                                       "shards; start 1, 2, 3, 4, 6 or 12 ranks, or choose a multiple of {0}",
                                       ranks)));
  }
  const auto refusal = [&](const std::function<void(TrainOptions&)>& change) {
    TrainOptions changed = o;
    change(changed);
    return message_of([&] { check(changed); });
  };
  EXPECT_THAT(refusal([](auto& c) { c.accumulate = 2; }), HasSubstr("one after the other"));
  EXPECT_THAT(refusal([](auto& c) { c.batch_sentences = 11; }), HasSubstr("never have a sentence pair"));
  EXPECT_EQ(refusal([](auto& c) { c.batch_sentences = 11, c.batch_words = 90; }), message_of([] {}));
}

/// The refusal of options that `change` makes of the defaults.
std::string refusal_of(const std::function<void(TrainOptions&)>& change) {
  TrainOptions options;
  change(options);
  return message_of([&] { check(options); });
}

TEST(ValidationByTheClock, IsRefusedWhereTrainingDependsOnValidations) {
  using O = TrainOptions;
  const std::pair<double O::*, std::string> clocks[] = {{&O::validation_share, "validation-share"},
                                                        {&O::validate_minutes, "validate-minutes"}};
  for (const auto& [option, name] : clocks) {
    EXPECT_EQ(refusal_of([option = option](O& o) { o.*option = 0.1; }), message_of([] {})) << name;
    EXPECT_THAT(refusal_of([option = option](O& o) { o.*option = 0.1, o.schedule = Schedule::kPlateau; }),
                StartsWith(name + " = 0.1 with schedule = plateau makes no sense"));
    EXPECT_THAT(refusal_of([option = option](O& o) { o.*option = 0.1, o.early_stop_patience = 3; }),
                StartsWith(name + " = 0.1 with early-stop-patience = 3 makes no sense"));
  }
  EXPECT_THAT(refusal_of([](O& o) { o.validation_share = 0.1, o.validate_every = 0; }),
              HasSubstr("there are no validations to limit"));
  EXPECT_EQ(refusal_of([](O& o) { o.validation_share = 0.1, o.validate_every = 0, o.validate_minutes = 5; }),
            message_of([] {}));
  EXPECT_THAT(refusal_of([](O& o) { o.validation_share = 1; }), HasSubstr("validation-share is 1"));
}

TEST(ScaledLearningRate, IsRefusedWithoutItsReferenceAndWhereItWouldBeScaledTwice) {
  using O = TrainOptions;
  const auto linear = [](O& o) { o.scale_learning_rate = ScaleLearningRate::kLinear, o.reference_batch = 40; };
  EXPECT_EQ(refusal_of(linear), message_of([] {}));
  EXPECT_THAT(refusal_of([&](O& o) { linear(o), o.reference_batch = 0; }),
              StartsWith("scale-learning-rate = linear with reference-batch = 0"));
  EXPECT_THAT(refusal_of([](O& o) { o.reference_batch = 40; }), HasSubstr("the learning rate is not scaled"));
  EXPECT_THAT(refusal_of([&](O& o) { linear(o), o.optimizer = OptimizerKind::kSgd; }),
              HasSubstr("choose gradient-of = sentence or word"));
  EXPECT_EQ(refusal_of([&](O& o) { linear(o), o.optimizer = OptimizerKind::kSgd, o.gradient_of = GradientOf::kWord; }),
            message_of([] {}));
  EXPECT_THAT(refusal_of([&](O& o) { linear(o), o.learning_rate = 3e38; }), HasSubstr("no positive number in float32"));
}

}  // namespace
}  // namespace rnnsearch::train
