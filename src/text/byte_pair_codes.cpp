#include "rnnsearch/text/subwords.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <span>
#include <unordered_map>

#include "rnnsearch/base/error.h"
#include "rnnsearch/text/unicode.h"
#include "text/word_cache.h"

namespace rnnsearch::text {
namespace {

// Byte pair encoding as in subword-nmt's apply_bpe.py, without glossaries, vocabulary threshold and dropout.

constexpr std::string_view kEndOfWord = "</w>";
constexpr std::string_view kContinues = "@@";
constexpr std::size_t kShown = 60;  // bytes of an invalid line that an error quotes

struct MergeSymbol {
  std::uint32_t begin, size;  // range of bytes in the word; size 0 if it was merged into its left neighbour
  std::uint32_t id;
  std::uint32_t left = 0, right = 0;  // neighbours
};
constexpr std::uint32_t kNoSymbol = std::numeric_limits<std::uint32_t>::max();

struct Merge {
  std::uint32_t rank;  // the lowest rank is merged first
  std::uint32_t id;    // id of the merged symbol
};

/// symbols: in: the characters of the word; out: the remaining symbols have a size > 0. merge_of(left, right) returns
/// the merge of two neighbours as std::optional<Merge>. All pairs of the best rank are merged, from the left, before
/// the ranks are compared again, as in subword-nmt; a merge can create a better pair. Takes time n log n.
template <class MergeOf>
void merge_pairs(std::vector<MergeSymbol>& symbols, const MergeOf& merge_of) {
  struct Pair {
    Merge merge;
    std::uint32_t left, right;
    std::uint32_t left_size, right_size;  // sizes when the pair was queued; if they changed, the pair is obsolete
    bool operator<(const Pair& other) const {
      return merge.rank != other.merge.rank ? merge.rank > other.merge.rank : left > other.left;
    }
  };
  const auto count = static_cast<std::uint32_t>(symbols.size());
  std::priority_queue<Pair> pairs;
  const auto look = [&](std::uint32_t left, std::uint32_t right) {
    if (left == kNoSymbol || right == kNoSymbol) return;
    if (const std::optional<Merge> merge = merge_of(symbols[left], symbols[right]))
      pairs.push({*merge, left, right, symbols[left].size, symbols[right].size});
  };
  for (std::uint32_t i = 0; i < count; ++i) {
    symbols[i].left = i == 0 ? kNoSymbol : i - 1;
    symbols[i].right = i + 1 == count ? kNoSymbol : i + 1;
  }
  for (std::uint32_t i = 1; i < count; ++i) look(i - 1, i);
  std::vector<Pair> round;
  std::vector<std::uint32_t> made;
  while (!pairs.empty()) {
    round.clear();
    do {
      round.push_back(pairs.top());
      pairs.pop();
    } while (!pairs.empty() && pairs.top().merge.rank == round.front().merge.rank);
    made.clear();
    for (const Pair& pair : round) {
      MergeSymbol& left = symbols[pair.left];
      MergeSymbol& right = symbols[pair.right];
      if (left.size != pair.left_size || right.size != pair.right_size || left.right != pair.right) continue;
      left.size += right.size;
      left.id = pair.merge.id;
      left.right = right.right;
      if (right.right != kNoSymbol) symbols[right.right].left = pair.left;
      right.size = 0;
      made.push_back(pair.left);
    }
    for (const std::uint32_t i : made) {
      look(symbols[i].left, i);
      look(i, symbols[i].right);
    }
  }
}

class BytePairCodes : public Subwords::Model {
 public:
  explicit BytePairCodes(std::string codes)
      : Model(Subwords::Kind::kBytePairCodes, std::move(codes)), owner_(WordCache::new_owner()) {
    read(bytes);
  }

  std::string description() const override { return fmt::format("byte pair codes, {} merges", merges_.size()); }

  void split(std::string_view word, WordList& pieces) const override {
    if (word.empty()) return;
    WordCache& cache = WordCache::for_owner(owner_);
    const std::uint64_t hash = hash_of(word);
    if (const WordCache::Entry* entry = cache.find(word, hash)) return add(word, entry->values(), pieces);
    std::vector<std::uint32_t> ends;
    encode(word, ends);
    cache.keep(word, hash, ends);
    add(word, ends, pieces);
  }

  std::string join(const std::vector<std::string>& pieces, std::string_view) const override {
    std::string line;
    bool touches = true;
    for (std::string_view piece : pieces) {
      if (!touches) line += ' ';
      touches = piece.ends_with(kContinues);
      if (touches) piece.remove_suffix(kContinues.size());
      line += piece;
    }
    return line;
  }

 private:
  static void add(std::string_view word, std::span<const std::uint32_t> ends, WordList& pieces) {
    std::uint32_t begin = 0;
    for (const std::uint32_t end : ends) {
      pieces.append(word.substr(begin, end - begin));
      if (end != word.size()) pieces.append(kContinues);
      pieces.end_word();
      begin = end;
    }
  }

