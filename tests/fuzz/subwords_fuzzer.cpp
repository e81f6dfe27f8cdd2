// Subwords: codes of subword-nmt, and models of SentencePiece that were learned here and then changed: single bytes,
// pieces, fields and rules of normalisation, as the input says. What is accepted splits any line as the library does,
// or as apply_bpe.py says, into pieces that a vocabulary can hold, and makes lines of UTF-8 of them, in any order.
#include "rnnsearch/text/subwords.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "corpus/prepare/text_pass.h"
#include "rnnsearch/corpus/text_pipeline.h"
#include "rnnsearch/corpus/vocabulary.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/byte_pair_codes.h"
#include "text/model_proto.h"

namespace rnnsearch::fuzz {
namespace {

using text::Subwords;

const std::vector<std::string>& texts() {
  static const std::vector<std::string> all{"",
                                            "  two words ",
                                            "Über größere Äpfel, über ﬁnes; é und e\u0301",
                                            "中文没有空格，\u3000日本語",
                                            "😀👩\u200D👧 \U0010FFFD",
                                            "a\tb\u0001c\u007F \u00AD\uFEFF\u2581x xx xxx",
                                            "<s> <unk></s> <0x41> \u2047 a</w>",
                                            "abababbaab" + std::string(120, 'a')};
  return all;
}

bool is_line(std::string_view text) {
  return !text::first_invalid_utf8(text) && text.find_first_of(std::string_view("\n\r\0", 3)) == text.npos;
}

// --- models of SentencePiece: protocol buffers

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7) bytes += static_cast<char>(value | 128);
  return bytes + static_cast<char>(value);
}
std::string field(std::uint64_t number, std::string_view bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + std::string(bytes);
}
std::string field(std::uint64_t number, std::uint64_t value) { return varint(number << 3) + varint(value); }

