// Bytes of a test, in parts of a given size.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "rnnsearch/base/file.h"

namespace rnnsearch {

class GivenBytes : public ByteStream {
 public:
  explicit GivenBytes(std::string bytes, std::size_t part) : bytes_(std::move(bytes)), part_(part) {}
  std::string_view take() override {
    const std::string_view taken = std::string_view(bytes_).substr(at_, part_);
    at_ += taken.size();
    return taken;
  }

 private:
  std::string bytes_;
  std::size_t part_, at_ = 0;
};

inline std::unique_ptr<ByteStream> given_bytes(std::string bytes, std::size_t part = std::string::npos) {
  return std::make_unique<GivenBytes>(std::move(bytes), part);
}

}  // namespace rnnsearch
