#include "decode/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace rnnsearch::decode {
namespace {

constexpr std::size_t kRoot = std::numeric_limits<std::size_t>::max();

// Of translations with the same words, all but the first.
void drop_repeated(std::vector<Translation>& translations) {
  std::set<std::vector<WordId>> seen;
  std::erase_if(translations, [&](const Translation& translation) { return !seen.insert(translation.words).second; });
}

}  // namespace

std::size_t minimum_length(std::size_t Tx, const SearchOptions& options, std::size_t prefix) {
  const std::size_t least = std::max(static_cast<std::size_t>(options.minimum_length_ratio * static_cast<double>(Tx)),
                                     options.minimum_length);
  const bool endless = options.minimum_length_ratio >= options.maximum_length_ratio ||
                       (options.maximum_length && options.minimum_length >= *options.maximum_length);
  return endless ? least : std::min(least, maximum_length(Tx, options, prefix) - 1);
}

std::size_t maximum_length(std::size_t Tx, const SearchOptions& options, std::size_t prefix) {
  const auto by_ratio = static_cast<std::size_t>(options.maximum_length_ratio * static_cast<double>(Tx));
  return std::max(prefix + 1, std::min(by_ratio, options.maximum_length.value_or(by_ratio)));
}

bool needs_weights(const SearchOptions& options) {
  return options.alignments || options.attended || options.coverage_penalty != 0;
}

Search::Search(std::size_t source_length, const SearchOptions& options, const Guide& guide)
    : options_(options),
      guide_(guide),
      source_length_(source_length),
      wanted_(options.sampling ? options.n_best : options.beam),
      minimum_(minimum_length(source_length, options, guide.prefix.size())),
      maximum_(maximum_length(source_length, options, guide.prefix.size())),
      live_{{0.0, kRoot}},
      given_(live_.front()),
      cut_off_(live_) {
  if (options.groups > 1) group_wanted_.assign(options.groups, options.beam / options.groups);
  if (options.forbidden) forbidden_.push_back(options.forbidden->start());
  if (guide.required) {
    required_.push_back(guide.required->start());
    given_.unmet = guide.required->phrases();
  }
  if (options.coverage_penalty != 0) coverage_.assign(source_length_, 0.0);
}

void Search::extend(std::size_t step, MatrixView<const float> log_probabilities, MatrixView<const float> alpha) {
  // The log-softmax subtracts the same number from the whole row, so either all of a row is NaN or nothing.
  for (std::size_t row = 0; row < live_.size(); ++row)
    is_nan_ = is_nan_ || std::isnan(log_probabilities.row(row)[kEnd]);
  if (is_nan_) return end_with_nan();
  select(step, log_probabilities);
  take_best(
      step, [&](const Candidate& best) { return log_probabilities.row(best.hypothesis)[best.word]; }, alpha);
}

bool Search::extend(std::size_t step, const kernels::TopWords<float>& top, std::size_t first_row,
                    MatrixView<const float> alpha) {
  for (std::size_t i = 0; i < live_.size(); ++i) is_nan_ = is_nan_ || top.is_nan(first_row + i);
  if (is_nan_) {
    end_with_nan();
    return true;
  }
  if (needs_all_words(step) || !select(step, top, first_row)) return false;
  const auto score_of = [&](const Candidate& best) {
    const auto list = top.row(first_row + best.hypothesis);
    const auto same = [&](const auto& entry) { return entry.word == best.word; };
    return std::find_if(list.begin(), list.end(), same)->log_probability;
  };
  take_best(step, score_of, alpha);
  return true;
}

bool Search::needs_all_words(std::size_t step) const {
  return options_.sampling.has_value() || step < guide_.prefix.size() || options_.groups > 1 || options_.forbidden ||
         guide_.required != nullptr;
}

std::size_t Search::list_length(const SearchOptions& options) {
  constexpr std::size_t kExcluded = 3, kTies = 8;  // <s>, </s> and <unk>; words as probable as the last one of a beam
  return options.beam + kExcluded + kTies;
}

