#include "cli/training_options.h"

namespace rnnsearch::cli {

void add_training_options(Options& options, TrainingSettings& settings) {
  options.group("Model");
  model::ModelOptions& m = settings.model;
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
  train::TrainOptions& t = settings.train;
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

  options.group("Sums over the ranks");
  options.add("overlap", t.overlap,
              {.help = "begin them while the gradient is still computed; the result is the same without"});
  options.add(
      "reduce-precision", t.reduce_precision, train::reduce_precision_of, train::name_of,
      {.help = "what travels in them; bf16: half the bytes, additions in float32, rounding made good in the next "
               "sum, but no longer the same bits after an interruption",
       .choices = {"f32", "bf16"}});

  options.group("When to stop (the first limit reached; 0: no limit)");
  options.add("max-updates", t.max_updates, {.help = "updates in all"});
  options.add("max-epochs", t.max_epochs, {.help = "passes over the corpus"});
  options.add("max-minutes", t.max_minutes, {.help = "of training, over all attempts", .low = 0});
  options.add("early-stop-patience", t.early_stop_patience, {.help = "validations without gain in best-metric"});

  options.add("stop-before", settings.stop_before,
              {.help = "minutes, fractions too, before the job's end by which the last checkpoint is written; it then "
                       "ends with code 85. The end is what RNNSEARCH_END_TIME, or else SLURM_JOB_END_TIME, says, in "
                       "seconds since 1970; with one of them set the default is 2",
               .low = 0,
               .high = 1e6});

  options.group("Validation");
  options.add("validate-every", t.validate_every, {.help = "updates; 0: never"});
  options.add("best-metric", t.best_metric, train::best_metric_of, train::name_of,
              {.help = "what makes a checkpoint the best", .choices = {"loss", "bleu"}});
  options.add("validate-bleu", settings.validation.validate_bleu, {.help = "translate the dev set and score it"});
  options.add("validate-beam", settings.validation.validate_beam,
              {.help = "of that; 1 is greedy search", .low = 1, .high = 1000});
  options.add("validate-sentences", settings.validation.validate_sentences,
              {.help = "dev sentences together, on each rank", .low = 1, .high = 1e5});

  options.group("Record");
  options.add("checkpoint-every", t.checkpoint_every, {.help = "updates; 0: only by the clock"});
  options.add("checkpoint-minutes", t.checkpoint_minutes, {.help = "since the last; 0: only by updates", .low = 0});
  options.add("keep-checkpoints", t.keep_checkpoints, {.help = "the newest; the best is kept besides", .low = 2});
  options.add("log-every", t.log_every, {.help = "updates between lines of log.jsonl", .low = 1});
}

}  // namespace rnnsearch::cli
