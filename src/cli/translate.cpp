#include "cli/translate.h"

#include <cstdio>
#include <fstream>
#include <iostream>

#include "cli/precision.h"
#include "cli/progress.h"
#include "cli/text_lines.h"
#include "cli/translation.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/kernels/parallel.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;

// The output file, written beside its name and published when whole; or standard output.
class Output {
 public:
  explicit Output(fs::path path) : path_(std::move(path)) {
    if (path_.empty()) return;
    if (fs::is_directory(path_)) throw Error(text_of("--output ", path_.string(), " is a folder; name a file"));
    temporary_ = temporary_beside(path_);
    file_.open(temporary_, std::ios::binary);
    if (!file_)
      throw Error(text_of("cannot write beside ", path_.string(), ": does its folder exist, may you write there?"));
  }
  ~Output() {
    std::error_code ignored;
    if (!temporary_.empty()) fs::remove(temporary_, ignored);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(const std::string& text) { (path_.empty() ? std::cout : file_) << text; }
  void publish() {
    if (path_.empty()) return;
    file_.close();
    if (!file_) throw Error(text_of("cannot write ", path_.string(), ": is the disk full?"));
    publish_file(temporary_, path_);
    temporary_.clear();
  }

 private:
  fs::path path_, temporary_;
  std::ofstream file_;
};

}  // namespace

int run_translate(const Arguments& arguments) {
  fs::path model, input, output;
  TranslationOptions translation;
  std::size_t threads = 0;
  std::string precision;
  Options options(
      "translate",
      "Translates text, one sentence a line, with a trained model. On several ranks (mpirun) the lines are spread "
      "over them; the output is in the input's order. Lines without words give empty lines.");
  options.group("Files");
  options.add("model", model,
              {.help = "a run directory (its best checkpoint, else its latest) or a checkpoint",
               .value = "RUN|FILE",
               .required = true});
  options.add("input", input, {.help = "text to translate; without it standard input", .value = "FILE"});
  options.add("output", output,
              {.help = "where the translations go, whole or not at all; without it standard output", .value = "FILE"});
  options.add(
      "n-best", translation.search.n_best,
      {.help = "translations of each line, as 'line ||| text ||| score' with lines counted from 0; the score is the "
               "natural logarithm of the probability",
       .low = 1,
       .high = 1000});
  add_translation_options(options, translation);
  options.group("Machine");
  add_threads(options, threads);
  add_precision(options, precision);
  if (!options.parse(arguments)) return 0;
  if (translation.search.n_best > translation.search.beam) {
    throw Error(text_of("--n-best is ", translation.search.n_best, " but --beam is ", translation.search.beam,
                        ": a beam holds no more translations than its width"));
  }
  kernels::set_threads(threads);

  const comm::Communicator world;
  set_precision(precision, world);
  auto loaded = train::load_model(checkpoint_of(model));
  std::ifstream file;
  if (!input.empty() && world.is_root()) {
    file.open(input, std::ios::binary);
    if (!file || fs::is_directory(input))
      throw Error(text_of("cannot read ", input.string(), ": no such file of text"));
  }
  LineSource source(input.empty() ? std::cin : file, input.empty() ? "standard input" : input.string());
  std::optional<Output> sink;
  if (world.is_root()) sink.emplace(output);

  // In portions, so that memory does not grow with the text; large ones, so that each batch holds equal lengths.
  const std::size_t portion = 64 * translation.search.batch_sentences * static_cast<std::size_t>(world.size());
  std::size_t before = 0;
  Progress progress(!world.is_root());
  for (bool more = true; more;) {
    std::vector<std::string> lines;
    if (world.is_root()) lines = source.next(portion);
    std::uint64_t count = lines.size();
    world.broadcast(std::span(&count, 1));
    more = count == portion;
    if (count == 0) break;
    const auto translations =
        translate_lines(loaded, std::move(lines), translation, world, [&](std::size_t done, std::size_t) {
          progress.show(text_of("[translate] ", before + done * static_cast<std::size_t>(world.size()), " lines"));
        });
    for (std::size_t i = 0; i < translations.size(); ++i) {
      if (!options.given("n-best")) {
        sink->write(translations[i].front().text + "\n");
        continue;
      }
      for (const LineTranslation& line : translations[i]) {
        char score[32];
        std::snprintf(score, sizeof score, "%.6f", line.score);
        sink->write(text_of(before + i, " ||| ", line.text, " ||| ", score, "\n"));
      }
    }
    before += count;
  }
  if (sink) sink->publish();
  return 0;
}

}  // namespace rnnsearch::cli
