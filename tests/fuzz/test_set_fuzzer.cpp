// Test sets of WMT in SGML and XML. The first byte says which part is wanted, and of whom.
#include <algorithm>

#include "rnnsearch/corpus/test_set_file.h"
#include "rnnsearch/text/unicode.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rnnsearch;
  using namespace rnnsearch::fuzz;
  Input input(data, size);
  const std::uint8_t how = input.byte();
  const std::string_view document = input.rest();
  const auto part = static_cast<corpus::TestSetPart>(how % 3);
  std::vector<std::string> segments;
  if (!accepted([&] { segments = corpus::segments_of(document, {"set", how & 4 ? "A" : ""}, part).lines; })) return 0;
  require(!segments.empty(), "a test set without segments");
  require(static_cast<std::size_t>(std::count(document.begin(), document.end(), '<')) > segments.size(),
          "more segments than tags");
  std::string sgml = "<refset>\n<doc>\n", xml = "<dataset><doc><hyp>";
  for (const std::string& segment : segments) {
    require(!text::first_invalid_utf8(segment), "a segment that is no UTF-8");
    require(segment.find_first_of(std::string_view("\n\r\t\0", 4)) == segment.npos, "a segment of several lines");
    require(!segment.starts_with(' ') && !segment.ends_with(' '), "a segment with spaces at its ends");
    std::string escaped;
    for (const char c : segment) {
      escaped += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '"' ? "&#x22;" : std::string(1, c);
    }
    sgml += "<seg id=1>" + escaped + "</seg>\n";
    xml += "<p><seg id=\"1\">" + escaped + "</seg></p>";
  }
  sgml += "</doc></refset>";
  xml += "</hyp></doc></dataset>";
  require(corpus::segments_of(sgml, {"set", {}}, corpus::TestSetPart::kReference).lines == segments,
          "SGML changes segments");
  require(corpus::segments_of(xml, {"set", {}}, corpus::TestSetPart::kHypothesis).lines == segments,
          "XML changes segments");
  return 0;
}
