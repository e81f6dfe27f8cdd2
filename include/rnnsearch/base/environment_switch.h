// Switches among the environment variables.
#pragma once

namespace rnnsearch {

/// Whether the variable is 1, true, yes or on; false for 0, false, no and off, and if it is not set or empty. Throws
/// UsageError for any other value.
bool environment_switch(const char* name);

}  // namespace rnnsearch
