// Dropout for one row, compiled for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rnnsearch::kernels {

/// step and sentence are words 1 to 3 of the philox counter; word 0 counts blocks of four units.
struct DropoutRow {
  std::uint32_t step = 0, sentence[2] = {}, key[2] = {};
  std::uint32_t threshold = 0;  // a unit is dropped if its random word is below
};

template <class T>
struct DropoutRows {
  void (*drop)(const DropoutRow& row, T scale, std::size_t n, T* x);
};

}  // namespace rnnsearch::kernels
