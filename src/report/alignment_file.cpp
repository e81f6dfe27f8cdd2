#include "rnnsearch/report/alignment_file.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "report/json_file.h"
#include "rnnsearch/base/json.h"
#include "rnnsearch/base/replace.h"
#include "rnnsearch/base/version.h"

namespace rnnsearch::report {
namespace {

/// The words without U+FFED, with which the tokenizer marks where words touch.
void read_words(const JsonReader& words, std::vector<std::string>& into) {
  words.read(into);
  for (std::string& word : into) replace_all(word, "\uFFED", "");
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

static void fields(const JsonReader& visit, AlignedSentence& sentence) {
  visit("line", sentence.line);
  visit.if_any("log_probability", sentence.log_probability);
  visit.if_any("label", sentence.label);
  AttentionMatrix& alignment = sentence.alignment;
  read_words(visit.member("source"), alignment.source);
  read_words(visit.member("target"), alignment.target);
  std::vector<std::vector<double>> rows;
  visit("alignment", rows, 0.0, 1 + 1e-4);
  visit.check(rows.size() == alignment.target.size(), "has more or fewer rows of weights than target words");
  for (const auto& row : rows) {
    visit.check(row.size() == alignment.source.size(), "has a row with more or fewer weights than source words");
    alignment.weights.insert(alignment.weights.end(), row.begin(), row.end());
  }
}

AlignmentFile read_alignment(const std::filesystem::path& path) {
  const Json json = read_json_file(path, "rnnsearch-alignment", "rnnsearch align --json");
  const JsonReader visit(json, path.string());
  AlignmentFile file;
  file.path = path;
  visit.if_any("model", file.model);
  visit.if_any("note", file.note);
  visit("sentences", file.sentences);
  visit.check(!file.sentences.empty(), "has no sentences");
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
