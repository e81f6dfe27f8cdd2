#include "rnnsearch/evaluate/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/message_of.h"

namespace rnnsearch::evaluate {
namespace {

TEST(EvaluationOptions, ReadBackWhatTheyWrite) {
  EvaluationOptions options;
  const OptionList list = options_of(options);
  EXPECT_EQ(list.find("smooth-value")->text(), "");
  for (const auto& [name, text] : {std::pair{"tokenizer", "zh"},
                                   {"smoothing", "floor"},
                                   {"smooth-value", "0.25"},
                                   {"lowercase", "true"},
                                   {"sequence-accuracy", "cut"},
                                   {"seed", "7"},
                                   {"bucket-by", "longest"},
                                   {"edges", "5,9"},
                                   {"length-tokenizer", "none"},
                                   {"significance", "bootstrap"},
                                   {"significance-samples", "50"}}) {
    EXPECT_TRUE(list.find(name)->read(text)) << name;
    EXPECT_EQ(list.find(name)->text(), text) << name;
  }
  EXPECT_EQ(options.bleu.smooth_value, 0.25);
  EXPECT_EQ(options.length_tokenizer, text::BleuTokenizer::kNone);
  EXPECT_EQ(options.significance.samples, 50u);
  EXPECT_NO_THROW(check(options));
  EXPECT_FALSE(list.find("tokenizer")->read("moses"));
}

TEST(EvaluationOptions, RefuseABaselineThatIsNoSystem) {
  EvaluationOptions options;
  const std::vector<std::string> one(1, "a"), two{"a", "b"};
  EXPECT_NO_THROW(check_systems(options, one));
  options.baseline.assign(1, 'c');
  EXPECT_THAT(message_of([&] { check_systems(options, two); }), testing::StartsWith("--baseline is for"));
  options.significance.test = SignificanceTest::kBootstrap;
  EXPECT_EQ(message_of([&] { check_systems(options, two); }), "--baseline is 'c', but the systems are a, b");
  EXPECT_THAT(message_of([&] { check_systems(options, one); }), testing::HasSubstr("there is only 'a'"));
}

}  // namespace
}  // namespace rnnsearch::evaluate
