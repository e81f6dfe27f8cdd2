// No output of a command is something that it reads, another output, or a file of a run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "rnnsearch/base/option.h"

namespace rnnsearch::cli {

struct GivenPath {
  std::string option;  // for errors: "--output", or "c.ini: output"
  Path as;
  std::filesystem::path path;
};

/// Throws UsageError
/// - for a path that is empty, and for - where the option takes no stream;
/// - for an output that is an input or another output, or would be under a name that the command derives from an
///   output: NAME.partial, .NAME.tmp-*, a file in an output folder. Files are told apart by device and inode, and those
///   that do not exist by their folder and name, through symbolic links;
/// - for an output among the files of a run (train::run_that_has), except for kOutputRun.
void check_paths(const std::vector<GivenPath>& paths);

}  // namespace rnnsearch::cli
