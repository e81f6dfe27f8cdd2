#include "rnnsearch/text/subwords.h"

#include <fmt/format.h>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "rnnsearch/base/error.h"
#include "rnnsearch/text/unicode.h"
#include "text/model_proto.h"
#include "text/word_cache.h"

namespace rnnsearch::text {
namespace {

// The library splits text; two caches hold the pieces of words. Code of our own (a trie, a Viterbi search and merges,
// some 400 lines) was as fast: prepare with given BPE models of 8,000 pieces, 633,799 pairs of English and French and
// two threads took 17.5 s of processor time with it, and takes 17.9 s (medians of 12). Without the caches, splitting
// takes 4 to 10 times as long as with that code. Of 100,000 lines, 29 (English) and 44 (French) are split otherwise by
// the unigram model than as whole lines, none by BPE: the library rounds the sum of the scores of all pieces of the
// line so far, which decides between two ways to split a word with nearly equal scores.

using PieceType = ModelProto::PieceType;

constexpr std::array<std::string_view, 3> kSpecialSymbols{"<unk>", "<s>", "</s>"};  // part of every vocabulary

std::string reason_of(const sentencepiece::util::Status& status) {
  std::string text = status.ToString();  // "Internal: file.cc(12) [condition] reason."
  if (text.ends_with('.')) text.pop_back();
  const std::size_t condition = text.rfind("] ");
  return condition == text.npos ? text : text.substr(condition + 2);
}

/// Bytes. For longer pieces the recursion of the library would need too much stack, and newer versions reject them.
constexpr std::size_t kLongestOfAll = 8000;

/// Maximum length of a chain of user-defined symbols that are prefixes of each other: the library has room for this
/// many matches at one position of a line.
constexpr std::size_t kLongestChain = 64;

/// The threads share the pieces of up to 2^20 words of a model, which take 64 MiB.
constexpr int kSharedBits = 20;

class SentencePiece : public Subwords::Model {
 public:
  explicit SentencePiece(std::string model)
      : Model(Subwords::Kind::kSentencePiece, std::move(model)), owner_(WordCache::new_owner()) {
    // The library does not check its input, so data that could make it read outside of its memory is rejected first.
    const ModelProto proto = ModelProto::parse(bytes);
    type_ = proto.type;
    words_apart_ = proto.words_apart;
    check_pieces(proto);
    const auto status = processor_.LoadFromSerializedProto(bytes);
    if (!status.ok()) throw Error("SentencePiece cannot read it: {}", reason_of(status));
  }

  std::string description() const override {
    constexpr std::array kTypes{"unigram", "bpe", "word", "char"};
    const auto type = static_cast<std::size_t>(type_) - 1;
    return fmt::format("SentencePiece {}, {} pieces", type < kTypes.size() ? kTypes[type] : "model",
                       processor_.GetPieceSize());
  }
  std::vector<std::string> pieces() const override { return pieces_; }

