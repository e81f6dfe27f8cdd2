// Serialises numbers and texts into a string, for messages between processes of the same program.
#pragma once

#include <cassert>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace rnnsearch {

class Packer {
 public:
  template <class T>
  void add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <class T>
  void add_list(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    add(std::uint64_t{values.size()});
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }
  void add_text(std::string_view text) {
    add(std::uint64_t{text.size()});
    bytes_.append(text);
  }
  std::string take() { return std::exchange(bytes_, {}); }

 private:
  std::string bytes_;
};

/// Reads the values in the order in which they were added.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }

  template <class T>
  T next() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  template <class T>
  std::vector<T> next_list() {
    std::vector<T> values(next<std::uint64_t>());
    if (!values.empty()) std::memcpy(values.data(), take(values.size() * sizeof(T)).data(), values.size() * sizeof(T));
    return values;
  }
  std::string_view next_text() { return take(next<std::uint64_t>()); }

 private:
  std::string_view take(std::size_t size) {
    assert(size <= bytes_.size());
    const std::string_view part = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return part;
  }
  std::string_view bytes_;
};

}  // namespace rnnsearch
