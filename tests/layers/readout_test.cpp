#include "rnnsearch/layers/readout.h"

#include "rnnsearch/layers/embedding.h"
#include "tests/layers/fixtures.h"
#include "tests/support/test.h"

namespace rnnsearch::layers {
namespace {

struct Owned {  // weights or their gradient
  Matrix W, b, W_2, b_2, W_o_left, W_o, b_w, E;

  ReadoutWeights views() {
    return {W.view(), b.span(), W_2.view(), b_2.span(), W_o_left.view(), {W_o.view(), b_w.span(), E.view()}};
  }
};

constexpr std::size_t n = 4, m = 3, kContext = 5, l = 6;

/// Every weight matrix of a kind as `make` makes them. rank 0: W_o is not factored.
template <class Make>
Owned owned(ReadoutKind kind, std::size_t rank, std::size_t K, const Make& make, bool affine = false,
            bool tied = false) {
  const bool linear = kind == ReadoutKind::kLinear && !affine, mlp = kind == ReadoutKind::kMlp;
  const std::size_t sums = linear ? 0 : kind == ReadoutKind::kMaxout ? 2 * l : l;
  const std::size_t H = linear ? n + m + kContext : l;
  return {linear ? Matrix() : make(n + m + kContext, sums),
          linear ? Matrix() : make(1, sums),
          mlp ? make(sums, H) : Matrix(),
          mlp ? make(1, H) : Matrix(),
          rank > 0 ? make(H, rank) : Matrix(),
          tied ? Matrix() : make(rank > 0 ? rank : H, K),
          make(1, K),
          tied ? make(K, H) : Matrix()};
}

struct Case {
  ReadoutKind kind = ReadoutKind::kMaxout;
  std::size_t rank = 0;
  bool drops = false, affine = false, tied = false;
};

class Readouts : public testing::TestWithParam<Case> {
 protected:
  static constexpr std::size_t K = 11, R = 9;
  const ReadoutKind kind = GetParam().kind;
  const std::size_t rank = GetParam().rank;
  Random random{5};
  Owned weights = owned(
      kind, rank, K, [&](auto rows, auto cols) { return random_matrix(random, rows, cols); }, GetParam().affine,
      GetParam().tied);
  Owned gradient = owned(
      kind, rank, K, [](auto rows, auto cols) { return Matrix(rows, cols, kBefore); }, GetParam().affine,
      GetParam().tied);
  Matrix state = random_matrix(random, R, n), word = random_matrix(random, R, m);
  Matrix context = random_matrix(random, R, kContext);
  std::vector<WordId> target = {3, 0, 10, 3, 5, 2, 2, 9, 3};
  std::vector<std::uint64_t> sentences = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  kernels::DropoutMask dropout =
      GetParam().drops ? kernels::DropoutMask{.share = 0.3, .key = 1, .sentences = sentences} : kernels::DropoutMask{};
  kernels::Scratch memory;
  Readout readout{kind, weights.views(), gradient.views(), memory};

