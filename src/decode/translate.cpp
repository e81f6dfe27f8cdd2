#include "rnnsearch/decode/translate.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "rnnsearch/base/parallel.h"
#include "rnnsearch/kernels/buffer.h"

namespace rnnsearch::decode {
namespace {

// A word of a hypothesis; the chain of parents is its history. The parent of the first word is kRoot.
struct Node {
  std::size_t parent;
  WordId word;
  float score;             // log-probability of the word
  std::uint32_t attended;  // source position with the largest attention weight, if requested
};
constexpr std::size_t kRoot = std::numeric_limits<std::size_t>::max();

struct Hypothesis {
  double score;         // log-probability so far
  std::size_t node;     // node of its last word; kRoot before the first
  double coverage = 0;  // coverage_of its weights, once it has ended
};

struct Candidate {
  double score;
  std::uint32_t hypothesis;
  WordId word;

  bool better_than(const Candidate& other) const {
    if (score != other.score) return score > other.score;
    return hypothesis != other.hypothesis ? hypothesis < other.hypothesis : word < other.word;
  }
};

// The number of words among which </s> is not allowed.
std::size_t minimum_length(std::size_t Tx, const SearchOptions& options) {
  return std::max(static_cast<std::size_t>(options.minimum_length_ratio * static_cast<double>(Tx)),
                  options.minimum_length);
}

// The maximum number of words, including </s>.
std::size_t maximum_length(std::size_t Tx, const SearchOptions& options) {
  const auto by_ratio = static_cast<std::size_t>(options.maximum_length_ratio * static_cast<double>(Tx));
  return std::max<std::size_t>(1, std::min(by_ratio, options.maximum_length.value_or(by_ratio)));
}

bool needs_weights(const SearchOptions& options) {
  return options.alignments || options.attended || options.coverage_penalty != 0;
}

// The search for one sentence.
class Search {
 public:
  Search(std::size_t source_length, const SearchOptions& options)
      : options_(options),
        source_length_(source_length),
        wanted_(options.beam),
        minimum_(minimum_length(source_length, options)),
        maximum_(maximum_length(source_length, options)),
        live_{{0.0, kRoot}},
        cut_off_(live_) {
    if (options.coverage_penalty != 0) coverage_.assign(source_length_, 0.0);
  }

  std::size_t live() const { return live_.size(); }

  // Extends the hypotheses by word number `step` (from 0). Row i of log_probabilities and alpha belongs to hypothesis
  // i. Finished hypotheses leave the beam, which shrinks accordingly.
  void extend(std::size_t step, MatrixView<const float> log_probabilities, MatrixView<const float> alpha) {
    // The log-softmax subtracts the same number from the whole row, so either all of a row is NaN or nothing.
    for (std::size_t row = 0; row < live_.size(); ++row)
      is_nan_ = is_nan_ || std::isnan(log_probabilities.row(row)[kEnd]);
    if (is_nan_) {
      live_.clear();
      survivors_.clear();
      return;
    }
    select(step, log_probabilities);
    std::vector<Hypothesis> next;
    std::vector<double> next_coverage;
    survivors_.clear();
    for (const Candidate& candidate : best_) {
      nodes_.push_back({live_[candidate.hypothesis].node, candidate.word,
                        log_probabilities.row(candidate.hypothesis)[candidate.word], 0});
      if (alpha.cols > 0) read_weights(alpha.row(candidate.hypothesis), candidate.hypothesis, next_coverage);
      Hypothesis extended{candidate.score, nodes_.size() - 1};
      if (candidate.word == kEnd) {
        if (!coverage_.empty()) {
          extended.coverage = coverage_of(row_of(next_coverage, next.size()));
          next_coverage.resize(next.size() * source_length_);
        }
        finished_.push_back(extended);
        --wanted_;
      } else {
        next.push_back(extended);
        survivors_.push_back(candidate);
      }
    }
    if (next.empty() && finished_.empty()) cut_off();  // no continuation is allowed and possible
    live_ = std::move(next);
    if (!coverage_.empty()) coverage_ = std::move(next_coverage);
    if (wanted_ == 0 || live_.empty() || step + 1 == maximum_) {
      if (finished_.empty() && !live_.empty()) cut_off();
      live_.clear();
      survivors_.clear();
    }
  }

