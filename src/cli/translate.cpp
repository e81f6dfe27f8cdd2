#include "rnnsearch/cli/command.h"

#include <algorithm>
#include <iostream>
#include <optional>

#include "cli/options/common.h"
#include "cli/options/translation_options.h"
#include "cli/progress.h"
#include "cli/resumable_output.h"
#include "cli/translation_lines.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/comm/meet.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;

/// Empty when every first search finished something.
std::string sentence_of_retries(std::size_t retried, std::size_t cut_off, std::size_t retry_below) {
  std::string sentence;
  if (retried > 0) {
    sentence =
        fmt::format("no hypothesis of {} ended in the first search, but in a later one", counted(retried, "line"));
  }
  if (cut_off > 0) {
    sentence += fmt::format("{}{}{} cut off at the maximum length, because no hypothesis ended{}",
                            sentence.empty() ? "" : "; ", counted(cut_off, "line"), cut_off == 1 ? " was" : " were",
                            retry_below == 0 ? " and --retry-below is 0" : "");
  }
  return sentence;
}

void check_stream(const Options& options, bool stream, InputFormat input_format, NBestFormat n_best_format) {
  if (input_format == InputFormat::kJson && !stream) throw UsageError("--input-format json is for --stream; give both");
  if (input_format == InputFormat::kJson && options.given("n-best-format") && n_best_format != NBestFormat::kJson) {
    throw UsageError("--input-format json answers in JSON; leave --n-best-format out, or let it be json");
  }
  options.refuse(stream, {"prefix"},
                 "--stream takes no --{0}; give each line its own: --input-format json, "
                 "{{\"source\": ..., \"prefix\": ...}}");
  options.refuse(stream, {"require"},
                 "--stream takes no --{0}; give each line its own: --input-format json, "
                 "{{\"source\": ..., \"require\": [...]}}");
  options.refuse(stream, {"input", "output"},
                 "--stream translates from standard input to standard output; leave --{0} out");
}

struct Settings : TranslateOptions {
  ModelChoice models;
  fs::path input, output;
  NBestFormat n_best_format = NBestFormat::kPlain;
  bool stream = false;
  InputFormat input_format = InputFormat::kPlain;
  ThreadOptions threads;
  std::string precision;
  // completed by check()
  text::CopyPatterns copies;
  bool n_best = false;  // each line of the output names its line of the input
};

void declare(Options& options, Settings& s) {
  options.group("Files");
  add_models(options, s.models);
  options.add("input", s.input, kBasic, kInputText, "text to translate [standard input]");
  options.add("output", s.output, kBasic, kOutputText,
              "file for the translations, which appears when all lines are translated; an interrupted command that is "
              "repeated continues [standard output]");
  options.add("stream", s.stream,
              "translate lines of standard input as they arrive, for a service or a prompt: each round takes the lines "
              "that have arrived, at most --batch-sentences per rank, and writes their translations immediately");
  options.add("input-format", s.input_format,
              "format of the lines of --stream. plain: a sentence. json: an object, {\"id\": 7, \"source\": \"a "
              "sentence\"}, answered by {\"id\": 7, \"translation\": ...}");
  declare(options, s.line_limit);
  options.add("n-best", s.translation.search.n_best, within(1, 1000),
              "number of translations of each line, printed as --n-best-format says; lines count from 0");
  options.add("n-best-format", s.n_best_format,
              "format of the n-best list; without --n-best the list has one translation of each line. plain: 'line ||| "
              "text ||| score', where the score is the natural logarithm of the probability, changed by --normalize, "
              "penalties and bonus. moses: 'line ||| text ||| features ||| score ||| alignment ||| word scores'. json: "
              "one JSON object per translation");
  add_translate_options(options, s);
  options.group("Machine");
  add_threads(options, s.threads);
  add_precision(options, s.precision, ModelUse::kTrained);
}

void check(const Options& options, Settings& s) {
  for (fs::path* const path : {&s.input, &s.output}) {
    if (*path == "-") path->clear();
  }
  check_models(options, s.models);
  check_translate_options(options, s);
  s.copies = copy_patterns_from(s.copy_patterns);
  check_stream(options, s.stream, s.input_format, s.n_best_format);
  s.n_best = options.given("n-best") || options.given("n-best-format");
  s.translation.details = s.n_best_format != NBestFormat::kPlain || (s.n_best && s.input_format == InputFormat::kJson);
  if (!s.sample && s.translation.search.n_best > s.translation.search.beam) {
    throw UsageError("--n-best is {} but --beam is {}: a beam holds no more translations than its width",
                     s.translation.search.n_best, s.translation.search.beam);
  }
}

