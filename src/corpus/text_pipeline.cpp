#include "rnnsearch/corpus/text_pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "rnnsearch/base/error.h"
#include "rnnsearch/corpus/vocabulary.h"
#include "rnnsearch/text/tokenizer.h"

namespace rnnsearch::corpus {
namespace {

text::Chinese chinese_of(const TextPipeline& pipeline) {
  return pipeline.tokenizer == "words" ? text::Chinese::kCharacters : text::Chinese::kDictionaryWords;
}

const std::string& language_of(const TextPipeline& pipeline, Side side) {
  return side == Side::kSource ? pipeline.source_language : pipeline.target_language;
}

const text::Subwords& subwords_of_side(const TextPipeline& pipeline, Side side) {
  return side == Side::kSource ? pipeline.source_subwords : pipeline.target_subwords;
}

void tokenize(const TextPipeline& pipeline, std::string_view line, Side side, text::WordList& words) {
  if (pipeline.tokenizer == "none") {
    for (const std::string_view word : text::split_views(line)) words.add(word);
  } else if (pipeline.tokenizer == "moses") {
    text::tokenize_moses(line, text::moses_language(language_of(pipeline, side)), words);
  } else {
    text::tokenize_words(line, chinese_of(pipeline), words);
  }
}

// The inverse of tokenize.
std::string join(const TextPipeline& pipeline, const std::vector<std::string>& words, Side side) {
  if (pipeline.tokenizer == "moses") {
    return text::detokenize_moses(words, text::moses_language(language_of(pipeline, side)));
  }
  if (pipeline.tokenizer != "none") return text::join_words(words);
  return fmt::to_string(fmt::join(words, " "));
}

text::Surroundings surroundings_of(const TextPipeline& pipeline) {
  if (subwords_of(pipeline) == "sentencepiece") return text::Surroundings::kAny;
  if (pipeline.tokenizer == "none") return text::Surroundings::kSpaces;
  return pipeline.tokenizer == "moses" ? text::Surroundings::kNoLetters : text::Surroundings::kAny;
}

bool is_placeholder(std::string_view word) { return text::placeholder_size(word) == word.size(); }

/// Tokenizes the text around placeholders, which become words. The tokenizers with joiner marks show where text touches
/// a placeholder: its word has the mark, so that a placeholder is the same word everywhere.
void tokenize_around_placeholders(const TextPipeline& pipeline, std::string_view line, Side side,
                                  text::WordList& words) {
  const bool marks = pipeline.tokenizer == "words" || pipeline.tokenizer == "icu-words";
  text::WordList part_words;
  for (bool behind = false;;) {
    std::size_t end = line.find('<');
    while (end != line.npos && text::placeholder_size(line.substr(end)) == 0) end = line.find('<', end + 1);
    const bool before = end != line.npos;
    const std::string_view part = line.substr(0, end);
    const auto stretches = text::split_views(part);  // at white space
    const bool begins = !stretches.empty() && stretches.front().data() == part.data();
    const bool ends = !stretches.empty() && stretches.back().end() == part.end();
    part_words.clear();
    tokenize(pipeline, part, side, part_words);
    if (marks && behind && before && part.empty()) words.add(text::kJoinerMark);
    for (std::size_t i = 0; i < part_words.size(); ++i) {
      const std::string_view word = part_words[i];
      if (marks && behind && i == 0 && begins) words.append(text::kJoinerMark);
      words.append(word);
      if (marks && before && ends && i + 1 == part_words.size()) words.append(text::kJoinerMark);
      words.end_word();
    }
    if (!before) return;
    const std::size_t size = text::placeholder_size(line.substr(end));
    words.add(line.substr(end, size));
    line.remove_prefix(end + size);
    behind = true;
  }
}

/// Pieces of SentencePiece, whose normalization would change the unknown word, which Subwords::join writes as a word.
void split_around_unknown(const text::Subwords& subwords, std::string_view text, text::WordList& words) {
  for (std::size_t at; (at = text.find(kUnknownInText)) != text.npos; text.remove_prefix(at + kUnknownInText.size())) {
    subwords.split(text.substr(0, at), words);
    words.add(kUnknownInText);
  }
  subwords.split(text, words);
}

/// The bytes of a piece without the marks of spaces, which depend on what is around a word.
std::size_t text_bytes(std::string_view piece) {
  std::size_t bytes = piece.size();
  for (std::size_t at = 0; (at = piece.find(text::kPieceSpace, at)) != piece.npos; at += text::kPieceSpace.size())
    bytes -= text::kPieceSpace.size();
  return bytes;
}

}  // namespace

void check(const TextPipeline& pipeline) {
  if (pipeline.tokenizer == "moses") {
    for (const Side side : {Side::kSource, Side::kTarget}) text::moses_language(language_of(pipeline, side));
  } else if (pipeline.tokenizer != "words" && pipeline.tokenizer != "icu-words" && pipeline.tokenizer != "none") {
    throw Error("there is no tokenizer '{}'; choose words, icu-words, moses or none", pipeline.tokenizer);
  }
  if (pipeline.normalization != "none" && pipeline.normalization != "nfc" && pipeline.normalization != "nfkc")
    throw Error("there is no normalization '{}'; choose none, nfc or nfkc", pipeline.normalization);
  const text::Subwords& source = pipeline.source_subwords;
  const text::Subwords& target = pipeline.target_subwords;
  if (!source && !target) return;
  if (!source || !target)
    throw Error("there are subwords only for the {}; give a model for each side", source ? "source" : "target");
  if (source.kind() != target.kind())
    throw Error("the subwords of the source are {} and those of the target {}; give two models of the same kind",
                name_of(source.kind()), name_of(target.kind()));
  if (source.kind() == text::Subwords::Kind::kSentencePiece && pipeline.tokenizer != "none")
    throw Error(
        "SentencePiece splits raw text, and the tokenizer {} would add marks that SentencePiece takes for text; leave "
        "the tokenizer out",
        pipeline.tokenizer);
}

std::string subwords_of(const TextPipeline& pipeline) {
  return pipeline.source_subwords ? name_of(pipeline.source_subwords.kind()) : "none";
}

std::string copy_patterns_of(const TextPipeline& pipeline) {
  std::string list;
  for (const std::string& pattern : pipeline.copies.patterns())
    list += fmt::format("{}'{}'", list.empty() ? "" : ", ", pattern);
  return list.empty() ? "none" : list;
}

std::string libraries() { return text::icu() + ", " + text::sentence_piece_library(); }

std::string libraries_of(const TextPipeline& pipeline) {
  std::string libraries;
  if (pipeline.tokenizer == "icu-words" || pipeline.normalization != "none") libraries = text::icu();
  if (subwords_of(pipeline) == "sentencepiece")
    libraries += (libraries.empty() ? "" : ", ") + text::sentence_piece_library();
  return libraries;
}

std::string changed_libraries(const TextPipeline& pipeline) {
  const std::string &then = pipeline.libraries.text, now = libraries_of(pipeline);
  if (now.empty() || then.empty() || then == now) return "";
  return fmt::format(
      "its text was split into words with {}, and this program has {}: new text may be split otherwise; use a program "
      "with the same version, or prepare and train again",
      then, now);
}

std::vector<std::string> TextPipeline::to_words(std::string_view line, Side side) const {
  check(*this);
  text::WordList words;
  to_words(line, side, words);
  return words.strings();
}

std::string_view TextPipeline::normalized_line(std::string_view line, std::string& buffer) const {
  if (normalization != "none") {
    line = buffer = text::normalized(line, normalization == "nfc" ? text::NormalForm::kC : text::NormalForm::kKC);
  }
  if (lowercase) line = buffer = text::lowercase(line);
  return line;
}

void TextPipeline::to_words(std::string_view line, Side side, text::WordList& words) const {
  std::string buffer;
  const std::string_view text = normalized_line(line, buffer);
  const text::Subwords& subwords = subwords_of_side(*this, side);
  const auto split = copies ? tokenize_around_placeholders : tokenize;
  if (!subwords) return split(*this, text, side, words);
  if (subwords.kind() == text::Subwords::Kind::kSentencePiece) return split_around_unknown(subwords, text, words);
  thread_local text::WordList whole;
  whole.clear();
  split(*this, text, side, whole);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (copies && is_placeholder(whole[i])) {
      words.add(whole[i]);
    } else {
      subwords.split(whole[i], words);
    }
  }
}

