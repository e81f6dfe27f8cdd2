#include "text/sentence_piece.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/text/unicode.h"
#include "text/merge_pairs.h"
#include "text/model_proto.h"
#include "text/piece_normalizer.h"
#include "text/word_cache.h"

namespace rnnsearch::text {
namespace {

// SentencePiece: the library loads models and joins pieces. Lines are split by code of our own wherever it gives the
// same pieces as the library; otherwise the library splits them. The two algorithms are those of SentencePiece 0.1.97,
// unigram_model.cc (EncodeOptimized) and bpe_model.cc. Measured on 100,000 lines of French with 8,000 pieces, on one
// thread with AVX2: 0.32 s where the library takes 1.82 s (unigram), 0.36 s where it takes 4.47 s (BPE), with all
// pieces equal. The library for each word with a cache of words in front would save some 300 lines here, but takes 0.74
// s and 1.15 s, which makes prepare 30% slower, and it splits 49 of the lines differently (unigram), because words that
// the library sees alone round their scores differently.

using PieceType = ModelProto::PieceType;

constexpr std::array<std::string_view, 3> kSpecialSymbols{"<unk>", "<s>", "</s>"};  // part of every vocabulary

std::string reason_of(const sentencepiece::util::Status& status) {
  std::string text = status.ToString();  // "Internal: file.cc(12) [condition] reason."
  if (text.ends_with('.')) text.pop_back();
  const std::size_t condition = text.rfind("] ");
  return condition == text.npos ? text : text.substr(condition + 2);
}

/// Bytes. For a model with longer pieces only the library is used.
constexpr std::size_t kLongestPiece = 1024;

/// Bytes. For longer pieces the recursion of the library would need too much stack, and newer versions reject them.
constexpr std::size_t kLongestOfAll = 8000;

/// Maximum length of a chain of user-defined symbols that are prefixes of each other: the library has room for this
/// many matches at one position of a line.
constexpr std::size_t kLongestChain = 64;

/// Bytes of memory that a thread keeps from one stretch to the next.
constexpr std::size_t kUsualBytes = 1 << 16;

/// A piece of normalized text. id kNoSymbol means unknown.
struct Found {
  std::uint32_t id, begin, end;
};

/// A trie of the pieces of a model, stored as a double array (Aoe 1989): the child of `node` for a byte is at base +
/// byte if its parent is `node`.
class PieceTrie {
 public:
  struct Piece {
    std::string_view text;
    std::uint32_t id;
  };

  PieceTrie() : units_(1 + 256) { units_[0].parent = 0; }
  explicit PieceTrie(std::vector<Piece> pieces) : PieceTrie() {
    std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.text < b.text; });
    add_children(pieces, 0, 0);
  }

  /// Returns kNoSymbol if there is no such child.
  std::uint32_t child(std::uint32_t node, char c) const {
    const std::uint32_t place = units_[node].base + static_cast<std::uint8_t>(c);
    return units_[place].parent == node ? place : kNoSymbol;
  }
  std::uint32_t id(std::uint32_t node) const { return units_[node].id; }

 private:
  struct Unit {
    std::uint32_t base = 0, parent = kNoSymbol, id = kNoSymbol;
  };

