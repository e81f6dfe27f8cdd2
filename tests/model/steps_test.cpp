#include "tests/model/all_systems.h"
#include "tests/model/systems.h"
#include "tests/support/test.h"

namespace rnnsearch::model {
namespace {

/// Steps know <s> as "there is no word before": it is never a word of a target here.
std::vector<WordId> random_target(Random& random, std::size_t length, std::size_t vocabulary) {
  std::vector<WordId> words = random_sentence(random, length, vocabulary);
  std::replace(words.begin(), words.end(), kStart, kUnknown);
  return words;
}

/// Pairs that share sources and the beginnings of targets, so that hypotheses can branch from one another.
struct Tree {
  Sentences sources;
  std::vector<std::uint32_t> source_of;  // of each target
  Sentences targets;

  bool share(std::size_t a, std::size_t b, std::size_t words) const {
    const auto x = targets[a], y = targets[b];
    return source_of[a] == source_of[b] && x.size() >= words && y.size() >= words &&
           std::equal(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(words), y.begin());
  }
};

Tree random_tree(Random& random, const ModelOptions& options) {
  Tree tree;
  for (const std::size_t length : {4u, 0u, 17u, 1u, 9u}) {
    const std::vector<WordId> stem = random_target(random, 3, options.target_words);
    for (int branch = 0; branch < 3; ++branch) {
      std::vector<WordId> target = random_target(random, 6 + random.below(6), options.target_words);
      std::copy(stem.begin(), stem.begin() + branch + 1, target.begin());
      tree.source_of.push_back(static_cast<std::uint32_t>(tree.sources.size()));
      tree.targets.add(target);
    }
    tree.sources.add(random_sentence(random, length, options.source_words));
  }
  return tree;
}

void expect_near(std::span<const Real> found, const reference::Vector& expected, const std::string& what) {
  constexpr double kTolerance = sizeof(Real) == 4 ? 2e-5 : 1e-11;
  ASSERT_GE(found.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(found[i], expected[i], kTolerance * (1 + std::abs(expected[i]))) << what << " [" << i << "]";
}

/// Follows all targets of a tree as a beam does: rows are reordered, dropped, repeated and branch to other targets with
/// the same beginning; each step's results are compared with the reference's trace of the row's target.
class ModelSteps : public testing::TestWithParam<Variant> {};

TEST_P(ModelSteps, FollowTheReferenceThroughReorderedAndRepeatedRows) {
  const ModelOptions& options = GetParam().options;
  Model model(options);
  fill(model, 61);
  Random random(62);
  const Tree tree = random_tree(random, options);
  const reference::Parameters parameters = named(model);
  const systems::System system(parameters, options);
  std::vector<systems::Trace> traces;
  for (std::size_t target = 0; target < tree.targets.size(); ++target) {
    const auto x = tree.sources[tree.source_of[target]], y = tree.targets[target];
    traces.push_back(system.run({x.begin(), x.end()}, {y.begin(), y.end()}));
  }

  const Encoded encoded = model.encode(tree.sources);
  ASSERT_EQ(encoded.sentences(), tree.sources.size());
  const std::size_t n = options.state, C = options.context_width(), K = options.target_words;
  const bool attention = options.attention == Attention::kAdditive;

  std::vector<std::size_t> followed(tree.targets.size());  // the target each row follows
  std::iota(followed.begin(), followed.end(), std::size_t{0});
  random.shuffle(followed);
  SearchState state = model.start(encoded);
  std::vector<std::uint32_t> parent;
  for (const std::size_t target : followed) parent.push_back(tree.source_of[target]);
  state.select(parent, std::vector<WordId>(parent.size(), kStart));

  std::size_t steps = 0;
  for (std::size_t step = 0; !followed.empty(); ++step, ++steps) {
    const std::size_t rows = followed.size();
    std::size_t longest = 0;
    ASSERT_EQ(state.rows(), rows);
    EXPECT_EQ(state.written, std::vector<std::uint32_t>(rows, static_cast<std::uint32_t>(step)));
    for (std::size_t row = 0; row < rows; ++row) {
      const std::uint32_t b = tree.source_of[followed[row]];
      EXPECT_EQ(state.sentence[row], b);
      EXPECT_EQ(state.previous[row], step > 0 ? tree.targets[followed[row]][step - 1] : kStart);
      EXPECT_EQ(encoded.source_length(b), tree.sources.length(b) + 1);
      longest = std::max(longest, encoded.source_length(b));
    }
    const Real kRubbish = std::numeric_limits<Real>::quiet_NaN();
    const std::size_t wide = longest + step % 3;  // exactly wide enough, or wider
    std::vector<Real> log_p(rows * K, kRubbish), alpha(rows * wide, kRubbish);
    model.predict(encoded, state, {{log_p.data(), rows, K}, {alpha.data(), rows, wide}});
    ASSERT_EQ(state.states.view().cols, n);
    ASSERT_EQ(state.context.view().cols, C);
    for (std::size_t row = 0; row < rows; ++row) {
      SCOPED_TRACE(testing::Message() << "step " << step << ", row " << row << " of " << rows);
      const systems::Trace& expected = traces[followed[row]];
      const std::span<const Real> distribution(log_p.data() + row * K, K);
      expect_near({state.states.view().row(row), n}, expected.states[step], "state");
      expect_near({state.context.view().row(row), C}, expected.contexts[step], "context");
      expect_near(distribution, expected.log_probabilities[step], "log p");
      double total = 0;
      for (const Real value : distribution) total += std::exp(static_cast<double>(value));
      EXPECT_NEAR(total, 1, (sizeof(Real) == 4 ? 1e-5 : 1e-12));
      const std::span<const Real> weights(alpha.data() + row * wide, wide);
      expect_near(weights, expected.alpha[step], "alpha");
      const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
      EXPECT_NEAR(sum, attention ? 1 : 0, (sizeof(Real) == 4 ? 1e-6 : 1e-14));
      for (std::size_t j = attention ? encoded.source_length(state.sentence[row]) : 0; j < wide; ++j)
        EXPECT_EQ(weights[j], 0);
    }
    if (testing::Test::HasFatalFailure()) return;

    // Of every target that goes on, up to two rows, each from any row that has seen the same words.
    std::vector<std::size_t> next;
    for (std::size_t target = 0; target < tree.targets.size(); ++target)
      if (tree.targets.length(target) > step) next.insert(next.end(), 1 + random.below(2), target);
    random.shuffle(next);
    std::vector<WordId> word;
    parent.clear();
    for (const std::size_t target : next) {
      std::vector<std::size_t> parents;
      for (std::size_t row = 0; row < rows; ++row)
        if (tree.share(followed[row], target, step)) parents.push_back(row);
      ASSERT_FALSE(parents.empty());
      parent.push_back(static_cast<std::uint32_t>(parents[random.below(parents.size())]));
      word.push_back(tree.targets[target][step]);
    }
    state.select(parent, word);
    model.advance(state);
    followed = next;
  }
  EXPECT_GT(steps, 6u);
}

#ifdef RNNSEARCH_DOUBLE
// Three sentences, of which the second begins after two words of the first, and the third after the first has ended.
TEST_P(ModelSteps, LetASentenceBeginWhileOthersAreSearched) {
  Model model(GetParam().options);
  fill(model, 71);
  Random random(72);
  const std::size_t K = model.options().target_words;
  Sentences sources, targets;
  for (const std::size_t length : {6, 3, 5}) {
    sources.add(random_sentence(random, length, model.options().source_words));
    targets.add(random_target(random, 5, model.options().target_words));
  }
  const auto alone = [&](std::size_t b) {
    Sentences one;
    one.add(sources[b]);
    return model.encode(one);
  };
  const auto distributions = [&](const Encoded& encoded, SearchState& state) {
    std::vector<double> log_p(state.rows() * K);
    model.predict(encoded, state, {{log_p.data(), state.rows(), K}});
    return log_p;
  };
  std::vector<std::vector<std::vector<double>>> expected(sources.size());  // [sentence][step]
  for (std::size_t b = 0; b < sources.size(); ++b) {
    const Encoded encoded = alone(b);
    SearchState state = model.start(encoded);
    for (const WordId word : targets[b]) {
      expected[b].push_back(distributions(encoded, state));
      state.select(std::vector<std::uint32_t>{0}, std::vector<WordId>{word});
      model.advance(state);
    }
  }

  Encoded encoded;
  SearchState state;
  std::vector<std::size_t> row_of;  // the sentence of each row
  const auto begin = [&](std::size_t b, const std::vector<std::uint32_t>& kept) {
    Encoded more = alone(b);
    const SearchState first = model.start(more);
    encoded.replace(kept, std::move(more));
    for (auto& number : state.sentence)
      number = static_cast<std::uint32_t>(std::find(kept.begin(), kept.end(), number) - kept.begin());
    state.append(first, 0, 1, static_cast<std::uint32_t>(kept.size()));
    row_of.push_back(b);
  };
  std::vector<std::size_t> step(sources.size());
  begin(0, {});
  while (!row_of.empty()) {
    if (step[0] == 2 && row_of.size() == 1) begin(1, {0});
    if (step[0] == 5 && step[2] == 0) begin(2, {1});
    const auto log_p = distributions(encoded, state);
    std::vector<std::uint32_t> parent;
    std::vector<WordId> chosen;
    std::vector<std::size_t> still;
    for (std::size_t row = 0; row < row_of.size(); ++row) {
      const std::size_t b = row_of[row], i = step[b]++;
      for (std::size_t word = 0; word < K; ++word)
        EXPECT_NEAR(log_p[row * K + word], expected[b][i][word], 1e-11) << "sentence " << b << ", step " << i;
      if (step[b] == 5) continue;
      parent.push_back(static_cast<std::uint32_t>(row));
      chosen.push_back(targets[b][i]);
      still.push_back(b);
    }
    state.select(parent, chosen);
    model.advance(state);
    row_of = still;
  }
  EXPECT_EQ(step, std::vector<std::size_t>(3, 5));
}
#endif

INSTANTIATE_TEST_SUITE_P(Every, ModelSteps, testing::ValuesIn(variants(widths(40, 17, 22, 13, 9), 7)), name_of_case);

}  // namespace
}  // namespace rnnsearch::model
