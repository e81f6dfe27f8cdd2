#include "report/table.h"

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

TEST(Table, IsHtmlWithHeadingsInARegionThatScrolls) {
  pugi::xml_document document;
  add_table(document, table());
  EXPECT_EQ(
      html_of(document),
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-labelledby=\"caption-t\"><table id=\"t\">"
      "<caption id=\"caption-t\">Scores &lt;b&gt;</caption>"
      "<thead><tr><th scope=\"col\" class=\"text\">system</th><th scope=\"col\" class=\"number\">BLEU</th></tr></thead>"
      "<tbody><tr><th scope=\"row\" class=\"text\">a|b_c</th>"
      "<td class=\"number\"><strong>20.00<sup>*</sup></strong></td></tr>"
      "<tr><th scope=\"row\" class=\"text\">&lt;unk&gt; &amp; x</th><td class=\"number\"></td></tr></tbody>"
      "</table></div><p class=\"note\">* p &lt; 0.05</p>");
}

}  // namespace
}  // namespace rnnsearch::report
