#pragma once

#include <string>

namespace rnnsearch {

/// The name of this host, as gethostname(2) tells it. May be called from any thread.
std::string host_name();
/// Identifies the running kernel, and so the machine: hosts may share a name, and containers of one machine may have
/// several. Empty if the system does not tell it.
std::string boot_id();

}  // namespace rnnsearch
