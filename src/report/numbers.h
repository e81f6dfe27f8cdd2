// Formats numbers for the cells and texts of a page, independently of the locale.
#pragma once

#include <string>

#include "rnnsearch/base/number_text.h"  // grouped

namespace rnnsearch::report {

/// A number with this many decimals; "-" if it is not finite.
std::string fixed(double value, int decimals);
/// A number with this many significant digits, without an exponent from 1e-5 to 1e7: 3.217, 0.001451, 12,480.
std::string significant(double value, int digits);
/// A duration such as "45 s", "12 min 30 s", "3 h 20 min" or "2 d 4 h".
std::string duration(double seconds);

/// Replaces a leading hyphen by a minus sign.
std::string minus_sign(const std::string& number);

}  // namespace rnnsearch::report