  // For each live hypothesis, the index of the hypothesis that it extends (before the last `extend`), and the word.
  const std::vector<Candidate>& survivors() const { return survivors_; }

  // Returns at least one translation.
  std::vector<Translation> result() const {
    std::vector<Translation> translations;
    if (is_nan_) {
      translations.emplace_back().log_probability = std::numeric_limits<double>::quiet_NaN();
      translations.front().finished = false;
      return translations;
    }
    for (const Hypothesis& hypothesis : finished_.empty() ? cut_off_ : finished_) {
      translations.push_back(translation_of(hypothesis));
    }
    const auto rank = [&](const Translation& t) { return t.score(options_).value(); };
    std::stable_sort(translations.begin(), translations.end(),
                     [&](const Translation& a, const Translation& b) { return rank(a) > rank(b); });
    translations.resize(std::min(translations.size(), options_.n_best));
    return translations;
  }

 private:
  // Sets best_ to the `wanted_` best continuations, best first.
  void select(std::size_t step, MatrixView<const float> log_probabilities) {
    constexpr float kNever = -std::numeric_limits<float>::infinity();
    const auto worse_on_top = [](const Candidate& a, const Candidate& b) { return a.better_than(b); };
    best_.clear();
    for (std::uint32_t hypothesis = 0; hypothesis < live_.size(); ++hypothesis) {
      const float* row = log_probabilities.row(hypothesis);
      const double score = live_[hypothesis].score;
      for (WordId word = 0; word < log_probabilities.cols; ++word) {
        // A later candidate loses a tie, so it must be strictly better than the worst one that is kept.
        if (best_.size() == wanted_ && !(score + static_cast<double>(row[word]) > best_.front().score)) continue;
        if (!(row[word] > kNever) || word == kStart) continue;
        if (word == kEnd && step < minimum_) continue;
        if (word == kUnknown && options_.no_unknown) continue;
        if (best_.size() == wanted_) {
          std::pop_heap(best_.begin(), best_.end(), worse_on_top);
          best_.pop_back();
        }
        best_.push_back({score + static_cast<double>(row[word]), hypothesis, word});
        std::push_heap(best_.begin(), best_.end(), worse_on_top);
      }
    }
    std::sort_heap(best_.begin(), best_.end(), worse_on_top);
  }

  std::span<const double> row_of(const std::vector<double>& coverage, std::size_t hypothesis) const {
    return std::span(coverage).subspan(hypothesis * source_length_, source_length_);
  }

  // Of the word of the last node, which extends this hypothesis: what of its weights is wanted. Appends a row to
  // `coverage`.
  void read_weights(const float* row, std::size_t hypothesis, std::vector<double>& coverage) {
    if (options_.alignments) alpha_.insert(alpha_.end(), row, row + source_length_);
    if (options_.attended) {
      nodes_.back().attended = static_cast<std::uint32_t>(std::max_element(row, row + source_length_) - row);
    }
    if (coverage_.empty()) return;
    const auto before = row_of(coverage_, hypothesis);
    for (std::size_t j = 0; j < source_length_; ++j) coverage.push_back(before[j] + static_cast<double>(row[j]));
  }

  void cut_off() {
    cut_off_ = live_;
    for (std::size_t i = 0; i < cut_off_.size() && !coverage_.empty(); ++i) {
      cut_off_[i].coverage = coverage_of(row_of(coverage_, i));
    }
  }

  Translation translation_of(const Hypothesis& hypothesis) const {
    Translation translation;
    translation.log_probability = hypothesis.score;
    translation.coverage = hypothesis.coverage;
    std::vector<std::size_t> path;
    for (std::size_t node = hypothesis.node; node != kRoot; node = nodes_[node].parent) path.push_back(node);
    std::reverse(path.begin(), path.end());
    for (const std::size_t node : path) {
      if (nodes_[node].word != kEnd) translation.words.push_back(nodes_[node].word);
      translation.word_scores.push_back(nodes_[node].score);
      if (options_.attended) translation.attended.push_back(nodes_[node].attended);
      if (options_.alignments) {
        const auto row = alpha_.begin() + static_cast<std::ptrdiff_t>(node * source_length_);
        translation.alignment.insert(translation.alignment.end(), row,
                                     row + static_cast<std::ptrdiff_t>(source_length_));
      }
    }
    translation.finished = !path.empty() && nodes_[path.back()].word == kEnd;
    return translation;
  }

