// The interface of the implementations of Subwords.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rnnsearch/text/subwords.h"

namespace rnnsearch::text {

/// The members have the contracts of Subwords.
class Subwords::Model {
 public:
  explicit Model(std::string bytes) : bytes_(std::move(bytes)) {}
  virtual ~Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const std::string& bytes() const { return bytes_; }
  virtual Kind kind() const = 0;
  virtual std::string description() const = 0;
  virtual std::vector<std::string> pieces() const { return {}; }
  virtual void split(std::string_view text, WordList& pieces) const = 0;
  virtual std::string join(const std::vector<std::string>& pieces, std::string_view unknown) const = 0;

 private:
  std::string bytes_;
};

}  // namespace rnnsearch::text
