// The products of an update. Shapes are rows x inner x columns.
#include "rnnsearch/kernels/gemm.h"

#include <functional>
#include <memory>
#include <string>

#include "tests/support/bench.h"

namespace rnnsearch::kernels {
namespace {

using support::Operand;

void add_product(const std::string& function, const std::string& use, std::size_t M, std::size_t K, std::size_t N,
                 const std::function<support::Turn(Operand& c)>& make_turn) {
  support::add_for_precisions(function + "/" + use + "/" + support::shape_text({M, K, N}),
                              [=](benchmark::State& state) {
                                Operand c(M, N);
                                const support::Turn turn = make_turn(c);
                                support::measure(state, {.gflop = 2e-9 * static_cast<double>(M * K * N)}, turn);
                              });
}

void add_multiply(const std::string& use, std::size_t M, std::size_t K, std::size_t N) {
  add_product("multiply", use, M, K, N, [=](Operand& c) -> support::Turn {
    return [a = std::make_shared<Operand>(M, K), b = std::make_shared<Operand>(K, N), &c] {
      multiply(a->view(), b->view(), c.view());
    };
  });
}

void add_multiply_transposed(const std::string& use, std::size_t M, std::size_t K, std::size_t N) {
  add_product("multiply_transposed", use, M, K, N, [=](Operand& c) -> support::Turn {
    return [a = std::make_shared<Operand>(M, K), b = std::make_shared<Operand>(N, K), &c] {
      multiply_transposed(a->view(), b->view(), c.view());
    };
  });
}

void add_accumulate_outer(const std::string& use, std::size_t M, std::size_t R, std::size_t N) {
  add_product("accumulate_outer", use, M, R, N, [=](Operand& c) -> support::Turn {
    return [a = std::make_shared<Operand>(R, M), b = std::make_shared<Operand>(R, N), &c] {
      accumulate_outer(a->view(), b->view(), c.view());
    };
  });
}

void add_packed(const std::string& use, std::size_t M, std::size_t K, std::size_t N) {
  add_product("multiply_packed", use, M, K, N, [=](Operand& c) -> support::Turn {
    const auto packed = std::make_shared<PackedMatrix>();
    packed->pack(Operand(K, N).view());
    return [a = std::make_shared<Operand>(M, K), packed, &c] { multiply(a->view(), *packed, c.view()); };
  });
}

void add_pack(const std::string& use, std::size_t K, std::size_t N) {
  for (const bool transposed : {false, true}) {
    support::add_for_precisions(
        std::string(transposed ? "pack_transposed/" : "pack/") + use + "/" + support::shape_text({K, N}),
        [=](benchmark::State& state) {
          const Operand b(K, N);
          PackedMatrix packed;
          support::measure(state, {.elements = static_cast<double>(K * N)},
                           [&] { transposed ? packed.pack_transposed(b.view()) : packed.pack(b.view()); });
        });
  }
}

[[maybe_unused]] const bool registered = [] {
  using namespace support;
  for (const ModelSize& size : kSizes) {
    const std::string name = size.name + std::string("/");
    const std::size_t m = size.embedding, n = size.state, A = size.alignment, hidden = size.hidden(), K = size.words;

    // Once a step, forward and backward.
    add_packed(name + "encoder_gates", kSentences, n, 2 * n);
    add_packed(name + "encoder_gates_backward", kSentences, 2 * n, n);
    add_packed(name + "encoder_candidate", kSentences, n, n);
    add_packed(name + "decoder_query_gates", kSentences, n, A + 2 * n);
    add_packed(name + "decoder_context", kSentences, 2 * n, 3 * n);
    // Once a batch and direction, for them.
    add_pack(name + "encoder_gates", n, 2 * n);

    // Over all words of a batch.
    add_multiply(name + "input_projection", kWords, m, 3 * n);
    add_multiply(name + "keys", kWords, 2 * n, A);
    add_multiply_transposed(name + "input_projection", kWords, 3 * n, m);
    add_multiply_transposed(name + "keys", kWords, A, 2 * n);
    add_accumulate_outer(name + "input_projection", m, kWords, 3 * n);
    add_accumulate_outer(name + "encoder_gates", n, kWords, 2 * n);
    add_accumulate_outer(name + "keys", 2 * n, kWords, A);

    // The output layer, block by block.
    add_multiply(name + "output", kReadoutRows, hidden, K);
    add_multiply_transposed(name + "output", kReadoutRows, K, hidden);
    add_accumulate_outer(name + "output", hidden, kReadoutRows, K);
  }
  return true;
}();

}  // namespace
}  // namespace rnnsearch::kernels
