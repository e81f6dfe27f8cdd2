#include "decode/search.h"

#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "rnnsearch/base/portable.h"
#include "rnnsearch/decode/constraints.h"

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

Search::Search(std::size_t source_length, const SearchOptions& options, const PerSentence& sentence,
               const std::vector<WordId>& placeholders)
    : options_(options),
      sentence_(sentence),
      source_length_(source_length),
      wanted_(options.sampling ? options.n_best : options.groups, options.sampling ? 1 : options.beam / options.groups),
      minimum_(minimum_length(source_length, options, sentence.prefix.size())),
      maximum_(maximum_length(source_length, options, sentence.prefix.size())),
      live_{{0.0, kRoot}},
      given_(live_.front()),
      cut_off_(live_) {
  const auto add = [&]<class Rule>(std::shared_ptr<const Rule> rule) {
    auto constraint = std::make_unique<ConstraintOf<Rule>>(std::move(rule));
    const auto* const added = constraint.get();
    constraints_.push_back(std::move(constraint));
    return added;
  };
  if (!options.placeholders.empty()) {
    add(std::make_shared<const PlaceholderRule>(PlaceholderRule{options.placeholders, placeholders}));
  }
  if (options.no_repeat_ngram > 0 || options.repetition_penalty != 1) {
    words_ = add(std::make_shared<const NgramRule>(NgramRule{options.no_repeat_ngram}));
  }
  if (options.forbidden) add(options.forbidden);
  if (!sentence.required.empty()) {
    required_ = add(std::shared_ptr<const RequiredWords>(std::shared_ptr<void>(), &sentence.required));
    given_.unmet = sentence.required.phrases();
  }
  if (options.coverage_penalty != 0) coverage_.assign(source_length_, 0.0);
}

bool Search::extend(std::span<const NextWords> next, MatrixView<const float> alpha) {
  is_nan_ = std::any_of(next.begin(), next.end(), [](const NextWords& words) { return words.is_nan; });
  if (is_nan_) {
    live_.clear();
    survivors_.clear();
    return true;
  }
  best_.clear();
  if (step_ < sentence_.prefix.size()) {
    const WordId word = sentence_.prefix[step_];
    best_.push_back(candidate_of(0, word, next.front().all[word]));
  } else if (options_.sampling) {
    draw_words(next);
  } else if (required_) {
    select_in_banks(next);
  } else if (!select_best(next)) {
    return false;
  }
  take_best(alpha);
  return true;
}

std::size_t Search::list_length(const SearchOptions& options, std::size_t models) {
  constexpr std::size_t kExcluded = 3, kTies = 8;  // <s>, </s> and <unk>; words as probable as the last one of a beam
  return options.beam + kExcluded + (models == 1 ? kTies : 0);
}

