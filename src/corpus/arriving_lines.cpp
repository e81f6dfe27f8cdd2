#include "rnnsearch/corpus/arriving_lines.h"

#include <poll.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "rnnsearch/base/error.h"
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

ArrivingLines::ArrivingLines(int descriptor, std::string name, const LineLimit& limit, Poll poll)
    : arrivals_(descriptor, std::move(name), std::move(poll)), limit_(limit) {}

// Appends a line if its end has arrived; otherwise keeps what there is of it.
bool ArrivingLines::take_line(std::vector<ArrivedLine>& lines) {
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  if (too_long_.empty() && line_.size() + end > limit_.max_line_bytes) {
    line_.append(rest_.substr(0, std::min<std::size_t>(end, 64)));  // as much as the problem quotes
    too_long_ = limit_.problem(line_);
    line_ = {};
  }
  if (too_long_.empty()) line_.append(rest_.substr(0, end));
  const bool complete = end < rest_.size();
  rest_.remove_prefix(complete ? end + 1 : end);
  if (complete) end_line(lines);
  return complete;
}

void ArrivingLines::end_line(std::vector<ArrivedLine>& lines) {
  ArrivedLine line{std::exchange(line_, {}), {}};
  line.problem = too_long_.empty() ? problem_of(line.text) : std::exchange(too_long_, {});
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
  if (ended_ && lines.size() < count && (!line_.empty() || !too_long_.empty())) end_line(lines);
  return lines;
}

}  // namespace rnnsearch::corpus
