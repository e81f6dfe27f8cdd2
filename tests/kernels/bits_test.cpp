// Every kernel gives the same bits on every processor with fused multiply-add, whatever the width of its vectors, with
// every compiler. The digests below are the promise: a sum whose order depends on the width changes one of them on some
// machine, or with RNNSEARCH_SIMD=avx2, with which the test runs once more. Who changes the arithmetic on purpose
// changes the digest; the failure prints it.
#include "kernels/products/product_tiles.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/kernels/cells.h"
#include "rnnsearch/kernels/dropout.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/instruction_set.h"
#include "rnnsearch/kernels/optimizer_steps.h"
#include "rnnsearch/kernels/precision.h"
#include "rnnsearch/kernels/rows.h"
#include "rnnsearch/kernels/scores.h"
#include "rnnsearch/kernels/softmax.h"
#include "rnnsearch/kernels/top_words.h"
#include "tests/kernels/guarded.h"
#include "tests/support/test.h"

namespace rnnsearch::kernels {
namespace {

// Random operands of one call, and the digest (FNV-1a) of those that it may change. They are drawn one after the other,
// so no two of them may be arguments of one function, whose order of evaluation differs from compiler to compiler.
class Operands {
 public:
  explicit Operands(std::uint64_t seed) : random_(seed) {}

  Matrix in(std::size_t rows, std::size_t cols, double scale = 1) {
    return all_.emplace_back(rows, cols).normal(random_, scale).view();
  }
  Matrix positive(std::size_t rows, std::size_t cols) {
    return all_.emplace_back(rows, cols).fill([&] { return 0.1 + random_.uniform(); }).view();
  }
  Matrix out(std::size_t rows, std::size_t cols) { return changed_.emplace_back(in(rows, cols)); }
  Matrix positive_out(std::size_t rows, std::size_t cols) { return changed_.emplace_back(positive(rows, cols)); }
  std::span<Real> vector(std::size_t n) { return {in(1, n).data, n}; }
  std::span<Real> vector_out(std::size_t n) { return {out(1, n).data, n}; }
  std::vector<std::uint32_t> indices(std::size_t count, std::size_t bound) {
    std::vector<std::uint32_t> all(count);
    for (auto& index : all) index = static_cast<std::uint32_t>(random_.below(bound));
    return all;
  }

  void add(std::uint64_t value) { digest_ = (digest_ ^ value) * 0x100000001b3; }
  void add(Real value) { add(std::uint64_t{std::bit_cast<std::uint32_t>(value)}); }
  std::uint64_t digest() {
    for (const Matrix& matrix : changed_) {
      for (std::size_t i = 0; i < matrix.rows; ++i)
        for (std::size_t j = 0; j < matrix.cols; ++j) add(matrix(i, j));
    }
    return digest_;
  }

