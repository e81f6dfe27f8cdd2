#include <gtest/gtest.h>

#include <vector>

#include "tests/model/fixtures.h"

namespace rnnsearch::model {
namespace {

class GradientParts : public testing::TestWithParam<Variant> {};

std::vector<float> copy_of(Model& model, const GradientPart& part) {
  if (part.table < 0) {
    const auto values = model.gradient().subspan(part.first, part.size);
    return {values.begin(), values.end()};
  }
  const auto rows = model.table_gradients()[static_cast<std::size_t>(part.table)].rows.rows();
  return {rows.data, rows.data + rows.rows * rows.cols};
}

TEST_P(GradientParts, AreAllOfTheGradientEachElementOnce) {
  Model model(GetParam().options);
  std::vector<int> elements(model.gradient().size()), tables(model.table_gradients().size());
  for (const auto& part : model.gradient_parts()) {
    if (part.table >= 0) ++tables[static_cast<std::size_t>(part.table)];
    for (std::size_t i = 0; i < part.size; ++i) ++elements[part.first + i];
  }
  EXPECT_EQ(elements, std::vector<int>(elements.size(), 1));
  EXPECT_EQ(tables, std::vector<int>(tables.size(), 1));
}

TEST_P(GradientParts, DoNotChangeOnceTheyAreFinished) {
  Model model(GetParam().options);
  fill(model, 3);
  Random random(4);
  const Sentences source = random_sentences(random, 6, 9, GetParam().options.source_words);
  const Sentences target = random_sentences(random, 6, 9, GetParam().options.target_words);
  for (int batch = 0; batch < 2; ++batch) {
    std::vector<std::vector<float>> finished;
    model.accumulate_gradient(source, target, {.finished = [&](const GradientPart& part) {
                                ASSERT_EQ(part.first, model.gradient_parts()[finished.size()].first);
                                finished.push_back(copy_of(model, part));
                              }});
    ASSERT_EQ(finished.size(), model.gradient_parts().size());
    for (std::size_t part = 0; part < finished.size(); ++part) {
      EXPECT_TRUE(finished[part] == copy_of(model, model.gradient_parts()[part])) << "part " << part;
    }
  }
}

TEST_P(GradientParts, AreFinishedByNoPairsToo) {
  Model model(GetParam().options);
  std::size_t finished = 0;
  model.accumulate_gradient({}, {}, {.finished = [&](const GradientPart& part) {
                              EXPECT_EQ(part.first, model.gradient_parts()[finished++].first);
                            }});
  EXPECT_EQ(finished, model.gradient_parts().size());
}

// The sums of the source words over the ranks take longest, and weights can be computed while they travel.
TEST(GradientPartsOfRnnsearch, OfTheSourceWordsComeBeforeTheEncodersWeights) {
  ModelOptions options = widths(30, 8, 12, 10, 6);
  Model model(options);
  const auto parts = model.gradient_parts();
  ASSERT_GE(parts.size(), 3U);
  EXPECT_EQ(parts[parts.size() - 3].table, 0);
  const std::size_t m = options.embedding, n = options.state, of_direction = m * 3 * n + n + n * 3 * n;
  for (const auto& part : parts.last(2)) EXPECT_EQ(part.table, -1);
  EXPECT_EQ(parts[parts.size() - 2].size, m + of_direction);  // with the bias of the embedding
  EXPECT_EQ(parts.back().size, of_direction);
}

INSTANTIATE_TEST_SUITE_P(Every, GradientParts, testing::ValuesIn(variants(widths(30, 8, 12, 10, 6), 5)),
                         [](const auto& chosen) { return chosen.param.name; });

}  // namespace
}  // namespace rnnsearch::model
