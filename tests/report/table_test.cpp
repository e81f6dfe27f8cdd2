#include "rnnsearch/report/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "report/html.h"

namespace rnnsearch::report {
namespace {

Table table() {
  return {.id = "t",
          .caption = "Scores <b>",
          .columns = {{"system", false}, {"BLEU"}},
          .rows = {{{"a|b_c"}, {"20.00", "*", true}}, {{"<unk> & x"}, {""}}},
          .notes = {"* p < 0.05"}};
}

TEST(Table, IsMarkdownThatShowsItsTextAsItIs) {
  EXPECT_EQ(markdown_of(table()),
            "**Scores &lt;b>**\n\n"
            "| system | BLEU |\n"
            "| --- | ---: |\n"
            "| a\\|b\\_c | **20.00\\*** |\n"
            "| &lt;unk> &amp; x |  |\n"
            "\n\\* p &lt; 0.05\n");
}

TEST(Table, IsMarkdownOfOneLineARow) {
  for (const char* name : {"a\nb", "a\r\nb", "a\tb", "a\u2028b", "a\u0085b"}) {
    Table strange = table();
    strange.rows.resize(1);
    strange.rows[0][0].text = strange.columns[0].title = strange.caption = strange.notes[0] = name;
    const std::string text = markdown_of(strange);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 7) << text;
    EXPECT_EQ(text.find("\uFFFD"), text.npos) << text;
  }
}

TEST(Table, IsCsvThatASpreadsheetDoesNotCompute) {
  Table strange = table();
  strange.rows = {{{"=1+1"}, {"-2.5"}}, {{"a,\"b\""}, {"", "*"}}};
  EXPECT_EQ(csv_of(strange), "system,BLEU\r\n'=1+1,-2.5\r\n\"a,\"\"b\"\"\",\r\n");
}

TEST(Html, ClosesAllButVoidElements) {
  pugi::xml_document document;
  const auto div = add(document, "div");
  add(div, "p");
  add(div, "br");
  add(add(div, "ul"), "li", {{"class", "a\"b<c"}});
  EXPECT_EQ(html_of(document), "<div><p></p><br/><ul><li class=\"a&quot;b&lt;c\"></li></ul></div>");
}

TEST(Html, HoldsAnyBytesAsText) {
  pugi::xml_document document;
  add(document, "p", {{"title", std::string("\xff\x02", 2)}}, std::string_view("<script>\0&\xc3\xa9\n", 13));
  EXPECT_EQ(html_of(document), "<p title=\"\uFFFD\uFFFD\">&lt;script&gt;\uFFFD&amp;\u00e9 </p>");
}

TEST(Html, EndsAChangeOfDirectionWithItsText) {
  const auto written = [](std::string_view text) {
    pugi::xml_document document;
    add(document, "p", {}, text);
    return html_of(document);
  };
  EXPECT_EQ(written("a\u202eb\u2067c"), "<p>a\u202eb\u2067c\u2069\u202c</p>");
  EXPECT_EQ(written("\u2066a\u2069\u202ab\u202c"), "<p>\u2066a\u2069\u202ab\u202c</p>");
  EXPECT_EQ(written("one\ttwo\r\nthree\r"), "<p>one two  three </p>");
}

}  // namespace
}  // namespace rnnsearch::report
