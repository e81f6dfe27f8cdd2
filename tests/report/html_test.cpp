#include "report/html.h"

#include <gtest/gtest.h>

namespace rnnsearch::report {
namespace {

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
