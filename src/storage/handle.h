// Owning handles for HDF5 ids, and the reason of a failed HDF5 call.
#pragma once

#include <hdf5.h>

#include <string>
#include <utility>

namespace rnnsearch::storage {

class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle(hid_t id, Close close_with) : id_(id), close_(close_with) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  hid_t get() const { return id_; }
  bool ok() const { return id_ >= 0; }
  hid_t release() { return std::exchange(id_, -1); }
  /// Returns false for errors, including those of the last flush of an object.
  bool close() { return close_(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_;
  Close close_;
};

/// Summarises and empties the error stack of HDF5: the system's reason if there is one, otherwise the outermost and
/// innermost messages. Call it at once, because any HDF5 call, also one that closes a handle, empties the stack.
std::string reason();

}  // namespace rnnsearch::storage
