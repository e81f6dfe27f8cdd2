#include "rnnsearch/report/alignment_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/message_of.h"
#include "tests/support/scratch.h"

namespace rnnsearch::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class AlignmentFileTest : public ::testing::Test {
 protected:
  AlignmentFile read(const std::string& sentence, const std::string& version = "1") {
    std::ofstream(scratch_ / "a.json") << R"({"format":"rnnsearch-alignment","format_version":)" << version
                                       << R"(,"model":"runs/search","sentences":[)" << sentence << "]}";
    return read_alignment(scratch_ / "a.json");
  }
  std::string refusal(const std::string& sentence, const std::string& version = "1") {
    return message_of([&] { read(sentence, version); });
  }
  Scratch scratch_;
};

TEST_F(AlignmentFileTest, ReadsMatricesRowByRow) {
  const auto file = read(
      R"({"line":7,"source":["a","b"],"target":["x","y","z"],"alignment":[[1,0],[0.25,0.75],[0,1]],"log_probability":-2.5})");
  ASSERT_EQ(file.sentences.size(), 1u);
  EXPECT_EQ(file.sentences[0].line, 7u);
  EXPECT_EQ(file.sentences[0].log_probability, -2.5);
  EXPECT_THAT(file.sentences[0].alignment.weights, ElementsAre(1, 0, 0.25, 0.75, 0, 1));
}

TEST_F(AlignmentFileTest, ReadsWhatAnExperimentAddedToIt) {
  std::ofstream(scratch_ / "b.json")
      << R"({"format":"rnnsearch-alignment","format_version":1,"note":"by lot","sentences":[)"
      << R"_({"line":1,"label":"(a)","source":["a"],"target":["x"],"alignment":[[1]]}]})_";
  const auto file = read_alignment(scratch_ / "b.json");
  EXPECT_EQ(file.note, "by lot");
  EXPECT_EQ(file.sentences[0].label, "(a)");
}

TEST_F(AlignmentFileTest, LeavesOutTheMarksOfTheTokenizer) {
  const auto file =
      read("{\"line\":1,\"source\":[\"\uFFED/\uFFED\",\"b\"],\"target\":[\"l'\uFFED\"],\"alignment\":[[1,0]]}");
  EXPECT_THAT(file.sentences[0].alignment.source, ElementsAre("/", "b"));
  EXPECT_THAT(file.sentences[0].alignment.target, ElementsAre("l'"));
}

TEST_F(AlignmentFileTest, RefusesMatricesOfAnotherShapeOrWithoutWeights) {
  EXPECT_THAT(refusal(R"({"line":1,"source":["a"],"target":["x","y"],"alignment":[[1]]})"),
              HasSubstr("sentences, entry 1 has more or fewer rows of weights than target words"));
  EXPECT_THAT(refusal(R"({"line":1,"source":["a"],"target":["x"],"alignment":[[0.5,0.5]]})"),
              HasSubstr("more or fewer weights than source words"));
  EXPECT_THAT(refusal(R"({"line":1,"source":["a"],"target":["x"],"alignment":[[1.5]]})"), HasSubstr("from 0 to 1"));
  EXPECT_THAT(refusal(R"({"line":1,"source":["a"],"target":["x"],"alignment":[[null]]})"), HasSubstr("a number"));
  EXPECT_THAT(refusal(R"({"line":1,"source":["a"],"target":[3],"alignment":[[1]]})"), HasSubstr("not a text"));
  EXPECT_THAT(refusal(R"({"line":1,"source":["a"],"target":["x"]})"), HasSubstr("alignment is missing"));
  EXPECT_THAT(refusal(""), HasSubstr("no sentences"));
  EXPECT_THAT(refusal("", "9"), HasSubstr("format_version 9"));
}

TEST_F(AlignmentFileTest, ReadsWhatWasWritten) {
  const std::vector<std::string> source{"a", "</s>"}, target{"x", "y", "</s>"};
  const std::vector<float> weights{0.1f, 0.9f, 1, 0, 0.25f, 0.75f};
  const std::string sentence = alignment_file_sentence(3, source, target, weights, -1.5);
  EXPECT_THAT(sentence, HasSubstr("[[0.1,0.9],[1.0,0.0],[0.25,0.75]]"));
  std::ofstream(scratch_ / "c.json") << alignment_file_begin("run") << sentence << ",\n"
                                     << alignment_file_sentence(5, source, target, weights, -2)
                                     << alignment_file_end(Json());
  const auto file = read_alignment(scratch_ / "c.json");
  EXPECT_EQ(file.model, "run");
  ASSERT_EQ(file.sentences.size(), 2u);
  EXPECT_EQ(file.sentences[1].line, 5u);
  EXPECT_EQ(file.sentences[1].log_probability, -2);
  EXPECT_EQ(file.sentences[0].alignment.source, source);
  EXPECT_EQ(file.sentences[0].alignment.target, target);
}

}  // namespace
}  // namespace rnnsearch::report
