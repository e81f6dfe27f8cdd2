// Placeholders: spans of a sentence, such as numbers and URLs, that are copied and not translated. A placeholder word
// stands for each of them in the text that the model reads and writes (the copyable model of Luong et al. 2015,
// Addressing the rare word problem in neural machine translation, section 3.1; Crego et al. 2016, SYSTRAN's pure neural
// machine translation systems, section 4; Post et al. 2019, An exploration of placeholding in neural machine
// translation, section 2).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace rnnsearch::text {

/// A line has at most this many placeholders; further matches stay as they are.
inline constexpr std::size_t kMostPlaceholders = 16;

/// The word of placeholder `number`, from 0: "<copy1>", "<copy2>", ...
std::string placeholder(std::size_t number);
/// If `text` begins with one of these words, its number of bytes; otherwise 0.
std::size_t placeholder_size(std::string_view text);
/// The text with span k in place of placeholder k. Placeholders without a span are removed.
std::string with_spans(std::string_view text, const std::vector<std::string>& spans);

/// Where a match may stand: anywhere, only where no letter or digit touches it, or only between white space.
enum class Surroundings { kAny, kNoLetters, kSpaces };

/// Regular expressions of RE2, or none. Copies share them; they are immutable and thread-safe. Matches do not overlap:
/// the leftmost one counts, and of those that begin together the longest one. The text of a placeholder in a line
/// counts as a match, so that it is copied, too; where it is not replaced, its "<" becomes U+2039, so that it never
/// looks like a placeholder to a model.
class CopyPatterns {
 public:
  CopyPatterns() = default;
  /// Throws Error, naming the pattern, if one is not a regular expression, or matches the empty string.
  explicit CopyPatterns(std::vector<std::string> patterns);

  explicit operator bool() const { return compiled_ != nullptr; }
  const std::vector<std::string>& patterns() const { return patterns_; }

  /// The line with placeholders in place of its first `most` matches. Appends what they stand for to `spans`.
  /// REQUIRES: valid UTF-8, in all functions.
  std::string replace(std::string_view line, Surroundings where, std::size_t most,
                      std::vector<std::string>& spans) const;
  /// The other side of a line with these spans: each match that is equal to a span gets its placeholder; of equal
  /// spans, the k-th match gets the k-th one, and further matches stay as they are.
  std::string replace_same(std::string_view line, Surroundings where, const std::vector<std::string>& spans) const;
  /// Both sides of a training pair: only what occurs on both sides is replaced, the k-th occurrence of a text on one
  /// side and the k-th one on the other side by the same placeholder. Placeholders are numbered in the order of the
  /// source.
  void replace_pair(std::string& source, std::string& target, Surroundings where) const;

  friend bool operator==(const CopyPatterns& a, const CopyPatterns& b) { return a.patterns_ == b.patterns_; }

 private:
  std::vector<std::string> patterns_;
  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace rnnsearch::text
