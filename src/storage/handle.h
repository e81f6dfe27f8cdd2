// What every caller of HDF5 needs: an id that is closed with its owner, and why a call failed.
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
  /// Errors of the last flush of an object appear here.
  bool close() { return close_(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_;
  Close close_;
};

/// HDF5's error stack, which it empties, in a few words: the system's reason when there is one, else the outermost and
/// innermost complaints. Any call of HDF5, to close a handle too, empties it before.
std::string reason();

}  // namespace rnnsearch::storage
