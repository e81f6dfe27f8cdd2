// A corpus of a few hundred short pairs (the target is the source reversed), made by corpus::prepare.
#pragma once

#include "rnnsearch/base/portable.h"
#include "rnnsearch/corpus/prepare.h"
#include "tests/support/test.h"

namespace rnnsearch::support {

/// Writes FOLDER/corpus.h5 and returns its path. Words w0 to w9, lengths 1 to 9. The same seed gives the same corpus.
inline std::filesystem::path make_tiny_corpus(const std::filesystem::path& folder, std::size_t pairs = 300,
                                              std::uint64_t seed = 1) {
  Random random(seed);
  const auto write = [&](const std::string& name, std::size_t count) {
    std::ofstream source(folder / (name + ".src")), target(folder / (name + ".tgt"));
    for (std::size_t i = 0; i < count; ++i) {
      std::string forward, backward;
      for (std::uint64_t words = 1 + random.below(9); words > 0; --words) {
        const std::string word = fmt::format("w{}", random.below(10));
        forward = forward.empty() ? word : fmt::format("{} {}", forward, word);
        backward = backward.empty() ? word : fmt::format("{} {}", word, backward);
      }
      source << forward << '\n';
      target << backward << '\n';
    }
  };
  write("train", pairs);
  write("dev", 20);
  corpus::PrepareOptions options;
  options.train = {{folder / "train.src", folder / "train.tgt"}};
  options.dev = corpus::EvaluationFiles{"dev", folder / "dev.src", {folder / "dev.tgt"}};
  options.output = folder / "corpus.h5";
  options.pipeline.tokenizer = "none";
  corpus::prepare(options);
  return options.output;
}

}  // namespace rnnsearch::support
