#include "rnnsearch/report/alignment_file.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "report/figure.h"
#include "report/member_reader.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/replace.h"
#include "rnnsearch/base/version.h"

namespace rnnsearch::report {
namespace {

/// Removes U+FFED, with which the tokenizer marks where words touch.
std::string without_marks(std::string word) {
  replace_all(word, "\uFFED", "");
  return word;
}

std::vector<std::string> words_of(const MemberReader& reader, const char* name) {
  std::vector<std::string> words;
  for (const Json& word : *reader.array(name, false)) {
    if (!word.is_string()) reader.refuse(fmt::format("has a word in \"{}\" that is not a text", name));
    words.push_back(without_marks(as_string(word)));
  }
  return words;
}

// The shortest number that reads back as this float, not the many digits of its double.
Json json_of(float weight) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, weight).ptr;
  double value = 0;
  std::from_chars(text, end, value);
  return Json(value);
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
    const Json& rows = *item.array("alignment", false);
    if (rows.size() != alignment.target.size()) {
      item.refuse(fmt::format("has {} target words but {} rows of weights", alignment.target.size(), rows.size()));
    }
    for (const Json& row : rows) {
      if (!row.is_array() || row.size() != alignment.source.size()) {
        item.refuse(fmt::format("has {} source words but a row of another number of weights", alignment.source.size()));
      }
      for (const Json& weight : row) {
        if (!weight.is_number() || !(as_number(weight) >= 0 && as_number(weight) <= 1 + 1e-4)) {
          item.refuse("has a weight that is not a number from 0 to 1");
        }
        alignment.weights.push_back(as_number(weight));
      }
    }
    file.sentences.push_back(std::move(sentence));
  });
  if (file.sentences.empty()) reader.refuse("has no sentences");
  return file;
}

std::string alignment_file_begin(const std::string& model) {
  Json head = Json::object(
      {{"format", "rnnsearch-alignment"}, {"format_version", 1}, {"created_by", kCreatedBy}, {"model", model}});
  std::string text = json_text(head);
  text.back() = ',';
  return text + "\n\"sentences\":[";
}

std::string alignment_file_sentence(std::uint64_t line, std::span<const std::string> source,
                                    std::span<const std::string> target, std::span<const float> weights,
                                    double log_probability) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < target.size(); ++i) {
    Json row = Json::array();
    for (const float weight : weights.subspan(i * source.size(), source.size())) row.push_back(json_of(weight));
    rows.push_back(std::move(row));
  }
  Json result = Json::object();
  result["line"] = line;
  result["source"] = source;
  result["target"] = target;
  result["alignment"] = std::move(rows);
  result["log_probability"] = log_probability;
  return json_text(result);
}

std::string alignment_file_end(const Json& gold) {
  return "\n]" + (gold.is_null() ? "" : ",\n\"gold\":" + json_text(gold)) + "}\n";
}

}  // namespace rnnsearch::report
