#include "train/option_rules.h"

#include "rnnsearch/train/optimizer.h"

namespace rnnsearch::train {
namespace {

using T = TrainOptions;

constexpr Rule<T> kRules[]{
    {[](const T& o) { return o.scale_learning_rate != ScaleLearningRate::kNone && o.reference_batch == 0; },
     "scale-learning-rate = {scale-learning-rate} with reference-batch = 0",
     "it is not known which batch the learning rate is for",
     "name the size of that batch with reference-batch, or choose scale-learning-rate = none"},
    {[](const T& o) { return o.scale_learning_rate == ScaleLearningRate::kNone && o.reference_batch > 0; },
     "reference-batch = {reference-batch} with scale-learning-rate = none", "the learning rate is not scaled",
     "choose scale-learning-rate = linear or square-root, or leave reference-batch out"},
    {[](const T& o) {
       return o.scale_learning_rate != ScaleLearningRate::kNone && o.optimizer == OptimizerKind::kSgd &&
              o.gradient_of == GradientOf::kSum;
     },
     "scale-learning-rate = {scale-learning-rate} with optimizer = sgd and gradient-of = sum",
     "the gradient of the sum grows with the batch by itself", "choose gradient-of = sentence or word"},
    {[](const T& o) { return !kPositive.contains(scaled_learning_rate(o)); },
     "learning-rate = {learning-rate} with reference-batch = {reference-batch}",
     "what it is scaled to is no positive number in float32", "choose another reference-batch"},
    {[](const T& o) {
       return o.optimizer == OptimizerKind::kAdam && !kPositive.contains(scaled_learning_rate(o) / (1 - o.adam_beta1));
     },
     "learning-rate = {learning-rate} with adam-beta1 = {adam-beta1}",
     "it is above 3.4e38, the largest float32, when it is divided by 1 - adam-beta1", "choose a lower learning-rate"},
    {[](const T& o) { return o.momentum != 0 && o.optimizer != OptimizerKind::kSgd; },
     "momentum = {momentum} with optimizer = {optimizer}", "only sgd has a momentum",
     "choose momentum = 0, or optimizer = sgd"},
    {[](const T& o) { return o.schedule == Schedule::kInverseSquareRoot && o.warmup_updates == 0; },
     "schedule = inverse-square-root with warmup-updates = 0", "the learning rate falls after the warm-up",
     "choose warmup-updates of at least 1"},
    {[](const T& o) { return o.schedule == Schedule::kPlateau && o.validate_every == 0; },
     "schedule = plateau with validate-every = 0", "only a validation shows whether the dev loss still falls",
     "choose validate-every of at least 1"},
    {[](const T& o) { return o.early_stop_patience > 0 && o.validate_every == 0; },
     "early-stop-patience = {early-stop-patience} with validate-every = 0", "it counts validations",
     "choose validate-every of at least 1, or early-stop-patience = 0"},
    {[](const T& o) { return o.validation_share > 0 && !validates(o); },
     "validation-share = {validation-share} with validate-every = 0 and validate-minutes = 0",
     "there are no validations to limit", "choose validate-every or validate-minutes of more than 0"},
    {[](const T& o) { return o.validation_share > 0 && o.schedule == Schedule::kPlateau; },
     "validation-share = {validation-share} with schedule = plateau",
     "validations set the learning rate, and the clock would decide when there is one, so no training could be "
     "repeated",
     "choose validation-share = 0, or another schedule"},
    {[](const T& o) { return o.validation_share > 0 && o.early_stop_patience > 0; },
     "validation-share = {validation-share} with early-stop-patience = {early-stop-patience}",
     "validations end the training, and the clock would decide when there is one, so no training could be repeated",
     "choose validation-share = 0, or early-stop-patience = 0"},
    {[](const T& o) { return o.validate_minutes > 0 && o.schedule == Schedule::kPlateau; },
     "validate-minutes = {validate-minutes} with schedule = plateau",
     "validations set the learning rate, and the clock would decide when there is one, so no training could be "
     "repeated",
     "choose validate-minutes = 0, or another schedule"},
    {[](const T& o) { return o.validate_minutes > 0 && o.early_stop_patience > 0; },
     "validate-minutes = {validate-minutes} with early-stop-patience = {early-stop-patience}",
     "validations end the training, and the clock would decide when there is one, so no training could be repeated",
     "choose validate-minutes = 0, or early-stop-patience = 0"},
    {[](const T& o) { return o.reproducible_shards > 0 && o.accumulate > 1; },
     "reproducible-shards = {reproducible-shards} with accumulate = {accumulate}",
     "each rank already computes its shards one after the other",
     "choose accumulate = 1, and more shards to save memory"},
    {[](const T& o) { return o.batch_words.updates > 0 && std::min(o.batch_words.from, o.batch_words.to) < 1; },
     "batch-words = {batch-words}", "a batch of no words has no sentence pair",
     "choose two numbers of words of at least 1, such as 400:1600@6000"},
    {[](const T& o) { return o.batch_words.largest() == 0 && o.reproducible_shards > o.batch_sentences; },
     "reproducible-shards = {reproducible-shards} with batch-sentences = {batch-sentences}",
     "some shards would never have a sentence pair", "choose at most as many shards as sentence pairs"},
    {[](const T& o) { return o.resume.empty(); }, "resume without a value", "training begins somewhere",
     "choose auto, never, or the path of a checkpoint"},
    {[](const T& o) { return o.initial_optimizer && o.initial_model.empty(); },
     "initial-optimizer without initial-model", "no checkpoint is named whose optimizer state it could be",
     "name one with initial-model, or leave initial-optimizer out"},
};

}  // namespace

std::span<const Rule<TrainOptions>> option_rules() { return kRules; }

}  // namespace rnnsearch::train