  void split(std::string_view line, WordList& pieces) const override {
    if (!words_apart_ || line.find(kPieceSpace) != line.npos) {
      encode(line, pieces);
      return;
    }
    WordCache& cache = WordCache::for_owner(owner_);
    thread_local std::vector<HashedWord> words;
    words.clear();
    while (!line.empty()) {
      const std::size_t size = std::min(line.find(' '), line.size());
      if (size > 0) {
        words.push_back({line.substr(0, size), hash_of(line.substr(0, size))});
        cache.prefetch(words.back().hash);  // so that the cache misses of the words of a line overlap
      }
      line.remove_prefix(std::min(size + 1, line.size()));
    }
    for (const HashedWord& word : words) split_word(word.text, word.hash, cache, pieces);
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
  struct HashedWord {
    std::string_view text;
    std::uint64_t hash;
  };

  void split_word(std::string_view word, std::uint64_t hash, WordCache& cache, WordList& pieces) const {
    const auto add = [&](std::span<const std::uint32_t> ids) {
      for (const std::uint32_t id : ids) pieces.add(texts_[id]);
    };
    if (const WordCache::Entry* entry = cache.find(word, hash)) return add(entry->values());
    std::mutex& mutex = mutexes_[hash >> 58];
    {
      const std::scoped_lock lock(mutex);
      if (const WordCache::Entry* entry = shared_.find(word, hash)) {
        cache.keep(word, hash, entry->values());
        return add(entry->values());
      }
    }
    const std::vector<std::uint32_t> ids = encode(word, pieces);
    for (const std::uint32_t id : ids) {
      if (processor_.IsUnknown(static_cast<int>(id))) return;  // the id does not tell the text of the piece
    }
    cache.keep(word, hash, ids);
    const std::scoped_lock lock(mutex);
    shared_.keep(word, hash, ids);
  }

  // Adds the pieces that the library finds, and returns their ids.
  std::vector<std::uint32_t> encode(std::string_view text, WordList& pieces) const {
    sentencepiece::ImmutableSentencePieceText found;
    // absl::string_view is std::string_view in Debian's SentencePiece 0.1.97 and a class of its own in upstream's.
    const auto status = processor_.Encode(absl::string_view(text.data(), text.size()), found.mutable_proto());
    if (!status.ok()) throw Error("SentencePiece cannot split a line: {}", reason_of(status));
    std::vector<std::uint32_t> ids;
    for (const auto& piece : found.pieces()) {
      pieces.add(piece.piece());
      ids.push_back(piece.id());
    }
    return ids;
  }

  void check_pieces(const ModelProto& proto) {
    std::vector<std::string_view> symbols;  // the user-defined symbols
    std::unordered_set<std::string_view> seen;
    for (std::size_t i = 0; i < proto.pieces.size(); ++i) {
      const auto& [text, type] = proto.pieces[i];
      texts_.emplace_back(text);
      if (text.empty()) throw Error("its piece {} is empty", i);
      if (text.size() > kLongestOfAll)
        throw Error("its piece {} has {} bytes, but at most {} are allowed", i, text.size(), kLongestOfAll);
      if (type == PieceType::kUnknown || type == PieceType::kControl) continue;
      const std::string piece(text);
      if (std::ranges::find(kSpecialSymbols, piece) != kSpecialSymbols.end())
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
    std::ranges::sort(symbols);
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
  bool words_apart_ = false;
  std::vector<std::string> texts_;  // of all pieces, indexed by SentencePiece's id
  std::uint64_t owner_;
  std::vector<std::string> pieces_;
  // The words that any thread has split, with the ids of their pieces, behind the cache of each thread. A mutex guards
  // the entries whose hashes have the same six highest bits.
  mutable WordCache shared_{kSharedBits};
  mutable std::array<std::mutex, 64> mutexes_;
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

Subwords Subwords::sentence_piece(std::string bytes) {
  return Subwords(std::make_shared<SentencePiece>(std::move(bytes)));
}

std::string sentence_piece_library() { return "SentencePiece " RNNSEARCH_SENTENCEPIECE_VERSION; }

Subwords train_subwords(const std::vector<std::string>& lines, const SubwordTraining& training) {
  Lines iterator(lines);
  std::string model;
  std::unordered_map<std::string, std::string> settings{
      {"model_type", training.algorithm},
      {"vocab_size", std::to_string(training.pieces)},
      {"hard_vocab_limit", training.exactly ? "true" : "false"},
      {"normalization_rule_name", training.normalization},
      {"byte_fallback", "true"},
      {"max_sentence_length", std::to_string(kTrainingLineBytes)},
      {"num_threads", "16"},  // affects the result, because sums are computed by thread
      {"minloglevel", "2"}};
  if (!training.symbols.empty()) settings["user_defined_symbols"] = fmt::to_string(fmt::join(training.symbols, ","));
  const auto status = sentencepiece::SentencePieceTrainer::Train(settings, &iterator, &model);
  if (!status.ok())
    throw Error("SentencePiece cannot learn a {} model of {} pieces from {} lines: {}", training.algorithm,
                training.pieces, lines.size(), advice_on(reason_of(status), training.size_option));
  return Subwords::sentence_piece(std::move(model));
}

// The file of a model.

namespace {

/// Iterates over the fields of a message in the order of its bytes.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : bytes_(bytes) {}

  bool next() {
    if (bytes_.empty()) return false;
    const std::uint64_t tag = varint();
    if (tag > std::numeric_limits<std::uint32_t>::max()) fail();
    number_ = tag >> 3;
    wire_ = static_cast<Wire>(tag & 7);
    if (wire_ == Wire::kInteger) {
      integer_ = varint();
    } else if (wire_ == Wire::kEightBytes || wire_ == Wire::kFourBytes || wire_ == Wire::kText) {
      text_ = take(wire_ == Wire::kEightBytes ? 8 : wire_ == Wire::kFourBytes ? 4 : varint());
    } else {
      fail();
    }
    return true;
  }

  // Whether this is field `number` with the wire type of texts; with another wire type it is an unknown field.
  bool is_text(std::uint64_t number) const { return number_ == number && wire_ == Wire::kText; }
  std::string_view text() const { return text_; }

  // These functions change `value` only if this is field `number` with a valid value.
  void read(std::uint64_t number, std::string_view& value) const {
    if (is_text(number)) value = text_;
  }
  void read(std::uint64_t number, bool& value) const {
    if (number_ == number && wire_ == Wire::kInteger) value = integer_ != 0;
  }
  // Reads an enumeration from 1 to `last`, of which only the low 32 bits count.
  template <class Enum>
  void read(std::uint64_t number, Enum& value, Enum last) const {
    if (number_ != number || wire_ != Wire::kInteger) return;
    const auto read = static_cast<std::uint32_t>(integer_);
    if (read >= 1 && read <= static_cast<std::uint32_t>(last)) value = static_cast<Enum>(read);
  }

 private:
  enum class Wire { kInteger = 0, kEightBytes = 1, kText = 2, kFourBytes = 5 };

  [[noreturn]] static void fail() { throw Error("it is not a model of SentencePiece"); }
  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size()) fail();
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(take(1).front());
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    fail();
  }

  std::string_view bytes_, text_;
  std::uint64_t number_ = 0, integer_ = 0;
  Wire wire_ = Wire::kInteger;
};

ModelProto::Piece piece_of(std::string_view bytes) {
  ModelProto::Piece piece;
  for (Fields fields(bytes); fields.next();) {
    fields.read(1, piece.text);
    fields.read(3, piece.type, ModelProto::PieceType::kByte);
  }
  return piece;
}

/// A unit of a double array in the format of Darts-clone.
struct Unit {
  std::uint32_t bits;

  bool has_value() const { return (bits >> 8 & 1) != 0; }
  std::uint32_t value() const { return bits & 0x7FFFFFFFu; }
  std::uint32_t label() const { return bits & 0x800000FFu; }
  std::uint32_t offset() const { return bits >> 10 << ((bits & 1u << 9) >> 6); }
};

// Maximum length of a chain of keys that are prefixes of each other: SentencePiece has room for this many matches at
// one position of a line.
constexpr int kLongestRuleChain = 32;

[[noreturn]] void fail_on_rules() { throw Error("its precompiled_charsmap is damaged"); }

/// The normalization rules of a model: at each position of a text, the longest prefix that is a key is replaced.
/// charsmap: the number of bytes of a double array (Darts-clone) as uint32, the array, which holds the keys, and the
/// replacements, each terminated by a NUL; or nothing, for no rules. Throws Error unless every walk stays inside the
/// array, for any text. Returns whether words are normalized independently: no key holds a space (except a rule that
/// replaces a space by a space), and no replacement two spaces in a row or kPieceSpace.
bool check_rules(std::string_view charsmap) {
  if (charsmap.empty()) return true;
  std::uint32_t bytes = 0;
  if (charsmap.size() > sizeof bytes) std::memcpy(&bytes, charsmap.data(), sizeof bytes);
  if (bytes == 0 || bytes % sizeof bytes != 0 || sizeof bytes + bytes >= charsmap.size() || charsmap.back() != '\0')
    fail_on_rules();
  std::vector<Unit> units(bytes / sizeof(Unit));
  std::memcpy(units.data(), charsmap.data() + sizeof bytes, bytes);
  const std::string_view replacements = charsmap.substr(sizeof bytes + bytes);
  bool independent = true;
  const std::uint32_t root = units[0].offset();
  std::uint32_t space = root;                         // the place of the key " "
  std::vector<std::uint32_t> open;                    // places whose children are still to be visited
  std::vector<std::int8_t> chains(units.size(), -1);  // length of the longest chain to each place; -1 if unreachable
  const auto reach = [&](std::uint32_t place, int chain) {
    if ((place | 255u) >= units.size() || chain > kLongestRuleChain) fail_on_rules();
    if (chains[place] >= chain) return;  // already visited, because keys may share their ends
    chains[place] = static_cast<std::int8_t>(chain);
    open.push_back(place);
  };
  reach(root, 0);
  while (!open.empty()) {
    const std::uint32_t parent = open.back();
    open.pop_back();
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      const Unit unit = units[parent ^ byte];
      if (unit.label() != byte) continue;
      const std::uint32_t place = parent ^ byte ^ unit.offset();
      if (place == root) fail_on_rules();
      reach(place, chains[parent] + unit.has_value());
      if (byte == ' ' && parent == root) space = place;
      independent = independent && (byte != ' ' || parent == root) && (parent != space || space == root);
      if (!unit.has_value()) continue;
      if (units[place].value() >= replacements.size()) fail_on_rules();
      const std::string_view replacement = replacements.data() + units[place].value();
      if (first_invalid_utf8(replacement)) fail_on_rules();
      if (replacement.find("  ") != replacement.npos || replacement.find(kPieceSpace) != replacement.npos ||
          (byte == ' ' && replacement != " "))
        independent = false;
    }
  }
  return independent;
}

}  // namespace

ModelProto ModelProto::parse(std::string_view bytes) {
  ModelProto model;
  std::string_view joining_charsmap;
  bool space_as_suffix = false;  // treat_whitespace_as_suffix
  bool adds_dummy_prefix = true, removes_extra_spaces = true, escapes_spaces = true;
  for (Fields fields(bytes); fields.next();) {
    if (fields.is_text(1)) model.pieces.push_back(piece_of(fields.text()));
    if (fields.is_text(2)) {  // trainer_spec
      for (Fields trainer(fields.text()); trainer.next();) {
        trainer.read(3, model.type, ModelType::kChar);
        trainer.read(24, space_as_suffix);
      }
    }
    if (fields.is_text(3)) {  // normalizer_spec
      for (Fields normalizer(fields.text()); normalizer.next();) {
        normalizer.read(2, model.charsmap);
        normalizer.read(3, adds_dummy_prefix);
        normalizer.read(4, removes_extra_spaces);
        normalizer.read(5, escapes_spaces);
      }
    }
    if (fields.is_text(5)) {  // denormalizer_spec
      for (Fields denormalizer(fields.text()); denormalizer.next();) denormalizer.read(2, joining_charsmap);
    }
  }
  const bool independent = check_rules(model.charsmap);
  check_rules(joining_charsmap);
  bool has_space = false, crossing = false;
  for (const auto& [text, type] : model.pieces) {
    if (type == PieceType::kUnknown || type == PieceType::kControl) continue;
    has_space = has_space || text == kPieceSpace;
    crossing = crossing || text.find(kPieceSpace, 1) != text.npos || text.find(' ') != text.npos;
  }
  model.words_apart = independent && has_space && !crossing && adds_dummy_prefix && removes_extra_spaces &&
                      escapes_spaces && !space_as_suffix;
  return model;
}

}  // namespace rnnsearch::text
