#include "report/numbers.h"

#include <algorithm>
#include <cmath>

#include "rnnsearch/base/error.h"

namespace rnnsearch::report {
namespace {

// Inserts commas between the thousands before the decimal point.
std::string with_commas(const std::string& text) {
  const std::size_t end = std::min(text.find('.'), text.size());
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i > 0 && i < end && (end - i) % 3 == 0 && text[i - 1] != '-') result += ',';
    result += text[i];
  }
  return result;
}

}  // namespace

std::string fixed(double value, int decimals) {
  if (!std::isfinite(value)) return "-";
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  // Avoids "-0.00".
  return with_commas(text[0] == '-' && text.find_first_not_of("-0.") == text.npos ? text.substr(1) : text);
}

std::string significant(double value, int digits) {
  if (!std::isfinite(value)) return "-";
  if (value == 0) return "0";
  const double size = std::abs(value);
  const std::string rounded = fmt::format("{:.{}e}", value, digits - 1);  // 9.996 with three digits is 10.0
  if (size < 1e-5 || size >= 1e7) return rounded;
  const int exponent = std::stoi(rounded.substr(rounded.find('e') + 1));
  return fixed(value, std::max(0, digits - 1 - exponent));
}

std::string duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "-";
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  const std::uint64_t minutes = whole / 60, hours = minutes / 60, days = hours / 24;
  if (hours == 0) return fmt::format("{} min {} s", minutes, whole % 60);
  if (days == 0) return fmt::format("{} h {} min", hours, minutes % 60);
  return fmt::format("{} d {} h", days, hours % 24);
}

std::string minus_sign(const std::string& number) {
  return number.size() > 1 && number.front() == '-' ? fmt::format("\u2212{}", number.substr(1)) : number;
}

}  // namespace rnnsearch::report
