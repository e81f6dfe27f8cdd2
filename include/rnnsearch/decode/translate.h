// Translates sentences in batches, with greedy or beam search.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "rnnsearch/base/sentences.h"
#include "rnnsearch/corpus/text_pipeline.h"
#include "rnnsearch/decode/constraints.h"
#include "rnnsearch/decode/ensemble.h"

namespace rnnsearch::decode {

class ForbiddenWords;
class Shortlist;

/// Draws words at random from the distribution that a model predicts, in place of a search.
/// Sampling from the whole distribution is how Edunov et al. (2018), Understanding back-translation at scale, section
/// 3, make synthetic sources; sampling from the most probable words is that of Fan et al. (2018), Hierarchical neural
/// story generation, section 5, and of the former paper with k = 10.
struct Sampling {
  double temperature = 1;  // above 0: words are drawn from softmax(score / temperature)
  std::size_t top_k = 0;   // only from so many words of the largest scores; 0: from all
  std::uint64_t seed = 1;
};

/// Lengths, including Tx, count </s>. Limits by ratio and retries are those of sample.py in the released code of
/// Bahdanau, Cho and Bengio (2015) (GroundHog, experiments/nmt, BeamSearch.search and sample). Its --beam-size has no
/// default and the paper does not state its beam size, so the default is our own.
///
/// `normalize`, the penalties and the bonus rank finished hypotheses (see Score), or those that were cut off when there
/// are none. While hypotheses grow they have equal lengths, and the search compares their log-probabilities.
struct SearchOptions {
  std::size_t beam = 10;              // number of hypotheses, including finished ones; 1: greedy search
  std::size_t n_best = 1;             // translations returned for each sentence, at most `beam`
  bool normalize = false;             // divide log-probabilities by length; not together with length_penalty
  double length_penalty = 0;          // alpha of Wu et al. (2016), equation 14; 0: log-probabilities stay as they are
  double coverage_penalty = 0;        // beta of the same equation; other than 0 only for a model with attention
  double word_bonus = 0;              // added to the score for each word
  bool no_unknown = false;            // never produce <unk>
  double minimum_length_ratio = 0.5;  // </s> cannot be among the first floor(ratio * Tx) words
  double maximum_length_ratio = 3.0;  // at most floor(ratio * Tx) words, including </s>
  std::size_t minimum_length = 0;     // </s> cannot be among the first `minimum_length` words either
  std::optional<std::size_t> maximum_length{};  // nor are there more words than this, including </s>
  /// If no hypothesis of a sentence ends within its maximum length, the sentence is searched again: first with <unk>
  /// allowed (if no_unknown is set), then with a doubled beam as long as the beam is smaller than this number. The
  /// largest beam is therefore less than twice this number, and all retries together cost less than four times a single
  /// search with a beam of this size. A sentence whose length limits never allow </s> is not searched again. 0: no
  /// retries.
  std::size_t retry_below = 500;
  std::size_t batch_sentences = 64;  // sentences searched together; affects speed and memory, not the result
  bool alignments = false;           // return the attention weights
  bool attended = false;             // return for each word the source position with the largest weight
  /// Draw `n_best` translations word by word, in place of a search: `beam` and retries do not count. Words that the
  /// options exclude are never drawn; scores are those of the model, whatever the temperature.
  std::optional<Sampling> sampling{};
  /// Phrases that no translation contains, except in its prefix: a hypothesis that would complete one is dropped. Only
  /// for models that predict the first word first. Null: none.
  std::shared_ptr<const ForbiddenWords> forbidden{};
  /// The placeholders of the model (text/placeholders.h): one is written at most once, and only if the source has it.
  std::vector<corpus::PlaceholderWord> placeholders{};
  /// The softmax of a sentence is over the words that this gives for it, with its prefix and required phrases, and all
  /// other words have the probability 0. Null: over the vocabulary.
  std::shared_ptr<const Shortlist> shortlist{};
  /// The beam is divided into so many groups of equal width, which search one after the other at each step (Vijayakumar
  /// et al. 2016, Diverse beam search, algorithm 1 with Hamming diversity): in a group, `diversity` is subtracted from
  /// the log-probability of a word for each time that an earlier group has chosen it at this step, and the sum over its
  /// words ranks a growing hypothesis. Results are the distinct hypotheses of all groups, ranked as always, by
  /// probabilities without what was subtracted. REQUIRES: `beam` is a multiple of it; 1 in sampling and with required
  /// phrases.
  std::size_t groups = 1;
  double diversity = 0;
  /// No sequence of so many words stands twice in a translation, except in its prefix (Paulus, Xiong and Socher 2018, A
  /// deep reinforced model for abstractive summarization, section 2.5). 0: there is no limit.
  std::size_t no_repeat_ngram = 0;
  /// The log-probability of a word that the hypothesis has already is multiplied by this number, which is at least 1
  /// (Keskar et al. 2019, CTRL, section 4.1, which divides positive logits). As in the beam search of Hugging Face's
  /// transformers, the products take the place of log-probabilities in all scores, and are not normalised again.
  double repetition_penalty = 1;
};

/// What differs between the sentences of a call.
struct PerSentence {
  /// The words with which its translations begin, whose scores count: forced decoding up to there (Wuebker et al. 2016,
  /// Models and inference for prefix-constrained machine translation, section 3). Any words but <s> and </s>, also
  /// <unk>, whatever the options exclude. Where the maximum length has no room for prefix and </s>, it is raised to
  /// that.
  std::vector<WordId> prefix{};
  /// Selects its random stream in sampling.
  std::uint64_t number = 0;
  /// The phrases that its translations contain, also words that the options exclude. A sentence with phrases is
  /// searched by dynamic beam allocation (Post and Vilar 2018, section 3): at each step the candidates are the best
  /// continuations, the words that continue or begin phrases, and the best word of each hypothesis; the beam is divided
  /// evenly among the banks of hypotheses with 0, 1, ... C words of phrases, and </s> is for hypotheses with all. If
  /// none ends, the result has those with the most phrases first. Not in sampling, and only for models that predict the
  /// first word first.
  RequiredWords required{};
};

/// The score by which hypotheses are ranked, and its parts.
struct Score {
  double log_probability = 0;   // natural logarithm, including </s> if finished; NaN if the model computed NaN
  std::size_t length = 0;       // |Y|, the number of words, including </s> if finished
  double length_penalty = 1;    // lp(Y): the length if `normalize`, otherwise ((5 + |Y|) / 6)^alpha
  double coverage_penalty = 0;  // cp(X, Y) = beta sum_j log(min(sum_i alpha_ij, 1))
  double word_bonus = 0;        // the bonus of all words, |Y| of them

