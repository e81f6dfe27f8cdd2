#include "rnnsearch/evaluate/metrics.h"

#include <tuple>
#include <unordered_map>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/base/version.h"

namespace rnnsearch::evaluate {
namespace {

bool is_asian_punctuation(char32_t c) {
  return c == 0x3001 || c == 0x3002 || (c >= 0x3008 && c <= 0x3011) || (c >= 0x3014 && c <= 0x301F) || c == 0x30FB ||
         (c >= 0xFF61 && c <= 0xFF65) ||
         // full-width forms
         c == 0xFF01 || c == 0xFF02 || c == 0xFF08 || c == 0xFF09 || c == 0xFF0C || c == 0xFF0E || c == 0xFF1A ||
         c == 0xFF1B || c == 0xFF1F;
}

/// Characters that are words of their own. Kana are not: sacreBLEU's rule for them requires a line of only kana, and at
/// that point the line begins with a space. As in sacreBLEU, the block of U+3200 extends to U+3F22.
bool is_asian_word(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x31C0 && c <= 0x31EF) ||
         (c >= 0x2E80 && c <= 0x2EFF) || (c >= 0x3200 && c <= 0x3F22) || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0xFE30 && c <= 0xFE4F) || is_asian_punctuation(c);
}

/// The text with `beside` before and after each character that is such a one, or in its place unless it is `kept`.
std::string rewritten(std::string_view text, bool (*is_such)(char32_t), std::string_view beside, bool kept) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const bool found = is_such(next_character(text, at));
    if (found) result += beside;
    if (!found || kept) result += text.substr(begin, at - begin);
    if (found) result += beside;
  }
  return result;
}

std::string tokenized(std::string_view raw, const TerOptions& options) {
  const std::string_view line = text::strip_right(raw);
  std::string text = options.case_sensitive ? std::string(line) : text::lowercase(line);
  if (options.normalized) {
    text = text::normalize_for_ter(text);
    if (options.asian_support) text = rewritten(text, is_asian_word, " ", true);
  }
  if (options.no_punct) {
    std::erase_if(text, [](char c) { return std::string_view(".,?:;!\"()").find(c) != std::string_view::npos; });
    if (options.asian_support) text = rewritten(text, is_asian_punctuation, "", false);
  }
  return text;
}

// The edits. Words are represented by numbers, equal ones for equal words.
using Word = std::uint64_t;

constexpr std::size_t kLongestShift = 10, kFarthestShift = 50, kBeam = 25, kMostCandidates = 1000;

/// Edit distances between `n` words and the m words of a reference. Row i of the matrix holds the costs of the first i
/// words against the first j words of the reference for lower(i) <= j < upper(i), around the diagonal; outside of this
/// range the cost is infinite.
class EditMatrix {
 public:
  static constexpr int kInfinite = std::numeric_limits<int>::max() / 2;

  EditMatrix(std::size_t n, std::span<const Word> reference)
      : n_(n), m_(reference.size()), reference_(reference), lower_(n + 1, 0), upper_(n + 1, m_ + 1) {
    const double ratio = n == 0 ? 1 : static_cast<double>(m_) / static_cast<double>(n);
    const bool wide = static_cast<double>(kBeam) < ratio / 2;
    const std::size_t beam = wide ? static_cast<std::size_t>(std::ceil(ratio / 2 + kBeam)) : kBeam;
    std::size_t widest = 0;
    for (std::size_t i = 1; i <= n; ++i) {
      const auto diagonal = static_cast<std::size_t>(std::floor(static_cast<double>(i) * ratio));
      lower_[i] = diagonal > beam ? diagonal - beam : 0;
      if (i < n) upper_[i] = std::min(m_ + 1, diagonal + beam);
      widest = std::max(widest, upper_[i] - lower_[i - 1]);  // a row must extend as far as the next one reads it
    }
    stride_ = widest + 1;
    costs_.assign((n + 1) * stride_, kInfinite);
    scratch_.assign(2 * stride_, kInfinite);
    for (std::size_t j = 0; j < widest; ++j) costs_[j + 1] = static_cast<int>(j);
  }

  /// Fills the matrix for `words` and returns their distance to the reference.
  int fill(std::span<const Word> words) {
    for (std::size_t i = 1; i <= n_; ++i) compute(i, words[i - 1], row(i - 1), row(i));
    return n_ == 0 ? static_cast<int>(m_) : at(n_, m_);
  }

  /// Returns the distance of `words`, whose first `same` words must be those of the matrix, or `limit` + 1 if it is
  /// larger than `limit`. Does not change the matrix.
  int distance_below(std::span<const Word> words, std::size_t same, int limit) {
    const int* previous = row(same);
    for (std::size_t i = same + 1; i <= n_; ++i) {
      int* const next = scratch_.data() + (i % 2) * stride_;
      // A path through a row costs at least as much as its cheapest cell.
      if (compute(i, words[i - 1], previous, next) > limit) return limit + 1;
      previous = next;
    }
    return std::min(previous[m_ - lower_[n_] + 1], limit + 1);
  }