  // pieces: sorted; all begin with the `depth` bytes that lead to `node`.
  void add_children(std::span<const Piece> pieces, std::size_t depth, std::uint32_t node) {
    for (; !pieces.empty() && pieces.front().text.size() == depth; pieces = pieces.subspan(1)) {
      units_[node].id = pieces.front().id;
    }
    if (pieces.empty()) return;
    struct Child {
      std::uint8_t byte;
      std::size_t begin, end;
    };
    std::vector<Child> children;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const auto byte = static_cast<std::uint8_t>(pieces[i].text[depth]);
      if (children.empty() || children.back().byte != byte) children.push_back({byte, i, i});
      children.back().end = i + 1;
    }
    while (first_free_ < units_.size() && units_[first_free_].parent != kNoSymbol) ++first_free_;
    std::uint32_t base = std::max(first_free_, children.front().byte + 1u) - children.front().byte;
    const auto fits = [&] {
      for (const Child& child : children) {
        const std::size_t place = base + child.byte;
        if (place < units_.size() && units_[place].parent != kNoSymbol) return false;
      }
      return true;
    };
    // Tries the gaps between other nodes first, then the end of the array, where most places are free.
    for (int tries = 1; !fits(); ++tries)
      base = tries == kTries ? static_cast<std::uint32_t>(units_.size()) - 256 : base + 1;
    if (units_.size() < base + 256u) units_.resize(base + 256u);  // so that every byte can be looked up
    units_[node].base = base;
    for (const Child& child : children) units_[base + child.byte].parent = node;
    for (const Child& child : children) {
      add_children(pieces.subspan(child.begin, child.end - child.begin), depth + 1, base + child.byte);
    }
  }

  static constexpr int kTries = 64;

  std::vector<Unit> units_;  // 0 is the root
  std::uint32_t first_free_ = 1;
};

/// Splits lines whose stretches between spaces are independent of each other.
class FastSplitter {
 public:
  /// Returns nothing for a model that needs the library for whole lines: with pieces that contain spaces inside, or
  /// without a piece for a single space; with user-defined or unused symbols; with a normalization that is not
  /// independent for stretches, or keeps spaces; with special symbols of one character; or of type word or char instead
  /// of unigram and BPE.
  static std::optional<FastSplitter> of(const ModelProto& model, PieceNormalizer normalizer) {
    if (model.type != ModelProto::ModelType::kUnigram && model.type != ModelProto::ModelType::kBpe) return {};
    if (model.space_as_suffix || !model.adds_dummy_prefix || !model.removes_extra_spaces || !model.escapes_spaces)
      return {};
    FastSplitter splitter(model, std::move(normalizer));
    return splitter.sound_ ? std::optional(std::move(splitter)) : std::nullopt;
  }

  /// Returns false and adds nothing if the library must split this line.
  bool split(std::string_view line, WordList& pieces) const {
    const bool ascii =
        std::all_of(line.begin(), line.end(), [](char c) { return c != 0 && static_cast<std::uint8_t>(c) < 0x80; });
    if (!ascii && (line.find('\0') != line.npos || line.find(kPieceSpace) != line.npos || first_invalid_utf8(line)))
      return false;
    WordCache& cache = WordCache::for_owner(owner_);
    float score = 0;
    while (!line.empty()) {
      const std::size_t size = std::min(line.find(' '), line.size());
      if (size > 0) split_stretch(line.substr(0, size), cache, score, pieces);
      line.remove_prefix(std::min(size + 1, line.size()));
    }
    return true;
  }

