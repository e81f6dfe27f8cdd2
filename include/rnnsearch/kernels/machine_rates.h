// Measures the processor's rates for the work that takes most of the time of an update, as bounds for measured times.
#pragma once

#include <cstddef>

namespace rnnsearch::kernels {

/// Floating-point operations a second of the unit that multiplies matrices at the precision that is set (precision.h),
/// a multiplication and an addition counting as two, on all threads together.
struct ProductRates {
  double registers = 0;  // of the multiplications alone, with operands that stay in registers
  /// Of the tiles that products consist of, when all their operands come from this cache. `level1` is the bound of a
  /// product: its operands are loaded at least once.
  double level1 = 0, level2 = 0;
  double level3 = 0;  // 0 if the system does not tell the size of this cache
};

/// Measures these rates on this number of threads at the same time, in about 0.3 s; the fastest of several attempts
/// counts. REQUIRES: 1 <= threads <= thread_count().
ProductRates measure_products(std::size_t threads);

/// Bytes a second between memory and this number of threads at the same time: two arrays are read and a third one is
/// written, of 128 MiB each (the triad of McCalpin's STREAM benchmark, 1995; what the processor reads before it writes
/// is not counted). Takes about 0.5 s and 384 MiB, or 24 MiB a thread if that is more. REQUIRES: 1 <= threads <=
/// thread_count().
double measure_memory(std::size_t threads);

}  // namespace rnnsearch::kernels
