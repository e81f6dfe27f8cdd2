#include "cli/training_options.h"

namespace rnnsearch::cli {

void add_training_options(Options& options, TrainingSettings& settings,
                          std::initializer_list<std::string_view> without) {
  options.take(model::option_table(), settings.model, {"source-words", "target-words"});
  options.take(train::option_table(), settings.train, without);

  options.group("When to stop (the first limit reached; 0: no limit)");
  options.add("stop-before", settings.stop_before,
              {.help = "minutes, fractions too, before the job's end by which the last checkpoint is written; it then "
                       "ends with code 85. The end is what RNNSEARCH_END_TIME, or else SLURM_JOB_END_TIME, says, in "
                       "seconds since 1970; with one of them set the default is 2",
               .low = 0,
               .high = 1e6});

  options.group("Validation");
  options.add("validate-bleu", settings.validation.validate_bleu, {.help = "translate the dev set and score it"});
  options.add("validate-beam", settings.validation.validate_beam,
              {.help = "of that; 1 is greedy search", .low = 1, .high = 1000});
  options.add("validate-sentences", settings.validation.validate_sentences,
              {.help = "dev sentences together, on each rank", .low = 1, .high = 1e5});
}

}  // namespace rnnsearch::cli