 private:
  FastSplitter(const ModelProto& model, PieceNormalizer normalizer)
      : type_(model.type),
        byte_fallback_(model.byte_fallback),
        normalizer_(std::move(normalizer)),
        owner_(WordCache::new_owner()) {
    sound_ = normalizer_.separates_at_spaces();
    float least = std::numeric_limits<float>::max();
    bool has_space = false;
    std::vector<PieceTrie::Piece> normal;
    for (std::size_t i = 0; i < model.pieces.size(); ++i) {
      const auto& [text, score, type] = model.pieces[i];
      pieces_.push_back(std::string(text));
      scores_.push_back(score);
      if (type == PieceType::kUserDefined || type == PieceType::kUnused || text.empty() ||
          text.size() > kLongestPiece || !std::isfinite(score)) {
        sound_ = false;
      } else if (type == PieceType::kNormal) {
        sound_ = sound_ && text.find(kPieceSpace, 1) == text.npos;
        has_space = has_space || text == kPieceSpace;
        least = std::min(least, score);
        normal.push_back({text, static_cast<std::uint32_t>(i)});
      } else {
        sound_ = sound_ && utf8_size(text.front()) < text.size();
        if (type == PieceType::kByte) bytes_.try_emplace(std::string(text), static_cast<std::uint32_t>(i));
      }
    }
    sound_ = sound_ && has_space && (!byte_fallback_ || bytes_.size() == 256);
    if (!sound_) return;
    trie_ = PieceTrie(std::move(normal));
    constexpr float kUnknownPenalty = 10;
    unknown_score_ = least - kUnknownPenalty;
    if (byte_fallback_) {
      for (unsigned byte = 0; byte < 256; ++byte) {
        constexpr const char* kHex = "0123456789ABCDEF";
        const auto entry = bytes_.find(std::string("<0x") + kHex[byte >> 4] + kHex[byte & 15] + ">");
        sound_ = sound_ && entry != bytes_.end();
        if (sound_) byte_ids_[byte] = entry->second;
      }
    }
    if (type_ == ModelProto::ModelType::kBpe) {
      // The highest score is merged first; equal scores share a rank and are merged by position.
      std::vector<float> order(scores_);
      std::sort(order.begin(), order.end(), std::greater<>());
      order.erase(std::unique(order.begin(), order.end()), order.end());
      for (const float score : scores_) {
        const auto place = std::lower_bound(order.begin(), order.end(), score, std::greater<>());
        ranks_.push_back(static_cast<std::uint32_t>(place - order.begin()));
      }
    }
  }

  // score: the sum of the scores of the pieces so far, rounded to float after each piece.
  void split_stretch(std::string_view stretch, WordCache& cache, float& score, WordList& out) const {
    const std::uint64_t hash = hash_of(stretch);
    if (const WordCache::Entry* entry = cache.find(stretch, hash); entry && std::abs(score) < entry->limit) {
      for (std::size_t i = 0; i < entry->count; ++i) {
        const std::uint32_t id = entry->values[i];
        out.add(pieces_[id]);
        add_to(score, scores_[id]);
      }
      return;
    }
    thread_local std::string text;
    thread_local std::vector<Found> found;
    text.clear();
    found.clear();
    normalizer_.append(stretch, text);
    if (type_ == ModelProto::ModelType::kBpe) {
      merge(text, found);
      keep(stretch, hash, std::numeric_limits<float>::infinity(), found, cache);
    } else {
      double exact = 0;
      const float limit = best_path(text, exact, found);
      if (std::abs(score) < limit) {
        for (const Found& piece : found) add_to(score, piece.id);
        keep(stretch, hash, limit, found, cache);
      } else {
        found.clear();
        best_path(text, score, found);
      }
    }
    add(text, found, out);
    if (text.capacity() > kUsualBytes) text = {};
  }

  void add_to(float& score, std::uint32_t id) const {
    if (id == kNoSymbol) {
      score += unknown_score_;
    } else {
      add_to(score, scores_[id]);
    }
  }
  // The library adds in double and stores a float.
  static void add_to(float& score, float piece) { score = static_cast<float>(double{piece} + double{score}); }

