// What is trained, and how: the options of `train`, which `benchmark` takes as well.
#pragma once

#include <optional>

#include "cli/validation.h"
#include "rnnsearch/cli/options.h"
#include "rnnsearch/model/options.h"
#include "rnnsearch/train/options.h"

namespace rnnsearch::cli {

struct TrainingSettings {
  model::ModelOptions model;  // without the sizes of the vocabularies
  train::TrainOptions train;
  ValidationOptions validation;
  std::optional<double> stop_before;  // minutes; see rnnsearch/train/job_end.h
};
/// Declares them in groups of their own: all that a preset or a configuration file of a training may hold, but files.
void add_training_options(Options& options, TrainingSettings& settings);

}  // namespace rnnsearch::cli