  int at(std::size_t i, std::size_t j) const {
    return j < lower_[i] || j >= upper_[i] ? kInfinite : costs_[i * stride_ + j - lower_[i] + 1];
  }

 private:
  int* row(std::size_t i) { return costs_.data() + i * stride_; }

  /// Computes a row and returns its lowest cost. A row is stored from j = lower - 1 on; this cell and the one after its
  /// end are infinite.
  int compute(std::size_t i, Word word, const int* previous, int* next) const {
    const std::size_t low = lower_[i], width = upper_[i] - low, moved = low - lower_[i - 1];
    int lowest = kInfinite, left = kInfinite;
    std::size_t k = 0;
    if (low == 0) {  // j = 0: no words of the reference
      lowest = left = next[1] = previous[1] + 1;
      k = 1;
    }
    next[0] = kInfinite;
    for (; k < width; ++k) {
      const int substituted = previous[k + moved] + (reference_[low + k - 1] == word ? 0 : 1);
      left = std::min(std::min(substituted, previous[k + moved + 1] + 1), left + 1);
      next[k + 1] = left;
      lowest = std::min(lowest, left);
    }
    std::fill(next + width + 1, next + stride_, kInfinite);
    return lowest;
  }

  std::size_t n_, m_;
  std::span<const Word> reference_;
  std::vector<std::size_t> lower_, upper_;
  std::size_t stride_ = 0;
  std::vector<int> costs_, scratch_;
};

/// The alignment between words and reference that a filled matrix gives.
struct Trace {
  std::vector<std::ptrdiff_t> aligned;  // for each reference word: the word that it is aligned to or follows; or -1
  std::vector<std::uint32_t> wrong_words, wrong_reference;  // [k]: number of errors in the first k words

  /// Like tercom, it prefers to keep or substitute a word, then to delete it, then to insert one of the reference.
  Trace(const EditMatrix& matrix, std::span<const Word> words, std::span<const Word> reference)
      : aligned(reference.size()), wrong_words(words.size() + 1), wrong_reference(reference.size() + 1) {
    for (std::size_t i = words.size(), j = reference.size(); i > 0 || j > 0;) {
      if (i > 0 && j > 0) {
        const bool wrong = words[i - 1] != reference[j - 1];
        if (matrix.at(i, j) == matrix.at(i - 1, j - 1) + (wrong ? 1 : 0)) {
          aligned[j - 1] = static_cast<std::ptrdiff_t>(i) - 1;
          wrong_words[i--] = wrong_reference[j--] = wrong ? 1 : 0;
          continue;
        }
      }
      if (i > 0 && (j == 0 || matrix.at(i, j) == matrix.at(i - 1, j) + 1)) {
        wrong_words[i--] = 1;
      } else {
        aligned[j - 1] = static_cast<std::ptrdiff_t>(i) - 1;
        wrong_reference[j--] = 1;
      }
    }
    for (std::size_t k = 1; k < wrong_words.size(); ++k) wrong_words[k] += wrong_words[k - 1];
    for (std::size_t k = 1; k < wrong_reference.size(); ++k) wrong_reference[k] += wrong_reference[k - 1];
  }
};

/// Moves `length` words from `start` on before the word at `target`. If `target` is one of these words or the word
/// after them, they move target - start words to the right, as far as possible.
struct Shift {
  std::size_t start, length, target;

  void apply(std::vector<Word>& words) const {
    const auto place = [&](std::size_t i) { return words.begin() + static_cast<std::ptrdiff_t>(i); };
    const std::size_t end = start + length;
    if (target < start) {
      std::rotate(place(target), place(start), place(end));
    } else if (target > end) {
      std::rotate(place(start), place(end), place(target));
    } else {
      std::rotate(place(start), place(end), place(std::min(words.size(), target + length)));
    }
  }
};

/// Shifts phrases of the words while that lowers the distance to the reference. Each step takes the shift that lowers
/// it most; among equals the longest phrase, then the first start, then the first target.
class Shifter {
 public:
  Shifter(std::vector<Word> words, std::span<const Word> reference)
      : words_(std::move(words)), reference_(reference), matrix_(words_.size(), reference) {}

  std::uint64_t edits() {
    std::uint64_t shifts = 0;
    int distance = matrix_.fill(words_);
    for (; const auto shift = best_shift(distance); ++shifts) {
      shift->apply(words_);
      distance = matrix_.fill(words_);
    }
    return shifts + static_cast<std::uint64_t>(distance);
  }

