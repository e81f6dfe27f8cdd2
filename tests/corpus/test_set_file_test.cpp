#include "rnnsearch/corpus/test_set_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rnnsearch/base/file.h"
#include "rnnsearch/corpus/corpus.h"
#include "tests/corpus/tiny_corpus.h"

namespace rnnsearch::corpus {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto kSource = TestSetPart::kSource;
constexpr auto kReference = TestSetPart::kReference;
constexpr auto kHypothesis = TestSetPart::kHypothesis;

std::vector<std::string> segments(std::string_view document, TestSetPart part = kSource, const std::string& who = {}) {
  return segments_of(document, {"set.sgm", who}, part).lines;
}
std::string refusal(std::string_view document, TestSetPart part = kSource, const std::string& who = {}) {
  return message_of([&] { segments(document, part, who); });
}

constexpr std::string_view kSgml =
    R"(<!DOCTYPE mteval SYSTEM "ftp://jaguar.ncsl.nist.gov/mt/resources/mteval-xml-v1.3.dtd">
<SRCSET setid="news" srclang="any">
<doc sysid="src" docid="a/1" genre='news' origlang=en>
<hl>
<seg id="1">Research &amp; development at AT&T: 1 < 2 &lt; 3</seg>
</hl>
<p>
<seg id="2"> Caf&#233; &#x20AC;5,
on two   lines </seg>
<seg id="3"></seg><!-- <seg id="4">not this</seg> -->
</p>
</doc>
<doc docid="b"><p><seg id="1">&quot;&apos;&gt;&nbsp;</seg></p></doc>
</SRCSET>
)";

constexpr std::string_view kXml = R"(<?xml version='1.0' encoding='utf-8'?>
<dataset id="news">
  <collection id="general">
  <doc origlang="en" id="a">
    <src lang="en"><p><seg id="1">One &amp; two</seg>
    <seg id="2"><![CDATA[<b> & c]]></seg></p></src>
    <ref lang="de" translator="A"><p><seg id="1">Eins und zwei</seg><seg id="2">A2</seg></p></ref>
    <hyp lang="de" system="online"><p><seg id="1">H1</seg><seg id="2"/></p></hyp>
  </doc>
  <doc id="b">
    <src><p><seg id="1">Three</seg></p></src>
    <ref translator="A"><p><seg id="1">Drei</seg></p></ref>
    <ref translator="B"><p><seg id="1">3</seg></p></ref>
    <hyp system="online"><p><seg id="1">H3</seg></p></hyp>
  </doc>
  </collection>
</dataset>
)";

TEST(TestSetFile, GivesTheSegmentsOfSgmlDecodedAndInOrder) {
  EXPECT_THAT(segments(kSgml),
              ElementsAre("Research & development at AT&T: 1 < 2 < 3", "Café €5, on two lines", "", "\"'>&nbsp;"));
  EXPECT_EQ(segments("\xef\xbb\xbf" + std::string(kSgml)), segments(kSgml));
  EXPECT_EQ(segments(std::string(kSgml), kReference), segments(kSgml)) << "it has one side only";
}

TEST(TestSetFile, GivesThePartOfXmlThatIsWanted) {
  EXPECT_THAT(segments(kXml), ElementsAre("One & two", "<b> & c", "Three"));
  EXPECT_THAT(segments(kXml, kReference, "A"), ElementsAre("Eins und zwei", "A2", "Drei"));
  EXPECT_THAT(segments(kXml, kHypothesis), ElementsAre("H1", "", "H3"));
}

TEST(TestSetFile, AsksWhoseWhereThereAreSeveral) {
  EXPECT_THAT(refusal(kXml, kReference), AllOf(HasSubstr("<ref> of 'A', of 'B'"), HasSubstr("set.sgm@NAME")));
  EXPECT_THAT(refusal(kXml, kReference, "C"), AllOf(HasSubstr("no <ref> of 'C'"), HasSubstr("of 'A', of 'B'")));
  EXPECT_THAT(refusal(kXml, kReference, "B"), HasSubstr("in 1 of its 2 documents"));
  constexpr std::string_view kTwo =
      "<refset setid=x><doc docid=1 sysid=r1><seg id=1>a</seg></doc><doc docid=1 sysid=r2><seg "
      "id=1>b</seg></doc></refset>";
  EXPECT_THAT(refusal(kTwo, kReference), HasSubstr("of 'r1', of 'r2'"));
  EXPECT_THAT(segments(kTwo, kReference, "r2"), ElementsAre("b"));
}