// SentencePiece may split a word otherwise in its line than alone, so words and pieces are matched by their text.
std::vector<WordPieces> TextPipeline::pieces_of_words(std::string_view line, Side side,
                                                      const text::WordList& pieces) const {
  assert(!copies);
  std::vector<std::size_t> begins{0};  // of each piece in the text of the line; the last element is its end
  for (std::size_t i = 0; i < pieces.size(); ++i) begins.push_back(begins.back() + text_bytes(pieces[i]));
  const auto first_from = [&](std::size_t place) {
    return static_cast<std::size_t>(std::lower_bound(begins.begin(), begins.end() - 1, place) - begins.begin());
  };
  std::string buffer;
  text::WordList words, alone;
  tokenize(*this, normalized_line(line, buffer), side, words);
  const text::Subwords& subwords = subwords_of_side(*this, side);
  std::vector<WordPieces> result;
  for (std::size_t i = 0, begin = 0; i < words.size(); ++i) {
    alone.clear();
    if (subwords.kind() == text::Subwords::Kind::kSentencePiece) {
      split_around_unknown(subwords, words[i], alone);
    } else {
      subwords.split(words[i], alone);
    }
    std::size_t end = begin;
    for (std::size_t k = 0; k < alone.size(); ++k) end += text_bytes(alone[k]);
    const std::size_t first = first_from(begin);
    result.push_back({first - (begins[first] > begin ? 1 : 0), first_from(end)});
    begin = end;
  }
  return result;
}

