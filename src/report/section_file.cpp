#include "rnnsearch/report/section_file.h"

#include <nlohmann/json.hpp>

#include "report/json_file.h"
#include "rnnsearch/base/json.h"

namespace rnnsearch::report {

static void fields(const JsonReader& visit, Column& column) {
  visit("title", column.title);
  visit.if_any("number", column.number);
}

static void fields(const JsonReader& visit, Cell& cell) {
  visit.read(cell.text);
}

static void fields(const JsonReader& visit, Table& table) {
  visit("caption", table.caption);
  visit("columns", table.columns);
  visit.check(!table.columns.empty(), "has no columns");
  visit("rows", table.rows);
  for (const auto& row : table.rows) {
    visit.check(row.size() == table.columns.size(), "has a row with more or fewer cells than there are columns");
  }
  visit.if_any("notes", table.notes);
}

static void fields(const JsonReader& visit, SectionText& text) {
  visit("name", text.name);
  visit.if_any("language", text.language);
  visit("text", text.text);
  visit.if_any("rest", text.rest);
}

static void fields(const JsonReader& visit, SectionSentence& sentence) {
  visit("title", sentence.title);
  visit("texts", sentence.texts);
}

SectionFile read_section(const std::filesystem::path& path) {
  const Json json = read_json_file(path, "rnnsearch-section", "the pipeline that wrote it (pipelines/paper is one)");
  const JsonReader visit(json, path.string());
  SectionFile section;
  section.path = path;
  visit("title", section.title);
  visit.if_any("text", section.text);
  visit.if_any("tables", section.tables);
  visit.if_any("sentences", section.sentences);
  visit.check(!section.text.empty() || !section.tables.empty() || !section.sentences.empty(),
              "has neither text nor tables nor sentences");
  return section;
}

}  // namespace rnnsearch::report