TEST(TestSetFile, IsRefusedWithLineAndReasonWhenDamaged) {
  const auto in = [](std::string_view inside) {
    return text_of("<refset setid=\"x\">\n<doc sysid=\"r\">\n", inside, "\n</doc>\n</refset>\n");
  };
  EXPECT_EQ(refusal(in("<seg id=\"1\">a</seg>")), "nothing was thrown");
  const auto expect = [](const std::string& document, const char* line, const char* reason) {
    EXPECT_THAT(refusal(document), AllOf(HasSubstr("set.sgm"), HasSubstr(line), HasSubstr(reason))) << document;
  };
  expect(in("<seg id=\"1\">a\n<seg id=\"2\">b</seg>"), "line 4", "<seg> is inside a segment");
  expect(in("<seg id=\"1\">a"), "line 4", "</doc> is inside a segment");
  expect(in("a</seg>"), "line 3", "text outside of <seg>");
  expect(in("<p></seg>"), "line 3", "</seg> has no <seg>");
  expect(in("<seg id=\"1>a</seg>"), "line 3", "quote");
  expect(in("<seg id=\"1\"a</seg>"), "line 3", "'>'");
  expect(in("<seg id=\"1\" id=\"2\">a</seg>"), "line 3", "id twice");
  expect(in("<seg id=\"1\">a</seg></doc>"), "line 4", "</doc> was found where </refset> was expected");
  expect(in("<seg>a</seg><doc>"), "line 3", "<doc> is inside <doc>");
  expect(in("<seg>&#0;</seg>"), "line 3", "&#0; does not refer to a character");
  expect(in("<seg>&#xD800;</seg>"), "line 3", "does not refer to a character");
  expect(in("<seg>a</seg><!-- b"), "line 3", "a comment has no end");
  expect(in("<src><seg>a</seg></src>"), "line 3", "<src> is inside <doc>");
  expect(in("<p></p>"), "", "holds no segments");
  expect(in("<seg>\xff</seg>"), "line 3", "UTF-8");
  expect("<refset>\n<doc>\n<seg>a</seg>\n", "line 4", "without </doc>");
  expect("<refset></refset>\n<refset></refset>", "line 2", "follows the end");
  expect("<mteval><refset></refset>\n<refset></refset></mteval>", "line 2", "second set");
  expect("<html>\n<p>a</p></html>", "line 1", "<srcset>, <refset>, <tstset> or <dataset>");
  expect("one sentence\na line", "", "the name of plain text must not");
  expect("<!DOCTYPE x [<!ENTITY a 'b'>]>\n<refset></refset>", "line 1", "declarations");
  expect("<seg>a</seg>", "line 1", "outside of <doc>");
  // XML forgives less
  expect("<dataset>\n<doc><src><seg>AT&T</seg></src></doc></dataset>", "line 2", "&amp;");
  expect("<dataset>\n<doc><src><seg>1 < 2</seg></src></doc></dataset>", "line 2", "&lt;");
  expect("<dataset><doc><src><seg>1</seg></src>\n<ref><seg>1</seg><seg>2</seg></ref></doc></dataset>", "line 2",
         "<ref> ends with 2 segments, but <src> of this document has 1");
  expect("<dataset><doc><ref><seg>1</seg><seg>2</seg></ref>\n<src><seg>1</seg></src></doc></dataset>", "line 2",
         "<src> ends with 1 segments, but <ref> of this document has 2");
  expect("<dataset><doc><src><seg>1</seg></src></doc>\n<doc><hyp><seg>1</seg></hyp><ref></ref></doc></dataset>",
         "line 2", "<ref> ends with 0 segments, but <hyp> of this document has 1");
  expect("<dataset><doc><src><seg>1</seg></src>\n<src><seg>1</seg></src></doc></dataset>", "line 2", "second <src>");
  for (const std::string_view whole : {kSgml, kXml}) {  // the last line end may be missing, nothing else
    for (std::size_t length = 0; length + 1 < whole.size(); ++length) {
      ASSERT_NE(refusal(whole.substr(0, length)), "nothing was thrown") << length;
    }
  }
}

TEST(TestSetFile, SaysWhatItsSegmentsAreCalled) {
  const auto names = [](std::string_view document, const std::string& who = {}) {
    std::string all;
    for (const auto& name : segments_of(document, {"set", who}, kReference).names)
      all += text_of(name.document, ":", name.segment, ":", name.line, " ");
    return all;
  };
  EXPECT_EQ(names(kSgml), "a/1:1:5 a/1:2:8 a/1:3:10 b:1:13 ");
  EXPECT_EQ(names(kXml, "A"), "a:1:7 a:2:7 b:1:12 ");
  EXPECT_EQ(names("<refset><doc>\n<seg/></doc></refset>"), "::2 ");
}