 private:
  Random random_;
  std::deque<Guarded<Real>> all_;
  std::vector<Matrix> changed_;
  std::uint64_t digest_ = 0xcbf29ce484222325;
};

constexpr std::size_t kRows = 5;

void attend(Operands& o, std::size_t n, bool rounded, bool windows, bool guide) {
  const std::vector<std::size_t> offsets{0, 7, 8, 50, 53, 60};
  const std::vector<std::uint32_t> sentence{0, 1, 2, 3, 4}, first{1, 0, 3, 2, 0}, last{6, 1, 41, 3, 7};
  const std::vector<Real> centre{2, 1, 20.25F, 2.5F, 3};
  const std::size_t Tx = 42, words = 60;
  for (const Score& score : scores()) {
    std::vector<BFloat16> rounded_memory(2 * words * n);
    const MatrixView<BFloat16> rounded_annotations(rounded_memory.data(), words, n, n),
        rounded_keys(rounded_memory.data() + words * n, words, n, n);
    ScoredMemory memory{{offsets, o.in(words, n), o.in(words, n)}, &score, o.vector(n)};
    if (rounded) {
      round_to_bfloat16(memory.annotations, rounded_annotations);
      round_to_bfloat16(memory.keys, rounded_keys);
      memory.rounded_annotations = rounded_annotations;
      memory.rounded_keys = rounded_keys;
    }
    Windows window;
    if (windows) window = {first, last, centre, Real{10}};
    const AttentionStep step{memory, sentence, window, o.in(kRows, n)};
    const Matrix alpha = o.out(kRows, Tx), dropped = o.positive_out(kRows, Tx);
    scored_attention_forward({step, alpha, o.out(kRows, n), dropped});
    const auto by_centre = windows ? o.vector_out(kRows) : std::span<Real>();
    scored_attention_backward({step, alpha, o.in(kRows, n), o.out(kRows, n), o.out(words, n), o.out(kRows, n),
                               by_centre, dropped, guide ? o.positive(kRows, Tx) : Matrix()});
  }
}

void multiply_all(Operands& o, std::size_t n, Precision precision) {
  set_precision(precision);
  for (const std::size_t rows : {1u, 7u, 40u}) {
    const std::size_t depth = 2 * n + 3;
    const Matrix product = o.out(rows, n), b = o.in(depth, n), a = o.in(rows, depth);
    multiply(a, b, product);
    const Matrix sum = o.out(rows, n), b_transposed = o.in(n, depth), a_of_sum = o.in(rows, depth);
    multiply_transposed(a_of_sum, b_transposed, sum, Into::kAdd);
    const Matrix outer = o.out(rows, n), right = o.in(depth, n), left = o.in(depth, rows);
    accumulate_outer(left, right, outer);
    PackedMatrix packed;
    packed.pack(o.in(depth, n));
    const Matrix by_packed = o.out(rows, n), a_of_packed = o.in(rows, depth);
    multiply(a_of_packed, packed, by_packed);
    TopWords top;
    top.limit = 5;
    const std::span<Real> bias = o.vector(n);
    top_words(o.in(rows, depth), packed, bias, top);
    for (std::size_t i = 0; i < rows; ++i) {
      for (const auto& [log_probability, word] : top.row(i)) o.add(log_probability), o.add(std::uint64_t{word});
    }
  }
  set_precision(Precision::kFloat32);
}

struct Case {
  const char* kernels;  // the dispatched functions that it calls
  std::uint64_t digest;
  std::function<void(Operands&, std::size_t)> call;
};

DropoutMask mask_of(std::span<const std::uint64_t> sentences) {
  return {.share = 0.3, .key = 77, .sentences = sentences};
}
constexpr std::array<std::uint64_t, kRows> kSentences{4, 5, 900, 7, 8};

const std::vector<Case>& cases() {
  const std::size_t R = kRows;
  static const std::vector<Case> all = {
      {"gates_forward", 0x35f61c8a3cca61d5,
       [=](auto& o, auto n) {
         gates_forward({o.in(R, 3 * n), o.in(R, 2 * n), o.in(R, n), o.out(R, n), o.out(R, n), o.out(R, n)});
       }},
      {"state_forward", 0xc8a975fe4da411f,
       [=](auto& o, auto n) {
         state_forward({o.in(R, 3 * n), o.in(R, n), o.in(R, n), o.in(R, n), o.out(R, n), o.out(R, n)});
       }},
      {"state_backward", 0xdb3db1f866c19204,
       [=](auto& o, auto n) {
         state_backward({o.in(R, n), o.in(R, n), o.in(R, n), o.in(R, n), o.out(R, 3 * n), o.out(R, n)});
       }},
      {"gates_backward", 0x80eec7d687867646,
       [=](auto& o, auto n) {
         gates_backward({o.in(R, n), o.in(R, n), o.in(R, n), o.out(R, 3 * n), o.out(R, n), o.out(R, n)});
       }},
      {"tanh_forward tanh_backward", 0xc5fd8f026975e8c6,
       [=](auto& o, auto n) {
         tanh_forward(o.out(R, n));
         tanh_backward({o.in(R, n), o.out(R, n)});
       }},
      {"lstm_forward", 0x5f6293b9434957f3,
       [=](auto& o, auto n) {
         lstm_forward({o.out(R, 4 * n), o.in(R, n), o.out(R, n), o.out(R, n), o.out(R, n)});
       }},
      {"lstm_backward", 0xb44e1b5d5f158510,
       [=](auto& o, auto n) {
         lstm_backward({o.in(R, 4 * n), o.in(R, n), o.in(R, n), o.in(R, n), o.in(R, n), o.out(R, 4 * n), o.out(R, n)});
       }},
      {"lstm_output_forward lstm_output_backward", 0x6788a12e03b8a940,
       [=](auto& o, auto n) {
         lstm_output_forward({o.in(R, 4 * n), o.out(R, n), o.out(R, n)});
         lstm_output_backward({o.in(R, 4 * n), o.in(R, n), o.in(R, n), o.out(R, 4 * n), o.out(R, n)});
       }},
      {"reset_after_forward reset_after_backward", 0xfc3fc721c603513c,
       [=](auto& o, auto n) {
         reset_after_forward(
             {o.in(R, 3 * n), o.in(R, 3 * n), o.in(R, n), o.out(R, n), o.out(R, n), o.out(R, n), o.out(R, n)});
         reset_after_backward({o.in(R, n), o.in(R, 3 * n), o.in(R, n), o.in(R, n), o.in(R, n), o.in(R, n),
                               o.out(R, 3 * n), o.out(R, 3 * n), o.out(R, n)});
       }},
      {"relu_forward relu_backward", 0x719409e9ca074257,
       [=](auto& o, auto n) {
         relu_forward(o.out(R, n));
         relu_backward({o.in(R, n), o.out(R, n)});
       }},
      {"normalise_forward", 0x607c71c1dc410d76,
       [=](auto& o, auto n) {
         normalise_forward({o.in(R, n), o.vector(n), o.vector(n), o.out(R, n), o.out(R, 1), o.out(R, n)});
       }},
      {"normalise_backward normalise_accumulate", 0x810742aa4202043f,
       [=](auto& o, auto n) {
         normalise_backward({o.in(R, n), o.vector(n), o.in(R, n), o.positive(R, 1), o.out(R, n)});
         normalise_accumulate({o.in(R, n), o.in(R, n), o.vector_out(n), o.vector_out(n)});
       }},
      {"scored_attention_forward scored_attention_backward", 0xc79759383e239c69,
       [](auto& o, auto n) { attend(o, n, false, false, true); }},
      {"scored_attention_forward scored_attention_backward with windows and bfloat16", 0xdfd31236484cd308,
       [](auto& o, auto n) { attend(o, n, true, true, false); }},
      {"annotations_backward", 0xa2a8fc902d00c6bf,
       [=](auto& o, auto n) {
         const std::vector<std::size_t> words{0, 3, 9}, offsets{0, 2, R};
         const std::vector<std::uint32_t> rows{0, 3, 1, 2, 4};
         annotations_backward({words, offsets, rows, o.positive(R, 6), o.in(R, n), o.out(9, n)});
       }},
      {"log_softmax_row block_sum log_sum", 0xb79a0b74b689ecb6,
       [=](auto& o, auto n) {
         const Matrix logits = o.out(R, n);
         log_softmax(o.vector(n), logits);
       }},
      {"softmax_cross_entropy softmax_loss", 0xdf23f2b0bf912d96,
       [=](auto& o, auto n) {
         const auto target = o.indices(R, n);
         std::vector<double> loss(2 * R);
         softmax_cross_entropy({o.vector(n), o.out(R, n), target, std::span(loss).first(R), 0.1});
         softmax_loss({o.vector(n), o.in(R, n), target, std::span(loss).last(R)});
         for (const double value : loss) o.add(std::bit_cast<std::uint64_t>(value));
       }},
      {"mix_log_probabilities", 0x9e6820c038673dcb,
       [=](auto& o, auto n) {
         const Matrix from = o.in(R, n, 10), to = o.out(R, n);
         mix_log_probabilities({from, 0.3, to});
         interpolate({from, 0.4, o.out(R, n)});
       }},
      {"drop_units", 0x99e4cff017e3750f,
       [=](auto& o, auto n) {
         drop(mask_of(kSentences), o.out(R, n));
         drop_rows(mask_of(kSentences), o.out(R, n));
       }},
      {"adadelta", 0x607cfbf3a33a04ea,
       [](auto& o, auto n) {
         adadelta({0.95F, 1e-6F, 1, 0.3F},
                  {n, o.in(1, n).data, o.out(1, n).data, o.positive_out(1, n).data, o.positive_out(1, n).data});
       }},
      {"adam", 0x2bf340b5b30e15bf,
       [](auto& o, auto n) {
         adam({0.9F, 0.1F, 0.999F, 0.001F, 3, 1e-8F, 0.01F, 0.3F},
              {n, o.in(1, n).data, o.out(1, n).data, o.out(1, n).data, o.positive_out(1, n).data});
       }},
      {"gradient_descent", 0xf24490673a0fcf6c,
       [](auto& o, auto n) {
         gradient_descent({0.9F, 0.1F, 0.3F}, {n, o.in(1, n).data, o.out(1, n).data, o.out(1, n).data});
       }},
      {"decay", 0xbcb1b02fcb3f75c0, [](auto& o, auto n) { decay(0.95F, 300, n, o.positive_out(1, n).data); }},
      {"tiles transposition words_above", 0x6c917de37f337f1d,
       [](auto& o, auto n) { multiply_all(o, n, Precision::kFloat32); }},
      {"rounded_tiles", 0xd75ae6d35257871,
       [](auto& o, auto n) {
         if (bfloat16_unit() != "amx") multiply_all(o, n, Precision::kBFloat16);
       }},
      {"int8", 0x949b010971ad47a1, [](auto& o, auto n) { multiply_all(o, n, Precision::kInt8); }},
      {"rows", 0x1af21cfdc972d55e,
       [=](auto& o, auto n) {
         const Matrix table = o.out(3, n);
         const auto index = o.indices(R, 3);
         scatter_add_rows(o.in(R, n), index, table);
         const std::span<Real> sums = o.vector_out(n);
         add_column_sums(o.in(40, n), sums);
         const Matrix rows = o.out(R, n);
         add_to_rows(o.vector(n), rows);
       }},
  };
  return all;
}

TEST(Bits, OfEveryKernelAreTheSameOnEveryProcessor) {
  if (instruction_set() == "sse2") GTEST_SKIP() << "SSE2 has no fused multiply-add";
  for (const Case& one : cases()) {
    std::uint64_t digest = 0;
    for (const std::size_t n : {1u, 7u, 16u, 37u, 129u, 1200u}) {
      Operands operands(n);
      one.call(operands, n);
      digest = digest * 31 + operands.digest();
    }
    if (one.kernels == std::string("rounded_tiles") && bfloat16_unit() == "amx") continue;  // it rounds otherwise
    EXPECT_EQ(digest, one.digest) << one.kernels << " has the digest 0x" << std::hex << digest;
  }
}

TEST(Bits, AreComparedForEveryDispatchedKernel) {
  std::set<std::string> compared;
  for (const Case& one : cases()) {
    std::istringstream names(one.kernels);
    for (std::string name; names >> name;) compared.insert(name);
  }
  const std::regex dispatched(R"((?:RNNSEARCH_ROW_KERNEL|HWY_EXPORT)\((\w+))");
  for (const auto& file : std::filesystem::recursive_directory_iterator(RNNSEARCH_KERNEL_SOURCES)) {
    if (file.path().extension() != ".cpp") continue;
    const std::string text = read_file(file.path());
    for (std::sregex_iterator match(text.begin(), text.end(), dispatched), end; match != end; ++match)
      EXPECT_TRUE(compared.count((*match)[1])) << (*match)[1] << " of " << file.path() << " has no case in this test";
  }
}

}  // namespace
}  // namespace rnnsearch::kernels
