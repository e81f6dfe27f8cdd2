#include "cli/training_options.h"

namespace rnnsearch::cli {

void add_training_options(Options& options, TrainingSettings& settings) {
  options.take(model::option_table(), settings.model, {"source-words", "target-words"});
  options.take(train::option_table(), settings.train);

  options.group("When to stop (the first limit reached; 0: no limit)");
  options.add("stop-before", settings.stop_before,
              {.help = "minutes before the end of the job, fractions allowed, by which the last checkpoint is written; "
                       "training then ends with exit code 85. The job ends at RNNSEARCH_END_TIME, or else at "
                       "SLURM_JOB_END_TIME, in seconds since 1970. Default: 2 where one of them is set",
               .later = Later::kFree,
               .low = 0,
               .high = 1e6});

  options.group("Validation");
  options.add("validate-bleu", settings.validation.validate_bleu,
              {.help = "translate the dev set at each validation and report BLEU and chrF (with --best-metric ter also "
                       "TER, which takes longer)",
               .later = Later::kFree});
  options.add("validate-beam", settings.validation.validate_beam,
              {.help = "beam width of the translations of --validate-bleu; 1 is greedy search",
               .later = Later::kFree,
               .low = 1,
               .high = 1000});
  options.add("validate-sentences", settings.validation.validate_sentences,
              {.help = "number of sentences of the dev set that each rank processes together; affects memory and "
                       "speed, not the result",
               .later = Later::kFree,
               .low = 1,
               .high = 1e5});
}

}  // namespace rnnsearch::cli
