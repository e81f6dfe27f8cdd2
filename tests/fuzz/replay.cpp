// Runs a fuzzer's function over files, for builds without libFuzzer: the empty input, then each argument, or each file
// of an argument that is a folder. What the function finds ends the program.
#include <algorithm>
#include <iostream>
#include <vector>

#include "rnnsearch/base/file.h"
#include "tests/fuzz/fuzz.h"

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  for (int i = 1; i < argc; ++i) {
    if (fs::is_directory(argv[i])) {
      for (const auto& entry : fs::directory_iterator(argv[i])) files.push_back(entry.path());
    } else {
      files.emplace_back(argv[i]);
    }
  }
  std::sort(files.begin(), files.end());
  LLVMFuzzerTestOneInput(nullptr, 0);
  for (const fs::path& file : files) {
    std::cerr << file.string() << "\n";  // the last one named is the one that failed
    const std::string bytes = rnnsearch::read_file(file);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  std::cout << files.size() << " inputs and the empty one\n";
  return files.empty() ? 1 : 0;
}