void Search::end_with_nan() {
  live_.clear();
  survivors_.clear();
}

template <class ScoreOf>
void Search::take_best(std::size_t step, const ScoreOf& score_of, MatrixView<const float> alpha) {
  std::vector<Hypothesis> next;
  std::vector<double> next_coverage;
  survivors_.clear();
  for (const Candidate& candidate : best_) {
    nodes_.push_back({live_[candidate.hypothesis].node, candidate.word, score_of(candidate), 0});
    if (alpha.cols > 0) read_weights(alpha.row(candidate.hypothesis), candidate.hypothesis, next_coverage);
    Hypothesis extended{candidate.score, nodes_.size() - 1, 0, candidate.sample, candidate.penalty};
    if (candidate.word == kEnd) {
      if (!coverage_.empty()) {
        extended.coverage = coverage_of(row_of(next_coverage, next.size()));
        next_coverage.resize(next.size() * source_length_);
      }
      finished_.push_back(extended);
      --wanted_;
      if (!group_wanted_.empty()) --group_wanted_[candidate.sample];
    } else {
      next.push_back(extended);
      survivors_.push_back(candidate);
    }
  }
  if (next.empty() && finished_.empty()) cut_off_all();  // no continuation is allowed and possible
  live_ = std::move(next);
  if (!coverage_.empty()) coverage_ = std::move(next_coverage);
  follow_constraints(step);
  if (wanted_ == 0 || live_.empty() || step + 1 == maximum_) {
    if (options_.sampling) {
      for (std::size_t i = 0; i < live_.size(); ++i) finished_.push_back(cut_off(i));
    } else if (finished_.empty() && !live_.empty()) {
      cut_off_all();
    }
    live_.clear();
    survivors_.clear();
  }
}

std::vector<Translation> Search::result() const {
  std::vector<Translation> translations;
  if (is_nan_) {
    translations.emplace_back().log_probability = std::numeric_limits<double>::quiet_NaN();
    translations.front().finished = false;
    return translations;
  }
  std::vector<Hypothesis> ended = finished_.empty() ? cut_off_ : finished_;
  if (options_.sampling) {
    std::sort(ended.begin(), ended.end(), [](const auto& a, const auto& b) { return a.sample < b.sample; });
  }
  for (const Hypothesis& hypothesis : ended) {
    translations.push_back(translation_of(hypothesis));
  }
  if (options_.sampling) return translations;
  const auto rank = [&](const Translation& t) { return t.score(options_).value(); };
  std::stable_sort(translations.begin(), translations.end(), [&](const Translation& a, const Translation& b) {
    return a.unmet != b.unmet ? a.unmet < b.unmet : rank(a) > rank(b);
  });
  if (options_.groups > 1) drop_repeated(translations);
  translations.resize(std::min(translations.size(), options_.n_best));
  return translations;
}

bool Search::is_allowed(std::size_t step, WordId word) const {
  if (word == kStart || (word == kEnd && step < minimum_)) return false;
  return word != kUnknown || !options_.no_unknown;
}

// At the last step a word that would be complete there is one, too.
bool Search::completes_forbidden(std::size_t step, std::size_t hypothesis, WordId word) const {
  const ForbiddenWords::State& state = forbidden_[hypothesis];
  if (options_.forbidden->blocks(state, word)) return true;
  return word != kEnd && step + 1 == maximum_ && options_.forbidden->after(state, word).closes;
}

bool Search::is_useless_placeholder(std::size_t hypothesis, WordId word) const {
  const auto is_it = [&](const corpus::PlaceholderWord& placeholder) { return placeholder.target == word; };
  if (std::none_of(options_.placeholders.begin(), options_.placeholders.end(), is_it)) return false;
  const auto& of_source = guide_.placeholders;
  if (std::find(of_source.begin(), of_source.end(), word) == of_source.end()) return true;
  std::size_t node = live_[hypothesis].node;
  while (node != kRoot && nodes_[node].word != word) node = nodes_[node].parent;
  return node != kRoot;
}