class Lines : public sentencepiece::SentenceIterator {
 public:
  bool done() const override { return at_ == lines_.size(); }
  void Next() override { ++at_; }
  const std::string& value() const override { return lines_[at_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string> lines_{"aba été bab", "ab aab baab", "Äpfel und ﬁnes", "x xx l'abé (b)",
                                        "中文 12 aba"};
  std::size_t at_ = 0;
};

std::string learned(const std::string& type, bool bytes, bool rules) {
  std::unordered_map<std::string, std::string> settings{{"model_type", type},
                                                        {"vocab_size", "290"},
                                                        {"hard_vocab_limit", "false"},
                                                        {"byte_fallback", bytes ? "1" : "0"},
                                                        {"num_threads", "1"},
                                                        {"minloglevel", "2"},
                                                        {"normalization_rule_name", "identity"}};
  if (type == "bpe") settings["vocab_size"] = bytes ? "290" : "35";
  if (type == "word" || type == "char") settings["use_all_vocab"] = "true";
  if (rules) {  // Ä Ae, ﬁ fi, e´ é, U+3000 a space, U+00AD nothing
    settings["normalization_rule_tsv"] =
        written("rules", "C4\t41 65\nFB01\t66 69\n65 301\tE9\n3000\t20\nAD\t\n78 78\t79\n").string();
    settings["user_defined_symbols"] = "xx,x,<tag>";
  }
  Lines lines;
  std::string model;
  const auto status = sentencepiece::SentencePieceTrainer::Train(settings, &lines, &model);
  if (!status.ok()) throw std::runtime_error(status.ToString());
  return model;
}

struct Models {
  std::vector<std::string> files{"",
                                 learned("unigram", true, false),
                                 learned("bpe", true, false),
                                 learned("unigram", false, true),
                                 learned("bpe", false, true),
                                 learned("unigram", false, false),
                                 learned("bpe", false, false),
                                 learned("word", false, true),
                                 learned("char", false, false)};
  std::string rules{text::ModelProto::parse(files[3]).charsmap};
};

/// Rules with some units of their array, of those that are used, as the input says.
std::string changed_rules(std::string rules, Input& input) {
  std::uint32_t bytes = 0;
  std::memcpy(&bytes, rules.data(), sizeof bytes);
  std::vector<std::uint32_t> units(bytes / sizeof bytes);
  std::memcpy(units.data(), rules.data() + sizeof bytes, bytes);
  std::vector<std::size_t> used;
  for (std::size_t i = 0; i < units.size(); ++i)
    if (units[i] != 0) used.push_back(i);
  for (std::size_t changes = input.below(4); changes > 0; --changes) {
    std::uint32_t& unit = units[used[input.below(used.size())]];
    switch (input.byte() % 4) {
      case 0:
        unit ^= 1u << input.byte() % 32;
        break;
      case 1:
        unit = units[used[input.below(used.size())]];
        break;
      case 2:
        std::swap(unit, units[input.below(units.size())]);
        break;
      default:
        unit = static_cast<std::uint32_t>(input.number());
    }
  }
  std::memcpy(rules.data() + sizeof bytes, units.data(), bytes);
  for (std::size_t changes = input.below(3); changes > 0; --changes) {  // what they put there
    rules[sizeof bytes + bytes + input.below(rules.size() - sizeof bytes - bytes)] = static_cast<char>(input.byte());
  }
  return rules;
}

std::string piece_of(Input& input) {
  const std::string text(input.take(input.below(12)));
  std::string piece = field(1, text), bits(sizeof(float), '\0');
  const float score = -static_cast<float>(input.byte()) / 16;
  std::memcpy(bits.data(), &score, sizeof score);
  const std::uint8_t how = input.byte();
  if (how & 128) bits = input.take(sizeof score);
  bits.resize(sizeof score);
  return field(1, piece + '\x15' + bits + field(3, how % 8));
}

std::string changed_model(std::string model, const std::string& rules, Input& input) {
  for (int changes = 0; changes < 20 && !input.empty(); ++changes) {
    switch (input.byte() % 8) {
      case 0:  // the end has what is no piece
      case 1:
        if (const std::size_t at = input.integer(2); at < model.size()) {
          model[model.size() - 1 - at] = static_cast<char>(input.byte());
        }
        break;
      case 2:
        model += piece_of(input);
        break;
      case 3:
        model += field(2, field(std::array{3u, 24u, 35u, 40u}[input.below(4)], input.number()));
        break;
      case 4:
        model += field(3, field(3 + input.below(3), input.number()));
        break;
      case 5:
      case 6:
        model += field(input.byte() & 1 ? 3 : 5, field(2, changed_rules(rules, input)));
        break;
      default:
        model += field(input.below(7), input.take(input.byte()));
    }
  }
  return model;
}

/// The library's pieces of a line, or of each of its words. The unknown word, which the library's normalization would
/// change, stays one word between the pieces of what stands before and behind it. Returns false for a line that the
/// library does not split.
bool split_by(const sentencepiece::SentencePieceProcessor& library, std::string_view line, bool by_words,
              std::vector<std::string>& pieces) {
  const std::size_t unknown = line.find(corpus::kUnknownInText);
  std::string_view text = line.substr(0, unknown);
  by_words = by_words && text.find("\u2581") == text.npos;
  std::vector<std::string> found;
  while (!text.empty()) {
    const std::size_t size = by_words ? std::min(text.find(' '), text.size()) : text.size();
    if (!library.Encode(text.substr(0, size), &found).ok()) return false;
    pieces.insert(pieces.end(), found.begin(), found.end());
    text.remove_prefix(std::min(size + 1, text.size()));
  }
  if (unknown == line.npos) return true;
  pieces.emplace_back(corpus::kUnknownInText);
  return split_by(library, line.substr(unknown + corpus::kUnknownInText.size()), by_words, pieces);
}

void check_model(const Subwords& model, std::string_view given) {
  const corpus::Vocabulary vocabulary = corpus::vocabulary_of(model);  // an Error would be a finding
  const bool by_words = text::ModelProto::parse(model.bytes()).words_apart;
  sentencepiece::SentencePieceProcessor library;
  require(library.LoadFromSerializedProto(model.bytes()).ok(), "a model that the library refuses");
  bool byte_fallback = false;
  for (int id = 0; id < library.GetPieceSize(); ++id) byte_fallback = byte_fallback || library.IsByte(id);
  corpus::TextPipeline pipeline;
  pipeline.tokenizer = "none";
  pipeline.source_subwords = pipeline.target_subwords = model;
  std::vector<std::string> all = texts();
  if (!text::first_invalid_utf8(given)) all.emplace_back(given);
  for (int round = 0; round < 2; ++round) {  // then words are remembered
    for (const std::string& line : all) {
      std::vector<std::string> pieces, expected;
      const bool splits = split_by(library, line, by_words, expected);
      if (!splits) expected.clear();  // of the words before the one that is not split
      require(splits == accepted([&] { pieces = pipeline.to_words(line, corpus::Side::kSource); }),
              "a line that only one of both splits");
      require(pieces == expected, "other pieces than the library's");
      for (const std::string& piece : pieces) {
        require(!piece.empty() && !text::first_invalid_utf8(piece), "a piece that is no text");
        require(!byte_fallback || piece == corpus::kUnknownInText || vocabulary.id(piece) != kUnknown,
                "an unknown piece in spite of the bytes");
      }
      require(is_line(pipeline.to_text(pieces)), "a text that is no line of UTF-8");
      std::reverse(pieces.begin(), pieces.end());
      require(is_line(pipeline.to_text(pieces)), "a text of any pieces that is no line of UTF-8");
    }
  }
  require(is_line(pipeline.to_text(vocabulary.words())), "a text of all pieces that is no line of UTF-8");
}

// --- codes of subword-nmt

void check_codes(const Subwords& subwords, std::string_view given) {
  const support::BytePairCodes codes(subwords.bytes());
  std::vector<std::string> all = texts();
  if (!text::first_invalid_utf8(given)) all.emplace_back(given);
  for (int round = 0; round < 2; ++round) {  // then words are remembered
    for (const std::string& line : all) {
      text::WordList pieces;
      std::vector<std::string> expected;
      std::string joined;
      for (const std::string_view word : text::split_views(line)) {
        subwords.split(word, pieces);
        for (std::string& piece : codes.split(word)) expected.push_back(std::move(piece));
        if (!joined.empty()) joined += ' ';
        joined += word;
      }
      require(pieces.strings() == expected, "other pieces than apply_bpe.py's");
      if (line.find("@@") != line.npos) continue;  // which join takes for its own
      require(subwords.join(expected, corpus::kUnknownInText) == joined, "pieces do not give back their words");
    }
  }
}

}  // namespace
}  // namespace rnnsearch::fuzz

void rnnsearch::fuzz::run(Input input) {
  static const Models models;
  const std::size_t which = input.below(16);
  const std::string_view given = input.take(input.below(32));
  Subwords subwords;
  if (which >= models.files.size()) {
    if (accepted([&] { subwords = Subwords::byte_pair_codes(std::string(input.rest())); }))
      check_codes(subwords, given);
  } else {
    const bool good = which > 0 && input.empty();
    const std::string model = changed_model(models.files[which], models.rules, input);
    if (accepted([&] { subwords = Subwords::sentence_piece(model); })) {
      check_model(subwords, given);
    } else {
      require(!good, "a good model was refused");
    }
  }
}
