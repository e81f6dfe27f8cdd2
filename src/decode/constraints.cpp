#include "rnnsearch/decode/constraints.h"

#include <algorithm>
#include <cassert>
#include <deque>
#include <numeric>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/printable.h"

namespace rnnsearch::decode {

using corpus::Side;
using corpus::Spelling;

ForbiddenWords::ForbiddenWords(const std::vector<std::string>& phrases, Spelling spelling)
    : spelling_(std::move(spelling)), nodes_(1) {
  for (const std::string& phrase : phrases) {
    std::size_t node = 0;
    for (const std::string& word : spelling_.words_of_text(phrase)) {
      const std::size_t number = numbers_.try_emplace(word, numbers_.size() + 1).first->second;
      const auto [next, is_new] = nodes_[node].next.try_emplace(number, nodes_.size());
      node = next->second;
      if (is_new) nodes_.emplace_back();
    }
    if (node != 0) nodes_[node].complete = true;
  }
  std::deque<std::size_t> queue;
  for (const auto& [word, child] : nodes_[0].next) queue.push_back(child);
  for (; !queue.empty(); queue.pop_front()) {
    const std::size_t node = queue.front();
    nodes_[node].complete = nodes_[node].complete || nodes_[nodes_[node].fallback].complete;
    for (const auto& [word, child] : nodes_[node].next) {
      nodes_[child].fallback = go(nodes_[node].fallback, word);
      queue.push_back(child);
    }
  }
  for (WordId id = 0; id < spelling_.size(); ++id) {
    number_of_piece_.push_back(number_of(Spelling::without_marks(spelling_.text(id))));
    shapes_.push_back(spelling_.shape(id));
  }
}

ForbiddenWords::State ForbiddenWords::after(const State& state, WordId word, bool given) const {
  State next = step(state, word).state;
  if (given) {
    next.closes = false;
    next.given = true;
  }
  return next;
}

bool ForbiddenWords::allows(const State& state, WordId word, bool last) const {
  return !blocks(state, word) && (!last || word == kEnd || may_end(after(state, word)));
}

bool ForbiddenWords::blocks(const State& state, WordId word) const {
  if (word == kEnd) return state.closes;
  if (spelling_.form() != Spelling::Form::kLine) {
    if (!spelling_.ends_word(word)) return false;
    if (state.pending.empty() ? number_of_piece_[word] == 0 : !state.may_match) return false;
    return step(state, word).complete;
  }
  const Spelling::Shape shape = shapes_[word];
  if (shape == Spelling::Shape::kWord) return state.closes;
  // Behind letters or nothing, further letters complete no word.
  if (shape == Spelling::Shape::kLetters && !state.closes) return false;
  return step(state, word).complete;
}

std::size_t ForbiddenWords::number_of(std::string_view word) const {
  const auto found = numbers_.find(word);
  return found == numbers_.end() ? 0 : found->second;
}

std::size_t ForbiddenWords::go(std::size_t node, std::size_t word) const {
  for (;; node = nodes_[node].fallback) {
    const auto next = nodes_[node].next.find(word);
    if (next != nodes_[node].next.end()) return next->second;
    if (node == 0) return 0;
  }
}

ForbiddenWords::Step ForbiddenWords::step(const State& state, WordId word) const {
  if (spelling_.form() == Spelling::Form::kLine) return step_in_line(state, word);
  Step step{state};
  std::string& pending = step.state.pending;
  pending += spelling_.text(word);
  const std::string_view text = Spelling::without_marks(pending);
  if (spelling_.ends_word(word)) {
    step.state.node = go(state.node, number_of(text));
    step.complete = nodes_[step.state.node].complete;
    pending.clear();
    step.state.may_match = true;
    step.state.closes = false;
  } else {
    const auto found = numbers_.lower_bound(text);
    step.state.may_match = found != numbers_.end() && found->first.starts_with(text);
    step.state.closes = nodes_[go(state.node, number_of(text))].complete;
  }
  return step;
}

// The words that a space or another word ends are complete; the last one may go on.
ForbiddenWords::Step ForbiddenWords::step_in_line(const State& state, WordId word) const {
  Step step{state};
  const auto read = [&](std::size_t node, std::string_view words, bool all) {
    const auto list = Spelling::split_words(words);
    for (std::size_t i = 0; i < list.size(); ++i) {
      node = go(node, number_of(list[i]));
      const bool last = i + 1 == list.size();
      if (nodes_[node].complete) (last && !all ? step.state.closes : step.complete) = true;
    }
    return node;
  };
  std::string text = spelling_.text(word);
  if (state.given && shapes_[word] != Spelling::Shape::kLetters) {
    step.state.node = read(state.node, state.pending, true);
    step.complete = false;
  } else {
    text = state.pending + text;
  }
  const std::size_t space = text.rfind(' ');
  step.state.given = step.state.closes = false;
  if (space != text.npos) step.state.node = read(step.state.node, std::string_view(text).substr(0, space), true);
  step.state.pending = space == text.npos ? text : text.substr(space + 1);
  read(step.state.node, step.state.pending, false);
  return step;
}

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

Glossary::Glossary(const std::vector<std::string>& lines, const std::string& name, const corpus::TextPipeline& pipeline)
    : pipeline_(pipeline) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (line.find_first_not_of(" \t") == line.npos) continue;
    const auto refuse = [&](const std::string& why) {
      throw Error("{}, line {}: '{}' {}", name, i + 1, printable(line.substr(0, 80)), why);
    };
    const std::size_t tab = line.find('\t');
    if (tab == line.npos || line.find('\t', tab + 1) != line.npos) {
      refuse("is not a source term, a tab and a target term");
    }
    std::vector<std::string> copied;
    if (pipeline.copies) pipeline.source_line(line.substr(0, tab), text::kMostPlaceholders, copied);
    if (!copied.empty()) refuse("has text in its source term that --copy-pattern copies, so no line would match it");
    const auto term =
        Spelling::words_of_pieces(pipeline.to_words(line.substr(0, tab), Side::kSource), pipeline, Side::kSource);
    const std::string translation = line.substr(tab + 1);
    if (term.empty() || pipeline.to_words(translation, Side::kTarget).empty())
      refuse("has no words on one side of the tab");
    const auto [entry, is_new] = terms_.try_emplace(term, translation);
    if (!is_new && pipeline.to_words(entry->second, Side::kTarget) != pipeline.to_words(translation, Side::kTarget))
      refuse(fmt::format("translates a source term for which an earlier line has '{}'", printable(entry->second)));
    std::size_t& longest = longest_from_[term.front()];
    longest = std::max(longest, term.size());
  }
}

std::vector<std::string> Glossary::terms(const std::vector<std::string>& words) const {
  const auto whole = Spelling::words_of_pieces(words, pipeline_, Side::kSource);
  std::vector<std::string> found;
  for (auto begin = whole.begin(); begin != whole.end();) {
    const auto longest = longest_from_.find(*begin);
    auto end = begin;
    if (longest != longest_from_.end()) {
      end += std::min(static_cast<std::ptrdiff_t>(longest->second), whole.end() - begin);
    }
    auto term = terms_.end();
    for (; end != begin && (term = terms_.find({begin, end})) == terms_.end(); --end) {
    }
    if (end == begin) {
      ++begin;
      continue;
    }
    if (std::find(found.begin(), found.end(), term->second) == found.end()) found.push_back(term->second);
    begin = end;
  }
  return found;
}

}  // namespace rnnsearch::decode