  const SearchOptions& options_;
  std::size_t source_length_;  // Tx
  std::size_t wanted_;         // remaining size of the beam
  std::size_t minimum_, maximum_;
  std::vector<Node> nodes_;
  std::vector<float> alpha_;      // [nodes, source_length_]
  std::vector<double> coverage_;  // [live, source_length_] sums of weights; empty without a coverage penalty
  std::vector<Hypothesis> live_, finished_;
  std::vector<Hypothesis> cut_off_;  // the result if no hypothesis is finished; never empty
  bool is_nan_ = false;              // the model computed NaN, so hypotheses cannot be compared
  std::vector<Candidate> best_, survivors_;
};

// Puts the words of a translation that was written from its last word to the first, and what belongs to them, into the
// order of the sentence. What belongs to </s> stays last.
void reverse(Translation& translation, std::size_t source_length) {
  const std::size_t length = translation.words.size();
  const auto reverse_words = [length](auto& values) {
    if (!values.empty()) std::reverse(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(length));
  };
  reverse_words(translation.words);
  reverse_words(translation.word_scores);
  reverse_words(translation.attended);
  if (translation.alignment.empty()) return;
  const auto row = [&](std::size_t i) { return translation.alignment.data() + i * source_length; };
  for (std::size_t i = 0; i < length / 2; ++i) std::swap_ranges(row(i), row(i + 1), row(length - 1 - i));
}

class BatchSearch {
 public:
  BatchSearch(const Ensemble& ensemble, const SearchOptions& options) : ensemble_(ensemble), options_(options) {}

  // The rows of all matrices are the live hypotheses of sentence 0, then those of sentence 1, and so on.
  std::vector<std::vector<Translation>> run(const Sentences& source) {
    EnsembleSteps steps(ensemble_, source);
    std::vector<Search> searches;
    std::size_t longest = 0;
    for (std::size_t b = 0; b < source.size(); ++b) {
      searches.emplace_back(steps.source_length(b), options_);
      longest = std::max(longest, steps.source_length(b));
    }
    std::vector<std::uint32_t> parent;
    std::vector<WordId> word;
    for (std::size_t step = 0; steps.rows() > 0; ++step) {
      const auto log_probabilities = log_probabilities_.shape(steps.rows(), ensemble_.target_words());
      const auto alpha = needs_weights(options_) ? alpha_.shape(steps.rows(), longest) : MatrixView<float>();
      steps.predict(log_probabilities, alpha);

      std::vector<std::size_t> first_row(searches.size() + 1, 0);
      for (std::size_t b = 0; b < searches.size(); ++b) first_row[b + 1] = first_row[b] + searches[b].live();
      parallel_for(searches.size(), [&](std::size_t b) {
        const std::size_t live = searches[b].live();
        if (live == 0) return;
        searches[b].extend(step, log_probabilities.row_range(first_row[b], live),
                           alpha.cols > 0 ? alpha.row_range(first_row[b], live) : MatrixView<float>());
      });

      parent.clear();
      word.clear();
      for (std::size_t b = 0; b < searches.size(); ++b) {
        for (const Candidate& survivor : searches[b].survivors()) {
          parent.push_back(static_cast<std::uint32_t>(first_row[b] + survivor.hypothesis));
          word.push_back(survivor.word);
        }
      }
      steps.advance(parent, word);
    }

    std::vector<std::vector<Translation>> results;
    for (std::size_t b = 0; b < searches.size(); ++b) {
      results.push_back(searches[b].result());
      if (!ensemble_.right_to_left()) continue;
      for (Translation& translation : results.back()) reverse(translation, steps.source_length(b));
    }
    return results;
  }

