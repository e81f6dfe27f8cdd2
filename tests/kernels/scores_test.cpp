// The values and gradients of all scores: tests/model/decoder_test.cpp. Here is what concerns each of them, with the
// additive one.
#include "rnnsearch/kernels/scores.h"

#include "tests/kernels/guarded.h"
#include "tests/support/scores.h"
#include "tests/support/test.h"

namespace rnnsearch::kernels {
namespace {

TEST(Scores, HaveOneNameAndOneEquationEach) {
  for (const Score& score : scores()) {
    EXPECT_EQ(find_score(score.name), &score);
    EXPECT_TRUE(reference::energies().contains(std::string(score.name))) << score.name;
  }
  EXPECT_EQ(reference::energies().size(), scores().size());
  EXPECT_EQ(find_score("none"), nullptr);
}

using Matrix = std::vector<double>;

// The equations of attention with the additive score, in float64, one element at a time. v_a has a row for each
// sentence, so that its gradient can be told apart by sentence.
struct Scalar {
  std::size_t A, C, longest;
  std::vector<std::size_t> offsets;
  std::vector<std::uint32_t> sentence;
  Matrix query, keys, annotations, v_a;
  Matrix energy, alpha, context;  // [R, longest], [R, longest], [R, C]

  void forward() {
    const std::size_t R = sentence.size();
    energy.assign(R * longest, 0);
    alpha.assign(R * longest, 0);
    context.assign(R * C, 0);
    for (std::size_t i = 0; i < R; ++i) {
      const std::size_t b = sentence[i], first = offsets[b], Tx = offsets[b + 1] - first;
      double sum = 0, largest = -HUGE_VAL;
      double* const e = &energy[i * longest];
      for (std::size_t j = 0; j < Tx; ++j) {
        for (std::size_t k = 0; k < A; ++k)
          e[j] += v_a[b * A + k] * std::tanh(query[i * A + k] + keys[(first + j) * A + k]);
        largest = std::max(largest, e[j]);
      }
      for (std::size_t j = 0; j < Tx; ++j) sum += std::exp(e[j] - largest);
      for (std::size_t j = 0; j < Tx; ++j) {
        alpha[i * longest + j] = std::exp(e[j] - largest) / sum;
        for (std::size_t c = 0; c < C; ++c)
          context[i * C + c] += alpha[i * longest + j] * annotations[(first + j) * C + c];
      }
    }
  }

  struct Gradients {
    Matrix query, annotations, keys, v_a;
  };
  /// From the chain rule: dL/dalpha_j = dc . h_j, dL/de_j = alpha_j (dL/dalpha_j - sum_k alpha_k dL/dalpha_k), and
  /// tanh' = 1 - tanh^2.
  Gradients backward(const Matrix& context_gradient) const {
    Gradients g{Matrix(query.size()), Matrix(annotations.size()), Matrix(keys.size()), Matrix(v_a.size())};
    for (std::size_t i = 0; i < sentence.size(); ++i) {
      const std::size_t b = sentence[i], first = offsets[b], Tx = offsets[b + 1] - first;
      Matrix alpha_gradient(Tx);
      double mean = 0;
      for (std::size_t j = 0; j < Tx; ++j) {
        for (std::size_t c = 0; c < C; ++c) {
          alpha_gradient[j] += context_gradient[i * C + c] * annotations[(first + j) * C + c];
          g.annotations[(first + j) * C + c] += alpha[i * longest + j] * context_gradient[i * C + c];
        }
        mean += alpha[i * longest + j] * alpha_gradient[j];
      }
      for (std::size_t j = 0; j < Tx; ++j) {
        const double de = alpha[i * longest + j] * (alpha_gradient[j] - mean);
        for (std::size_t k = 0; k < A; ++k) {
          const double t = std::tanh(query[i * A + k] + keys[(first + j) * A + k]);
          const double dk = de * v_a[b * A + k] * (1 - t * t);
          g.query[i * A + k] += dk;
          g.keys[(first + j) * A + k] += dk;
          g.v_a[b * A + k] += de * t;
        }
      }
    }
    return g;
  }
};

// The kernels' operands, and the same in float64.
struct Case {
  std::vector<std::size_t> offsets{0};
  std::vector<std::uint32_t> sentence;
  std::size_t A, C, longest = 0, padded;
  Guarded<Real> query, keys, annotations, v_a, alpha, context;

