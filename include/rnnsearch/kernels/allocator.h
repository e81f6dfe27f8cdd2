// An allocator for the elements of a std::vector that is made anew for every batch.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

#include "rnnsearch/kernels/buffer.h"

namespace rnnsearch::kernels {

/// Memory as that of a Buffer: on huge pages if it is large, because thousands of page faults would cost more than
/// computing the elements does. A vector with it leaves elements that `resize` adds uninitialised.
template <class T>
struct Allocator {
  using value_type = T;

  Allocator() = default;
  template <class Other>
  Allocator(const Allocator<Other>&) {}  // NOLINT(google-explicit-constructor): as the standard demands

  T* allocate(std::size_t count) { return static_cast<T*>(kernels::allocate(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t) { Release()(memory); }
  template <class Element, class... Arguments>
  void construct(Element* at, Arguments&&... arguments) {
    if constexpr (sizeof...(Arguments) == 0) {
      ::new (static_cast<void*>(at)) Element;
    } else {
      ::new (static_cast<void*>(at)) Element(std::forward<Arguments>(arguments)...);
    }
  }
  friend bool operator==(const Allocator&, const Allocator&) { return true; }
};

}  // namespace rnnsearch::kernels
