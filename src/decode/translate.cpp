#include "rnnsearch/decode/translate.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>

#include "decode/search.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/portable.h"
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

/// Searches sentences, several at a time: where one has ended, the next one begins.
class SearchOfMany {
 public:
  SearchOfMany(const Ensemble& ensemble, const SearchOptions& options, std::size_t together)
      : ensemble_(ensemble),
        options_(options),
        together_(together),
        steps_(ensemble, options.sampling ? options.n_best : options.beam) {}

  /// `sentences`: what holds for each. found(i, translations) is called when the search of sentence i has ended,
  /// go_on() after steps in which some have; false ends the call.
  void run(const Sentences& source, std::span<const PerSentence* const> sentences,
           const std::function<void(std::size_t, std::vector<Translation>)>& found,
           const std::function<bool()>& go_on) {
    std::size_t next = 0;  // of `source`
    for (;;) {
      const std::size_t live = admit(source, sentences, next);
      if (live == 0) return;
      step();
      bool ended = false;
      for (std::size_t b = 0; b < started_; ++b) {
        if (in_flight_[b].ended || in_flight_[b].search.live() > 0) continue;
        in_flight_[b].ended = ended = true;
        found(in_flight_[b].number, result_of(b));
      }
      if (ended && !go_on()) return;
    }
  }

 private:
  struct InFlight {
    std::size_t number;  // of the sentence
    Search search;
    bool ended = false;
  };

  /// Lets sentences begin where there is room. Returns the number of sentences that are searched.
  std::size_t admit(const Sentences& source, std::span<const PerSentence* const> sentences, std::size_t& next) {
    std::vector<std::uint32_t> live;
    for (std::size_t b = 0; b < started_; ++b) {
      if (!in_flight_[b].ended) live.push_back(static_cast<std::uint32_t>(b));
    }
    const auto begin = [&] {
      const std::size_t count = std::min(together_ - live.size(), steps_.waiting());
      if (count > 0) steps_.start(count);
      for (std::size_t i = 0; i < count; ++i) live.push_back(static_cast<std::uint32_t>(started_++));
    };
    begin();
    // Sentences are encoded `together_` at a time, because a few would take nearly as long. Those with shortlists also
    // end together, because the columns of a product are those of all of its sentences.
    const bool room = options_.shortlist ? live.empty() : live.size() < together_;
    if (room && next < source.size()) {
      encode_more(source, sentences, live, next);
      begin();
    }
    return live.size();
  }

