// What the translation of a sentence must have or must not have, checked word by word while its hypotheses grow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "decode/selection.h"
#include "rnnsearch/base/sentences.h"
#include "rnnsearch/corpus/text_pipeline.h"

namespace rnnsearch::decode {

/// A constraint with its state for each hypothesis of a search. A new one is that of a hypothesis without words.
class Constraint {
 public:
  virtual ~Constraint() = default;

  /// Row k continues hypothesis survivors[k].hypothesis with its word; `given`: which the prefix gives.
  virtual void extend(std::span<const Candidate> survivors, bool given) = 0;
  /// Whether the hypothesis may continue with this word, which may be </s>; `last`: and be cut off behind it.
  virtual bool allows(std::size_t hypothesis, WordId word, bool last) const = 0;
  /// Whether the hypothesis may be cut off where it is.
  virtual bool may_end(std::size_t hypothesis) const = 0;
};

/// A constraint made of a `Rule`, which tells the State of a hypothesis at its start() and after() a further word, and
/// whether it allows() a word in a state; a rule without may_end() lets every hypothesis be cut off.
template <class Rule>
class ConstraintOf : public Constraint {
 public:
  explicit ConstraintOf(std::shared_ptr<const Rule> rule) : rule_(std::move(rule)), states_{rule_->start()} {}

  void extend(std::span<const Candidate> survivors, bool given) override {
    std::vector<typename Rule::State> next;
    for (const Candidate& one : survivors) next.push_back(rule_->after(states_[one.hypothesis], one.word, given));
    states_ = std::move(next);
  }
  bool allows(std::size_t hypothesis, WordId word, bool last) const override {
    return rule_->allows(states_[hypothesis], word, last);
  }
  bool may_end(std::size_t hypothesis) const override {
    if constexpr (requires { rule_->may_end(states_[hypothesis]); }) return rule_->may_end(states_[hypothesis]);
    return true;
  }
  const typename Rule::State& state(std::size_t hypothesis) const { return states_[hypothesis]; }

 private:
  std::shared_ptr<const Rule> rule_;
  std::vector<typename Rule::State> states_;
};

/// No sequence of n words stands in a translation twice. 0: there is no limit.
struct NgramRule {
  using State = std::vector<WordId>;  // the words of the hypothesis
  std::size_t n;

  State start() const { return {}; }
  State after(State words, WordId word, bool) const {
    words.push_back(word);
    return words;
  }
  bool allows(const State& words, WordId word, bool) const {
    if (n == 0 || words.size() < n) return true;
    const auto last = words.end() - static_cast<std::ptrdiff_t>(n - 1);
    for (std::size_t end = n - 1; end < words.size(); ++end) {
      const auto begin = words.begin() + static_cast<std::ptrdiff_t>(end + 1 - n);
      if (words[end] == word && std::equal(last, words.end(), begin)) return false;
    }
    return true;
  }
};

/// Each placeholder stands in a translation at most once, and only if the source has it.
struct PlaceholderRule {
  using State = std::vector<WordId>;               // those that may still be written
  std::span<const corpus::PlaceholderWord> known;  // to the model
  std::vector<WordId> of_source;

  State start() const { return of_source; }
  State after(State left, WordId word, bool) const {
    std::erase(left, word);
    return left;
  }
  bool allows(const State& left, WordId word, bool) const {
    return std::find(left.begin(), left.end(), word) != left.end() ||
           std::none_of(known.begin(), known.end(), [&](const auto& one) { return one.target == word; });
  }
};

}  // namespace rnnsearch::decode
