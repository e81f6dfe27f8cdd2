// Figures as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace rnnsearch::cli {

/// With this many digits after the point.
std::string fixed(double value, int digits);
/// "1,234,567"
std::string grouped(std::uint64_t number);
/// "12.34%"; of nothing, 0%.
std::string percent(std::uint64_t part, std::uint64_t whole);
/// "1h05m", "12m30s", "45s"
std::string duration(double seconds);

}  // namespace rnnsearch::cli
