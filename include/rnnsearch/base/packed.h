// Serialises values into a string, for messages between processes of the same program: a number as it is, a text or a
// list behind its length, and a struct as its `fields`, a function that returns a tuple of references to them.
#pragma once

#include <cassert>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace rnnsearch {

class Packer {
 public:
  template <class T>
  void add(const T& value) {
    if constexpr (requires { T::fields(value); }) {
      std::apply([&](const auto&... field) { (add(field), ...); }, T::fields(value));
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      const std::string_view text = value;
      add(std::uint64_t{text.size()});
      bytes_.append(text);
    } else if constexpr (std::is_trivially_copyable_v<T>) {
      bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else {
      add(std::uint64_t{value.size()});
      for (const auto& one : value) add(one);
    }
  }
  std::string take() { return std::exchange(bytes_, {}); }

 private:
  std::string bytes_;
};

/// Reads the values in the order in which they were added, into objects without content.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }

  template <class T>
  void read(T& value) {
    if constexpr (requires { T::fields(value); }) {
      std::apply([&](auto&... field) { (read(field), ...); }, T::fields(value));
    } else if constexpr (std::is_convertible_v<T, std::string_view>) {  // of a std::string_view no copy is made
      value = take(next<std::uint64_t>());
    } else if constexpr (std::is_trivially_copyable_v<T>) {
      std::memcpy(&value, take(sizeof value).data(), sizeof value);
    } else {
      value.resize(next<std::uint64_t>());
      for (auto& one : value) read(one);
    }
  }
  template <class T>
  T next() {
    T value{};
    read(value);
    return value;
  }

 private:
  std::string_view take(std::size_t size) {
    assert(size <= bytes_.size());
    const std::string_view part = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return part;
  }
  std::string_view bytes_;
};

template <class T>
std::string packed(const T& value) {
  Packer packer;
  packer.add(value);
  return packer.take();
}
template <class T>
T unpacked(std::string_view bytes) {
  return Unpacker(bytes).next<T>();
}

}  // namespace rnnsearch
