#include "rnnsearch/base/environment_switch.h"

#include <cstdlib>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/option.h"

namespace rnnsearch {

bool environment_switch(const char* name) {
  const char* const text = std::getenv(name);
  bool is_on = false;
  if (text && *text != '\0' && !value::read(text, is_on)) {
    throw UsageError(text_of("the environment variable ", name, " is '", text,
                             "' but must be 1, true, yes or on, or 0, false, no or off; correct or unset it"));
  }
  return is_on;
}

}  // namespace rnnsearch
