// The entry of a fuzzer: libFuzzer's function, or for builds without libFuzzer a main that runs the empty input, then
// each argument, or each file of an argument that is a folder. With --random COUNT before them, then so many inputs of
// a few random bytes, the same in every run.
#include <algorithm>
#include <iostream>
#include <random>
#include <vector>

#include "rnnsearch/base/file.h"
#include "tests/fuzz/fuzz.h"

#ifdef RNNSEARCH_FUZZ
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rnnsearch::fuzz::run(rnnsearch::fuzz::Input({reinterpret_cast<const char*>(data), size}));
  return 0;
}
#else
int main(int argc, char** argv) {
  using namespace rnnsearch::fuzz;
  namespace fs = std::filesystem;
  const bool is_random = argc > 2 && std::string_view(argv[1]) == "--random";
  std::vector<fs::path> files;
  for (int i = is_random ? 3 : 1; i < argc; ++i) {
    if (fs::is_directory(argv[i])) {
      for (const auto& entry : fs::directory_iterator(argv[i])) files.push_back(entry.path());
    } else {
      files.emplace_back(argv[i]);
    }
  }
  std::sort(files.begin(), files.end());
  run(Input(""));
  for (const fs::path& file : files) {
    std::cerr << file.string() << "\n";  // the last one named is the one that failed
    const std::string bytes = rnnsearch::read_file(file);
    run(Input(bytes));
  }
  std::mt19937 random(1);
  for (int i = 0; i < (is_random ? std::atoi(argv[2]) : 0); ++i) {
    std::string bytes(4 + random() % 40, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    const fs::path input = written("random", bytes);  // remains when the function ends the program
    std::cerr << "random input " << i << ": " << input.string() << "\n";
    run(Input(bytes));
  }
  std::cout << files.size() << " files and the empty input\n";
  return files.empty() ? 1 : 0;
}
#endif
