// A configuration file of `train`: what is accepted is written as RUN/config.ini, and that reads back as the same.
#include "cli/training_options.h"
#include "tests/fuzz/fuzz.h"

namespace rnnsearch::fuzz {
namespace {

struct Settings {
  cli::TrainingSettings training;
  std::filesystem::path corpus, run;
  std::vector<std::string> list;
  std::vector<std::uint64_t> numbers{10, 20};
  cli::Options options{"train", "Trains."};

  Settings() {
    options.group("Files");
    options.add("corpus", corpus, {.help = "a corpus"});
    options.add("run", run, {.help = "a folder"});
    options.add("list", list, {.help = "several"});
    options.add("numbers", numbers, {.help = "several"});
    cli::add_training_options(options, training);
    options.offer_presets();
  }
  void read(const std::filesystem::path& path) { options.parse({"--config", path.string()}); }
};

}  // namespace
}  // namespace rnnsearch::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rnnsearch::fuzz;
  Input input(data, size);
  Settings first;
  std::string ini;
  if (!accepted([&] { first.read(written("config.ini", input.rest())); })) return 0;
  // What a file cannot carry, ini() refuses; a file that was read may hold it nevertheless (white space at the ends).
  if (!accepted([&] { ini = first.options.ini(); })) return 0;
  Settings second;
  second.read(written("again.ini", ini));
  require(second.options.values() == first.options.values(), "ini() reads back as something else");
  require(second.options.ini() == ini, "ini() is not what it reads back as");
  return 0;
}
