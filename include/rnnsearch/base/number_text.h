// Formats numbers as people read them, independently of the locale of the process.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

namespace rnnsearch {

/// The number with this many digits after the decimal point, such as "3.14".
std::string fixed(double value, int digits);
/// "1,234,567"
std::string grouped(std::uint64_t number);
/// "1 rank", "2 ranks": a count with its noun, to which a plural adds an s.
std::string counted(std::uint64_t count, const char* noun);
/// "12.34%". A share of nothing is 0%.
std::string percent(std::uint64_t part, std::uint64_t whole);
/// "1h05m", "12m30s", "45s"
std::string duration(double seconds);
/// "2026-11-23T17:11:08Z": ISO 8601 in UTC, in whole seconds, since jq's `fromdate` reads no fractions.
std::string utc(std::time_t time);

}  // namespace rnnsearch