 private:
  /// Returns nothing if no shift helps or the maximum number of candidates has been tried.
  std::optional<Shift> best_shift(int distance) {
    if (distance == 0) return std::nullopt;
    const Trace trace(matrix_, words_, reference_);
    std::optional<Shift> best;
    int best_distance = distance;
    for (std::size_t start = 0; start < words_.size(); ++start) {
      const std::size_t first = start > kFarthestShift ? start - kFarthestShift : 0;
      const std::size_t last = std::min(reference_.size(), start + kFarthestShift + 1);
      for (std::size_t in_reference = first; in_reference < last; ++in_reference) {
        for (std::size_t length = 1; matches(start, in_reference, length); ++length) {
          if (!worth_trying(trace, start, in_reference, length)) continue;
          try_targets(trace, {start, length, 0}, in_reference, best, best_distance);
          if (tried_ >= kMostCandidates) return std::nullopt;
        }
      }
    }
    return best;
  }

  /// Whether the `length` words from `start` on equal those of the reference, if the first length - 1 are known to.
  bool matches(std::size_t start, std::size_t in_reference, std::size_t length) const {
    return length <= kLongestShift && start + length <= words_.size() && in_reference + length <= reference_.size() &&
           words_[start + length - 1] == reference_[in_reference + length - 1];
  }

  /// A shift is tried only if both phrases have an error and are not aligned with each other already.
  static bool worth_trying(const Trace& trace, std::size_t start, std::size_t in_reference, std::size_t length) {
    if (trace.wrong_words[start + length] == trace.wrong_words[start]) return false;
    if (trace.wrong_reference[in_reference + length] == trace.wrong_reference[in_reference]) return false;
    const std::ptrdiff_t aligned = trace.aligned[in_reference];
    return aligned < static_cast<std::ptrdiff_t>(start) || aligned >= static_cast<std::ptrdiff_t>(start + length);
  }

  /// Tries to move the phrase after the word that is aligned to the reference word before the phrase, and after those
  /// aligned to each word of the phrase.
  void try_targets(const Trace& trace, Shift shift, std::size_t in_reference, std::optional<Shift>& best,
                   int& best_distance) {
    std::size_t previous = words_.size() + 1;
    for (std::size_t offset = 0; offset <= shift.length; ++offset) {
      const std::size_t word = in_reference + offset;  // number of the reference word, from 1
      shift.target = word == 0 ? 0 : static_cast<std::size_t>(trace.aligned[word - 1] + 1);
      if (shift.target == previous) continue;
      previous = shift.target;
      ++tried_;
      const auto rank = [](const Shift& s) { return std::tuple(s.length, ~s.start, ~s.target); };
      const bool wins_ties = best && rank(shift) > rank(*best);
      const int limit = wins_ties ? best_distance : best_distance - 1;
      shifted_ = words_;
      shift.apply(shifted_);
      const int distance = matrix_.distance_below(shifted_, std::min(shift.start, shift.target), limit);
      if (distance > limit) continue;
      best = shift;
      best_distance = distance;
    }
  }

  std::vector<Word> words_, shifted_;
  std::span<const Word> reference_;
  EditMatrix matrix_;
  std::size_t tried_ = 0;
};

}  // namespace

TerStatistics sentence_statistics(std::string_view hypothesis, std::span<const std::string_view> references,
                                  const TerOptions& options) {
  assert(!references.empty());
  std::unordered_map<std::string, Word> numbers;
  const auto words_of = [&](const std::string& line) {
    std::vector<Word> words;
    for (const std::string_view word : text::split_views(line))
      words.push_back(numbers.try_emplace(std::string(word), numbers.size()).first->second);
    return words;
  };
  const std::vector<Word> words = words_of(tokenized(hypothesis, options));
  TerStatistics statistics{.edits = std::numeric_limits<std::uint64_t>::max()};
  for (const std::string_view raw : references) {
    // Twice, as sacreBLEU 2 does (metrics/base.py and ter.py); for normalization that makes a difference ("dog's.").
    const std::vector<Word> reference = words_of(tokenized(tokenized(raw, options), options));
    statistics.reference_words += reference.size();
    const std::uint64_t edits = reference.empty() ? words.size() : Shifter(words, reference).edits();
    statistics.edits = std::min(statistics.edits, edits);
  }
  return statistics;
}

double ter_of(const TerStatistics& statistics, std::size_t references) {
  if (statistics.reference_words == 0) return statistics.edits > 0 ? 100 : 0;
  const double length = static_cast<double>(statistics.reference_words) / static_cast<double>(references);
  return 100 * (static_cast<double>(statistics.edits) / length);
}

std::string signature(const TerOptions& options, std::size_t references, const std::optional<Bootstrap>& bootstrap) {
  const auto yes = [](bool value) { return value ? "yes" : "no"; };
  return fmt::format("{}|case:{}|tok:tercom|norm:{}|punct:{}|asian:{}|version:rnnsearch-{}",
                     signature_head(references, bootstrap), options.case_sensitive ? "mixed" : "lc",
                     yes(options.normalized), yes(!options.no_punct), yes(options.asian_support), kVersion);
}

}  // namespace rnnsearch::evaluate
