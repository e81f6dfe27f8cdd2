// The processor's mode in which floats below the smallest normal number count as 0, as operands and as results.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace rnnsearch::kernels {

/// The mode, for this thread, as long as this object lives.
class ZeroForDenormals {
 public:
  ZeroForDenormals() : before_(control()) { set(before_ | kMode); }
  ~ZeroForDenormals() { set(before_); }
  ZeroForDenormals(const ZeroForDenormals&) = delete;
  ZeroForDenormals& operator=(const ZeroForDenormals&) = delete;

 private:
#if defined(__x86_64__)
  using Word = unsigned;
  static constexpr Word kMode = 0x8040;  // FTZ and DAZ
  static Word control() {
    return _mm_getcsr();
  }
  static void set(Word word) {
    _mm_setcsr(word);
  }
#elif defined(__aarch64__)
  using Word = std::uint64_t;
  static constexpr Word kMode = Word{1} << 24;  // FZ
  static Word control() {
    Word word = 0;
    __asm__ volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }
  static void set(Word word) {
    __asm__ volatile("msr fpcr, %0" : : "r"(word) : "memory");
  }
#else
  using Word = unsigned;
  static constexpr Word kMode = 0;
  static Word control() {
    return 0;
  }
  static void set(Word) {}
#endif

  const Word before_;
};

}  // namespace rnnsearch::kernels