  Case(const std::vector<std::size_t>& lengths_of_sentences, std::vector<std::uint32_t> rows, std::size_t A_,
       std::size_t C_, std::uint64_t seed)
      : offsets(ends(lengths_of_sentences)),
        sentence(std::move(rows)),
        A(A_),
        C(C_),
        longest(*std::max_element(lengths_of_sentences.begin(), lengths_of_sentences.end())),
        padded(longest + seed % 3),
        query(sentence.size(), A, A % 5),
        keys(offsets.back(), A, 2, A % 4),
        annotations(offsets.back(), C, C % 5, 2),
        v_a(1, A, A % 3),
        alpha(sentence.size(), padded, 1),
        context(sentence.size(), C, 3, 1) {
    Random random(seed);
    query.grid(random, 2);  // so that q + k is exact
    keys.grid(random, 2);
    annotations.normal(random);
    v_a.normal(random, 1 / std::sqrt(static_cast<double>(A)));
  }
  static std::vector<std::size_t> ends(const std::vector<std::size_t>& sizes) {
    std::vector<std::size_t> all{0};
    for (const std::size_t size : sizes) all.push_back(all.back() + size);
    return all;
  }

  ScoredMemory memory() { return {{offsets, annotations.read(), keys.read()}, find_score("additive"), v_a.row(0)}; }
  void forward() { scored_attention_forward({{memory(), sentence, {}, query.read()}, alpha.view(), context.view()}); }
  Scalar scalar() const {
    Scalar scalar{A, C, padded, offsets, sentence, query.values(), keys.values(), annotations.values(), {}, {}, {}, {}};
    for (std::size_t b = 0; b + 1 < offsets.size(); ++b)
      for (const double value : v_a.values()) scalar.v_a.push_back(value);
    scalar.forward();
    return scalar;
  }
  /// The header's bound on an energy.
  double energy_error() const {
    double sum = 0;
    for (const double value : v_a.values()) sum += std::abs(value);
    return 1e-6 * sum;
  }
};

class Attention : public testing::Test {
 protected:
  static bool follows_the_equations(Case& of, const std::string& what) {
    of.forward();
    const Scalar expected = of.scalar();
    const double relative = 2 * of.energy_error() + 1e-6;
    double largest = 0;
    for (const double value : expected.annotations) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < of.sentence.size(); ++i) {
      const std::size_t b = of.sentence[i];
      for (std::size_t j = of.offsets[b + 1] - of.offsets[b]; j < of.padded; ++j)
        EXPECT_EQ(of.alpha(i, j), 0) << "padding, " << what;
    }
    return close(of.alpha, expected.alpha, bound(1e-30, relative), "alpha, " + what) &&
           close(of.context, expected.context, bound(largest * relative), "context, " + what) &&
           !testing::Test::HasFailure();
  }
};
TEST_F(Attention, FollowsTheEquationsAtEveryWidth) {
  for (const std::size_t n : lengths()) {
    Case wide({3, 1, 6}, {2, 0, 1}, n, (n * 7) % 71 + 1, n);
    ASSERT_TRUE(follows_the_equations(wide, "A = " + std::to_string(n)));
    Case deep({3, 1, 6}, {2, 0, 1}, (n * 5) % 67 + 1, n, n);
    ASSERT_TRUE(follows_the_equations(deep, "C = " + std::to_string(n)));
  }
}

TEST_F(Attention, FollowsTheEquationsAtEverySentenceLength) {
  for (const std::size_t Tx : lengths()) {
    if (Tx > 1000) continue;
    Case of({2, Tx, 1, 4}, {1, 3, 0}, 19, 21, Tx);
    ASSERT_TRUE(follows_the_equations(of, "Tx = " + std::to_string(Tx)));
  }
}

TEST_F(Attention, ServesManyHypothesesOfOneSentence) {
  Case of({4, 9}, {1, 0, 1, 1, 0, 1}, 33, 18, 5);
  ASSERT_TRUE(follows_the_equations(of, "a beam"));
}

TEST_F(Attention, ToASingleWordIsExactlyOne) {
  Case of({1, 1}, {0, 1}, 37, 29, 2);
  ASSERT_EQ(of.padded, 3u);
  of.forward();
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(of.alpha(i, 0), 1);
    for (std::size_t c = 0; c < of.C; ++c) EXPECT_EQ(of.context(i, c), of.annotations(i, c));
  }
}

