#include "report/sections_part.h"

#include <algorithm>

#include "report/html.h"
#include "rnnsearch/base/error.h"

namespace rnnsearch::report {
namespace {

// Whether the name is a system of the page, which has a colour; "Source" and "Reference" have none.
bool is_system(const Report& report, const std::string& name) {
  for (const Run& run : report.runs) {
    if (run.name == name) return true;
  }
  for (const EvaluationFile& file : report.evaluations) {
    for (const SystemEvaluation& system : file.systems) {
      if (system.system == name) return true;
    }
  }
  return false;
}

void add_card(PageContext& page, const Report& report, pugi::xml_node where, const SectionSentence& sentence) {
  const auto card = add(where, "article", {{"class", "sentence"}});
  add(card, "h4", {}, sentence.title);
  const auto sides = add(card, "div", {{"class", "sides"}});
  for (const SectionText& text : sentence.texts) {
    const auto side = add(sides, "div", {{"class", "side"}});
    const auto title = add(side, "h5");
    if (is_system(report, text.name)) add_key(title, page.styles.of(text.name));
    add_text(title, is_system(report, text.name) ? " " + text.name : text.name);
    const auto line = add(side, "p", {{"class", "words"}, {"dir", "auto"}});
    if (!text.language.empty()) set(line, "lang", text.language);
    add_text(line, text.text.empty() && text.rest.empty() ? "(empty)" : text.text);
    if (text.rest.empty()) continue;
    if (!text.text.empty()) add_text(line, " ");
    add(line, "mark", {}, text.rest);
  }
}

void add_section(PageContext& page, const Report& report, std::size_t i) {
  const SectionFile& section = report.sections[i];
  const auto node = page.section(fmt::format("section-{}", i + 1), section.title);
  for (const std::string& paragraph : section.text) add(node, "p", {}, paragraph);
  for (std::size_t number = 0; number < section.tables.size(); ++number) {
    Table table = section.tables[number];
    table.id = fmt::format("table-section-{}-{}", i + 1, number + 1);
    add_table(node, table);
  }
  if (!section.sentences.empty()) add(node, "h3", {}, "Side by side");
  for (const SectionSentence& sentence : section.sentences) add_card(page, report, node, sentence);
}

}  // namespace

void add_result_sections(PageContext& page, const Report& report) {
  for (std::size_t i = 0; i < report.sections.size(); ++i) {
    if (report.sections[i].sentences.empty()) add_section(page, report, i);
  }
}

void add_sentence_sections(PageContext& page, const Report& report) {
  for (std::size_t i = 0; i < report.sections.size(); ++i) {
    if (!report.sections[i].sentences.empty()) add_section(page, report, i);
  }
}

}  // namespace rnnsearch::report
