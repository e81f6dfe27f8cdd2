// Text that is read once, plain or compressed, as a stream.
#pragma once

#include <filesystem>
#include <istream>
#include <memory>

namespace rnnsearch::corpus {

/// The bytes of a file, unpacked if it begins as gzip, Zstandard or xz do; of a pipe or a device as they come. Throws
/// Error for what is missing, a folder, or may not be read. Reading throws Error, out of the stream's functions, for
/// compressed data that is damaged or ends too early.
std::unique_ptr<std::istream> open_text(const std::filesystem::path& path);

}  // namespace rnnsearch::corpus
