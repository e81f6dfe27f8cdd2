#include "rnnsearch/base/number_text.h"

#include <array>
#include <cmath>
#include <sstream>
#include <utility>

#include "rnnsearch/base/error.h"

namespace rnnsearch {

std::string fixed(double value, int digits) {
  std::ostringstream stream;
  stream.precision(digits);
  stream << std::fixed << value;
  return std::move(stream).str();
}

std::string grouped(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string counted(std::uint64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  return fixed(whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole), 2) + "%";
}

std::string duration(double seconds) {
  const auto s = static_cast<long long>(std::llround(seconds));
  const auto two = [](long long n) { return fmt::format("{}{}", n < 10 ? "0" : "", n); };
  if (s >= 3600) return fmt::format("{}h{}m", s / 3600, two(s % 3600 / 60));
  return s >= 60 ? fmt::format("{}m{}s", s / 60, two(s % 60)) : fmt::format("{}s", s);
}

std::string utc(std::time_t time) {
  std::array<char, 32> text{};
  std::tm fields{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", ::gmtime_r(&time, &fields));
  return text.data();
}

}  // namespace rnnsearch