TEST_F(Attention, StaysFiniteAtTheExtremes) {
  Case of({5, 2}, {0, 1}, 40, 8, 3);
  of.v_a.fill([] { return 250.0; });  // energies of +-1e4
  of.query.fill([] { return 0.0; });
  Random random(1);
  of.keys.fill([&] { return random.below(2) ? 100.0 : -100.0; });
  for (std::size_t k = 0; k < of.A; ++k) {
    of.keys(1, k) = 100;   // takes all of sentence 0
    of.keys(5, k) = -100;  // two equals in sentence 1
    of.keys(6, k) = -100;
  }
  of.forward();
  const std::vector<double> alpha = of.alpha.values();
  for (std::size_t j = 0; j < 5; ++j) EXPECT_EQ(alpha[j], j == 1 ? 1.0 : 0.0) << j;
  for (std::size_t j = 0; j < of.padded; ++j) EXPECT_EQ(alpha[of.padded + j], j < 2 ? 0.5 : 0.0) << j;
}

struct Gradients {
  Guarded<Real> context, query, annotations, keys, v_a;
  /// What is added to starts at random values, so that an overwrite shows.
  Gradients(const Case& of, Random& random)
      : context(of.sentence.size(), of.C, 1),
        query(of.sentence.size(), of.A, 2, 1),
        annotations(of.offsets.back(), of.C, 3),
        keys(of.offsets.back(), of.A, 1, 4),
        v_a(of.offsets.size() - 1, of.A, 4, 1) {
    for (auto* operand : {&context, &annotations, &keys, &v_a}) operand->normal(random);
  }
  void backward(Case& of, const ScoredMemory& memory) {
    scored_attention_backward({{memory, of.sentence, {}, of.query.read()},
                               of.alpha.read(),
                               context.read(),
                               query.view(),
                               keys.view(),
                               v_a.view(),
                               {}});
  }
  void backward(Case& of) {
    backward(of, of.memory());
    // The rows of a case are steps of different sentences, or of none.
    std::vector<std::size_t> offsets{0};
    std::vector<std::uint32_t> rows;
    for (std::size_t b = 0; b + 1 < of.offsets.size(); ++b) {
      for (std::uint32_t row = 0; row < of.sentence.size(); ++row)
        if (of.sentence[row] == b) rows.push_back(row);
      offsets.push_back(rows.size());
    }
    annotations_backward({of.offsets, offsets, rows, of.alpha.read(), context.read(), annotations.view()});
  }
};

Matrix sum(const Matrix& a, Matrix b) {
  for (std::size_t i = 0; i < a.size(); ++i) b[i] += a[i];
  return b;
}

TEST_F(Attention, BackwardFollowsTheDerivativesAtEveryWidth) {
  Random random(7);
  for (const std::size_t n : lengths()) {
    for (const bool wide : {true, false}) {
      const std::string what = (wide ? "A = " : "C = ") + std::to_string(n);
      Case of({3, 1 + n % 11, 1, 6}, {3, 0, 1}, wide ? n : 23, wide ? 17 : n, n);
      of.forward();
      Gradients gradients(of, random);
      const Matrix annotations = gradients.annotations.values(), keys = gradients.keys.values(),
                   v_a = gradients.v_a.values();
      Scalar scalar = of.scalar();
      scalar.alpha = of.alpha.values();  // an operand of the backward pass
      const Scalar::Gradients expected = scalar.backward(gradients.context.values());
      gradients.backward(of);
      // dL/dalpha is a sum of C products of order 1
      const double scale = 3e-7 * (10 + std::sqrt(static_cast<double>(of.C)) * 4);
      const Bound allowed = bound(scale, scale);
      ASSERT_TRUE(close(gradients.query, expected.query, allowed, "dL/dq, " + what));
      ASSERT_TRUE(close(gradients.annotations, sum(annotations, expected.annotations), allowed, "dL/dh, " + what));
      ASSERT_TRUE(close(gradients.keys, sum(keys, expected.keys), allowed, "dL/dk, " + what));
      ASSERT_TRUE(close(gradients.v_a, sum(v_a, expected.v_a), allowed, "dL/dv_a, " + what));
    }
  }
}

TEST_F(Attention, GivesTheSameBitsOnAnyNumberOfThreads) {
  expect_same_bits_on_any_number_of_threads([] {
    std::vector<std::size_t> sizes;
    std::vector<std::uint32_t> rows;
    for (std::uint32_t b = 0; b < 31; ++b) {
      sizes.push_back(1 + b * 7 % 23);
      rows.push_back((b * 11 + 3) % 31);
    }
    Case of(sizes, rows, 131, 77, 9);
    of.forward();
    Random random(10);
    Gradients gradients(of, random);
    gradients.backward(of);
    return joined({of.alpha.values(), of.context.values(), gradients.query.values(), gradients.annotations.values(),
                   gradients.keys.values(), gradients.v_a.values()});
  });
}

