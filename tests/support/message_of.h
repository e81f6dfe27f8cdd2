// The message of the Error that a function throws.
#pragma once

#include <string>

#include "rnnsearch/base/error.h"

namespace rnnsearch {

template <class Act>
std::string message_of(Act act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace rnnsearch
