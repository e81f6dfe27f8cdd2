#include "rnnsearch/corpus/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <utility>

#include "corpus/corpus_writer.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/corpus/prepare.h"
#include "rnnsearch/text/unicode.h"
#include "tests/corpus/tiny_corpus.h"

namespace rnnsearch::corpus {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Two texts, and a corpus whose vocabularies know most of their words.
struct Texts {
  Scratch scratch;
  TextFiles one, two;
  PrepareOptions options;  // of either

  Texts() {
    std::string source[2], target[2];
    for (int i = 0; i < 6000; ++i) {
      source[i % 3 == 0] += text_of("a", i % 50, " b", i % 700, i % 11 == 0 ? "" : " c d", "\n");
      target[i % 3 == 0] += text_of(i % 13 == 0 ? "" : "x ", i % 13 == 0 ? "" : text_of("y", i % 90), "\n");
    }
    one = {write_text(scratch / "1.src", source[0]), write_text(scratch / "1.tgt", target[0])};
    one.alignments = write_links(scratch / "1.links", one);  // the second text has none
    two = {write_text(scratch / "2.src", source[1]), write_text(scratch / "2.tgt", target[1])};
    options.pipeline.tokenizer = "none";
    options.cleaning.max_length = 3;
    options.shard_pairs = 1000;
    PrepareOptions first = prepared("words.h5", {one});
    first.source_words = 300;
    first.cleaning.max_length = 50;
    prepare(first);
    options.vocabulary_of = first.output;
  }
  PrepareOptions prepared(const std::string& output, std::vector<TextFiles> texts) const {
    PrepareOptions made = options;
    made.train = std::move(texts);
    made.output = scratch / output;
    return made;
  }
  EvaluationFiles set(const std::string& name, const std::string& text) const {
    return {name, write_text(scratch / (name + ".src"), text), {write_text(scratch / (name + ".tgt"), text)}};
  }
};

TEST(Merge, WritesTheBitsOfOneCorpus) {
  const Texts texts;
  PrepareOptions whole = texts.prepared("whole.h5", {texts.one, texts.two});
  PrepareOptions one = texts.prepared("one.h5", {texts.one}), two = texts.prepared("two.h5", {texts.two});
  whole.dev = one.dev = two.dev = texts.set("dev", "a1 b1\nx\n");
  whole.tests = {texts.set("t", "b2\n")};
  two.tests = whole.tests;
  prepare(whole);
  prepare(one);
  prepare(two);
  const MergeReport report = merge({{one.output, two.output}, texts.scratch / "merged.h5", 1000});
  EXPECT_TRUE(read_file(texts.scratch / "merged.h5") == read_file(whole.output));
  const Corpus corpus(whole.output);
  EXPECT_EQ(report.pairs, corpus.train_pairs());
  EXPECT_TRUE(corpus.has_alignments());
  EXPECT_EQ(report.fingerprint, corpus.fingerprint());
  EXPECT_EQ(report.pairs + report.selection.dropped.total(), 6000u);
  EXPECT_GT(report.selection.dropped[Drop::kLongSource], 0u);
}

TEST(Merge, SaysInWhatCorporaDiffer) {
  const Texts texts;
  PrepareOptions one = texts.prepared("one.h5", {texts.one});
  one.dev = texts.set("dev", "a1 b1\n");
  prepare(one);
  PrepareOptions two = texts.prepared("two.h5", {texts.two});
  two.overwrite = true;
  MergeOptions both{{one.output, two.output}, texts.scratch / "merged.h5"};
  const auto refused = [&](const auto& expected) {
    prepare(two);
    EXPECT_THAT(message_of([&] { merge(both); }), AllOf(HasSubstr("two.h5 cannot be merged"), expected));
    EXPECT_FALSE(std::filesystem::exists(both.output));
  };
  two.cleaning.max_length = 4;
  refused(HasSubstr("max-length is 4 there and 3 in"));
  two.cleaning = one.cleaning;
  two.cleaning.source_script = "en";
  refused(HasSubstr("source-script is 'en' there and '' in"));
  two.cleaning = one.cleaning;
  two.dev = texts.set("dev", "a1 b2\n");
  refused(HasSubstr("its set dev differs"));
  two.dev.reset();
  two.vocabulary_of.clear();
  refused(AllOf(HasSubstr("of the source vocabulary is "), HasSubstr("--vocabulary-of")));
  two.pipeline.lowercase = true;
  refused(HasSubstr("lowercase is true there and false in"));

  both.corpora.pop_back();
  EXPECT_THAT(message_of([&] { merge(both); }), HasSubstr("the number given is 1"));
  both.corpora.push_back(two.output);
  both.output = one.output;
  EXPECT_THAT(message_of([&] { merge(both); }), HasSubstr("cannot be merged"));
  both.overwrite = true;
  EXPECT_THAT(message_of([&] { merge(both); }), HasSubstr("one of the input files"));
}

TEST(Merge, WarnsOfTextThatAnotherVersionOfALibrarySplit) {
  const Texts texts;
  PrepareOptions one = texts.prepared("one.h5", {texts.one});
  one.vocabulary_of.clear();
  one.pipeline.normalization = "nfc";  // which is ICU's
  prepare(one);
  const Corpus corpus(one.output);
  const auto merged_with = [&](const std::string& libraries) {
    CorpusHead head{corpus.source_vocabulary(), corpus.target_vocabulary(), corpus.joint_vocabulary(),
                    corpus.pipeline(),          selection_of(corpus),       corpus.has_alignments()};
    head.pipeline.libraries.text = libraries;
    const fs::path changed = texts.scratch / "changed.h5", output = texts.scratch / "merged.h5";
    fs::remove(changed);
    fs::remove(output);
    CorpusWriter writer(changed, head, 1000);
    writer.add(corpus);
    writer.publish([] {});
    return merge({{one.output, changed}, output}).warnings;
  };
  EXPECT_THAT(merged_with(text::icu()), IsEmpty());
  EXPECT_THAT(merged_with(kUnknownLibraries), IsEmpty());
  EXPECT_THAT(merged_with("ICU 50.1"), ElementsAre(AllOf(HasSubstr("changed.h5 was split into words with ICU 50.1"),
                                                         HasSubstr("one.h5 with " + text::icu()))));
  EXPECT_EQ(Corpus(texts.scratch / "merged.h5").pipeline().libraries.text, text::icu());
}

TEST(Append, IsAsIfBothTextsHadBeenPreparedAtOnce) {
  const Texts texts;
  PrepareOptions whole = texts.prepared("whole.h5", {texts.one, texts.two}),
                 one = texts.prepared("one.h5", {texts.one});
  one.dev = whole.dev = texts.set("dev", "a1 b1\nx\n");
  prepare(whole);
  prepare(one);
  PrepareOptions more = texts.prepared("more.h5", {texts.two});
  more.append_to = one.output;
  more.cleaning = {};  // does not count
  const PrepareReport report = prepare(more);
  EXPECT_TRUE(read_file(more.output) == read_file(whole.output));
  EXPECT_EQ(report.pairs_before, Corpus(one.output).train_pairs());
  EXPECT_EQ(report.pairs_read, 2000u);

  more.output = one.output;
  EXPECT_THAT(message_of([&] { prepare(more); }), HasSubstr("already exists"));
  more.overwrite = true;
  more.dev = texts.set("dev", "another\n");
  EXPECT_THAT(message_of([&] { prepare(more); }), HasSubstr("one.h5 has a set dev already"));
  more.dev.reset();
  prepare(more);
  EXPECT_TRUE(read_file(one.output) == read_file(whole.output)) << "in place";
}

TEST(Append, LeavesACorpusAsItIsThatEndsWithTheText) {
  const Texts texts;
  PrepareOptions one = texts.prepared("one.h5", {texts.one});
  prepare(one);
  PrepareOptions more = texts.prepared("one.h5", {texts.two});
  more.append_to = texts.scratch / "." / "one.h5";  // the same file by another name
  more.overwrite = true;
  const std::uint64_t appended = prepare(more).pairs_kept;
  const std::string whole = read_file(one.output);
  EXPECT_TRUE(prepare(more).unchanged);
  EXPECT_TRUE(read_file(one.output) == whole);
  more.train = {texts.two, texts.two};  // only half of it is there
  prepare(more);
  more.train = {texts.two};
  more.output = texts.scratch / "more.h5";
  prepare(more);
  EXPECT_EQ(Corpus(more.output).train_pairs(), Corpus(one.output).train_pairs() + appended) << "elsewhere it is meant";
}

/// Calls `act` once, when the corpus is being written.
std::function<void(const PrepareProgress&)> while_writing(std::function<void()> act) {
  return [act, done = false](const PrepareProgress& progress) mutable {
    if (progress.pass == 2 && !std::exchange(done, true)) act();
  };
}

TEST(Append, RefusesInPlaceWhenAnotherProcessChangedTheCorpusMeanwhile) {
  const Texts texts;
  PrepareOptions one = texts.prepared("one.h5", {texts.one}), other = texts.prepared("other.h5", {texts.two});
  prepare(one);
  other.append_to = one.output;
  prepare(other);
  PrepareOptions more = texts.prepared("one.h5", {texts.one, texts.two});
  more.append_to = one.output;
  more.overwrite = true;
  const std::string others = read_file(other.output);
  const auto append = while_writing([&] { fs::rename(other.output, one.output); });
  EXPECT_THAT(message_of([&] { prepare(more, append); }),
              AllOf(HasSubstr("one.h5 was changed by another process"), HasSubstr("append the text again")));
  EXPECT_TRUE(read_file(one.output) == others) << "the other's pairs are lost";
  EXPECT_EQ(texts.scratch.files(), 7u) << "a temporary is left";  // four texts, links, words.h5 and one.h5
}

TEST(Prepare, RefusesToReplaceWhatAnotherProcessWroteMeanwhile) {
  const Texts texts;
  PrepareOptions one = texts.prepared("one.h5", {texts.one});
  const auto write = while_writing([&] { write_text(one.output, "of another"); });
  EXPECT_THAT(message_of([&] { prepare(one, write); }),
              AllOf(HasSubstr("one.h5: it already exists"), HasSubstr("--overwrite")));
  EXPECT_TRUE(read_file(one.output) == "of another");
  one.overwrite = true;
  prepare(one, write);
  EXPECT_GT(Corpus(one.output).train_pairs(), 0u);
}

}  // namespace
}  // namespace rnnsearch::corpus
