#include "rnnsearch/decode/translate.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "decode/search.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/decode/shortlist.h"
#include "rnnsearch/kernels/buffer.h"

namespace rnnsearch::decode {
namespace {

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
  std::vector<std::vector<Translation>> run(const Sentences& source, std::span<const Guide> guides) {
    EnsembleSteps steps(ensemble_, source, shortlists_of(source, guides),
                        options_.sampling ? options_.n_best : options_.beam);
    std::vector<Search> searches;
    std::size_t longest = 0;
    for (std::size_t b = 0; b < source.size(); ++b) {
      searches.emplace_back(steps.source_length(b), options_, guides[b]);
      longest = std::max(longest, steps.source_length(b));
    }
    std::vector<std::uint32_t> parent;
    std::vector<WordId> word;
    for (std::size_t step = 0; steps.rows() > 0; ++step) {
      std::vector<std::size_t> first_row(searches.size() + 1, 0);
      for (std::size_t b = 0; b < searches.size(); ++b) first_row[b + 1] = first_row[b] + searches[b].live();
      extend(step, steps, searches, first_row, longest);

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
  // What is given is in the list, too: a prefix counts, and required phrases may be written, whatever they are.
  Sentences shortlists_of(const Sentences& source, std::span<const Guide> guides) const {
    Sentences lists;
    for (std::size_t b = 0; options_.shortlist && b < source.size(); ++b) {
      std::vector<WordId> given(guides[b].prefix.begin(), guides[b].prefix.end());
      given.insert(given.end(), guides[b].placeholders.begin(), guides[b].placeholders.end());
      for (std::size_t i = 0; guides[b].required && i < guides[b].required->phrases(); ++i) {
        const auto& phrase = guides[b].required->phrase(i);
        given.insert(given.end(), phrase.begin(), phrase.end());
      }
      lists.add(options_.shortlist->words_for(source[b], given));
    }
    return lists;
  }

  // Longer lists cost more than the scores of all words.
  static constexpr std::size_t kLongestList = 64;

  // Extends all searches by a word. The rows of searches[b] are first_row[b] to first_row[b + 1]. Lists of the most
  // probable words and the scores of all words lead to the same result.
  void extend(std::size_t step, EnsembleSteps& steps, std::vector<Search>& searches,
              const std::vector<std::size_t>& first_row, std::size_t longest) {
    const auto alpha = needs_weights(options_) ? alpha_.shape(steps.rows(), longest) : MatrixView<float>();
    const auto alpha_of = [&](std::size_t b) {
      return alpha.cols > 0 ? alpha.row_range(first_row[b], first_row[b + 1] - first_row[b]) : MatrixView<float>();
    };
    top_.limit = Search::list_length(options_);
    const auto needs_all = [&](const Search& search) { return search.live() > 0 && search.needs_all_words(step); };
    if (ensemble_.size() > 1 || top_.limit > kLongestList || std::any_of(searches.begin(), searches.end(), needs_all)) {
      const auto all = log_probabilities_.shape(steps.rows(), ensemble_.target_words());
      steps.predict(all, alpha);
      parallel_for(searches.size(), [&](std::size_t b) {
        const std::size_t live = searches[b].live();
        if (live > 0) searches[b].extend(step, all.row_range(first_row[b], live), alpha_of(b));
      });
      return;
    }
    steps.predict(top_, alpha);
    std::vector<std::uint8_t> undecided(searches.size());
    parallel_for(searches.size(), [&](std::size_t b) {
      if (searches[b].live() == 0) return;
      undecided[b] = searches[b].extend(step, top_, first_row[b], alpha_of(b)) ? 0 : 1;
    });
    for (std::size_t b = 0; b < searches.size(); ++b) {
      if (undecided[b] == 0) continue;
      std::vector<std::uint32_t> rows(searches[b].live());
      std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(first_row[b]));
      const auto all = log_probabilities_.shape(rows.size(), ensemble_.target_words());
      steps.predict_all(rows, all);
      searches[b].extend(step, all, alpha_of(b));
    }
  }

  const Ensemble& ensemble_;
  const SearchOptions& options_;
  kernels::Buffer<float> alpha_, log_probabilities_;
  kernels::TopWords<float> top_;
};

// The options of the attempt after one that finished nothing, as in BeamSearch.search of sample.py ("Dirty tricks to
// obtain any translation"). Returns nothing after the last attempt.
std::optional<SearchOptions> next_attempt(const SearchOptions& attempt, const SearchOptions& first) {
  if (first.retry_below == 0 || first.sampling) return std::nullopt;
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
                                                const std::function<bool(std::size_t done)>& done,
                                                const PerSentence& of) {
  assert(options.beam > 0 && options.n_best > 0 && options.batch_sentences > 0);
  assert(of.prefixes.empty() || (of.prefixes.size() == source.size() && !ensemble.right_to_left()));
  assert(of.numbers.empty() || of.numbers.size() == source.size());
  assert(of.required.empty() || (of.required.size() == source.size() && !ensemble.right_to_left() &&
                                 !options.sampling && options.groups == 1));
  assert(!options.forbidden || !ensemble.right_to_left());
  assert(options.groups > 0 && options.beam % options.groups == 0 && (options.groups == 1 || !options.sampling));
  const auto prefix_of = [&](std::size_t i) {
    return of.prefixes.empty() ? std::span<const WordId>() : of.prefixes[i];
  };
  const auto required_of = [&](std::size_t i) {
    return of.required.empty() || of.required[i].empty() ? nullptr : &of.required[i];
  };
  std::vector<std::vector<Translation>> translations(source.size());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source.length(i) > 0) {
      order.push_back(i);
    } else {
      translations[i].resize(1);
      if (const auto* required = required_of(i)) translations[i].front().unmet = required->phrases();
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
      std::vector<Guide> guides;
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = order[first + i];
        batch.add(source[at]);
        guides.push_back({prefix_of(at), of.numbers.empty() ? at : of.numbers[at], required_of(at)});
        for (const auto& placeholder : options.placeholders) {
          if (std::count(source[at].begin(), source[at].end(), placeholder.source) > 0)
            guides.back().placeholders.push_back(placeholder.target);
        }
      }
      std::vector<std::vector<Translation>> results;
      try {
        results = search.run(batch, guides);
      } catch (const Interrupted&) {
        if (!done) throw;
        return translations;
      }
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = order[first + i];
        if (!results[i].front().finished && !results[i].front().is_nan()) {
          const bool has_all = results[i].front().unmet == 0;
          if (retries == 0) cut_off[at] = std::move(results[i]);
          const std::size_t Tx = ensemble.source_length(source.length(at));
          const bool can_end = minimum_length(Tx, options) < maximum_length(Tx, options, prefix_of(at).size());
          // A wider beam meets no more phrases: every bank that can have a hypothesis has one.
          if (can_end && !last && has_all) {
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