TEST_F(Attention, AddsTheAnnotationsGradientsOfAllSteps) {
  Random random(12);
  for (const std::size_t C : {1u, 7u, 64u, 65u, 200u}) {
    // sentence 0 of 11 words has 5 steps, sentence 1 of 1 word none, sentence 2 of 8 words one
    const std::vector<std::size_t> words{0, 11, 12, 20}, offsets{0, 5, 5, 6};
    const std::vector<std::uint32_t> rows{4, 0, 3, 5, 1, 2};
    Guarded<Real> alpha(6, 12, 1, 2), context(6, C, 2), gradient(20, C, 3, 1);
    for (auto* operand : {&alpha, &context, &gradient}) operand->normal(random);
    Matrix expected = gradient.values();
    for (std::size_t b = 0; b < 3; ++b) {
      for (std::size_t step = offsets[b]; step < offsets[b + 1]; ++step) {
        for (std::size_t j = words[b]; j < words[b + 1]; ++j) {
          for (std::size_t c = 0; c < C; ++c) {
            expected[j * C + c] +=
                static_cast<double>(alpha(rows[step], j - words[b])) * static_cast<double>(context(rows[step], c));
          }
        }
      }
    }
    annotations_backward({words, offsets, rows, alpha.read(), context.read(), gradient.view()});
    ASSERT_TRUE(close(gradient, expected, bound(1e-6, 1e-6), "dL/dh, C = " + std::to_string(C)));
  }
}

#ifndef RNNSEARCH_DOUBLE
// What is given rounded gives the bits of the same numbers given whole, whatever else lies in their place.
TEST(RoundedAttention, ReadsTheRoundedMemoryInPlaceOfTheOther) {
  Random random(13);
  for (const std::size_t n : lengths()) {
    Case of({3, 1 + n % 11, 1, 6}, {3, 0, 1}, n, (n * 7) % 71 + 1, n);
    const std::size_t words = of.offsets.back();
    std::vector<BFloat16> keys(words * of.A + 1), annotations(words * of.C + 1);
    const MatrixView<BFloat16> rounded_keys(keys.data() + 1, words, of.A);  // misaligned
    const MatrixView<BFloat16> rounded_annotations(annotations.data() + 1, words, of.C);
    of.keys.normal(random);
    round_to_bfloat16(of.keys.read(), rounded_keys);
    round_to_bfloat16(of.annotations.read(), rounded_annotations);
    const auto whole = [](const MatrixView<BFloat16>& from, Guarded<Real>& to) {
      for (std::size_t i = 0; i < from.rows; ++i) {
        for (std::size_t j = 0; j < from.cols; ++j)
          to(i, j) = std::bit_cast<float>(static_cast<std::uint32_t>(from(i, j).bits) << 16);
      }
    };
    whole(rounded_keys, of.keys);
    whole(rounded_annotations, of.annotations);
    const auto results = [&](const ScoredMemory& memory) {
      Random same(n);
      Gradients gradients(of, same);
      scored_attention_forward({{memory, of.sentence, {}, of.query.read()}, of.alpha.view(), of.context.view()});
      gradients.backward(of, memory);
      return joined({of.alpha.values(), of.context.values(), gradients.query.values(), gradients.keys.values(),
                     gradients.v_a.values()});
    };
    const auto expected = results(of.memory());
    ScoredMemory rounded = of.memory();
    rounded.annotations = rounded.keys = {};
    rounded.rounded_annotations = rounded_annotations;
    rounded.rounded_keys = rounded_keys;
    ASSERT_EQ(results(rounded), expected) << n;
  }
}
#endif

TEST_F(Attention, LeavesOtherSentencesGradientsAlone) {
  Case of({2, 3, 4}, {2, 0}, 18, 5, 4);
  of.forward();
  Random random(11);
  Gradients gradients(of, random);
  for (auto* operand : {&gradients.annotations, &gradients.keys, &gradients.v_a}) operand->fill([] { return 0.25; });
  gradients.backward(of);
  for (std::size_t word = 2; word < 5; ++word) {
    for (std::size_t k = 0; k < of.A; ++k) EXPECT_EQ(gradients.keys(word, k), Real{0.25});
    for (std::size_t c = 0; c < of.C; ++c) EXPECT_EQ(gradients.annotations(word, c), Real{0.25});
  }
  for (std::size_t k = 0; k < of.A; ++k) EXPECT_EQ(gradients.v_a(1, k), Real{0.25});
}

}  // namespace
}  // namespace rnnsearch::kernels
