#include "rnnsearch/base/number_text.h"

#include <array>
#include <cmath>

#include "rnnsearch/base/error.h"

namespace rnnsearch {

std::string fixed(double value, int digits) {
  return fmt::format("{:.{}f}", value, digits);
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
  return fmt::format("{:.2f}%", whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string duration(double seconds) {
  const auto s = std::llround(seconds);
  if (s >= 3600) return fmt::format("{}h{:02}m", s / 3600, s % 3600 / 60);
  return s >= 60 ? fmt::format("{}m{:02}s", s / 60, s % 60) : fmt::format("{}s", s);
}

std::string utc(std::time_t time) {
  std::array<char, 32> text{};
  std::tm fields{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", ::gmtime_r(&time, &fields));
  return text.data();
}

}  // namespace rnnsearch
