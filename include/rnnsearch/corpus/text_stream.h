// Text that is read once, plain or compressed, as a stream.
#pragma once

#include <cstddef>
#include <filesystem>
#include <istream>
#include <memory>

#include "rnnsearch/base/waiting_input.h"

namespace rnnsearch::corpus {

/// The bytes of a file, unpacked if it begins as gzip, Zstandard or xz do; of a pipe or a device as they come. Throws
/// Error for what is missing, a folder, or may not be read. Reading throws Error, out of the stream's functions, for
/// compressed data that is damaged or ends too early. `poll`: also for each part of a file that is read.
std::unique_ptr<std::istream> open_text(const std::filesystem::path& path, const Poll& poll = {});

/// A line beyond it is no sentence: it must fit into memory several times.
inline constexpr std::size_t kLineBytes = 16u << 20;

}  // namespace rnnsearch::corpus
