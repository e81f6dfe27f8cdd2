// How a step selects the words that extend the hypotheses: the best ones, drawn ones, or in banks.
#include "decode/selection.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "decode/search.h"
#include "rnnsearch/base/portable.h"
#include "rnnsearch/base/random.h"

namespace rnnsearch::decode {

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
