// The implementation of Subwords for codes of subword-nmt.
#pragma once

#include <memory>
#include <string>

#include "text/subword_model.h"

namespace rnnsearch::text {

/// Throws Error as Subwords::byte_pair_codes does.
std::shared_ptr<const Subwords::Model> make_byte_pair_codes(std::string bytes);

}  // namespace rnnsearch::text