  static void keep(std::string_view stretch, std::uint64_t hash, float limit, const std::vector<Found>& found,
                   WordCache& cache) {
    std::array<std::uint32_t, WordCache::kValues> ids;
    if (found.size() > ids.size()) return;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i].id == kNoSymbol) return;
      ids[i] = found[i].id;
    }
    cache.keep(stretch, hash, limit, std::span(ids.data(), found.size()));
  }

  // Adds the pieces. Unknown ones are split into bytes, or joined with their unknown neighbours.
  void add(std::string_view text, const std::vector<Found>& found, WordList& out) const {
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::string_view piece = text.substr(found[i].begin, found[i].end - found[i].begin);
      if (found[i].id != kNoSymbol) {
        out.add(piece);
      } else if (byte_fallback_) {
        for (const char c : piece) out.add(pieces_[byte_ids_[static_cast<std::uint8_t>(c)]]);
      } else {
        out.append(piece);
        if (i + 1 == found.size() || found[i + 1].id != kNoSymbol) out.end_word();
      }
    }
  }

  // Finds the pieces with the highest sum of scores by the Viterbi algorithm. Sums start at `before`, are rounded to
  // Score, and `before` is set to the final sum. The library computes in float over the whole line, so its rounding
  // decides between paths with nearly equal sums. With Score = double, the function returns the largest absolute value
  // of the library's sum at the start of the stretch for which the library makes the same decisions; a negative result
  // means that there is none.
  template <class Score>
  float best_path(std::string_view text, Score& before, std::vector<Found>& found) const {
    constexpr bool exact = std::is_same_v<Score, double>;
    struct Node {  // the best path that ends here
      Score sum;
      std::uint32_t begin = kNoSymbol;  // start of its last piece
      std::uint32_t id;
      double second;  // sum of the second-best path, if `exact`
    };
    thread_local std::vector<Node> nodes;
    nodes.assign(text.size() + 1, {});
    nodes[0].sum = before;
    const auto offer = [&](std::size_t end, std::size_t begin, std::uint32_t id, auto sum) {
      Node& node = nodes[end];
      if (node.begin == kNoSymbol || sum > node.sum) {
        if constexpr (exact) {
          node.second = node.begin == kNoSymbol ? -std::numeric_limits<double>::infinity() : node.sum;
        }
        node.sum = static_cast<Score>(sum);
        node.begin = static_cast<std::uint32_t>(begin);
        node.id = id;
      } else if constexpr (exact) {
        node.second = std::max(node.second, sum);
      }
    };
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t size = utf8_size(text[begin]);
      const Score sum = nodes[begin].sum;
      bool has_character = false;
      std::uint32_t node = 0;
      for (std::size_t end = begin; end < text.size();) {
        node = trie_.child(node, text[end]);
        ++end;
        if (node == kNoSymbol) break;
        const std::uint32_t id = trie_.id(node);
        if (id == kNoSymbol) continue;
        offer(end, begin, id, double{scores_[id]} + double{sum});
        has_character = has_character || end - begin == size;
      }
      if (!has_character) offer(begin + size, begin, kNoSymbol, static_cast<Score>(unknown_score_) + sum);
      begin += size;
    }
    before = nodes[text.size()].sum;
    double limit = 0;
    for (std::size_t end = text.size(); end > 0; end = nodes[end].begin) {
      found.push_back({nodes[end].id, nodes[end].begin, static_cast<std::uint32_t>(end)});
    }
    std::reverse(found.begin(), found.end());
    if constexpr (exact) {
      // The error of a sum of k pieces is at most k roundings, each of 2^-24 of the largest sum. The order of two sums
      // is certain if they differ by more than both errors together.
      double largest = 0, allowed = std::numeric_limits<double>::infinity();
      for (const Node& node : nodes) {
        if (&node == nodes.data() || node.begin != kNoSymbol) largest = std::max(largest, std::abs(node.sum));
      }
      for (const Found& piece : found) {
        const Node& node = nodes[piece.end];
        allowed = std::min(allowed, (node.sum - node.second) / (2.0 * static_cast<double>(piece.end) + 4));
      }
      constexpr double kRoundings = 1 << 24;
      limit = allowed * kRoundings * (1 - 1e-6) - largest;
    }
    if (nodes.capacity() * sizeof(Node) > kUsualBytes) nodes = {};
    return static_cast<float>(limit);
  }

  void merge(std::string_view text, std::vector<Found>& found) const {
    thread_local std::vector<MergeSymbol> symbols;
    symbols.clear();
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = utf8_size(text[at]);
      symbols.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(size), 0});
      at += size;
    }
    merge_pairs<EqualPairs::kOne>(symbols, [&](const MergeSymbol& left, const MergeSymbol& right) {
      const std::uint32_t id = id_of(text.substr(left.begin, left.size + right.size));
      return id == kNoSymbol ? std::nullopt : std::optional(Merge{ranks_[id], id});
    });
    for (const MergeSymbol& symbol : symbols) {
      if (symbol.size == 0) continue;
      found.push_back({id_of(text.substr(symbol.begin, symbol.size)), symbol.begin, symbol.begin + symbol.size});
    }
  }

  std::uint32_t id_of(std::string_view piece) const {
    std::uint32_t node = 0;
    for (const char c : piece) {
      node = trie_.child(node, c);
      if (node == kNoSymbol) return kNoSymbol;
    }
    return trie_.id(node);
  }

  ModelProto::ModelType type_;
  bool byte_fallback_, sound_ = false;
  PieceNormalizer normalizer_;
  std::uint64_t owner_;
  std::vector<std::string> pieces_;  // indexed by SentencePiece's id, as are scores_ and ranks_
  std::vector<float> scores_;
  std::vector<std::uint32_t> ranks_;  // for BPE
  float unknown_score_ = 0;
  PieceTrie trie_;  // the normal pieces
  std::unordered_map<std::string, std::uint32_t> bytes_;
  std::array<std::uint32_t, 256> byte_ids_{};
};

