// Words and phrases that a translation must contain, or must not, however a model splits them into pieces.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/base/sentences.h"
#include "rnnsearch/corpus/spelling.h"
#include "rnnsearch/corpus/text_pipeline.h"

namespace rnnsearch::decode {

/// The phrases are found by the automaton of Aho and Corasick (1975), Efficient string matching, over whole words: a
/// phrase "cat" does not stand in "catalog", and stands in "cat" however it was split. Immutable and thread-safe.
class ForbiddenWords {
 public:
  /// `phrases`: plain text, one or several words each, which are compared as the target side of the model reads them
  /// (lowercased, say). Those without a word are ignored.
  ForbiddenWords(const std::vector<std::string>& phrases, corpus::Spelling spelling);

  /// The state of the automaton after the words of a hypothesis.
  struct State {
    std::size_t node = 0;   // of the automaton, after the words before `pending`
    std::string pending;    // what is written of the word that is not complete
    bool may_match = true;  // whether `pending` may become the last word of a phrase (kCodes)
    bool closes = false;    // a phrase is complete if the word, or the translation, ends here
    bool given = false;     // `pending` was given, and may be complete
  };

  State start() const { return {}; }
  /// The state after a further word. It does not check whether a phrase is then complete. given: the word is one of a
  /// prefix, which was not chosen, so that phrases that are complete within the prefix are allowed.
  State after(const State& state, WordId word, bool given = false) const;
  /// Whether the translation must not continue with this word, because a phrase would then be complete. </s> counts as
  /// a word.
  bool blocks(const State& state, WordId word) const;
  /// The opposite; with `last` also whether the translation may be cut off behind the word, where it is complete.
  bool allows(const State& state, WordId word, bool last) const;
  bool may_end(const State& state) const { return !state.closes; }

 private:
  struct Node {
    std::map<std::size_t, std::size_t> next;  // by the number of the word
    std::size_t fallback = 0;                 // the node of the longest other beginning that ends with the same words
    bool complete = false;                    // some phrase ends with its last word
  };
  struct Step {
    State state;
    bool complete = false;  // a phrase ends with a word that is complete
  };

  std::size_t number_of(std::string_view word) const;
  std::size_t go(std::size_t node, std::size_t word) const;
  Step step(const State& state, WordId word) const;
  Step step_in_line(const State& state, WordId word) const;

  corpus::Spelling spelling_;
  std::map<std::string, std::size_t, std::less<>> numbers_;  // of the words of the phrases, from 1; 0: other words
  std::vector<Node> nodes_;
  std::vector<std::size_t> number_of_piece_;     // as a word
  std::vector<corpus::Spelling::Shape> shapes_;  // by piece
};

/// Phrases that a translation must contain: the constraints of one sentence, as Post and Vilar (2018), Fast lexically
/// constrained decoding with dynamic beam allocation for neural machine translation, section 3, track them: a
/// hypothesis is within at most one phrase, and where its next word does not continue the phrase, the words of the
/// phrase so far no longer count. Of phrases that begin alike it is within all at once, and each phrase is written for
/// itself. A phrase is one of whole words.
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

/// A glossary: terms of the source language, and what must stand for them in translations. Terms are compared with
/// whole words, as the text pipeline of the model reads them, however it splits them. Immutable and thread-safe.
class Glossary {
 public:
  /// Each line has a source term, a tab and a target term, in plain text; lines without words are ignored. Throws Error
  /// that names `name` and the line if there is a line of another form, or a source term has two translations.
  /// `pipeline` outlives this.
  Glossary(const std::vector<std::string>& lines, const std::string& name, const corpus::TextPipeline& pipeline);

  /// The target terms, in plain text, for the source terms in a source sentence, which the pipeline has split into
  /// `words`: from left to right the longest term that begins at a word, each term once.
  std::vector<std::string> terms(const std::vector<std::string>& words) const;

 private:
  const corpus::TextPipeline& pipeline_;
  std::map<std::vector<std::string>, std::string> terms_;  // by the words of the source term
  std::map<std::string, std::size_t> longest_from_;        // words of the longest term that begins with a word
};

}  // namespace rnnsearch::decode
