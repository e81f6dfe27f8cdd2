#pragma once

#include <string>

namespace rnnsearch {

/// The version, which CMakeLists.txt takes from git or from the name of the source folder. Files record the version
/// that wrote them.
extern const char* const kVersion;
/// The value of created_by in files.
inline const std::string kCreatedBy = std::string("rnnsearch ") + kVersion;

/// The compiler: "GCC 12.2.0", "Debian Clang 14.0.6".
#ifdef __clang__
inline constexpr const char* kCompiler = __VERSION__;
#else
inline constexpr const char* kCompiler = "GCC " __VERSION__;
#endif

/// Whether assert() checks, which makes the program slower (RNNSEARCH_ASSERTIONS of CMakeLists.txt).
#ifdef NDEBUG
inline constexpr bool kAssertions = false;
#else
inline constexpr bool kAssertions = true;
#endif

}  // namespace rnnsearch