std::string TextPipeline::to_text(const std::vector<std::string>& words, Side side) const {
  check(*this);
  const text::Subwords& subwords = subwords_of_side(*this, side);
  if (!subwords) return join(*this, words, side);
  std::string line = subwords.join(words, kUnknownInText);
  // A model can output any byte piece, including line ends and NULs.
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r' || c == '\0'; }, ' ');
  if (subwords.kind() == text::Subwords::Kind::kSentencePiece) return line;
  return join(*this, text::split_words(line), side);
}

std::string TextPipeline::source_line(std::string_view line, std::size_t most, std::vector<std::string>& spans) const {
  return copies ? copies.replace(line, surroundings_of(*this), most, spans) : std::string(line);
}

std::string TextPipeline::target_line(std::string_view line, const std::vector<std::string>& spans) const {
  return copies ? copies.replace_same(line, surroundings_of(*this), spans) : std::string(line);
}

void TextPipeline::replace_copies(std::string& source, std::string& target) const {
  copies.replace_pair(source, target, surroundings_of(*this));
}

std::vector<PlaceholderWord> known_placeholders(const TextPipeline& pipeline, const Vocabulary& source,
                                                const Vocabulary& target) {
  std::vector<PlaceholderWord> known;
  while (pipeline.copies && known.size() < text::kMostPlaceholders) {
    const std::string word = text::placeholder(known.size());
    const PlaceholderWord ids{source.id(word), target.id(word)};
    if (ids.source == kUnknown || ids.target == kUnknown) break;
    if (source.counts()[ids.source] == 0 || target.counts()[ids.target] == 0) break;
    known.push_back(ids);
  }
  return known;
}

}  // namespace rnnsearch::corpus
