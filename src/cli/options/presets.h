// The files of pipelines/presets, embedded when the build is configured: the program needs no folder beside it.
#pragma once

#include <span>

namespace rnnsearch::cli {

struct Preset {
  const char* name;
  const char* ini;
};
std::span<const Preset> presets();

}  // namespace rnnsearch::cli
