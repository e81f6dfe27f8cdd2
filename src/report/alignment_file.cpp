#include "rnnsearch/report/alignment_file.h"

#include "report/figure.h"
#include "report/member_reader.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/replace.h"

namespace rnnsearch::report {
namespace {

/// Removes U+FFED, with which the tokenizer marks where words touch.
std::string without_marks(std::string word) {
  replace_all(word, "\uFFED", "");
  return word;
}

std::vector<std::string> words_of(const MemberReader& reader, const char* name) {
  std::vector<std::string> words;
  for (const Json& word : reader.array(name, false)->items()) {
    if (!word.is_string()) reader.refuse(text_of("has a word in \"", name, "\" that is not a text"));
    words.push_back(without_marks(word.string()));
  }
  return words;
}

}  // namespace

AlignmentFile read_alignment(const std::filesystem::path& path) {
  const Json json = read_json_file(path, "rnnsearch-alignment", "rnnsearch align --json");
  const MemberReader reader(json, path.string());
  AlignmentFile file;
  file.path = path;
  file.model = reader.optional_text("model").value_or("");
  file.note = reader.optional_text("note").value_or("");
  reader.each("sentences", false, [&](const MemberReader& item) {
    AlignedSentence sentence;
    sentence.line = item.count("line");
    sentence.log_probability = item.optional_number("log_probability", -1e15, 1e15).value_or(0);
    sentence.label = item.optional_text("label").value_or("");
    AttentionMatrix& alignment = sentence.alignment;
    alignment.source = words_of(item, "source");
    alignment.target = words_of(item, "target");
    const auto& rows = item.array("alignment", false)->items();
    if (rows.size() != alignment.target.size()) {
      item.refuse(text_of("has ", alignment.target.size(), " target words but ", rows.size(), " rows of weights"));
    }
    for (const Json& row : rows) {
      if (!row.is_array() || row.items().size() != alignment.source.size()) {
        item.refuse(text_of("has ", alignment.source.size(), " source words but a row of another number of weights"));
      }
      for (const Json& weight : row.items()) {
        if (!weight.is_number() || !(weight.number() >= 0 && weight.number() <= 1 + 1e-4)) {
          item.refuse("has a weight that is not a number from 0 to 1");
        }
        alignment.weights.push_back(weight.number());
      }
    }
    file.sentences.push_back(std::move(sentence));
  });
  if (file.sentences.empty()) reader.refuse("has no sentences");
  return file;
}

}  // namespace rnnsearch::report
