// How a step selects the words that extend the hypotheses: the best ones, drawn ones, in groups or in banks.
#include "decode/selection.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "decode/search.h"

namespace rnnsearch::decode {
namespace {

constexpr auto kByPenalisedScore = [](const Candidate& a, const Candidate& b) {
  const double left = a.score - a.penalty, right = b.score - b.penalty;
  return left != right ? left > right : std::tie(a.hypothesis, a.word) < std::tie(b.hypothesis, b.word);
};

}  // namespace

// Sets best_ to the `wanted_` best continuations, best first; to the next word of the prefix; or to what was drawn.
void Search::select(std::size_t step, MatrixView<const float> log_probabilities) {
  best_.clear();
  if (step < guide_.prefix.size()) {
    const WordId word = guide_.prefix[step];
    best_.push_back({live_.front().score + static_cast<double>(log_probabilities.row(0)[word]), 0, word});
    return;
  }
  if (options_.sampling) return draw_words(step, log_probabilities);
  if (options_.groups > 1) return select_in_groups(step, log_probabilities);
  if (guide_.required) return select_in_banks(step, log_probabilities);
  Best best(wanted_, kByScore);
  for (std::uint32_t hypothesis = 0; hypothesis < live_.size(); ++hypothesis) {
    const float* row = log_probabilities.row(hypothesis);
    const double score = live_[hypothesis].score;
    for (WordId word = 0; word < log_probabilities.cols; ++word) {
      const Candidate candidate{score + static_cast<double>(row[word]), hypothesis, word};
      if (!best.takes(candidate)) continue;
      if (!(row[word] > kNever) || !is_allowed(step, word) || is_forbidden(step, hypothesis, word)) continue;
      best.add(candidate);
    }
  }
  best_ = best.sorted();
}

// Sets best_ to the same continuations. Returns false if some word that is in no list might be among them.
bool Search::select(std::size_t step, const kernels::TopWords<float>& top, std::size_t first_row) {
  Best best(wanted_, kByScore);
  const auto candidate_of = [&](std::uint32_t hypothesis, const auto& entry) {
    return Candidate{live_[hypothesis].score + static_cast<double>(entry.log_probability), hypothesis, entry.word};
  };
  for (std::uint32_t hypothesis = 0; hypothesis < live_.size(); ++hypothesis) {
    for (const auto& entry : top.row(first_row + hypothesis)) {
      const Candidate candidate = candidate_of(hypothesis, entry);
      if (best.all_exceed(candidate.score)) break;
      if (!best.takes(candidate) || !is_allowed(step, entry.word)) continue;
      if (!is_forbidden(step, hypothesis, entry.word)) best.add(candidate);
    }
  }
  for (std::uint32_t hypothesis = 0; hypothesis < live_.size(); ++hypothesis) {
    if (top.is_complete(first_row + hypothesis)) continue;
    const Candidate last = candidate_of(hypothesis, top.row(first_row + hypothesis).back());
    if (!best.all_exceed(last.score)) return false;  // words that are not in the list score this at most
  }
  best_ = best.sorted();
  return true;
}

// Behind the prefix there is one hypothesis, which all samples extend; later there is one for each that has not ended.
void Search::draw_words(std::size_t step, MatrixView<const float> log_probabilities) {
  const bool first = step == guide_.prefix.size();
  std::vector<float> scores(log_probabilities.cols);
  for (std::uint32_t hypothesis = 0; hypothesis < live_.size(); ++hypothesis) {
    const float* row = log_probabilities.row(hypothesis);
    for (WordId word = 0; word < scores.size(); ++word) {
      scores[word] = is_allowed(step, word) && !is_forbidden(step, hypothesis, word) ? row[word] : kNever;
    }
    const auto begin = first ? 0 : live_[hypothesis].sample;
    const auto end = first ? static_cast<std::uint32_t>(options_.n_best) : begin + 1;
    for (std::uint32_t sample = begin; sample < end; ++sample) {
      const double uniform =
          uniform_of(options_.sampling->seed, guide_.number, sample, static_cast<std::uint32_t>(step));
      if (const auto word = draw(scores, *options_.sampling, uniform)) {
        best_.push_back({live_[hypothesis].score + static_cast<double>(row[*word]), hypothesis, *word, sample});
      } else {  // no word is allowed and possible
        finished_.push_back(cut_off(hypothesis));
        finished_.back().sample = sample;
        --wanted_;
      }
    }
  }
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