int work(const Options& options, Settings& s, const comm::Communicator& communicator) {
  settle_threads(s.threads, communicator);
  set_precision(s.precision, communicator);
  OpenModels opened(s.models, communicator);
  if (s.copies) opened.copy(s.copies);
  const decode::Translator translator = opened.translator();
  read_search_files(s, translator, s.threads.stall_timeout, communicator);
  std::optional<TranslationInput> source;
  std::optional<ResumableOutput> sink;
  Progress progress(!communicator.is_root());
  const std::vector<fs::path> files{s.input.empty() ? "-" : s.input, s.files.prefixes, s.files.required};
  root_reads(files, s.threads.stall_timeout, communicator, [&] {
    Config dependencies = dependencies_of(options, {"input", "output", "model", "batch-sentences"});
    dependencies["--model"] = opened.digests();
    sink.emplace(std::vector<OutputPath>{{"--output", s.output}}, std::move(dependencies), std::cout);
    if (s.stream) {
      source.emplace(s.input_format, refusals_of(translator, s.translation.search), s.line_limit);
    } else {
      source.emplace(s.input, s.files, s.line_limit);
    }
    sink->skip(source->name(), [&]() -> std::optional<std::string> {
      const Portion line = source->next(1);
      return line.lines.empty() ? std::nullopt : std::optional(line.lines.front());
    });
    if (sink->lines() > 0) progress.say(fmt::format("[translate] continues after line {}", sink->lines()));
  });

  // In portions, so that memory does not grow with the text; large ones, so that each batch holds equal lengths, unless
  // somebody waits for each translation. The first ones are small, because a command that is killed loses its portion.
  const std::size_t least = s.translation.search.batch_sentences * static_cast<std::size_t>(communicator.size());
  std::size_t portion = least;
  std::size_t before = sink ? sink->lines() : 0;
  bool stopped = false;
  std::size_t retried = 0, cut_off = 0, in_parts = 0;  // lines
  UnmetLines unmet(progress);
  for (bool more = true; more;) {
    Portion read;
    try {
      root_reads(files, s.threads.stall_timeout, communicator, [&] { read = source->next(portion); });
    } catch (const comm::Stopped&) {
      stopped = true;
      break;
    }
    std::uint64_t count = read.lines.size();
    communicator.broadcast(std::span(&count, 1));
    more = s.stream || count == portion;
    if (count == 0) break;
    if (!s.stream) portion = std::min(2 * portion, 64 * least);
    if (source) {
      unmet.note_prefixes(read.prefixes, {source->name(), before}, translator, s.translation.search);
    }
    auto translations = decode::translate_lines(
        translator,
        {read.lines, {source ? source->name() : "", before}, std::move(read.prefixes), std::move(read.required)},
        s.translation, communicator, [&](std::size_t done, std::size_t) {
          if (!s.stream)
            progress.show(
                fmt::format("[translate] {} lines", before + done * static_cast<std::size_t>(communicator.size())));
        });
    if (comm::stop_signal_came_anywhere(communicator)) {
      const auto left_out = [](const auto& line) { return line.empty(); };
      translations.erase(std::find_if(translations.begin(), translations.end(), left_out), translations.end());
      std::uint64_t early = more || translations.size() < count;  // else it came when all was done
      communicator.broadcast(std::span(&early, 1));
      stopped = early != 0;
    }
    for (std::size_t i = 0; i < translations.size(); ++i) {
      if (s.input_format == InputFormat::kJson) {
        sink->write(0, answer_line(read.requests[i], before + i, s.n_best, translations[i]) + "\n");
      } else if (!s.n_best) {
        sink->write(0, translations[i].front().text + "\n");
      } else {
        for (std::size_t rank = 0; rank < translations[i].size(); ++rank) {
          sink->write(0, n_best_line(s.n_best_format, before + i, rank, translations[i][rank]) + "\n");
        }
      }
      sink->end_line(read.lines[i]);
    }
    for (std::size_t i = 0; i < translations.size(); ++i) {
      const auto& line = translations[i];
      unmet.note(line.front(), source->name(), before + i);
      retried += line.front().retried ? 1 : 0;
      cut_off += line.front().cut_off ? 1 : 0;
      in_parts += line.front().parts > 1 ? 1 : 0;
    }
    if (sink) sink->commit();
    before += translations.size();
    if (stopped) break;
  }
  unmet.finish();
  if (const auto sentence = sentence_of_retries(retried, cut_off, s.translation.search.retry_below);
      !sentence.empty()) {
    progress.say("[translate] " + sentence);
  }
  if (const auto sentence = sentence_of_parts(in_parts, s.translation); !sentence.empty()) {
    progress.say("[translate] " + sentence);
  }
  if (stopped) throw comm::Stopped(sink ? sink->stopped() : "");
  if (sink) sink->publish();
  return 0;
}

}  // namespace

std::unique_ptr<Invocation> make_translate() {
  return invocation_of<Settings>(
      {"translate",
       "Translates text, one sentence per line, with a trained "
       "model or an ensemble. Under mpirun the lines are distributed over the ranks; the output is in the order of "
       "the input. The translation of a line without words is an empty line. After SIGTERM or SIGUSR1 the command "
       "stops at once, even inside a sentence, prints the number of finished lines, and ends with exit code 85. With "
       "--output the same command then continues, also after a crash and on another number of ranks; until all lines "
       "are "
       "translated, they are in OUTPUT.partial.",
       "--model runs/small --input test.en --output test.out"},
      declare, check, work);
}

}  // namespace rnnsearch::cli
