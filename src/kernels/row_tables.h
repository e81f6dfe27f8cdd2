// Tables of kernels for one row. A file with such kernels is compiled for each instruction set and has a table of them
// in each; the first use of a table chooses that of the best instruction set which the processor has and RNNSEARCH_SIMD
// allows.
#pragma once

#include <hwy/highway.h>

#include "kernels/instruction_limit.h"

namespace rnnsearch::kernels {

/// The chosen table. Thread-safe.
template <class Rows>
const Rows& row_table();

}  // namespace rnnsearch::kernels

/// In the namespace of an instruction set: a function that returns the address of a table.
#define RNNSEARCH_ROW_TABLE(name, ...) \
  auto name() {                        \
    return &__VA_ARGS__;               \
  }

/// Once in a file, under HWY_ONCE and in rnnsearch::kernels: row_table for tables of this type, which `name` returns.
#define RNNSEARCH_CHOOSE_ROW_TABLE(name, ...)                                                        \
  HWY_EXPORT(name);                                                                                  \
  template <>                                                                                        \
  const __VA_ARGS__& row_table() {                                                                   \
    static const __VA_ARGS__* const table = (limit_instruction_set(), HWY_DYNAMIC_DISPATCH(name)()); \
    return *table;                                                                                   \
  }