void Search::take_best(MatrixView<const float> alpha) {
  std::vector<Hypothesis> next;
  std::vector<double> next_coverage;
  survivors_.clear();
  for (const Candidate& candidate : best_) {
    nodes_.push_back({live_[candidate.hypothesis].node, candidate.word, candidate.log_probability, 0});
    if (alpha.cols > 0) read_weights(alpha.row(candidate.hypothesis), candidate.hypothesis, next_coverage);
    Hypothesis extended{candidate.score, nodes_.size() - 1, 0, candidate.sample, candidate.penalty};
    if (candidate.word == kEnd) {
      if (!coverage_.empty()) {
        extended.coverage = coverage_of(row_of(next_coverage, next.size()));
        next_coverage.resize(next.size() * source_length_);
      }
      finished_.push_back(extended);
      --wanted_[candidate.sample];
    } else {
      next.push_back(extended);
      survivors_.push_back(candidate);
    }
  }
  if (next.empty() && finished_.empty()) cut_off_all();  // no continuation is allowed and possible
  live_ = std::move(next);
  if (!coverage_.empty()) coverage_ = std::move(next_coverage);
  const bool given = step_ < sentence_.prefix.size();
  for (const auto& constraint : constraints_) constraint->extend(survivors_, given);
  if (given) given_ = cut_off(0);
  if (++step_ == maximum_) {
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

bool Search::is_allowed(WordId word) const {
  if (word == kStart || (word == kEnd && step_ < minimum_)) return false;
  return word != kUnknown || !options_.no_unknown;
}

bool Search::keeps_constraints(std::size_t hypothesis, WordId word, bool required) const {
  return std::all_of(constraints_.begin(), constraints_.end(), [&](const auto& constraint) {
    return (required && constraint.get() == words_) || constraint->allows(hypothesis, word, step_ + 1 == maximum_);
  });
}

bool Search::may_end(std::size_t hypothesis) const {
  return std::all_of(constraints_.begin(), constraints_.end(),
                     [&](const auto& constraint) { return constraint->may_end(hypothesis); });
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
  if (!may_end(hypothesis)) {
    ended = given_;
    ended.sample = live_[hypothesis].sample;
    return ended;
  }
  if (required_) ended.unmet = sentence_.required.phrases() - RequiredWords::phrases_met(required_->state(hypothesis));
  if (!coverage_.empty()) ended.coverage = coverage_of(row_of(coverage_, hypothesis));
  return ended;
}

void Search::cut_off_all() {
  cut_off_.clear();
  for (std::size_t i = 0; i < live_.size(); ++i) {
    if (may_end(i)) cut_off_.push_back(cut_off(i));
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

// How a step selects the words that extend the hypotheses: the best ones, drawn ones, or in banks.
double uniform_of(std::uint64_t seed, std::uint64_t sentence, std::uint32_t sample, std::uint32_t step) {
  const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  const auto words = philox({low(sentence), low(sentence >> 32), sample, step}, {low(seed), low(seed >> 32)});
  const std::uint64_t bits = std::uint64_t{words[0]} << 32 | words[1];
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

std::optional<WordId> draw(std::span<const float> scores, const Sampling& sampling, double uniform) {
  std::vector<WordId> words;
  for (WordId word = 0; word < scores.size(); ++word) {
    if (scores[word] > kNever) words.push_back(word);
  }
  if (words.empty()) return std::nullopt;
  if (sampling.top_k > 0 && sampling.top_k < words.size()) {
    const auto end = words.begin() + static_cast<std::ptrdiff_t>(sampling.top_k);
    std::nth_element(words.begin(), end - 1, words.end(),
                     [&](WordId a, WordId b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; });
    words.erase(end, words.end());
    std::sort(words.begin(), words.end());
  }
  float largest = scores[words.front()];
  for (const WordId word : words) largest = std::max(largest, scores[word]);
  std::vector<double> until;  // of the cumulative distribution, not divided by its sum
  double sum = 0;
  for (const WordId word : words) {
    sum += portable::exp((static_cast<double>(scores[word]) - static_cast<double>(largest)) / sampling.temperature);
    until.push_back(sum);
  }
  // The product may round up to the sum itself.
  const auto at = std::upper_bound(until.begin(), until.end() - 1, uniform * sum);
  return words[static_cast<std::size_t>(at - until.begin())];
}

// Behind the prefix there is one hypothesis, which all samples extend; later there is one for each that has not ended.
void Search::draw_words(std::span<const NextWords> next) {
  const bool first = step_ == sentence_.prefix.size();
  std::vector<float> scores(next.front().all.size());
  for (std::uint32_t hypothesis = 0; hypothesis < live_.size(); ++hypothesis) {
    next[hypothesis].for_each([&](WordId word, float log_probability) {
      const bool may = is_allowed(word) && keeps_constraints(hypothesis, word);
      scores[word] = may ? candidate_of(hypothesis, word, log_probability).log_probability : kNever;
    });
    const auto begin = first ? 0 : live_[hypothesis].sample;
    const auto end = first ? static_cast<std::uint32_t>(options_.n_best) : begin + 1;
    for (std::uint32_t sample = begin; sample < end; ++sample) {
      const double uniform =
          uniform_of(options_.sampling->seed, sentence_.number, sample, static_cast<std::uint32_t>(step_));
      if (const auto word = draw(scores, *options_.sampling, uniform)) {
        best_.push_back(candidate_of(hypothesis, *word, next[hypothesis].all[*word]));
        best_.back().sample = sample;
      } else {  // no word is allowed and possible
        finished_.push_back(cut_off(hypothesis));
        finished_.back().sample = sample;
        wanted_[sample] = 0;
      }
    }
  }
}

// The best continuations of each group, best first: a beam search is one group. Vijayakumar et al. (2016), algorithm 1
// with Hamming diversity. As in the authors' implementation, what was subtracted from a word stays in the sum by which
// its hypothesis is ranked. Behind the prefix there is one hypothesis, which all groups extend. Returns false if some
// word that is in no list might be among them.
bool Search::select_best(std::span<const NextWords> next) {
  const bool first = step_ == sentence_.prefix.size();
  std::map<WordId, std::size_t> chosen;  // by earlier groups: how often
  for (std::uint32_t group = 0; group < wanted_.size(); ++group) {
    Best best(wanted_[group]);
    const auto is_in_group = [&](std::size_t hypothesis) { return first || live_[hypothesis].sample == group; };
    for (std::uint32_t hypothesis = 0; hypothesis < live_.size(); ++hypothesis) {
      if (!is_in_group(hypothesis)) continue;
      next[hypothesis].for_each([&](WordId word, float log_probability) {
        Candidate candidate = candidate_of(hypothesis, word, log_probability);
        candidate.sample = group;
        if (!best.takes(candidate)) return;
        if (const auto count = chosen.find(word); count != chosen.end()) {
          candidate.penalty += options_.diversity * static_cast<double>(count->second);
        }
        if (!best.takes(candidate)) return;
        if (log_probability > kNever && is_allowed(word) && keeps_constraints(hypothesis, word)) best.add(candidate);
      });
    }
    undecided_.clear();
    for (std::uint32_t hypothesis = 0; hypothesis < live_.size(); ++hypothesis) {
      const double others = live_[hypothesis].score + static_cast<double>(next[hypothesis].others);
      const bool decided = !(next[hypothesis].others > kNever) || best.all_exceed(others - live_[hypothesis].penalty);
      if (is_in_group(hypothesis) && !decided) undecided_.push_back(hypothesis);
    }
    if (!undecided_.empty()) {
      if (wanted_.size() > 1) {  // what later groups need depends on the choice of this one
        undecided_.resize(live_.size());
        std::iota(undecided_.begin(), undecided_.end(), 0U);
      }
      return false;
    }
    for (const Candidate& candidate : best.sorted()) {
      best_.push_back(candidate);
      if (wanted_.size() > 1) ++chosen[candidate.word];
    }
  }
  return true;
}

// Post and Vilar (2018), section 3.2: the candidates are the best continuations of all hypotheses; for each hypothesis
// the words of phrases that may come next; and its best next word. Of these each bank keeps the best ones.
void Search::select_in_banks(std::span<const NextWords> next) {
  const RequiredWords& required = sentence_.required;
  std::vector<Candidate> candidates;
  Best best(wanted_.front());
  for (std::uint32_t hypothesis = 0; hypothesis < live_.size(); ++hypothesis) {
    const auto is_possible = [&](const Candidate& candidate, bool is_required) {
      return candidate.log_probability > kNever && keeps_constraints(hypothesis, candidate.word, is_required);
    };
    for (const WordId word : required.next_words(required_->state(hypothesis))) {
      const Candidate candidate = candidate_of(hypothesis, word, next[hypothesis].all[word]);
      if (is_possible(candidate, true)) candidates.push_back(candidate);
    }
    Best best_of_row(1);
    next[hypothesis].for_each([&](WordId word, float log_probability) {
      const Candidate candidate = candidate_of(hypothesis, word, log_probability);
      if (!best.takes(candidate) && !best_of_row.takes(candidate)) return;
      if (!is_allowed(word) || !is_possible(candidate, false)) return;
      if (best.takes(candidate)) best.add(candidate);
      if (best_of_row.takes(candidate)) best_of_row.add(candidate);
    });
    for (const Candidate& candidate : best_of_row.sorted()) candidates.push_back(candidate);
  }
  for (const Candidate& candidate : best.sorted()) candidates.push_back(candidate);
  std::sort(candidates.begin(), candidates.end(), kBestFirst);
  const auto same = [](const Candidate& a, const Candidate& b) {
    return a.hypothesis == b.hypothesis && a.word == b.word;
  };
  candidates.erase(std::unique(candidates.begin(), candidates.end(), same), candidates.end());

  std::vector<std::size_t> banks, counts(required.words() + 1, 0);
  for (const Candidate& candidate : candidates) {
    banks.push_back(required.after(required_->state(candidate.hypothesis), candidate.word).words_met);
    ++counts[banks.back()];
  }
  std::vector<std::size_t> room = bank_sizes(wanted_.front(), counts);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (room[banks[i]] == 0) continue;
    --room[banks[i]];
    best_.push_back(candidates[i]);
  }
}

}  // namespace rnnsearch::decode
