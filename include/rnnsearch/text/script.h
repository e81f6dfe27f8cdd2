// The script that text is written in: Unicode's Script property (UAX #24), through ICU.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rnnsearch::text {

/// One script, or those that a language is written in. Any thread may ask.
class Script {
 public:
  /// name: a script as Unicode calls it ("Cyrillic"), its ISO 15924 code ("Cyrl"), or a language's code ("ru"; "ja":
  /// Han, Hiragana and Katakana). Throws Error for a name that ICU does not know.
  explicit Script(const std::string& name);

  struct Letters {
    std::size_t all = 0;  // digits, punctuation and symbols are of no script, and are not counted
    std::size_t of_script = 0;
  };
  Letters count(std::string_view text) const;

 private:
  std::vector<char> member_;  // by ICU's code of a script
};

}  // namespace rnnsearch::text