  /// Of what was encoded before, keeps the sentences `live`, which get the numbers 0, 1, ...
  void encode_more(const Sentences& source, std::span<const PerSentence* const> sentences,
                   std::vector<std::uint32_t>& live, std::size_t& next) {
    Sentences chunk;
    const std::size_t first = next;
    for (; next < std::min(source.size(), first + together_); ++next) chunk.add(source[next]);
    std::vector<std::vector<WordId>> placeholders(chunk.size());
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      for (const auto& placeholder : options_.placeholders) {
        if (std::ranges::count(chunk[i], placeholder.source) > 0) placeholders[i].push_back(placeholder.target);
      }
    }
    steps_.add(live, chunk, shortlists_of(chunk, sentences.subspan(first, chunk.size()), placeholders));
    std::vector<InFlight> in_flight;
    for (const std::uint32_t b : live) in_flight.push_back(std::move(in_flight_[b]));
    std::iota(live.begin(), live.end(), 0U);
    started_ = live.size();
    in_flight_ = std::move(in_flight);
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      in_flight_.push_back(
          {first + i, Search(steps_.source_length(started_ + i), options_, *sentences[first + i], placeholders[i])});
    }
  }

  // The rows of all matrices are the hypotheses of sentence 0, then those of sentence 1, and so on.
  void step() {
    std::vector<std::size_t> first_row(started_ + 1, 0);
    for (std::size_t b = 0; b < started_; ++b) first_row[b + 1] = first_row[b] + in_flight_[b].search.live();
    extend(first_row);
    std::vector<std::uint32_t> parent;
    std::vector<WordId> word;
    for (std::size_t b = 0; b < started_; ++b) {
      if (in_flight_[b].ended) continue;
      for (const Candidate& survivor : in_flight_[b].search.survivors()) {
        parent.push_back(static_cast<std::uint32_t>(first_row[b] + survivor.hypothesis));
        word.push_back(survivor.word);
      }
    }
    steps_.advance(parent, word);
  }

  std::vector<Translation> result_of(std::size_t b) const {
    std::vector<Translation> translations = in_flight_[b].search.result();
    if (ensemble_.right_to_left()) {
      for (Translation& translation : translations) reverse(translation, steps_.source_length(b));
    }
    return translations;
  }

  // What is given is in the list, too: a prefix counts, and required phrases may be written, whatever they are.
  Sentences shortlists_of(const Sentences& source, std::span<const PerSentence* const> sentences,
                          const std::vector<std::vector<WordId>>& placeholders) const {
    Sentences lists;
    for (std::size_t b = 0; options_.shortlist && b < source.size(); ++b) {
      std::vector<WordId> given = sentences[b]->prefix;
      given.insert(given.end(), placeholders[b].begin(), placeholders[b].end());
      for (const auto& phrase : sentences[b]->required.all()) given.insert(given.end(), phrase.begin(), phrase.end());
      lists.add(options_.shortlist->words_for(source[b], given));
    }
    return lists;
  }

  // Longer lists cost more than the scores of all words.
  static constexpr std::size_t kLongestList = 64;

  // Extends all searches by a word. The rows of sentence b are first_row[b] to first_row[b + 1]. Lists of the most
  // probable words and the scores of all words lead to the same result; the scores are computed for the rows alone that
  // need them, unless these are the most.
  void extend(const std::vector<std::size_t>& first_row) {
    std::size_t longest = 0, rows_in_need = 0;
    for (std::size_t b = 0; b < started_; ++b) {
      const Search& search = in_flight_[b].search;
      if (search.live() > 0) longest = std::max(longest, steps_.source_length(b));
      if (search.needs_all_words()) rows_in_need += search.live();
    }
    const auto alpha = needs_weights(options_) ? alpha_.shape(steps_.rows(), longest) : MatrixView<float>();
    const auto extend_by = [&](std::size_t b, const std::vector<NextWords>& next) {
      return in_flight_[b].search.extend(
          next, alpha.cols > 0 ? alpha.row_range(first_row[b], next.size()) : MatrixView<float>());
    };
    const std::size_t length = Search::list_length(options_, ensemble_.size());
    const bool lists = length <= kLongestList && 2 * rows_in_need <= steps_.rows();
    if (lists) steps_.predict_listed(length, alpha);
    std::vector<std::vector<NextWords>> next(started_);
    std::vector<std::vector<std::uint32_t>> undecided(started_);  // hypotheses
    parallel_for(started_, [&](std::size_t b) {
      const Search& search = in_flight_[b].search;
      next[b].resize(search.live());
      if (lists && search.live() > 0 && !search.needs_all_words()) {
        for (std::size_t i = 0; i < search.live(); ++i) next[b][i] = steps_.listed(first_row[b] + i);
        if (!extend_by(b, next[b])) undecided[b] = search.undecided();
      } else {
        undecided[b].resize(search.live());
        std::iota(undecided[b].begin(), undecided[b].end(), 0U);
      }
    });
    std::vector<std::uint32_t> rows;
    std::vector<std::size_t> first(started_);  // of a sentence in `rows`
    for (std::size_t b = 0; b < started_; ++b) {
      first[b] = rows.size();
      for (const std::uint32_t i : undecided[b]) rows.push_back(static_cast<std::uint32_t>(first_row[b] + i));
    }
    if (rows.empty()) return;
    const auto all = log_probabilities_.shape(rows.size(), ensemble_.target_words());
    lists ? steps_.predict_all(rows, all) : steps_.predict(all, alpha);
    parallel_for(started_, [&](std::size_t b) {
      for (std::size_t k = 0; k < undecided[b].size(); ++k) {
        const std::span<const float> row(all.row(first[b] + k), all.cols);
        // The log-softmax subtracts the same number from the whole row, so either all of a row is NaN or nothing.
        next[b][undecided[b][k]] = {.all = row, .is_nan = std::isnan(row[kEnd])};
      }
      if (!undecided[b].empty()) extend_by(b, next[b]);
    });
  }

  const Ensemble& ensemble_;
  const SearchOptions& options_;
  std::size_t together_;
  EnsembleSteps steps_;
  std::vector<InFlight> in_flight_;  // by their numbers in steps_
  std::size_t started_ = 0;          // of these, the first ones, that have begun
  kernels::Buffer<float> alpha_, log_probabilities_;
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
  if (options.length_penalty != 0) score.length_penalty = portable::power((5 + words) / 6, options.length_penalty);
  score.coverage_penalty = options.coverage_penalty * coverage;
  score.word_bonus = options.word_bonus * words;
  return score;
}

