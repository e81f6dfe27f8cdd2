// How a rank whose error is not that of all ranks ends them.
#pragma once

#include <string>

namespace rnnsearch::comm {

/// Ends all ranks with this exit code, after `line` was logged once: by the root, which ends them at the first such
/// line of any rank. If the root does not respond, this rank logs the line itself. May be called while other ranks are
/// in a collective.
[[noreturn]] void end_all_ranks(int exit_code, const std::string& line);

}  // namespace rnnsearch::comm
