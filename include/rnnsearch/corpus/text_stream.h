// The bytes of plain or compressed text that is read once.
#pragma once

#include <filesystem>
#include <memory>

#include "rnnsearch/base/file.h"

namespace rnnsearch::corpus {

/// Opens a file, a pipe or a device. Files that begin like gzip, Zstandard or xz data are unpacked. Throws Error for a
/// path that is missing, a folder, or not readable. Its functions throw Error for compressed data that is
/// damaged or truncated. `poll` is called while waiting for a pipe or device, and for each part of a file that is read.
std::unique_ptr<ByteStream> open_text(const std::filesystem::path& path, const Poll& poll = {});

}  // namespace rnnsearch::corpus