class SentencePiece : public Subwords::Model {
 public:
  explicit SentencePiece(std::string model) : Model(std::move(model)) {
    // The library does not check its input, so data that could make it read outside of its memory is rejected first.
    const ModelProto proto = ModelProto::parse(bytes());
    type_ = proto.type;
    check_pieces(proto);
    PieceNormalizer normalizer(proto.charsmap);
    const PieceNormalizer checked(proto.joining_charsmap);
    const auto status = processor_.LoadFromSerializedProto(bytes());
    if (!status.ok()) throw Error("SentencePiece cannot read it: {}", reason_of(status));
    fast_ = FastSplitter::of(proto, std::move(normalizer));
  }

  Subwords::Kind kind() const override { return Subwords::Kind::kSentencePiece; }
  std::string description() const override {
    constexpr std::array kTypes{"unigram", "bpe", "word", "char"};
    const auto type = static_cast<std::size_t>(type_) - 1;
    return fmt::format("SentencePiece {}, {} pieces", type < kTypes.size() ? kTypes[type] : "model",
                       processor_.GetPieceSize());
  }
  std::vector<std::string> pieces() const override { return pieces_; }

  void split(std::string_view line, WordList& pieces) const override {
    if (fast_ && fast_->split(line, pieces)) return;
    std::vector<std::string> all;
    // absl::string_view is std::string_view in Debian's SentencePiece 0.1.97 and a class of its own in upstream's.
    const auto status = processor_.Encode(absl::string_view(line.data(), line.size()), &all);
    if (!status.ok()) throw Error("SentencePiece cannot split a line: {}", reason_of(status));
    for (const std::string& piece : all) pieces.add(piece);
  }

  std::string join(const std::vector<std::string>& pieces, std::string_view unknown) const override {
    std::string line;
    std::vector<std::string> known;
    const auto add_word = [&](std::string_view text) {
      if (!line.empty() && !text.empty()) line += ' ';
      line += text;
    };
    const auto add_known = [&] {
      std::string text;
      const auto status = processor_.Decode(known, &text);
      if (!status.ok()) throw Error("SentencePiece cannot join pieces: {}", reason_of(status));
      known.clear();
      add_word(text);
    };
    for (const std::string& piece : pieces) {
      if (piece != unknown) {
        known.push_back(piece);
        continue;
      }
      add_known();
      add_word(unknown);
    }
    add_known();
    return line;
  }