// Sets the states of the hypotheses that the last step has extended.
void Search::follow_constraints(std::size_t step) {
  if (options_.forbidden) {
    std::vector<ForbiddenWords::State> next;
    const bool given = step < guide_.prefix.size();
    for (const Candidate& survivor : survivors_) {
      const auto& before = forbidden_[survivor.hypothesis];
      next.push_back(given ? options_.forbidden->after_given(before, survivor.word)
                           : options_.forbidden->after(before, survivor.word));
    }
    forbidden_ = std::move(next);
  }
  if (guide_.required) {
    std::vector<RequiredWords::State> next;
    for (const Candidate& survivor : survivors_) {
      next.push_back(guide_.required->after(required_[survivor.hypothesis], survivor.word));
    }
    required_ = std::move(next);
  }
  if (step < guide_.prefix.size()) given_ = cut_off(0);
}

std::span<const double> Search::row_of(const std::vector<double>& coverage, std::size_t hypothesis) const {
  return std::span(coverage).subspan(hypothesis * source_length_, source_length_);
}

// Of the word of the last node, which extends this hypothesis: what of its weights is wanted. Appends a row to
// `coverage`.
void Search::read_weights(const float* row, std::size_t hypothesis, std::vector<double>& coverage) {
  if (options_.alignments) alpha_.insert(alpha_.end(), row, row + source_length_);
  if (options_.attended) {
    nodes_.back().attended = static_cast<std::uint32_t>(std::max_element(row, row + source_length_) - row);
  }
  if (coverage_.empty()) return;
  const auto before = row_of(coverage_, hypothesis);
  for (std::size_t j = 0; j < source_length_; ++j) coverage.push_back(before[j] + static_cast<double>(row[j]));
}

Search::Hypothesis Search::cut_off(std::size_t hypothesis) const {
  Hypothesis ended = live_[hypothesis];
  if (options_.forbidden && forbidden_[hypothesis].closes) {  // ended here, it would have a phrase
    ended = given_;
    ended.sample = live_[hypothesis].sample;
    return ended;
  }
  if (guide_.required) ended.unmet = guide_.required->phrases() - RequiredWords::phrases_met(required_[hypothesis]);
  if (!coverage_.empty()) ended.coverage = coverage_of(row_of(coverage_, hypothesis));
  return ended;
}

void Search::cut_off_all() {
  cut_off_.clear();
  for (std::size_t i = 0; i < live_.size(); ++i) {
    if (!options_.forbidden || !forbidden_[i].closes) cut_off_.push_back(cut_off(i));
  }
  if (cut_off_.empty()) cut_off_.push_back(given_);
}

Translation Search::translation_of(const Hypothesis& hypothesis) const {
  Translation translation;
  translation.log_probability = hypothesis.score;
  translation.coverage = hypothesis.coverage;
  translation.unmet = hypothesis.unmet;
  std::vector<std::size_t> path;
  for (std::size_t node = hypothesis.node; node != kRoot; node = nodes_[node].parent) path.push_back(node);
  std::reverse(path.begin(), path.end());
  for (const std::size_t node : path) {
    if (nodes_[node].word != kEnd) translation.words.push_back(nodes_[node].word);
    translation.word_scores.push_back(nodes_[node].score);
    if (options_.attended) translation.attended.push_back(nodes_[node].attended);
    if (options_.alignments) {
      const auto row = alpha_.begin() + static_cast<std::ptrdiff_t>(node * source_length_);
      translation.alignment.insert(translation.alignment.end(), row, row + static_cast<std::ptrdiff_t>(source_length_));
    }
  }
  translation.finished = !path.empty() && nodes_[path.back()].word == kEnd;
  return translation;
}

}  // namespace rnnsearch::decode
