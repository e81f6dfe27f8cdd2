#include "rnnsearch/report/section_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "report/sentences_part.h"
#include "tests/support/message_of.h"
#include "tests/support/scratch.h"

namespace rnnsearch::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SectionFileTest : public ::testing::Test {
 protected:
  SectionFile read(const std::string& members, const std::string& version = "1") {
    std::ofstream(scratch_ / "s.json") << R"({"format":"rnnsearch-section","format_version":)" << version << members
                                       << "}";
    return read_section(scratch_ / "s.json");
  }
  std::string refusal(const std::string& members, const std::string& version = "1") {
    return message_of([&] { read(members, version); });
  }
  Scratch scratch_;
};

const std::string kTable =
    R"(,"title":"Table 2","text":["one","two"],"tables":[{"caption":"how","columns":[{"title":"Model","number":false},)"
    R"({"title":"Updates"}],"rows":[["RNNsearch","12 & <b>"]],"notes":["of ours"]}])";
const std::string kSentence =
    R"(,"title":"Long","sentences":[{"title":"Sentence 7","texts":[{"name":"Source","language":"en","text":"a b"},)"
    R"({"name":"RNNencdec","text":"x","rest":"y <z>"}]}])";

TEST_F(SectionFileTest, ReadsTextTablesAndSentences) {
  const SectionFile table = read(kTable);
  EXPECT_EQ(table.title, "Table 2");
  EXPECT_THAT(table.text, ElementsAre("one", "two"));
  ASSERT_EQ(table.tables.size(), 1u);
  EXPECT_FALSE(table.tables[0].columns[0].number);
  EXPECT_TRUE(table.tables[0].columns[1].number);
  ASSERT_EQ(table.tables[0].rows.size(), 1u);
  EXPECT_EQ(table.tables[0].rows[0][1].text, "12 & <b>");
  EXPECT_THAT(table.tables[0].notes, ElementsAre("of ours"));
  const SectionFile sentences = read(kSentence);
  ASSERT_EQ(sentences.sentences.size(), 1u);
  EXPECT_EQ(sentences.sentences[0].texts[0].language, "en");
  EXPECT_EQ(sentences.sentences[0].texts[1].rest, "y <z>");
}

TEST_F(SectionFileTest, RefusesWhatIsNoSection) {
  EXPECT_THAT(refusal(kTable, "2"), HasSubstr("format_version 2"));
  EXPECT_THAT(refusal(""), HasSubstr("title is missing"));
  EXPECT_THAT(refusal(R"(,"title":"empty")"), HasSubstr("neither text nor tables nor sentences"));
  EXPECT_THAT(refusal(R"(,"title":"t","text":[1])"), HasSubstr("text, entry 1 is not a text"));
  EXPECT_THAT(refusal(R"(,"title":"t","tables":[{"caption":"c","columns":[{"title":"a"}],"rows":[["1","2"]]}])"),
              HasSubstr("tables, entry 1 has a row with more or fewer cells than there are columns"));
  EXPECT_THAT(refusal(R"(,"title":"t","tables":[{"caption":"c","columns":[{"title":"a"}],"rows":[[1]]}])"),
              HasSubstr("rows, entry 1, entry 1 is not a text"));
  EXPECT_THAT(refusal(R"(,"title":"t","sentences":[{"title":"s"}])"),
              HasSubstr("texts is missing, but must be a list"));
}

TEST_F(SectionFileTest, StandsOnThePageAsTextWithTheRestOfASentenceMarked) {
  Report report;
  report.title = "both";
  report.sections = {read(kSentence), read(kTable)};
  const std::string page = html_page(report);
  EXPECT_THAT(page, HasSubstr("x <mark>y &lt;z&gt;</mark>"));
  EXPECT_THAT(page, HasSubstr("12 &amp; &lt;b&gt;"));
  EXPECT_LT(page.find("Table 2</h2>"), page.find("Long</h2>")) << "results stand before sentences";
  EXPECT_THAT(markdown_tables(report), HasSubstr("**how**\n\n| Model | Updates |"));
  const auto files = csv_files(report);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].name, "section-2-table-1.csv");
  EXPECT_EQ(files[0].content, "Model,Updates\r\nRNNsearch,12 & <b>\r\n");
}

}  // namespace
}  // namespace rnnsearch::report
