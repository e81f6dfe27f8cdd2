#include "cli/options/training_options.h"

namespace rnnsearch::cli {

void add_training_options(Options& options, TrainingSettings& settings) {
  declare_architecture(options, settings.model);
  declare(options, settings.train);

  options.group("When to stop (the first limit reached; 0: no limit)");
  options.add("stop-before", settings.stop_before, Later::kFree, within(0, 1e6),
              "minutes before the end of the job, fractions allowed, by which the last checkpoint is written; training "
              "then ends with exit code 85. The job ends at RNNSEARCH_END_TIME, or else at SLURM_JOB_END_TIME, in "
              "seconds since 1970. Default: 2 where one of them is set");

  options.group("Validation");
  options.add("validate-bleu", settings.validation.validate_bleu, Later::kFree,
              "translate the dev set at each validation and report BLEU and chrF (with --best-metric ter also TER, "
              "which takes longer)");
  options.add("validate-beam", settings.validation.validate_beam, Later::kFree, within(1, 1000),
              "beam width of the translations of --validate-bleu; 1 is greedy search");
  options.add(
      "validate-sentences", settings.validation.validate_sentences, Later::kFree, within(1, 1e5),
      "number of sentences of the dev set that each rank processes together; affects memory and speed, not the result");
}

}  // namespace rnnsearch::cli