  void read(std::string_view codes) {
    std::size_t number = 0;
    const auto refuse = [&](const std::string& what) { throw Error("line {} of the codes {}", number, what); };
    if (const auto bad = first_invalid_utf8(codes)) throw Error("byte {} of the codes is not valid UTF-8", *bad + 1);
    while (codes.ends_with('\n')) codes.remove_suffix(1);
    while (!codes.empty()) {
      ++number;
      const std::size_t size = std::min(codes.find('\n'), codes.size());
      std::string_view line = codes.substr(0, size);
      codes.remove_prefix(std::min(size + 1, codes.size()));
      while (line.ends_with(' ')) line.remove_suffix(1);
      if (number == 1 && (line == "#version: 0.1" || line == "#version: 0.2")) {
        joins_end_ = line.ends_with('2');
        continue;
      }
      if (is_like_header(line, number == 1))
        refuse(fmt::format(
            "is '{}'; the first line of codes may be '#version: 0.1' or '#version: 0.2', and only that line",
            line.substr(0, kShown)));
      while (line.starts_with(' ')) line.remove_prefix(1);
      const std::size_t space = line.find(' ');
      if (line.empty() || space == line.npos || line.find(' ', space + 1) != line.npos)
        refuse(
            fmt::format("is '{}{}' where two symbols with a space between were expected; is this a file that "
                        "subword-nmt learn-bpe wrote?",
                        line.substr(0, kShown), line.size() > kShown ? "..." : ""));
      const std::string_view left = line.substr(0, space), right = line.substr(space + 1);
      const Merge merge{static_cast<std::uint32_t>(number), intern(fmt::format("{}{}", left, right))};
      merges_.try_emplace(key_of(intern(left), intern(right)), merge);  // if a pair occurs twice, the first one counts
    }
    if (merges_.empty()) throw Error("the codes are empty; one merge of two symbols was expected on each line");
  }

  /// Whether a line is meant to be a header, which as a merge would change how text is split.
  static bool is_like_header(std::string_view line, bool first) {
    if (!first) return line.starts_with("#version");
    const std::string small = lowercase(line);
    const std::size_t letter = small.find_first_of("abcdefghijklmnopqrstuvwxyz");
    return line.ends_with(" 0.1") || line.ends_with(" 0.2") ||
           (letter != small.npos && std::string_view(small).substr(letter).starts_with("version"));
  }

  std::uint32_t intern(std::string_view symbol) {
    return symbols_.try_emplace(std::string(symbol), static_cast<std::uint32_t>(symbols_.size())).first->second;
  }
  std::uint32_t find(std::string_view symbol) const {
    const auto entry = symbols_.find(symbol);
    return entry == symbols_.end() ? kNoSymbol : entry->second;
  }
  static std::uint64_t key_of(std::uint32_t left, std::uint32_t right) { return std::uint64_t{left} << 32 | right; }

  // Computes the ends of the pieces of a word.
  void encode(std::string_view word, std::vector<std::uint32_t>& ends) const {
    std::vector<MergeSymbol> symbols;
    std::string last;
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t size = utf8_size(word[at]);
      const std::string_view character = word.substr(at, size);
      const auto begin = static_cast<std::uint32_t>(at);
      at += size;
      const bool ends_word = joins_end_ && at == word.size();
      if (ends_word) last = fmt::format("{}{}", character, kEndOfWord);
      symbols.push_back({begin, static_cast<std::uint32_t>(size), find(ends_word ? last : character)});
    }
    if (symbols.size() > 1) {  // a single character is a piece without any merge
      // </w> is a symbol of its own, or part of the last one. Its bytes behind the word are cut off below.
      if (!joins_end_)
        symbols.push_back({static_cast<std::uint32_t>(word.size()), kEndOfWord.size(), find(kEndOfWord)});
      merge_pairs(symbols, [&](const MergeSymbol& left, const MergeSymbol& right) {
        const auto entry = merges_.find(key_of(left.id, right.id));
        return entry == merges_.end() ? std::nullopt : std::optional(entry->second);
      });
    }
    for (const MergeSymbol& symbol : symbols) {
      if (symbol.size == 0 || symbol.begin == word.size()) continue;
      ends.push_back(std::min(symbol.begin + symbol.size, static_cast<std::uint32_t>(word.size())));
    }
  }

  std::uint64_t owner_;
  bool joins_end_ = false;  // version 0.2: the last character of a word and </w> are one symbol
  std::unordered_map<std::string, std::uint32_t, WordHash, std::equal_to<>> symbols_;
  std::unordered_map<std::uint64_t, Merge> merges_;  // keyed by the ids of two symbols
};

}  // namespace

Subwords Subwords::byte_pair_codes(std::string bytes) {
  return Subwords(std::make_shared<BytePairCodes>(std::move(bytes)));
}

}  // namespace rnnsearch::text
