// Phrases that a translation must contain, and the state of these constraints for a hypothesis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "rnnsearch/base/sentences.h"

namespace rnnsearch::corpus {
class Spelling;
}

namespace rnnsearch::decode {

/// The constraints of one sentence, as Post and Vilar (2018), Fast lexically constrained decoding with dynamic beam
/// allocation for neural machine translation, section 3, track them: a hypothesis is within at most one phrase, and
/// where its next word does not continue the phrase, the words of the phrase so far no longer count. Of phrases that
/// begin alike it is within all at once, and each phrase is written for itself. A phrase is one of whole words.
class RequiredWords {
 public:
  RequiredWords() = default;
  /// `phrases`: words of the model, as it splits them; none is empty. `spelling` tells where words end; null: each is
  /// whole.
  RequiredWords(std::vector<std::vector<WordId>> phrases, std::shared_ptr<const corpus::Spelling> spelling);

  struct State {
    std::vector<std::uint8_t> met;         // by phrase
    std::size_t words_met = 0;             // of whole phrases and of the one that the hypothesis is within
    std::size_t within = 0, position = 0;  // the next word of the phrase that it is within; position 0: in none
    std::optional<WordId> last{};          // word, if there is one
    bool phrase_ended = false;             // with it
  };

  bool empty() const { return phrases_.empty(); }
  /// C, the number of words of all phrases.
  std::size_t words() const { return words_; }
  std::size_t phrases() const { return phrases_.size(); }
  const std::vector<std::vector<WordId>>& all() const { return phrases_; }
  static std::size_t phrases_met(const State& state);
  bool all_met(const State& state) const { return phrases_met(state) == phrases(); }

  State start() const;
  State after(const State& state, WordId word, bool given = false) const;
  /// The words that continue the phrase that the hypothesis is within, or begin one that is not met.
  std::vector<WordId> next_words(const State& state) const;
  /// Whether a hypothesis may continue with this word. </s> is allowed only if all phrases are met; a piece that would
  /// lengthen the last word of a phrase that has just ended is never allowed.
  bool allows(const State& state, WordId word, bool last = false) const;

  /// Finds the phrases in a translation: for each word of the translation, the phrase that it belongs to and its
  /// position in the phrase.
  struct PhraseWord {
    std::size_t phrase, position;
  };
  std::vector<std::optional<PhraseWord>> phrase_words(const std::vector<WordId>& words) const;

 private:
  // The unmet phrase that begins with the first `position` words of phrase `like` and continues with `word`.
  std::optional<std::size_t> continued(const State& state, std::size_t like, std::size_t position, WordId word) const;
  bool may_begin(const State& state, WordId word) const;
  bool begins_like(std::size_t phrase, std::size_t like, std::size_t position) const;

  std::vector<std::vector<WordId>> phrases_;
  std::vector<std::size_t> longest_first_;  // indices of phrases
  std::shared_ptr<const corpus::Spelling> spelling_;
  std::size_t words_ = 0;
};

/// The number of hypotheses of each bank, the hypotheses with so many words met, in a beam of this width: equal shares,
/// with the remainder for the last bank; from the last to the first, what exceeds the candidates of a bank goes to the
/// bank before it (section 3.3 of the paper, and get_bank_sizes of its implementation in Sockeye).
std::vector<std::size_t> bank_sizes(std::size_t beam, const std::vector<std::size_t>& candidates);

}  // namespace rnnsearch::decode
