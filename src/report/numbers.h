// Numbers as people read them, the same on every machine.
#pragma once

#include <cstdint>
#include <string>

namespace rnnsearch::report {

/// "-" for what is no finite number.
std::string fixed(double value, int decimals);
/// So many digits that count, without an exponent from 1e-5 to 1e7: 3.217, 0.001451, 12,480.
std::string significant(double value, int digits);
/// 1,234,567
std::string grouped(std::uint64_t value);
/// "45 s", "12 min 30 s", "3 h 20 min", "2 d 4 h"
std::string duration(double seconds);

/// With a minus sign instead of a hyphen.
std::string minus_sign(const std::string& number);

}  // namespace rnnsearch::report