  /// s(Y, X) = log P(Y|X) / lp(Y) + cp(X, Y) (Wu et al. 2016, Google's neural machine translation system, equation 14)
  /// plus the bonus (Murray and Chiang 2018, Correcting length bias in neural machine translation, section 3.2).
  double value() const { return log_probability / length_penalty + coverage_penalty + word_bonus; }
};

/// The score of a hypothesis of `length` words. `coverage`: the sum of coverage_of over what it translates; 0 if the
/// options have no coverage penalty.
Score score_of(double log_probability, std::size_t length, double coverage, const SearchOptions& options);

/// sum_j log(min(weights[j], 1)), where weights[j] is the sum of alpha_ij over the words i of a hypothesis. All Tx
/// source positions count, </s> too if the encoder reads it. A weight below the smallest normal float counts as that
/// (a logarithm of -87.3), because a word that a local window never reached has the weight 0.
double coverage_of(std::span<const double> weights);

struct Translation {
  std::vector<WordId> words;     // without </s>, in the order of the sentence, whatever the direction of the search
  double log_probability = 0;    // natural logarithm, including </s> if finished; NaN if the model computed NaN
  bool finished = true;          // false: cut off at the maximum length, because no hypothesis ended in any search
  std::size_t retries = 0;       // number of searches of this sentence without a result; 0 if not finished
  std::vector<float> alignment;  // [words, plus </s> if finished, Tx] row-major, if requested; 0 without attention
  /// [words, plus </s> if finished] log-probability of each word after those before it. Their sum is log_probability.
  std::vector<float> word_scores{};
  /// [words, plus </s> if finished] the source position with the largest weight, the first of several, if requested.
  std::vector<std::uint32_t> attended{};
  double coverage = 0;    // coverage_of its weights; 0 without a coverage penalty
  std::size_t unmet = 0;  // number of required phrases that it lacks

  bool is_nan() const { return std::isnan(log_probability); }
  /// The length is 0 for an empty source sentence and for a translation that is NaN.
  Score score(const SearchOptions& options) const {
    return score_of(log_probability, word_scores.size(), coverage, options);
  }
};

/// Returns, in the caller's order, 1 to `n_best` translations of each source sentence, best first; in sampling
/// `n_best`, which are independent, in the order of their numbers.
/// - An empty source sentence gives one empty translation.
/// - A sentence for which the model computes NaN at any word of any hypothesis, because its training diverged, has one
///   translation without words for which is_nan() holds.
/// - A sentence for which all retries fail has the hypotheses of the first search, cut off at the maximum length
///   (sample.py fails for such a sentence).
/// - <s> is never produced. Among equally probable continuations, the one of the better hypothesis wins, then the lower
///   word id.
/// - `batch_sentences` are searched together, the longest first. Where one has ended, the next one begins; with a
///   shortlist all of a batch end before others begin. Up to twice as many are held encoded. Which ones are together
///   affects only the rounding of float sums. Retries search fewer sentences together, so that a larger beam needs no
///   more memory (but at least one sentence). The result is bit-identical for any number of threads.
/// - If given, `done` is called after every step in which searches end, with the number of finished sentences, which is
///   the same as before if all of these are searched again. If it returns false, the search ends, and the remaining
///   sentences, including those that wait for a retry, have no translation. An Interruptible ends the search in the
///   middle of a sentence with the same result, or, without `done`, with its exception.
/// - In sampling, the word at a step is a function of the seed, the numbers of sentence, sample and step, and the
///   scores of the model.
/// per_sentence: one for each sentence, or none: no prefixes and phrases, and the numbers 0, 1, 2 ...
/// REQUIRES: prefixes, forbidden and required phrases only for models that predict the first word first.
std::vector<std::vector<Translation>> translate(const Ensemble& ensemble, const Sentences& source,
                                                const SearchOptions& options,
                                                const std::function<bool(std::size_t done)>& done = {},
                                                std::span<const PerSentence> per_sentence = {});

}  // namespace rnnsearch::decode
