#pragma once

namespace rnnsearch {

/// The version, as in CMakeLists.txt. Files record the version that wrote them.
inline constexpr const char* kVersion = "0.1.0";

}  // namespace rnnsearch
