// Subwords: codes of subword-nmt, and models of SentencePiece that were learned here and then changed: single bytes,
// pieces, fields and rules of normalisation, as the input says. What is accepted splits any line as the library does,
// or as apply_bpe.py says, into pieces that a vocabulary can hold, and makes lines of UTF-8 of them, in any order.
#include "rnnsearch/text/subwords.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "corpus/subword_models.h"
#include "rnnsearch/corpus/text_pipeline.h"
#include "rnnsearch/corpus/vocabulary.h"
#include "tests/fuzz/fuzz.h"
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
std::string field(std::uint64_t number, std::uint64_t value) {
  return varint(number << 3) + varint(value);
}

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
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (units[i] != 0) used.push_back(i);
  }
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

/// The library's pieces of a line. The unknown word, which the library's normalization would change, stays one word
/// between the pieces of what stands before and behind it. Returns false for a line that the library does not split.
bool split_by(const sentencepiece::SentencePieceProcessor& library, std::string_view line,
              std::vector<std::string>& pieces) {
  const std::size_t unknown = line.find(corpus::kUnknownInText);
  if (!library.Encode(line.substr(0, unknown), &pieces).ok()) return false;
  if (unknown == line.npos) return true;
  std::vector<std::string> behind;
  const bool splits = split_by(library, line.substr(unknown + corpus::kUnknownInText.size()), behind);
  pieces.emplace_back(corpus::kUnknownInText);
  pieces.insert(pieces.end(), behind.begin(), behind.end());
  return splits;
}

void check_model(const Subwords& model, std::string_view given) {
  const corpus::Vocabulary vocabulary = corpus::vocabulary_of(model);  // an Error would be a finding
  const bool byte_fallback = text::ModelProto::parse(model.bytes()).byte_fallback;
  sentencepiece::SentencePieceProcessor library;
  require(library.LoadFromSerializedProto(model.bytes()).ok(), "a model that the library refuses");
  corpus::TextPipeline pipeline;
  pipeline.tokenizer = "none";
  pipeline.source_subwords = pipeline.target_subwords = model;
  std::vector<std::string> all = texts();
  if (!text::first_invalid_utf8(given)) all.emplace_back(given);
  for (int round = 0; round < 2; ++round) {  // then words are remembered
    for (const std::string& line : all) {
      std::vector<std::string> pieces, expected;
      const bool splits = split_by(library, line, expected);
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

struct Codes {
  bool joins_end = false;
  std::map<std::pair<std::string, std::string>, std::size_t> merges;

  explicit Codes(std::string_view file) {
    for (std::size_t number = 0; !file.empty(); ++number) {
      std::string_view line = file.substr(0, file.find('\n'));
      file.remove_prefix(std::min(line.size() + 1, file.size()));
      if (number == 0 && line.starts_with("#version:")) {
        joins_end = line.find("0.2") != line.npos;
        continue;
      }
      while (line.ends_with(' ')) line.remove_suffix(1);
      while (line.starts_with(' ')) line.remove_prefix(1);
      const std::size_t space = line.find(' ');
      if (space == line.npos) continue;
      merges.try_emplace({std::string(line.substr(0, space)), std::string(line.substr(space + 1))}, number);
    }
  }

  /// apply_bpe.py's encode, step by step.
  std::vector<std::string> split(std::string_view text) const {
    std::vector<std::string> word;
    for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(word.back().size())) {
      word.emplace_back(rest.substr(0, utf8_size(rest.front())));
    }
    if (word.size() <= 1) return word;
    if (joins_end) {
      word.back() += "</w>";
    } else {
      word.push_back("</w>");
    }
    while (word.size() > 1) {
      auto best = merges.end();
      for (std::size_t i = 0; i + 1 < word.size(); ++i) {
        const auto merge = merges.find({word[i], word[i + 1]});
        if (merge != merges.end() && (best == merges.end() || merge->second < best->second)) best = merge;
      }
      if (best == merges.end()) break;
      std::vector<std::string> next;
      for (std::size_t i = 0; i < word.size(); ++i) {
        next.push_back(word[i]);
        if (i + 1 == word.size() || std::pair(word[i], word[i + 1]) != best->first) continue;
        next.back() += word[++i];
      }
      word = std::move(next);
    }
    word.back().resize(word.back().size() - 4);
    if (word.back().empty()) word.pop_back();
    for (std::size_t i = 0; i + 1 < word.size(); ++i) word[i] += "@@";
    return word;
  }
};

void check_codes(const Subwords& subwords, std::string_view given) {
  const Codes codes(subwords.bytes());
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

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rnnsearch::fuzz;
  static const Models models;
  Input input(data, size);
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
  return 0;
}
