#include "rnnsearch/decode/required_words.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "rnnsearch/corpus/spelling.h"

namespace rnnsearch::decode {

RequiredWords::RequiredWords(std::vector<std::vector<WordId>> phrases, std::shared_ptr<const corpus::Spelling> spelling)
    : phrases_(std::move(phrases)), longest_first_(phrases_.size()), spelling_(std::move(spelling)) {
  for (const auto& phrase : phrases_) {
    assert(!phrase.empty());
    words_ += phrase.size();
  }
  std::iota(longest_first_.begin(), longest_first_.end(), std::size_t{0});
  std::stable_sort(longest_first_.begin(), longest_first_.end(),
                   [&](std::size_t a, std::size_t b) { return phrases_[a].size() > phrases_[b].size(); });
}

std::size_t RequiredWords::phrases_met(const State& state) {
  return static_cast<std::size_t>(std::count(state.met.begin(), state.met.end(), 1));
}

RequiredWords::State RequiredWords::start() const {
  State state;
  state.met.resize(phrases_.size());
  return state;
}

RequiredWords::State RequiredWords::after(const State& state, WordId word, bool) const {
  State next = state;
  next.last = word;
  next.phrase_ended = false;
  auto phrase = state.position > 0 ? continued(state, state.within, state.position, word) : std::nullopt;
  if (!phrase) {
    next.words_met -= state.position;
    next.position = 0;
    if (may_begin(state, word)) phrase = continued(state, 0, 0, word);
  }
  if (!phrase) return next;
  next.within = *phrase;
  ++next.position;
  ++next.words_met;
  if (next.position == phrases_[*phrase].size()) {
    next.met[*phrase] = 1;
    next.position = 0;
    next.phrase_ended = true;
  }
  return next;
}

std::vector<WordId> RequiredWords::next_words(const State& state) const {
  std::vector<WordId> words;
  for (std::size_t i = 0; i < phrases_.size(); ++i) {
    if (state.met[i] || phrases_[i].size() <= state.position) continue;
    if (state.position > 0 && !begins_like(i, state.within, state.position)) continue;
    const WordId word = phrases_[i][state.position];
    if (state.position == 0 && !may_begin(state, word)) continue;
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  }
  return words;
}

bool RequiredWords::allows(const State& state, WordId word, bool) const {
  if (word == kEnd) return all_met(state);
  return !(state.phrase_ended && spelling_ && spelling_->joins(*state.last, word));
}

std::vector<std::optional<RequiredWords::PhraseWord>> RequiredWords::phrase_words(
    const std::vector<WordId>& words) const {
  std::vector<std::optional<PhraseWord>> phrase_words(words.size());
  State state = start();
  for (std::size_t i = 0; i < words.size(); ++i) {
    state = after(state, words[i]);
    if (!state.phrase_ended) continue;
    const std::size_t length = phrases_[state.within].size();
    for (std::size_t k = 0; k < length; ++k) phrase_words[i + 1 - length + k] = PhraseWord{state.within, k};
  }
  return phrase_words;
}

std::optional<std::size_t> RequiredWords::continued(const State& state, std::size_t like, std::size_t position,
                                                    WordId word) const {
  for (const std::size_t i : longest_first_) {
    if (!state.met[i] && begins_like(i, like, position) && phrases_[i].size() > position &&
        phrases_[i][position] == word) {
      return i;
    }
  }
  return std::nullopt;
}

bool RequiredWords::may_begin(const State& state, WordId word) const {
  return !state.last || !spelling_ || !spelling_->joins(*state.last, word);
}

bool RequiredWords::begins_like(std::size_t phrase, std::size_t like, std::size_t position) const {
  if (phrases_[phrase].size() < position) return false;
  return std::equal(phrases_[like].begin(), phrases_[like].begin() + static_cast<std::ptrdiff_t>(position),
                    phrases_[phrase].begin());
}

std::vector<std::size_t> bank_sizes(std::size_t beam, const std::vector<std::size_t>& candidates) {
  const std::size_t banks = candidates.size();
  std::vector<std::size_t> sizes(banks, beam / banks);
  sizes.back() += beam % banks;
  for (std::size_t i = banks; i-- > 0;) {
    if (sizes[i] <= candidates[i]) continue;
    sizes[i == 0 ? banks - 1 : i - 1] += sizes[i] - candidates[i];
    sizes[i] = candidates[i];
  }
  return sizes;
}

}  // namespace rnnsearch::decode
