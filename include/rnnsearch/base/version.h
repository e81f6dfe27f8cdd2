#pragma once

namespace rnnsearch {

/// As in CMakeLists.txt; files say by which version they were made.
inline constexpr const char* kVersion = "0.1.0";

}  // namespace rnnsearch
