// main of every <module>_bench: Google Benchmark's own options (--help), and --threads N.
//
// "Library was built as DEBUG", which Debian's Google Benchmark says of itself, is not about what is measured.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/version.h"
#include "rnnsearch/kernels/instruction_set.h"
#include "rnnsearch/kernels/precision.h"

int main(int argc, char** argv) {
  namespace kernels = rnnsearch::kernels;
#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  std::fprintf(stderr,
               "%s: built without optimisation or with a sanitizer, so its times mean nothing: build it with "
               "-DCMAKE_BUILD_TYPE=Release\n",
               argv[0]);
  return 77;  // to ctest: skipped
#endif
  benchmark::Initialize(&argc, argv);  // takes its own options away
  for (int i = 1; i < argc; i += 2) {
    char* end = nullptr;
    const long threads = std::string(argv[i]) == "--threads" && i + 1 < argc ? std::strtol(argv[i + 1], &end, 10) : 0;
    if (threads < 1 || *end != '\0') {
      std::fprintf(stderr, "%s: '%s' is not understood: give --threads N, N at least 1, or what --help lists\n",
                   argv[0], argv[i]);
      return 1;
    }
    set_thread_count(static_cast<std::size_t>(threads));
  }
  benchmark::AddCustomContext("rnnsearch", rnnsearch::kVersion);
  benchmark::AddCustomContext("compiler", __VERSION__);
  benchmark::AddCustomContext("libraries", kernels::libraries());
  benchmark::AddCustomContext("instruction_set", std::string(kernels::instruction_set()));
  benchmark::AddCustomContext("bfloat16_unit", std::string(kernels::bfloat16_unit()));
  benchmark::AddCustomContext("threads", std::to_string(thread_count()));
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