  ReadoutInput input() { return {state.view(), word.view(), context.view()}; }
  std::vector<double> losses() {
    std::vector<double> result(R, -1);
    kernels::Scratch::Frame frame(memory);
    readout.begin(R, frame, dropout);
    readout.forward(0, input());
    readout.loss(target, result);
    return result;
  }
  Matrix log_probabilities() {
    Matrix log_p(R, K);
    kernels::Scratch::Frame frame(memory);
    readout.pack();
    readout.begin(R, frame, dropout, true);
    readout.forward(0, input());
    readout.log_probabilities(log_p.view());
    return log_p;
  }
  void expect_central_differences(double label_smoothing, const std::vector<WordId>& sample = {});
};

void Readouts::expect_central_differences(double label_smoothing, const std::vector<WordId>& sample) {
  std::vector<WordId> words(K);
  std::iota(words.begin(), words.end(), 0);
  if (!sample.empty()) words = sample;
  const auto in_sample = [&](Matrix& log_p, std::size_t i, std::size_t k) {  // log p(k) of the softmax over `words`
    double total = 0;
    for (const WordId one : words) total += std::exp(log_p.view()(i, one));
    return log_p.view()(i, k) - std::log(total);
  };
  const auto loss = [&] {  // from the log-probabilities, word by word
    Matrix log_p = log_probabilities();
    double sum = 0;
    for (std::size_t i = 0; i < R; ++i) {
      for (const WordId k : words) {
        const double share = label_smoothing / static_cast<double>(words.size());
        sum -= ((k == target[i] ? 1 - label_smoothing : 0) + share) * in_sample(log_p, i, k);
      }
    }
    return sum;
  };
  std::vector<double> found(R, -1);
  Matrix inputs(R, n + m + kContext);
  {
    kernels::Scratch::Frame frame(memory);
    readout.begin(R, frame, dropout);
    readout.forward(0, input());
    readout.loss_and_backward({target, found, label_smoothing, {}, sample}, frame);
    readout.backward(4, inputs.view().row_range(4, R - 4));  // step by step, as with a vector that is fed back
    readout.backward(0, inputs.view().row_range(0, 4));
    readout.accumulate(input());
  }
  Matrix log_p = log_probabilities();
  for (std::size_t i = 0; i < R; ++i) EXPECT_NEAR(found[i], -in_sample(log_p, i, target[i]), 1e-12);
  const auto check = [&](const char* name, Matrix& values, Matrix& of) {
    if (values.rows > 0) expect_gradient(name, values.span(), of.span(), kBefore, loss);
  };
  check("W", weights.W, gradient.W);
  check("b", weights.b, gradient.b);
  check("W_2", weights.W_2, gradient.W_2);
  check("b_2", weights.b_2, gradient.b_2);
  check("W_o_left", weights.W_o_left, gradient.W_o_left);
  check("W_o", weights.W_o, gradient.W_o);
  check("b_w", weights.b_w, gradient.b_w);
  check("E", weights.E, gradient.E);
  const auto check_input = [&](const char* name, Matrix& values, std::size_t column) {
    std::vector<double> of;
    for (std::size_t i = 0; i < R; ++i)
      of.insert(of.end(), inputs.view().row(i) + column, inputs.view().row(i) + column + values.cols);
    expect_gradient(name, values.span(), of, 0, loss);
  };
  check_input("state", state, 0);
  check_input("word", word, n);
  check_input("context", context, n + m);
}

TEST_P(Readouts, BackwardEqualsCentralDifferences) { expect_central_differences(0); }

TEST_P(Readouts, BackwardEqualsCentralDifferencesOfTheSmoothedLoss) { expect_central_differences(0.2); }

TEST_P(Readouts, BackwardEqualsCentralDifferencesOfASampledSoftmax) {
  std::vector<WordId> sample(target.begin(), target.end());
  sample.push_back(0);
  std::ranges::sort(sample);
  sample.erase(std::unique(sample.begin(), sample.end()), sample.end());
  ASSERT_LT(sample.size(), K);
  expect_central_differences(0.2, sample);
}

TEST_P(Readouts, LoseMinusTheLogarithmOfTheTargetsProbability) {
  Matrix log_p = log_probabilities();
  const std::vector<double> loss = losses();
  for (std::size_t i = 0; i < R; ++i) {
    double total = 0;
    for (std::size_t k = 0; k < K; ++k) total += std::exp(log_p.view()(i, k));
    EXPECT_NEAR(total, 1, 1e-13);
    EXPECT_NEAR(loss[i], -log_p.view()(i, target[i]), 1e-12);
  }
}

std::string name_of_case(const testing::TestParamInfo<Case>& chosen) {
  return (chosen.param.affine ? "affine" : name_of(chosen.param.kind)) + "_rank_" + std::to_string(chosen.param.rank) +
         (chosen.param.drops ? "_dropping" : "") + (chosen.param.tied ? "_tied" : "");
}
INSTANTIATE_TEST_SUITE_P(Every, Readouts,
                         testing::Values(Case{}, Case{.rank = 1}, Case{.rank = 7}, Case{.drops = true},
                                         Case{ReadoutKind::kTanh}, Case{ReadoutKind::kTanh, 3},
                                         Case{ReadoutKind::kTanh, 0, true}, Case{ReadoutKind::kLinear},
                                         Case{ReadoutKind::kLinear, 3, true},
                                         Case{.kind = ReadoutKind::kLinear, .affine = true}, Case{ReadoutKind::kMlp},
                                         Case{.drops = true, .tied = true}, Case{ReadoutKind::kMlp, 3, true}),
                         name_of_case);

/// Logits exist a block of rows at a time: many blocks, the last one not whole, must give what each row gives alone.
TEST(ReadoutBlocks, GiveEachRowTheLossItHasAlone) {
  constexpr std::size_t K = 3001, R = 1037;
  Random random(6);
  Owned weights =
      owned(ReadoutKind::kMaxout, 0, K, [&](auto rows, auto cols) { return random_matrix(random, rows, cols); });
  Matrix state = random_matrix(random, R, n), word = random_matrix(random, R, m);
  Matrix context = random_matrix(random, R, kContext);
  std::vector<WordId> target(R);
  for (WordId& t : target) t = static_cast<WordId>(random.below(K));
  const kernels::Scratch memory;

  const auto rows_gradient = [&](std::size_t first, std::size_t count, std::vector<double>& loss, Owned& gradient) {
    Readout readout(ReadoutKind::kMaxout, weights.views(), gradient.views(), memory);
    kernels::Scratch::Frame frame(memory);
    const auto targets = std::span(target).subspan(first, count);
    const auto losses = std::span(loss).subspan(first, count);
    const ReadoutInput input{state.view().row_range(first, count), word.view().row_range(first, count),
                             context.view().row_range(first, count)};
    readout.begin(count, frame);
    readout.forward(0, input);
    std::vector<double> forward_only(count, -1);
    readout.loss(targets, forward_only);
    readout.loss_and_backward({targets, losses}, frame);
    for (std::size_t i = 0; i < count; ++i) EXPECT_NEAR(forward_only[i], losses[i], 1e-12) << first + i;
    Matrix rows(count, n + m + kContext);
    readout.backward(0, rows.view());
    readout.accumulate(input);
    return rows;
  };
  const auto zero = [&] {
    return owned(ReadoutKind::kMaxout, 0, K, [](auto rows, auto cols) { return Matrix(rows, cols); });
  };
  std::vector<double> together(R, -1), alone(R, -1);
  Owned together_gradient = zero(), alone_gradient = zero();
  Matrix rows = rows_gradient(0, R, together, together_gradient);
  for (std::size_t i = 0; i < R; i += 61) {
    const std::size_t count = std::min<std::size_t>(61, R - i);
    Matrix some = rows_gradient(i, count, alone, alone_gradient);
    for (std::size_t k = 0; k < some.values.size(); ++k)
      ASSERT_NEAR(rows.values[i * rows.cols + k], some.values[k], 1e-12) << "row " << i + k / rows.cols;
  }
  for (std::size_t i = 0; i < R; ++i) ASSERT_NEAR(together[i], alone[i], 1e-12) << i;
  for (std::size_t k = 0; k < together_gradient.W_o.values.size(); ++k)
    ASSERT_NEAR(together_gradient.W_o.values[k], alone_gradient.W_o.values[k], 1e-10) << k;
  for (std::size_t k = 0; k < K; ++k) ASSERT_NEAR(together_gradient.b_w.values[k], alone_gradient.b_w.values[k], 1e-10);
}

TEST(Embedding, TakesTheWordsRowsAndAddsTheBias) {
  Random random(1);
  Matrix E = random_matrix(random, 6, 3), bias = random_matrix(random, 1, 3), output(3, 3);
  const std::vector<WordId> words = {4, 0, 4};
  EmbeddingTable{.weights = {E.view(), bias.span()}}.forward(words, output.view());
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(output.view()(i, j), E.view()(words[i], j) + bias.values[j]);
  EmbeddingTable{.weights = {E.view(), {}}}.forward(words, output.view());
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(output.view()(i, j), E.view()(words[i], j));
}

TEST(Embedding, BackwardEqualsCentralDifferencesWithRepeatedWords) {
  Random random(2);
  const std::vector<WordId> words = {3, 5, 3, 0, 3, 5, 8};
  for (const bool biased : {true, false}) {
    Matrix E = random_matrix(random, 9, 4), bias = random_matrix(random, 1, 4), output(words.size(), 4);
    const Matrix above = random_matrix(random, words.size(), 4);
    Matrix dE(9, 4), dbias(1, 4, kBefore), from_above = above, earlier = above;
    RowGradient table(9, 4);
    const EmbeddingTable embedding{{E.view(), biased ? bias.span() : std::span<double>{}},
                                   {{}, biased ? dbias.span() : std::span<double>{}},
                                   &table};
    const auto loss = [&] {
      embedding.forward(words, output.view());
      return weighted_sum(above, output.view());
    };
    table.add(words, earlier.view());
    table.clear();  // what was there before must be gone
    embedding.backward(words, from_above.view());
    ASSERT_THAT(table.words(), ElementsAre(3, 5, 0, 8)) << "in the order of the first touch, each once";
    for (std::size_t i = 0; i < 4; ++i) std::copy_n(table.rows().row(i), 4, dE.view().row(table.words()[i]));
    expect_gradient("E", E.span(), dE.span(), 0, loss);
    if (biased) expect_gradient("bias", bias.span(), dbias.span(), kBefore, loss);
    const std::vector<double> once(table.rows().data, table.rows().data + 16);
    table.add(words, earlier.view());  // a second batch adds
    for (std::size_t i = 0; i < 16; ++i) EXPECT_NEAR(table.rows().data[i], 2 * once[i], 1e-14);
  }
}

}  // namespace
}  // namespace rnnsearch::layers
