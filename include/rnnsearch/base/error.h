// What the user or the machine caused is thrown as Error; what only we can cause is an assert.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace rnnsearch {

/// One sentence: what, where, found, expected, next step. `main` prints it and exits with code 1.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The parts written one after the other, as an ostream would.
template <class... Parts>
std::string text_of(const Parts&... parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return stream.str();
}

}  // namespace rnnsearch
