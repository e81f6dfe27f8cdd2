#include "cli/training_options.h"

namespace rnnsearch::cli {

void add_training_options(Options& options, TrainingSettings& settings) {
  options.group("Model");
  model::ModelOptions& m = settings.model;
  options.add(
      "attention", m.attention, model::attention_of, model::name_of,
      {.help = "score of the attention; additive: RNNsearch; none: RNNencdec", .choices = model::attention_names()});
  options.add("embedding", m.embedding, {.help = "m, width of a word's vector", .low = 1, .high = 1e6});
  options.add("state", m.state, {.help = "n, width of the recurrent states", .low = 1, .high = 1e6});
  options.add("encoder-state", m.encoder_state,
              {.help = "that of each direction of the encoder; 0: n", .low = 0, .high = 1e6});
  options.add("alignment", m.alignment, {.help = "n', width of the alignment model", .low = 1, .high = 1e6});
  options.add("maxout", m.maxout, {.help = "l, maxout units of the readout", .low = 1, .high = 1e6});
  options.add("readout-rank", m.readout_rank,
              {.help = "rank of the output matrix; 0: not factored", .low = 0, .high = 1e6});
  options.add("cell", m.cell, model::cell_of, model::name_of,
              {.help = "the recurrent unit of encoder and decoder", .choices = model::cell_names()});
  options.add("gru-reset", m.gru_reset, model::gru_reset_of, model::name_of,
              {.help = "where the reset gate acts: on the state, or on its product", .choices = {"before", "after"}});
  options.add("layers", m.layers, {.help = "of encoder and decoder, each", .low = 1, .high = 100});
  options.add("encoder", m.encoder, model::encoder_of, model::name_of,
              {.help = "its directions; auto: bidirectional with attention, forward without",
               .choices = {"auto", "bidirectional", "forward"}});
  options.add(
      "source-start", m.source_start,
      {.help = "the encoder reads <s> before the first source word; only with --attention none"});
  options.add("source-end", m.source_end, {.help = "the encoder reads </s> after the last source word"});
  options.add(
      "attend-from", m.attend_from, model::attend_from_of, model::name_of,
      {.help = "the state that attends: s_{i-1} (Bahdanau) or s_i (Luong)", .choices = {"previous", "current"}});
  options.add(
      "attention-window", m.attention_window, model::attention_window_of, model::name_of,
      {.help = "what it sees: all words, or those around word i (local-m) or around a predicted place (local-p)",
       .choices = {"global", "local-m", "local-p"}});
  options.add("window", m.window, {.help = "D: a local window reaches D words to each side", .low = 1, .high = 1e6});
  options.add(
      "fixed-context", m.fixed_context, model::fixed_context_of, model::name_of,
      {.help = "with attention = none, the context of every step: the encoder's last state itself (RNNencdec), or "
               "a tanh layer of it (Cho et al. 2014)",
       .choices = {"last-state", "tanh"}});
  options.add("initial-state", m.initial_state, model::initial_state_of, model::name_of,
              {.help = "s_0: projected from a state of the encoder, a copy of one, or 0",
               .choices = {"projected", "backward", "forward", "final", "zero"}});
  options.add(
      "state-word", m.state_word, model::state_word_of, model::name_of,
      {.help = "the word that updates the decoder's state: y_i or y_{i-1}", .choices = {"current", "previous"}});
  options.add(
      "state-inputs", m.state_inputs, model::state_inputs_of, model::name_of,
      {.help = "what updates it besides s_{i-1}: word, context, both with a comma between, or none", .value = "LIST"});
  options.add("readout", m.readout, model::readout_of, model::name_of,
              {.help = "the layer before the softmax", .choices = {"maxout", "tanh", "linear", "mlp"}});
  options.add("readout-state", m.readout_state, model::readout_state_of, model::name_of,
              {.help = "the state it reads for y_i: s_{i-1} or s_i", .choices = {"previous", "current"}});
  options.add("readout-inputs", m.readout_inputs, model::readout_inputs_of, model::name_of,
              {.help = "what it reads: of state, word and context, with commas", .value = "LIST"});
  options.add("input-feeding", m.input_feeding, {.help = "its vector is an input of the next state (Luong)"});
  options.add("feedback", m.feedback, model::feedback_of, model::name_of,
              {.help = "what the next step reads as the previous word: its embedding, or the readout's vector (output)",
               .choices = {"word", "output"}});
  options.add(
      "start", m.start, model::start_of, model::name_of,
      {.help = "what stands before the first word: nothing, or the embedding of <s>", .choices = {"zero", "embedded"}});
  options.add("gate-biases", m.gate_biases, {.help = "biases of the gates, of cells that have some"});
  options.add("embedding-biases", m.embedding_biases, {.help = "a bias on the word vectors of each side"});
  options.add("layer-normalisation", m.layer_normalisation,
              {.help = "normalise the cells' summed inputs; this magnifies rounding in the first updates, so the losses "
                       "on other numbers of ranks or pieces, which differ in rounding alone, part sooner than without"});
  options.add("dropout", m.dropout,
              {.help = "the share of units dropped in training: of words, between layers, and before the softmax",
               .low = 0,
               .high = 1});
  options.add("dropout-kind", m.dropout_kind, model::dropout_kind_of, model::name_of,
              {.help = "variational: one mask a sentence for all its steps, and of the states before, too",
               .choices = {"plain", "variational"}});
  options.add("attention-dropout", m.attention_dropout,
              {.help = "the share of attention weights dropped in training", .low = 0, .high = 1});
  options.add(
      "tied-embeddings", m.tied_embeddings, model::tied_embeddings_of, model::name_of,
      {.help = "one matrix for several: target: the target's word vectors are the output matrix; source-target: both "
               "sides have the same word vectors, which needs a joint vocabulary; all: all three",
       .choices = {"none", "target", "source-target", "all"}});
  options.add(
      "initialisation", m.initialisation, model::initialisation_of, model::name_of,
      {.help =
           "first values of the parameters; paper: recurrent matrices orthogonal, v_a 0, the others normal; gaussian: "
           "all matrices normal; xavier: all matrices uniform, by their sizes; uniform: all parameters uniform, "
           "biases too; pytorch: the defaults of PyTorch's modules, biases too; biases are 0 in the others",
       .choices = {"paper", "gaussian", "xavier", "uniform", "pytorch"}});
  options.add("initial-deviation", m.initial_deviation,
              {.help = "standard deviation of the matrices that are not recurrent (paper), of all matrices (gaussian), "
                       "or of all parameters (uniform: between -0.1 and 0.1 it is 0.1/sqrt(3) = 0.0577)",
               .low = 0});

  options.group("Training");
  train::TrainOptions& t = settings.train;
  options.add("batch-sentences", t.batch_sentences,
              {.help = "sentence pairs in an update, all ranks together", .low = 1, .high = 1e9});
  options.add("accumulate", t.accumulate,
              {.help = "pieces in which each rank computes its share of them, one after the other, to need less memory",
               .low = 1,
               .high = 1e9});
  options.add("pool-batches", t.pool_batches, {.help = "batches sorted by length together", .low = 1, .high = 1e6});
  options.add("shuffle", t.shuffle, train::shuffle_of, train::name_of,
              {.help = "when the order of the sentence pairs is drawn: anew for every epoch; once, as the paper did (then "
                       "every epoch reads the same batches in the same order); or never: pairs are read in the order of "
                       "the corpus, which may be a curriculum",
               .choices = {"every-epoch", "once", "never"}});
  options.add("batch-order", t.batch_order, train::batch_order_of, train::name_of,
              {.help = "order of the batches that were sorted by length together: random, or short sentences first, as "
                       "in the paper's code",
               .choices = {"shuffled", "by-length"}});
  options.add("seed", t.seed, {.help = "of the weights, of the order of the data and of what dropout drops"});
  options.add("prefetch", t.prefetch,
              {.help = "read the sentences to come while others are trained on; the batches are the same without"});
  options.add("optimizer", t.optimizer, train::optimizer_of, train::name_of,
              {.help = "of the update", .choices = {"adadelta", "adam", "sgd"}});
  options.add("learning-rate", t.learning_rate,
              {.help = "1 for Adadelta, some 0.001 for Adam, 0.1 to 1 for sgd", .low = 0});
  options.add("rho", t.rho, {.help = "decay of Adadelta"});
  options.add("epsilon", t.epsilon, {.help = "of Adadelta"});
  options.add("adam-beta1", t.adam_beta1, {.help = "decay of Adam's mean"});
  options.add("adam-beta2", t.adam_beta2, {.help = "decay of Adam's square"});
  options.add("adam-epsilon", t.adam_epsilon, {.help = "of Adam"});
  options.add("momentum", t.momentum, {.help = "of sgd; 0: plain gradient descent", .low = 0, .high = 1});
  options.add("gradient-of", t.gradient_of, train::gradient_of_of, train::name_of,
              {.help = "the batch's summed cost, or that divided by its sentences or target words",
               .choices = {"sum", "sentence", "word"}});
  options.add("label-smoothing", t.label_smoothing,
              {.help = "the share of each target that is spread over all words; losses are reported without it",
               .low = 0,
               .high = 1});
  options.add("clip-norm", t.clip_norm, {.help = "largest norm of that gradient; 0: no limit", .low = 0});
  options.add(
      "average-decay", t.average_decay,
      {.help = "of a moving average of the parameters, with which it validates and a checkpoint translates, some "
               "0.9999; 0: none",
       .low = 0,
       .high = 1});
  options.add("max-skipped", t.max_skipped,
              {.help = "updates in a row that may be skipped because the gradient is not finite", .low = 1});
  options.add("schedule", t.schedule, train::schedule_of, train::name_of,
              {.help = "of the learning rate", .choices = {"constant", "inverse-square-root", "plateau", "halving"}});
  options.add("warmup-updates", t.warmup_updates, {.help = "updates in which the learning rate rises from 0"});
  options.add("plateau-patience", t.plateau_patience,
              {.help = "validations without a lower dev loss until the learning rate is halved", .low = 1});
  options.add(
      "halve-after-epochs", t.halve_after_epochs,
      {.help = "of the schedule halving: passes over the corpus until the learning rate is halved for the first time, "
               "fractions too",
       .low = 0});
  options.add("halve-every-epochs", t.halve_every_epochs, {.help = "likewise: until it is halved again", .low = 0});

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
