#include "rnnsearch/kernels/instruction_set.h"

#include <cstdint>
#include <cstdlib>

#include "kernels/dispatch.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/parallel.h"

namespace rnnsearch::kernels {
namespace {

/// Returns the targets that the limit leaves.
std::int64_t apply_limit() {
  const char* const text = std::getenv("RNNSEARCH_SIMD");
  const std::string_view limit = text ? text : "";
  // In Highway's bit mask of targets, a lower bit means a better target.
  if (limit == "avx2") {
    hwy::DisableTargets(HWY_AVX2 - 1);
  } else if (limit == "sse2") {
    hwy::DisableTargets(2 * HWY_SSSE3 - 1);
  } else if (HWY_ARCH_ARM && limit == "neon") {
    hwy::DisableTargets(HWY_NEON - 1);
  } else if (!limit.empty() && limit != "avx512") {
    throw UsageError(
        "kernels: the environment variable RNNSEARCH_SIMD is '{}'; set it to avx512, avx2 or sse2, on arm64 to neon, "
        "or unset it to use the best one that this processor has",
        limit);
  }
  const std::int64_t targets = hwy::SupportedTargets();
  // That call also lets Highway choose among all targets of the processor, whatever is disabled.
  hwy::GetChosenTarget().Update(targets);
  return targets;
}

std::int64_t allowed_targets() {
  static const std::int64_t targets = apply_limit();
  return targets;
}

}  // namespace

void limit_instruction_set() { allowed_targets(); }

std::string_view instruction_set() {
  const auto targets = allowed_targets() & HWY_TARGETS;
  const auto best = targets & -targets;
  if (best <= HWY_AVX3) return "avx512";
  if (best == HWY_AVX2) return "avx2";
  return HWY_ARCH_X86 ? "sse2" : hwy::TargetName(best);
}

std::string libraries() {
  return fmt::format("Highway {}.{}.{}, {}", HWY_MAJOR, HWY_MINOR, HWY_PATCH, thread_library());
}

}  // namespace rnnsearch::kernels
