// The parts of a search that only constrained and diverse searches have: selection in banks and in groups, and what of
// the constraints each hypothesis has met.
#include "decode/constrained_search.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "decode/search.h"

namespace rnnsearch::decode {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

constexpr auto kByScore = [](const Candidate& a, const Candidate& b) { return a.better_than(b); };

constexpr auto kByPenalisedScore = [](const Candidate& a, const Candidate& b) {
  const double left = a.score - a.penalty, right = b.score - b.penalty;
  return left != right ? left > right : std::tie(a.hypothesis, a.word) < std::tie(b.hypothesis, b.word);
};

}  // namespace

// At the last step a word that would be complete there is one, too.
bool Search::completes_forbidden(std::size_t step, std::size_t hypothesis, WordId word) const {
  const ForbiddenWords::State& state = forbidden_[hypothesis];
  if (options_.forbidden->blocks(state, word)) return true;
  return word != kEnd && step + 1 == maximum_ && options_.forbidden->after(state, word).closes;
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

// Vijayakumar et al. (2016), algorithm 1 with Hamming diversity. As in the authors' implementation, what was subtracted
// from a word stays in the sum by which its hypothesis is ranked. Behind the prefix there is one hypothesis, which all
// groups extend.
void Search::select_in_groups(std::size_t step, MatrixView<const float> log_probabilities) {
  const bool first = step == guide_.prefix.size();
  std::map<WordId, std::size_t> chosen;  // by earlier groups: how often
  for (std::uint32_t group = 0; group < group_wanted_.size(); ++group) {
    Best best(group_wanted_[group], kByPenalisedScore);
    for (std::uint32_t hypothesis = 0; hypothesis < live_.size(); ++hypothesis) {
      const Hypothesis& live = live_[hypothesis];
      if (!first && live.sample != group) continue;
      const float* row = log_probabilities.row(hypothesis);
      for (WordId word = 0; word < log_probabilities.cols; ++word) {
        Candidate candidate{live.score + static_cast<double>(row[word]), hypothesis, word, group, live.penalty};
        if (!best.takes(candidate)) continue;
        if (const auto count = chosen.find(word); count != chosen.end()) {
          candidate.penalty += options_.diversity * static_cast<double>(count->second);
          if (!best.takes(candidate)) continue;
        }
        if (!(row[word] > kNever) || !is_allowed(step, word) || is_forbidden(step, hypothesis, word)) continue;
        best.add(candidate);
      }
    }
    for (const Candidate& candidate : best.sorted()) {
      best_.push_back(candidate);
      ++chosen[candidate.word];
    }
  }
}

// Post and Vilar (2018), section 3.2: the candidates are the best continuations of all hypotheses; for each hypothesis
// the words of phrases that may come next; and its best next word. Of these each bank keeps the best ones.
void Search::select_in_banks(std::size_t step, MatrixView<const float> log_probabilities) {
  const RequiredWords& required = *guide_.required;
  std::vector<Candidate> candidates;
  Best best(wanted_, kByScore);
  for (std::uint32_t hypothesis = 0; hypothesis < live_.size(); ++hypothesis) {
    const float* row = log_probabilities.row(hypothesis);
    const auto candidate_of = [&](WordId word) {
      return Candidate{live_[hypothesis].score + static_cast<double>(row[word]), hypothesis, word};
    };
    const auto is_possible = [&](WordId word) {
      return row[word] > kNever && required.allows(required_[hypothesis], word) &&
             !is_forbidden(step, hypothesis, word);
    };
    for (const WordId word : required.next_words(required_[hypothesis])) {
      if (is_possible(word)) candidates.push_back(candidate_of(word));
    }
    Best best_of_row(1, kByScore);
    for (WordId word = 0; word < log_probabilities.cols; ++word) {
      const Candidate candidate = candidate_of(word);
      if (!best.takes(candidate) && !best_of_row.takes(candidate)) continue;
      if (!is_allowed(step, word) || !is_possible(word)) continue;
      if (best.takes(candidate)) best.add(candidate);
      if (best_of_row.takes(candidate)) best_of_row.add(candidate);
    }
    for (const Candidate& candidate : best_of_row.sorted()) candidates.push_back(candidate);
  }
  for (const Candidate& candidate : best.sorted()) candidates.push_back(candidate);
  std::sort(candidates.begin(), candidates.end(), kByScore);
  const auto same = [](const Candidate& a, const Candidate& b) {
    return a.hypothesis == b.hypothesis && a.word == b.word;
  };
  candidates.erase(std::unique(candidates.begin(), candidates.end(), same), candidates.end());

  std::vector<std::size_t> banks, counts(required.words() + 1, 0);
  for (const Candidate& candidate : candidates) {
    banks.push_back(required.after(required_[candidate.hypothesis], candidate.word).words_met);
    ++counts[banks.back()];
  }
  std::vector<std::size_t> room = bank_sizes(wanted_, counts);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (room[banks[i]] == 0) continue;
    --room[banks[i]];
    best_.push_back(candidates[i]);
  }
}

}  // namespace rnnsearch::decode