 private:
  void check_pieces(const ModelProto& proto) {
    std::vector<std::string_view> symbols;  // the user-defined symbols
    std::unordered_set<std::string_view> seen;
    for (std::size_t i = 0; i < proto.pieces.size(); ++i) {
      const auto& [text, score, type] = proto.pieces[i];
      if (text.empty()) throw Error("its piece {} is empty", i);
      if (text.size() > kLongestOfAll)
        throw Error("its piece {} has {} bytes, but at most {} are allowed", i, text.size(), kLongestOfAll);
      if (type == PieceType::kUnknown || type == PieceType::kControl) continue;
      const std::string piece(text);
      if (std::find(kSpecialSymbols.begin(), kSpecialSymbols.end(), piece) != kSpecialSymbols.end())
        throw Error(
            "its piece '{}' is an ordinary piece, but here it is a special symbol of every vocabulary; train the model "
            "without that piece",
            piece);
      if (piece.find_first_of(std::string_view("\n\0", 2)) != piece.npos || first_invalid_utf8(piece))
        throw Error("its piece {} is not a line of valid UTF-8", i);
      if (!seen.insert(text).second) throw Error("its piece '{}' occurs twice", piece);
      if (type == PieceType::kUserDefined) symbols.push_back(text);
      pieces_.push_back(piece);
    }
    if (pieces_.empty()) throw Error("it has no pieces");
    std::sort(symbols.begin(), symbols.end());
    std::vector<std::string_view> chain;  // each symbol begins with the one before it
    for (const std::string_view symbol : symbols) {
      while (!chain.empty() && !symbol.starts_with(chain.back())) chain.pop_back();
      chain.push_back(symbol);
      if (chain.size() > kLongestChain)
        throw Error("more than {} of its user-defined symbols are prefixes of each other", kLongestChain);
    }
  }

  sentencepiece::SentencePieceProcessor processor_;
  ModelProto::ModelType type_ = ModelProto::ModelType::kUnigram;
  std::vector<std::string> pieces_;
  std::optional<FastSplitter> fast_;
};

/// Adapts the lines of a training text to the library's interface.
class Lines : public sentencepiece::SentenceIterator {
 public:
  explicit Lines(const std::vector<std::string>& lines) : lines_(lines) {}
  bool done() const override { return at_ == lines_.size(); }
  void Next() override { ++at_; }
  const std::string& value() const override { return lines_[at_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>& lines_;
  std::size_t at_ = 0;
};

/// What the library says, in words that name options of this program, with what to do.
std::string advice_on(const std::string& reason, const std::string& size_option) {
  const auto has = [&](const char* words) { return reason.find(words) != reason.npos; };
  if (has("required_chars") || has("vocab_size")) {
    return fmt::format(
        "the special symbols, the 256 bytes and the characters of the text are more; give a larger {} or leave it out",
        size_option);
  }
  if (has("too high")) {
    const std::size_t most = std::min(reason.find("<= "), reason.size());
    return fmt::format("the text yields fewer pieces; give a {} {} or leave it out", size_option, reason.substr(most));
  }
  return fmt::format(
      "{}; check that the text has one sentence a line, or take another tool's model (--subword-model) or codes "
      "(--bpe-codes)",
      reason);
}

}  // namespace

std::shared_ptr<const Subwords::Model> make_sentence_piece(std::string bytes) {
  return std::make_shared<SentencePiece>(std::move(bytes));
}

Subwords train_subwords(const std::vector<std::string>& lines, const SubwordTraining& training) {
  Lines iterator(lines);
  std::string model;
  std::string symbols;
  for (const std::string& symbol : training.symbols) symbols += (symbols.empty() ? "" : ",") + symbol;
  std::unordered_map<std::string, std::string> settings{
      {"model_type", training.algorithm},
      {"vocab_size", std::to_string(training.pieces)},
      {"hard_vocab_limit", training.exactly ? "true" : "false"},
      {"normalization_rule_name", training.normalization},
      {"byte_fallback", "true"},
      {"max_sentence_length", std::to_string(kTrainingLineBytes)},
      {"num_threads", "16"},  // affects the result, because sums are computed by thread
      {"minloglevel", "2"}};
  if (!symbols.empty()) settings["user_defined_symbols"] = symbols;
  const auto status = sentencepiece::SentencePieceTrainer::Train(settings, &iterator, &model);
  if (!status.ok())
    throw Error("SentencePiece cannot learn a {} model of {} pieces from {} lines: {}", training.algorithm,
                training.pieces, lines.size(), advice_on(reason_of(status), training.size_option));
  return Subwords::sentence_piece(std::move(model));
}

}  // namespace rnnsearch::text
