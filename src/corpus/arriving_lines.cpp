#include "rnnsearch/corpus/arriving_lines.h"

#include <poll.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/corpus/text_stream.h"
#include "rnnsearch/text/unicode.h"

namespace rnnsearch::corpus {
namespace {

std::string problem_of(const std::string& line) {
  if (const auto byte = text::first_invalid_utf8(line)) return text_of("byte ", *byte + 1, ": not valid UTF-8");
  if (const auto byte = line.find('\0'); byte != std::string::npos) return text_of("byte ", byte + 1, ": a NUL byte");
  return "";
}

}  // namespace

bool ArrivingLines::Arrivals::ready() const {
  pollfd wanted{descriptor_, POLLIN, 0};
  return ::poll(&wanted, 1, 0) > 0;
}

std::string_view ArrivingLines::Arrivals::take() {
  if (sgetc() == traits_type::eof()) return {};
  const std::string_view arrived(gptr(), static_cast<std::size_t>(egptr() - gptr()));
  setg(eback(), egptr(), egptr());
  return arrived;
}

ArrivingLines::ArrivingLines(int descriptor, std::string name, Poll poll)
    : arrivals_(descriptor, std::move(name), std::move(poll)) {}

// Appends a line if its end has arrived; otherwise keeps what there is of it.
bool ArrivingLines::take_line(std::vector<ArrivedLine>& lines) {
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  if (line_.size() + end > kLineBytes) {
    too_long_ = true;
    line_ = {};
  }
  if (!too_long_) line_.append(rest_.substr(0, end));
  const bool complete = end < rest_.size();
  rest_.remove_prefix(complete ? end + 1 : end);
  if (complete) end_line(lines);
  return complete;
}

void ArrivingLines::end_line(std::vector<ArrivedLine>& lines) {
  ArrivedLine line{std::exchange(line_, {}), {}};
  line.problem = too_long_ ? text_of("longer than ", kLineBytes >> 20, " MiB") : problem_of(line.text);
  too_long_ = false;
  lines.push_back(std::move(line));
}

std::vector<ArrivedLine> ArrivingLines::next(std::size_t count) {
  assert(count > 0);
  std::vector<ArrivedLine> lines;
  while (lines.size() < count) {
    if (take_line(lines)) continue;
    if (ended_ || (!lines.empty() && !arrivals_.ready())) break;
    rest_ = arrivals_.take();
    ended_ = rest_.empty();
  }
  if (ended_ && lines.size() < count && (!line_.empty() || too_long_)) end_line(lines);
  return lines;
}

}  // namespace rnnsearch::corpus
