#include "rnnsearch/model/options.h"

#include "rnnsearch/base/error.h"

namespace rnnsearch::model {

void check(const ModelOptions& options) {
  const auto at_least = [](const char* name, std::size_t value, std::size_t least) {
    if (value < least) throw Error(text_of("model: ", name, " is ", value, "; it must be at least ", least));
  };
  at_least("source-words", options.source_words, 3);  // the special symbols
  at_least("target-words", options.target_words, 3);
  at_least("embedding", options.embedding, 1);
  at_least("state", options.state, 1);
  at_least("maxout", options.maxout, 1);
  if (!(options.initial_deviation >= 0)) {
    throw Error(text_of("model: initial-deviation is ", options.initial_deviation, "; it must be at least 0"));
  }
  if (options.attention == Attention::kAdditive) at_least("alignment", options.alignment, 1);
}

Attention attention_of(const std::string& name) {
  for (const auto choice : {Attention::kNone, Attention::kAdditive}) {
    if (name == name_of(choice)) return choice;
  }
  throw Error(text_of("attention is '", name, "'; choose none or additive"));
}

StateWord state_word_of(const std::string& name) {
  for (const auto choice : {StateWord::kCurrent, StateWord::kPrevious}) {
    if (name == name_of(choice)) return choice;
  }
  throw Error(text_of("state-word is '", name, "'; choose current or previous"));
}

std::string name_of(Attention attention) {
  return attention == Attention::kNone ? "none" : "additive";
}

std::string name_of(StateWord state_word) {
  return state_word == StateWord::kCurrent ? "current" : "previous";
}

}  // namespace rnnsearch::model