double coverage_of(std::span<const double> weights) {
  constexpr double kLeast = std::numeric_limits<float>::min();
  double sum = 0;
  for (const double weight : weights) sum += portable::log(std::clamp(weight, kLeast, 1.0));
  return sum;
}

std::vector<std::vector<Translation>> translate(const Ensemble& ensemble, const Sentences& source,
                                                const SearchOptions& options,
                                                const std::function<bool(std::size_t done)>& done,
                                                std::span<const PerSentence> per_sentence) {
  assert(options.beam > 0 && options.n_best > 0 && options.batch_sentences > 0);
  assert(per_sentence.empty() || per_sentence.size() == source.size());
  for ([[maybe_unused]] const PerSentence& one : per_sentence) {
    assert((one.prefix.empty() && one.required.empty()) || !ensemble.right_to_left());
    assert(one.required.empty() || (!options.sampling && options.groups == 1));
  }
  assert(!options.forbidden || !ensemble.right_to_left());
  assert(options.repetition_penalty >= 1);
  assert(options.groups > 0 && options.beam % options.groups == 0 && (options.groups == 1 || !options.sampling));
  std::vector<PerSentence> numbered(per_sentence.empty() ? source.size() : 0);
  for (std::size_t i = 0; i < numbered.size(); ++i) numbered[i].number = i;
  if (per_sentence.empty()) per_sentence = numbered;
  std::vector<std::vector<Translation>> translations(source.size());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source.length(i) > 0) {
      order.push_back(i);
    } else {
      translations[i].resize(1);
      translations[i].front().unmet = per_sentence[i].required.phrases();
    }
  }
  const auto sort = [&](std::vector<std::size_t>& sentences) {  // the longest first
    std::stable_sort(sentences.begin(), sentences.end(),
                     [&](std::size_t a, std::size_t b) { return source.length(a) > source.length(b); });
  };
  sort(order);
  // Sentences without a finished hypothesis wait here until all others are done, so that retries have full batches.
  std::vector<std::vector<Translation>> cut_off(source.size());
  std::size_t finished = source.size() - order.size(), retries = 0;
  for (SearchOptions attempt = options;; ++retries) {
    const bool last = !next_attempt(attempt, options).has_value();
    std::vector<std::size_t> unfinished;
    Sentences ordered;
    std::vector<const PerSentence*> sentences;
    for (const std::size_t at : order) {
      ordered.add(source[at]);
      sentences.push_back(&per_sentence[at]);
    }
    const auto found = [&](std::size_t i, std::vector<Translation> result) {
      const std::size_t at = order[i];
      if (!result.front().finished && !result.front().is_nan()) {
        const bool has_all = result.front().unmet == 0;
        if (retries == 0) cut_off[at] = std::move(result);
        const std::size_t Tx = ensemble.source_length(source.length(at)), prefix = per_sentence[at].prefix.size();
        const bool can_end = minimum_length(Tx, options, prefix) < maximum_length(Tx, options, prefix);
        // A wider beam meets no more phrases: every bank that can have a hypothesis has one.
        if (can_end && !last && has_all) {
          unfinished.push_back(at);
          return;
        }
        result = std::move(cut_off[at]);
      } else {
        for (Translation& translation : result) translation.retries = retries;
      }
      translations[at] = std::move(result);
      ++finished;
    };
    bool stopped = false;
    try {
      SearchOfMany(ensemble, attempt, sentences_together(attempt, options)).run(ordered, sentences, found, [&] {
        stopped = done && !done(finished);
        return !stopped;
      });
    } catch (const Interrupted&) {
      if (!done) throw;
      return translations;
    }
    if (stopped || unfinished.empty()) return translations;
    sort(unfinished);
    order = std::move(unfinished);
    attempt = *next_attempt(attempt, options);
  }
}

}  // namespace rnnsearch::decode
