#pragma once

#include <string>

namespace rnnsearch {

/// The name of this host, as gethostname(2) tells it. May be called from any thread.
std::string host_name();

}  // namespace rnnsearch
