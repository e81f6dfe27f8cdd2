#include "rnnsearch/decode/forbidden_words.h"

#include <deque>
#include <utility>

namespace rnnsearch::decode {

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

}  // namespace rnnsearch::decode
