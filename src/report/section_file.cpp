#include "rnnsearch/report/section_file.h"

#include <nlohmann/json.hpp>

#include "report/figure.h"
#include "report/member_reader.h"
#include "rnnsearch/base/error.h"

namespace rnnsearch::report {
namespace {

/// Reads an optional list of texts.
std::vector<std::string> texts_of(const MemberReader& reader, const char* name) {
  std::vector<std::string> texts;
  const Json* list = reader.array(name, true);
  if (list == nullptr) return texts;
  for (const Json& item : *list) {
    if (!item.is_string()) reader.refuse(fmt::format("has an item in \"{}\" that is not a text", name));
    texts.push_back(drawable(as_string(item)));
  }
  return texts;
}

SectionTable table_of(const MemberReader& reader) {
  SectionTable table;
  table.caption = reader.text("caption");
  reader.each("columns", false, [&](const MemberReader& column) {
    const bool number = column.find("number") == nullptr || column.boolean("number");
    table.columns.push_back({column.text("title"), number});
  });
  if (table.columns.empty()) reader.refuse("has no columns");
  for (const Json& row : *reader.array("rows", false)) {
    if (!row.is_array() || row.size() != table.columns.size()) {
      reader.refuse(fmt::format("has {} columns but a row of another number of cells", table.columns.size()));
    }
    std::vector<std::string>& cells = table.rows.emplace_back();
    for (const Json& cell : row) {
      if (!cell.is_string()) reader.refuse("has a cell that is not a text");
      cells.push_back(drawable(as_string(cell)));
    }
  }
  table.notes = texts_of(reader, "notes");
  return table;
}

SectionSentence sentence_of(const MemberReader& reader) {
  SectionSentence sentence;
  sentence.title = reader.text("title");
  reader.each("texts", false, [&](const MemberReader& text) {
    sentence.texts.push_back({text.text("name"), text.optional_text("language").value_or(""), text.text("text"),
                              text.optional_text("rest").value_or("")});
  });
  return sentence;
}

}  // namespace

SectionFile read_section(const std::filesystem::path& path) {
  const Json json = read_json_file(path, "rnnsearch-section", "the pipeline that wrote it (pipelines/paper is one)");
  const MemberReader reader(json, path.string());
  SectionFile section;
  section.path = path;
  section.title = reader.text("title");
  section.text = texts_of(reader, "text");
  reader.each("tables", true, [&](const MemberReader& item) { section.tables.push_back(table_of(item)); });
  reader.each("sentences", true, [&](const MemberReader& item) { section.sentences.push_back(sentence_of(item)); });
  if (section.text.empty() && section.tables.empty() && section.sentences.empty()) {
    reader.refuse("has neither text nor tables nor sentences");
  }
  return section;
}

}  // namespace rnnsearch::report
