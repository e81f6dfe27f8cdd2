// Figures as people read them.
#pragma once

#include <string>

namespace rnnsearch::cli {

/// With this many digits after the point.
std::string fixed(double value, int digits);
/// "1h05m", "12m30s", "45s"
std::string duration(double seconds);

}  // namespace rnnsearch::cli