 private:
  const Ensemble& ensemble_;
  const SearchOptions& options_;
  kernels::Buffer<float> alpha_, log_probabilities_;
};

// The options of the attempt after one that finished nothing, as in BeamSearch.search of sample.py ("Dirty tricks to
// obtain any translation"). Returns nothing after the last attempt.
std::optional<SearchOptions> next_attempt(const SearchOptions& attempt, const SearchOptions& first) {
  if (first.retry_below == 0) return std::nullopt;
  SearchOptions next = attempt;
  if (attempt.no_unknown) {
    next.no_unknown = false;
    return next;
  }
  if (attempt.beam >= first.retry_below) return std::nullopt;
  next.beam = 2 * attempt.beam;
  return next;
}

// The number of sentences to search together, so that an attempt has at most as many hypotheses as the first one, but
// at least one sentence.
std::size_t sentences_together(const SearchOptions& attempt, const SearchOptions& first) {
  return std::max<std::size_t>(1, first.batch_sentences * first.beam / attempt.beam);
}

}  // namespace

Score score_of(double log_probability, std::size_t length, double coverage, const SearchOptions& options) {
  assert(!options.normalize || options.length_penalty == 0);
  const auto words = static_cast<double>(length);
  Score score{log_probability, length};
  if (options.normalize) score.length_penalty = std::max(1.0, words);
  if (options.length_penalty != 0) score.length_penalty = std::pow((5 + words) / 6, options.length_penalty);
  score.coverage_penalty = options.coverage_penalty * coverage;
  score.word_bonus = options.word_bonus * words;
  return score;
}

double coverage_of(std::span<const double> weights) {
  constexpr double kLeast = std::numeric_limits<float>::min();
  double sum = 0;
  for (const double weight : weights) sum += std::log(std::clamp(weight, kLeast, 1.0));
  return sum;
}

std::vector<std::vector<Translation>> translate(const Ensemble& ensemble, const Sentences& source,
                                                const SearchOptions& options,
                                                const std::function<bool(std::size_t done)>& done) {
  assert(options.beam > 0 && options.n_best > 0 && options.batch_sentences > 0);
  std::vector<std::vector<Translation>> translations(source.size());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source.length(i) > 0) {
      order.push_back(i);
    } else {
      translations[i].resize(1);
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return source.length(a) > source.length(b); });
  // Sentences without a finished hypothesis wait here until all others are done, so that retries have full batches.
  std::vector<std::vector<Translation>> cut_off(source.size());
  std::size_t finished = source.size() - order.size(), retries = 0;
  for (SearchOptions attempt = options;; ++retries) {
    const bool last = !next_attempt(attempt, options).has_value();
    const std::size_t batch_sentences = sentences_together(attempt, options);
    BatchSearch search(ensemble, attempt);
    std::vector<std::size_t> unfinished;
    for (std::size_t first = 0; first < order.size(); first += batch_sentences) {
      const std::size_t count = std::min(batch_sentences, order.size() - first);
      Sentences batch;
      for (std::size_t i = 0; i < count; ++i) batch.add(source[order[first + i]]);
      std::vector<std::vector<Translation>> results;
      try {
        results = search.run(batch);
      } catch (const Interrupted&) {
        if (!done) throw;
        return translations;
      }
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = order[first + i];
        if (!results[i].front().finished && !results[i].front().is_nan()) {
          if (retries == 0) cut_off[at] = std::move(results[i]);
          const std::size_t Tx = ensemble.source_length(source.length(at));
          const bool can_end = minimum_length(Tx, options) < maximum_length(Tx, options);
          if (can_end && !last) {
            unfinished.push_back(at);
            continue;
          }
          results[i] = std::move(cut_off[at]);
        } else {
          for (Translation& translation : results[i]) translation.retries = retries;
        }
        translations[at] = std::move(results[i]);
        ++finished;
      }
      if (done && !done(finished)) return translations;
    }
    if (unfinished.empty()) return translations;
    order = std::move(unfinished);
    attempt = *next_attempt(attempt, options);
  }
}

}  // namespace rnnsearch::decode