TEST(TestSetFile, MustBelongToTheOtherSegmentBySegment) {
  const auto set = [](const std::vector<std::string>& segments) {
    std::string document = "<refset>\n";
    for (const std::string& segment : segments) document += text_of("<doc ", segment, ">a</seg></doc>\n");
    return segments_of(document + "</refset>", {"set", {}}, kReference);
  };
  const TestSet a = set({"docid=a><seg id=1", "docid=a><seg id=2", "docid=b><seg id=1"});
  const auto said = [&](const std::vector<std::string>& segments) {
    return message_of([&] { check_same_segments("a.sgm", a, "b.sgm", set(segments)); });
  };
  constexpr const char* kNothing = "nothing was thrown";
  EXPECT_EQ(said({"docid=a><seg id=1", "docid=a><seg id=2", "docid=b><seg id=1"}), kNothing);
  EXPECT_EQ(said({"docid=a><seg", "id=a><seg id=2", "genre=c><seg id=7"}), kNothing) << "what is not said agrees";
  EXPECT_EQ(
      said({"docid=a><seg id=1", "docid=a><seg id=3", "docid=b><seg id=1"}),
      "corpus: b.sgm line 3: found segment '3' of document 'a', but expected segment '2' of document 'a', which is in "
      "a.sgm line 3; both files must have their segments in the same order");
  EXPECT_THAT(said({"docid=a><seg id=1", "docid=a><seg id=2", "docid=c><seg id=1"}),
              AllOf(HasSubstr("b.sgm line 4"), HasSubstr("'1' of document 'c'"), HasSubstr("'1' of document 'b'")));
}

TEST(TestSetFile, IsKnownByItsNameAlone) {
  for (const char* name : {"a.sgm", "b/a.SGML", "a.xml", "a.sgm.gz", "a.xml.xz", "a.sgml.zst"}) {
    ASSERT_TRUE(test_set_name(name)) << name;
    EXPECT_EQ(test_set_name(name)->file, name);
  }
  EXPECT_EQ(test_set_name("a.xml@B")->file, "a.xml");
  EXPECT_EQ(test_set_name("a.xml@B")->who, "B");
  for (const char* name : {"a.en", "a.txt", "xml", "sgm.gz", "a.sgm.bz2", "a.sgm/b", "a.en@B", "a.xml@", "@", ""}) {
    EXPECT_FALSE(test_set_name(name)) << name;
  }
}

TEST(TestSetFile, IsReadByPrepareWhereverPlainTextIs) {
  const Scratch scratch;
  PrepareOptions options = tiny_options(scratch, 20);
  write_text(scratch / "set.sgm", std::string(kSgml));
  write_text(scratch / "set.xml", std::string(kXml));
  write_text(scratch / "plain", "<refset setid=\"x\">\n\n<seg\n");  // plain text may hold what it likes
  options.train = {{scratch / "set.xml", scratch / "set.xml@A"}};
  options.dev = EvaluationFiles{"dev", scratch / "set.xml", {scratch / "set.xml@A", scratch / "plain"}};
  options.tests = {{"news", scratch / "set.sgm", {scratch / "set.sgm"}}};
  const auto report = prepare(options);
  EXPECT_EQ(report.pairs_read, 3u);
  const Corpus corpus(options.output);
  const EvaluationSet dev = corpus.read_set("dev");
  EXPECT_THAT(dev.source_text, ElementsAre("One & two", "<b> & c", "Three"));
  EXPECT_THAT(dev.references,
              ElementsAre(ElementsAre("Eins und zwei", "A2", "Drei"), ElementsAre("<refset setid=\"x\">", "", "<seg")));
  EXPECT_THAT(corpus.read_set("test/news").source_text, ElementsAre(testing::_, testing::_, "", testing::_));

  options.output = scratch / "other.h5";
  options.dev->references = {scratch / "set.sgm"};
  EXPECT_THAT(message_of([&] { prepare(options); }),
              AllOf(HasSubstr("set.xml has 3 segments"), HasSubstr("set.sgm has 4")));
  const std::string swapped =
      "<refset><doc docid='b'><seg id='1'>x</seg></doc>\n<doc docid='a'><seg id='1'>y</seg>"
      "<seg id='2'>z</seg></doc></refset>";
  options.dev->references = {write_text(scratch / "swapped.sgm", swapped)};
  const auto order =
      AllOf(HasSubstr("swapped.sgm line 1: found segment '1' of document 'b'"), HasSubstr("set.xml line 5"));
  EXPECT_THAT(message_of([&] { prepare(options); }), order);
  options.dev = std::nullopt;
  options.train = {{scratch / "set.xml", scratch / "swapped.sgm"}};
  EXPECT_THAT(message_of([&] { prepare(options); }), order);
  options.train = {{scratch / "train.src", scratch / "set.xml@A"}};
  EXPECT_THAT(message_of([&] { prepare(options); }),
              AllOf(HasSubstr("train.src has 20 lines"), HasSubstr("set.xml has 3 segments")));
  options.overwrite = true;
  options.output = scratch / "set.xml";
  EXPECT_THAT(message_of([&] { prepare(options); }), HasSubstr("one of the input files"));
}

}  // namespace
}  // namespace rnnsearch::corpus
