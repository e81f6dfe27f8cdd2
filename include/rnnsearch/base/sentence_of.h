// What a user is told of an exception.
#pragma once

#include <exception>
#include <string>

namespace rnnsearch {

/// Of one of ours its text; of one of the standard library and of oneTBB, whose texts quote the system alone, what
/// could not be done to what.
std::string sentence_of(const std::exception& exception);

}  // namespace rnnsearch
