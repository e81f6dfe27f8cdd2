// Detects the script of text by Unicode's Script property (UAX #24), using ICU.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rnnsearch::text {

/// One script, or the scripts that a language is written in. Thread-safe.
class Script {
 public:
  /// name: the Unicode name of a script ("Cyrillic"), its ISO 15924 code ("Cyrl"), or the code of a language ("ru";
  /// "ja" stands for Han, Hiragana and Katakana). Throws Error for a name that ICU does not know.
  explicit Script(const std::string& name);

  struct Letters {
    std::size_t all = 0;        // all letters; digits, punctuation and symbols have no script and are not counted
    std::size_t of_script = 0;  // letters of this script
  };
  Letters count(std::string_view text) const;

 private:
  std::vector<char> member_;  // indexed by ICU's code of a script: whether it is included
};

}  // namespace rnnsearch::text
