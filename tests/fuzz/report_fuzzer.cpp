// What `report` reads: evaluations, alignments, rounds and sections as JSON, and the files of a run. The first byte
// says which, lines of ==== stand between files. What is accepted gives a page whose pictures are sound, and tables.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <pugixml.hpp>

#include "rnnsearch/report/page.h"
#include "rnnsearch/text/unicode.h"
#include "tests/fuzz/fuzz.h"

namespace rnnsearch::fuzz {
namespace {

constexpr std::array kNames{"one", "two", "three"};

std::vector<std::string_view> parts_of(std::string_view text) {
  constexpr std::string_view kBetween = "\n====\n";
  std::vector<std::string_view> parts;
  while (parts.size() < kNames.size()) {
    const std::size_t end = parts.size() + 1 < kNames.size() ? text.find(kBetween) : text.npos;
    parts.push_back(text.substr(0, end));
    if (end == text.npos) break;
    text.remove_prefix(end + kBetween.size());
  }
  return parts;
}

report::Report report_of(std::uint8_t kind, std::string_view text) {
  report::Report report;
  const auto parts = parts_of(text);
  if (kind % 8 == 0) {
    const auto folder = scratch("run");
    std::filesystem::remove_all(folder);
    std::filesystem::create_directory(folder);
    constexpr std::array kFiles{"log.jsonl", "config.ini", "environment.json"};
    for (std::size_t i = 0; i < parts.size(); ++i) written(std::string("run/") + kFiles[i], parts[i]);
    if (parts.size() < 2) written("run/config.ini", "state = 8\n");
    report.runs.push_back(report::read_run(folder, "a run"));
    return report;
  }
  std::vector<report::EvaluationFile> evaluations;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto path = written(kNames[i], parts[i]);
    if (kind % 8 == 4) {
      report.sections.push_back(report::read_section(path));
    } else if (kind % 4 == 1) {
      report.alignments.push_back(report::read_alignment(path));
    } else {
      evaluations.push_back(report::read_evaluation(path));
    }
  }
  if (kind % 8 == 4) return report;
  if (kind % 4 == 2) {
    report::check_same_test(evaluations);
    report.rounds = std::move(evaluations);
  } else {
    report.evaluations = report::merged(std::move(evaluations));
  }
  return report;
}

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; ++at) ++found;
  return found;
}

void check_shape(const pugi::xml_node& node) {
  for (const pugi::xml_attribute& attribute : node.attributes()) {
    const std::string_view name = attribute.name(), value = attribute.value();
    if (name == "d" || name == "points" || name == "transform" || name == "viewBox") {
      require(value.find("nan") == value.npos && value.find("inf") == value.npos, "a shape without numbers");
    }
    constexpr std::array kNumbers{"x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "width", "height"};
    if (std::find(kNumbers.begin(), kNumbers.end(), name) == kNumbers.end()) continue;
    double number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    require(std::isfinite(number) && value.find('n') == value.npos, "a coordinate that is no number");
  }
  for (const pugi::xml_node& child : node.children()) check_shape(child);
}

void check_page(const std::string& page) {
  static const std::string empty = report::html_page({});
  require(!text::first_invalid_utf8(page), "a page that is no UTF-8");
  for (const char* mark : {"<script", "</script", "<style", "<body", "<html"})
    require(count(page, mark) == count(empty, mark), "a page with parts that the input made");
  require(count(page, "<svg") == count(page, "</svg>"), "a picture that does not end");
  for (std::size_t begin = 0; (begin = page.find("<svg", begin)) != page.npos; ++begin) {
    const std::size_t end = page.find("</svg>", begin) + 6;
    pugi::xml_document picture;
    require(picture.load_buffer(page.data() + begin, end - begin), "a picture that is no XML");
    check_shape(picture);
  }
}

/// RFC 4180.
void check_csv(const std::string& text) {
  require(!text::first_invalid_utf8(text), "a table that is no UTF-8");
  std::size_t fields = 1, first = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (quoted) continue;
    if (text[i] == ',') ++fields;
    if (text[i] != '\n') continue;
    if (first == 0) first = fields;
    require(fields == first, "a row of another number of fields");
    fields = 1;
  }
  require(!quoted && text.ends_with("\r\n"), "a table that does not end");
}

void check_markdown(const std::string& text) {
  require(!text::first_invalid_utf8(text), "a table that is no UTF-8");
  std::size_t columns = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::size_t bars = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (text[i] == '\\') {
        ++i;
      } else if (text[i] == '|') {
        ++bars;
      }
    }
    const bool row = begin != end && text[begin] == '|';
    require(row == (bars > 0 && text[end - 1] == '|'), "a row of several lines");
    if (!row) bars = 0;
    require(columns == 0 || bars == 0 || bars == columns, "a row of another number of columns");
    columns = bars;
    begin = end + 1;
  }
}

}  // namespace
}  // namespace rnnsearch::fuzz

void rnnsearch::fuzz::run(Input input) {
  const std::uint8_t kind = input.byte();
  report::Report report;
  if (!accepted([&] { report = report_of(kind, input.rest()); })) return;
  check_page(report::html_page(report));
  check_markdown(report::markdown_tables(report));
  for (const report::CsvFile& file : report::csv_files(report)) check_csv(file.content);
}
