// Words and phrases that no translation may contain, however a model splits them into pieces.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/base/sentences.h"
#include "rnnsearch/corpus/spelling.h"

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

}  // namespace rnnsearch::decode
