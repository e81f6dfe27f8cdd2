// How raw text becomes words and words become text again: written by `prepare`, copied into every checkpoint, so that
// `translate` treats new text exactly as the training text was treated.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rnnsearch::corpus {

struct TextPipeline {
  std::string source_language = "src";
  std::string target_language = "tgt";
  std::string tokenizer = "words";  // words: reversible word tokens (text/tokenizer.h); none: split at white space
  bool lowercase = false;

  /// White space alone gives no words. Valid UTF-8.
  std::vector<std::string> to_words(std::string_view line) const;
  /// The inverse on the target side, up to white space (and case, when it was lowered).
  std::string to_text(const std::vector<std::string>& words) const;

  friend bool operator==(const TextPipeline&, const TextPipeline&) = default;
};

/// Throws Error naming the choices for a tokenizer that there is not.
void check(const TextPipeline& pipeline);

}  // namespace rnnsearch::corpus
