#include "rnnsearch/corpus/spelling.h"

#include <charconv>

#include "rnnsearch/base/printable.h"
#include "rnnsearch/text/tokenizer.h"

namespace rnnsearch::corpus {
namespace {

constexpr std::string_view kContinues = "@@";  // of subword-nmt

Spelling::Form form_of(const TextPipeline& pipeline) {
  const text::Subwords& subwords = pipeline.target_subwords;
  if (!subwords) return Spelling::Form::kWords;
  return subwords.kind() == text::Subwords::Kind::kSentencePiece ? Spelling::Form::kLine : Spelling::Form::kCodes;
}

// What a piece of SentencePiece adds to a line; white space is a space, as in TextPipeline::to_text.
std::string in_line(std::string_view piece) {
  unsigned byte = 0;
  if (piece.size() == 6 && piece.starts_with("<0x") && piece.ends_with('>')) {
    const auto read = std::from_chars(piece.data() + 3, piece.data() + 5, byte, 16);
    if (read.ptr == piece.data() + 5) {
      const bool is_space = byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t' || byte == '\0';
      return std::string(1, is_space ? ' ' : static_cast<char>(byte));
    }
  }
  std::string spelled(piece);
  replace_all(spelled, text::kPieceSpace, " ");
  return spelled;
}

// The words of a text behind a letter, and with another one behind it if `closed`.
std::vector<std::string> words_behind_a_letter(std::string_view text, bool closed) {
  std::string line(1, 'a');
  line += text;
  if (closed) line += 'a';
  return text::tokenize_words(line);
}

bool is_within_a_word(std::string_view text) { return !text.empty() && words_behind_a_letter(text, true).size() == 1; }

}  // namespace

Spelling::Spelling(const Vocabulary& vocabulary, const TextPipeline& pipeline)
    : pipeline_(pipeline), form_(form_of(pipeline)) {
  for (WordId id = 0; id < vocabulary.size(); ++id) {
    std::string text = vocabulary.word_in_text(id);
    if (form_ == Form::kLine) text = in_line(text);
    if (form_ == Form::kLine && id == kUnknown) {  // a word of its own
      text.insert(text.begin(), ' ');
      text += ' ';
    }
    const bool continues = form_ == Form::kCodes && text.ends_with(kContinues);
    if (continues) text.resize(text.size() - kContinues.size());
    continues_.push_back(continues);
    texts_.push_back(std::move(text));
  }
}

Spelling::Shape Spelling::shape(WordId id) const {
  const std::string_view text = texts_[id];
  if (form_ != Form::kLine) return Shape::kOther;
  if (is_within_a_word(text)) return Shape::kLetters;
  return text.starts_with(' ') && is_within_a_word(text.substr(1)) ? Shape::kWord : Shape::kOther;
}

bool Spelling::joins(WordId before, WordId after) const {
  if (form_ == Form::kWords) return false;
  if (form_ == Form::kCodes) return continues_[before];
  return !texts_[before].ends_with(' ') && words_behind_a_letter(texts_[after], false).front() != "a";
}

std::vector<std::string> Spelling::split_words(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string& word : text::tokenize_words(text)) words.emplace_back(without_marks(word));
  return words;
}

std::string_view Spelling::without_marks(std::string_view word) {
  if (word.starts_with(text::kJoinerMark)) word.remove_prefix(text::kJoinerMark.size());
  if (word.ends_with(text::kJoinerMark)) word.remove_suffix(text::kJoinerMark.size());
  return word;
}

std::vector<std::string> Spelling::words_of_pieces(const std::vector<std::string>& pieces, const TextPipeline& pipeline,
                                                   Side side) {
  const Form form = form_of(pipeline);
  if (form == Form::kLine) return split_words(pipeline.to_text(pieces, side));
  std::vector<std::string> words;
  bool within = false;
  for (std::string_view piece : pieces) {
    const bool continues = form == Form::kCodes && piece.ends_with(kContinues);
    if (continues) piece.remove_suffix(kContinues.size());
    if (!within) words.emplace_back();
    words.back() += piece;
    within = continues;
  }
  for (std::string& word : words) word = std::string(without_marks(word));
  return words;
}

}  // namespace rnnsearch::corpus
