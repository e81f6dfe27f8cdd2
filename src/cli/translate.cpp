#include "rnnsearch/cli/command.h"

#include "cli/options/common.h"
#include "cli/options/translation_options.h"
#include "cli/progress.h"
#include "cli/resumable_output.h"
#include "cli/translation_lines.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/packed.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/corpus/text_lines.h"
#include "rnnsearch/decode/shortlist.h"

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
  if (input_format == InputFormat::kJson && options.given("n-best-format") && n_best_format != NBestFormat::kJson)
    throw UsageError("--input-format json answers in JSON; leave --n-best-format out, or let it be json");
  options.refuse(
      stream, {"prefix"},
      "--stream takes no --{0}; give each line its own: --input-format json, {{\"source\": ..., \"prefix\": ...}}");
  options.refuse(
      stream, {"require"},
      "--stream takes no --{0}; give each line its own: --input-format json, {{\"source\": ..., \"require\": [...]}}");
  options.refuse(stream, {"input", "output"},
                 "--stream translates from standard input to standard output; leave --{0} out");
}

struct Settings {
  ModelChoice models;
  fs::path input, output;
  NBestFormat n_best_format = NBestFormat::kPlain;
  bool stream = false;
  InputFormat input_format = InputFormat::kPlain;
  decode::TranslationOptions translation;
  LineLimit line_limit;
  fs::path shortlist;
  std::size_t shortlist_frequent = 100, shortlist_translations = 100;  // Marian's defaults
  LineFiles files;                                                     // --prefix, --require
  fs::path forbid, glossary;
  std::vector<std::string> copy_patterns;
  bool sample = false;
  decode::Sampling sampling;
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
  add_translation_options(options, s.translation);
  add_maximum_source_length(options, s.translation);
  options.group("Shortlists");
  options.add("shortlist", s.shortlist, kInputFile,
              "lexical table with a target word, a source word and a probability on each line, as align "
              "--lexical-table or Moses (lex.f2e) writes it. A sentence is translated with the most frequent words and "
              "the most probable translations of its words alone, which is faster (Jean et al. 2015)");
  options.add("shortlist-frequent", s.shortlist_frequent, within(0, 1e8),
              "number of most frequent target words that every sentence may use; the whole vocabulary gives the "
              "translations without --shortlist");
  options.add("shortlist-translations", s.shortlist_translations, within(0, 1e8),
              "largest number of translations of a source word in --shortlist that its sentence may use");
  options.group("Constraints");
  options.add("prefix", s.files.prefixes, kInputFile,
              "text whose line i has the words with which the translation of line i must begin; an empty line means no "
              "prefix. The model continues the prefix, and the words of the prefix count in the score");
  options.add(
      "forbid", s.forbid, kInputFile,
      "words and phrases that no translation may contain, one per line, in plain text. They are compared with whole "
      "words, whatever subwords the model has: cat forbids neither catalog nor Cat. What a model copies (prepare "
      "--copy-pattern) is not compared");
  options.add("require", s.files.required, kInputFile,
              "text whose line i has the words and phrases that the translation of line i must contain, with tabs "
              "between them; an empty line requires nothing. The search divides the beam among hypotheses by the "
              "number of required words that they have (Post and Vilar 2018)");
  options.add(
      "glossary", s.glossary, kInputFile,
      "terms and their translations, 'source term<TAB>target term' on each line, in plain text. Where a line has the "
      "source term, its translation must contain the target term, which is one of its required phrases then");
  options.add("copy-pattern", s.copy_patterns, Placeholder{"REGEX"},
              "regular expression (RE2) of source text that is copied to the translation unchanged, in place of those "
              "with which the corpus was prepared; repeat the option for several. For a model that was trained with "
              "placeholders (prepare --copy-pattern)");
  options.add("beam-groups", s.translation.search.groups, within(1, 1000),
              "divide the beam into N groups of equal width that avoid each other's words (diverse beam search, "
              "Vijayakumar et al. 2016), for n-best lists whose translations differ; 1: one beam");
  options.add("diversity", s.translation.search.diversity, within(0, 100),
              "for --beam-groups: penalty subtracted from the log-probability of a word each time that an earlier "
              "group chose the word at the same step. The scores of translations do not include it");
  options.group("Sampling");
  options.add("sample", s.sample,
              "draw each word at random from the model's distribution instead of searching, as for back-translation "
              "(Edunov et al. 2018); --n-best N draws N independent translations. The result does not depend on the "
              "number of threads or ranks or the batch size");
  options.add("temperature", s.sampling.temperature, within(0.01, 100),
              "draw from softmax(score / X): below 1 favours probable words, above 1 improbable ones");
  options.add("top-k", s.sampling.top_k, within(0, 1e9),
              "draw only from the N most probable words (Fan et al. 2018); 0: from all");
  options.add("sampling-seed", s.sampling.seed, "seed of the random numbers");
  options.group("Machine");
  add_threads(options, s.threads);
  add_precision(options, s.precision, ModelUse::kTrained);
}

/// The options of the search, which exclude each other.
void check_search(const Options& options, Settings& s) {
  check_translation_options(options, s.translation);
  decode::SearchOptions& search = s.translation.search;
  options.refuse(s.shortlist.empty(), {"shortlist-frequent", "shortlist-translations"},
                 "--{0} is for --shortlist FILE; give both");
  if (options.given("diversity") && search.groups == 1)
    throw UsageError("--diversity is for --beam-groups of 2 or more; give both");
  if (search.beam % search.groups != 0)
    throw UsageError(
        "--beam {} cannot be divided into --beam-groups {} of equal width; let the beam be a multiple of the groups",
        search.beam, search.groups);
  if (search.groups > 1 && s.sample)
    throw UsageError("--beam-groups is for a search, and --sample draws words in place of one; give one of the two");
  options.refuse(s.sample, {"require", "glossary"},
                 "--{0} is for a search, and --sample draws words in place of one; give one of the two");
  options.refuse(search.groups > 1, {"require", "glossary"},
                 "--{0} and --beam-groups both divide the beam; give one of the two");
  if (options.given("forbid") && s.translation.replace_unknown)
    throw UsageError(
        "--forbid cannot look at the source words that --replace-unknown copies; give one of the two (--no-unknown "
        "avoids unknown words)");
  options.refuse(!s.sample, {"temperature", "top-k", "sampling-seed"}, "--{0} is for --sample; give both");
  options.refuse(s.sample, {"beam", "retry-below"},
                 "--{0} is for a search, and --sample draws words in place of one; leave --{0} out (--n-best is the "
                 "number of samples)");
  if (s.sample) search.sampling = s.sampling;
}

void check(const Options& options, Settings& s) {
  for (fs::path* const path : {&s.input, &s.output}) {
    if (*path == "-") path->clear();
  }
  check_models(options, s.models);
  check_search(options, s);
  s.copies = copy_patterns_from(s.copy_patterns);
  check_stream(options, s.stream, s.input_format, s.n_best_format);
  s.n_best = options.given("n-best") || options.given("n-best-format");
  s.translation.details = s.n_best_format != NBestFormat::kPlain || (s.n_best && s.input_format == InputFormat::kJson);
  if (!s.sample && s.translation.search.n_best > s.translation.search.beam)
    throw UsageError("--n-best is {} but --beam is {}: a beam holds no more translations than its width",
                     s.translation.search.n_best, s.translation.search.beam);
}

std::string leftwards(const std::string& what) {
  return fmt::format(
      "{} needs a model that predicts the first word first, and this one predicts targets from right to left", what);
}

/// What lines of JSON may not ask of this model and these options.
Refusals refusals_of(const decode::Translator& translator, const decode::SearchOptions& search) {
  Refusals refusals;
  if (translator.ensemble.right_to_left()) {
    refusals.prefix = leftwards("a prefix");
    refusals.require = leftwards("\"require\"");
  }
  if (search.sampling) refusals.require = "\"require\" is for a search, and this process draws samples";
  if (search.groups > 1) refusals.require = "\"require\" and --beam-groups both divide the beam";
  return refusals;
}

/// COLLECTIVE. What `read` makes of the file at the root, on all ranks.
template <class Read>
auto read_at_root(const fs::path& path, const Settings& s, const comm::Communicator& communicator, const Read& read) {
  std::string message;
  root_reads({path}, s.threads.stall_timeout, communicator, [&] { message = packed(read()); });
  communicator.broadcast(message);
  return unpacked<std::invoke_result_t<Read>>(message);
}

/// COLLECTIVE. Reads the files of --shortlist, --forbid and --glossary at the root and hands s.translation what the
/// search needs, on every rank. Throws AgreedError for a file that cannot be used and for a model that takes no
/// constraints.
void read_search_files(Settings& s, const decode::Translator& translator, const comm::Communicator& communicator) {
  if (!s.shortlist.empty()) {
    auto translations = read_at_root(s.shortlist, s, communicator, [&] {
      LineSource lines(corpus::open_text(s.shortlist, stop_if_signal_came), s.shortlist.string(), s.line_limit);
      auto table = decode::read_lexical_table(lines, s.shortlist.string(), translator.source_vocabulary,
                                              translator.target_vocabulary, s.shortlist_translations);
      Progress().say(fmt::format("[translate] shortlists: {} of the {} lines of {} are of words of this model",
                                 grouped(table.used), grouped(table.lines), s.shortlist));
      return std::move(table.translations);
    });
    s.translation.search.shortlist = std::make_shared<decode::Shortlist>(std::move(translations), s.shortlist_frequent,
                                                                         translator.target_vocabulary.size());
  }
  if (translator.ensemble.right_to_left()) {
    for (const auto& [path, option] : {std::pair{s.files.prefixes, "--prefix"},
                                       {s.forbid, "--forbid"},
                                       {s.files.required, "--require"},
                                       {s.glossary, "--glossary"}}) {
      if (!path.empty()) throw comm::AgreedError(leftwards(option));
    }
  }
  auto spelling = std::make_shared<corpus::Spelling>(translator.target_vocabulary, translator.pipeline);
  s.translation.spelling = spelling;
  if (!s.forbid.empty()) {
    const auto lines =
        read_at_root(s.forbid, s, communicator, [&] { return corpus::read_lines(s.forbid, s.line_limit); });
    s.translation.search.forbidden = std::make_shared<decode::ForbiddenWords>(lines, *spelling);
  }
  if (s.glossary.empty()) return;
  const auto glossary = [&](const std::vector<std::string>& lines) {
    return std::make_shared<decode::Glossary>(lines, s.glossary.string(), translator.pipeline);
  };
  s.translation.glossary = glossary(read_at_root(s.glossary, s, communicator, [&] {
    auto lines = corpus::read_lines(s.glossary, s.line_limit);
    glossary(lines);  // throws at the root what is wrong with them
    return lines;
  }));
}

/// Says which lines lack required phrases, or have forbidden ones in their prefix: each of the first 20, and at the end
/// how many others there were.
class UnmetLines {
 public:
  explicit UnmetLines(Progress& progress) : progress_(progress) {}

  /// `line` counts from 0, in a text of this name.
  void note(const decode::LineTranslation& translation, const std::string& name, std::size_t line) {
    if (translation.unmet == 0) return;
    say(name, line,
        fmt::format("the translation lacks {} of the required phrases, because no translation within its maximum "
                    "length has all of them",
                    translation.unmet));
  }

  /// Of lines at this location: their prefixes, before they are translated. The prefix wins over what is forbidden.
  void note_prefixes(const std::vector<std::string>& prefixes, const decode::LinesLocation& location,
                     const decode::Translator& translator, const decode::SearchOptions& search) {
    for (std::size_t i = 0; search.forbidden && i < prefixes.size(); ++i) {
      auto state = search.forbidden->start();
      bool has = false;
      for (const WordId word :
           decode::ids_of(decode::target_words(translator, prefixes[i], {}), translator.target_vocabulary)) {
        has = has || search.forbidden->blocks(state, word);
        state = search.forbidden->after(state, word);
      }
      if (!has && !search.forbidden->blocks(state, kEnd)) continue;
      say(location.name, location.before + i,
          "its prefix has a word or phrase of --forbid, so that the translation has it, too");
    }
  }

  void finish() const {
    if (lines_ <= kNamedLines) return;
    progress_.say(fmt::format("[translate] the like is true of {}", counted(lines_ - kNamedLines, "further line")));
  }

 private:
  static constexpr std::size_t kNamedLines = 20;

  void say(const std::string& name, std::size_t line, const std::string& what) {
    if (++lines_ <= kNamedLines) progress_.say(fmt::format("[translate] {}, line {}: {}", name, line + 1, what));
  }

  Progress& progress_;
  std::size_t lines_ = 0;
};

int work(const Options& options, Settings& s, const comm::Communicator& communicator) {
  settle_threads(s.threads, communicator);
  set_precision(s.precision, communicator);
  OpenModels opened(s.models, communicator);
  if (s.copies) opened.copy(s.copies);
  const decode::Translator translator = opened.translator();
  read_search_files(s, translator, communicator);
  std::optional<TranslationInput> source;
  std::optional<ResumableOutput> sink;
  Progress progress(!communicator.is_root());
  const std::vector<fs::path> files{s.input.empty() ? "-" : s.input, s.files.prefixes, s.files.required};
  root_reads(files, s.threads.stall_timeout, communicator, [&] {
    Config dependencies = dependencies_of(options, {"input", "output", "model", "batch-sentences"});
    dependencies["--model"] = opened.digests();
    sink.emplace(std::vector<OutputPath>{{"--output", s.output}}, std::move(dependencies));
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
    if (source) unmet.note_prefixes(read.prefixes, {source->name(), before}, translator, s.translation.search);
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
      translations.erase(std::ranges::find_if(translations, left_out), translations.end());
      std::uint64_t early = more || translations.size() < count;  // else it came when all was done
      communicator.broadcast(std::span(&early, 1));
      stopped = early != 0;
    }
    for (std::size_t i = 0; i < translations.size(); ++i) {
      const decode::LineTranslation& best = translations[i].front();
      if (s.input_format == InputFormat::kJson) {
        sink->write(0, answer_line(read.requests[i], before + i, s.n_best, translations[i]) + "\n");
      } else if (!s.n_best) {
        sink->write(0, best.text + "\n");
      } else {
        for (std::size_t rank = 0; rank < translations[i].size(); ++rank)
          sink->write(0, n_best_line(s.n_best_format, before + i, rank, translations[i][rank]) + "\n");
      }
      sink->end_line(read.lines[i]);
      unmet.note(best, source->name(), before + i);
      retried += best.retried ? 1 : 0;
      cut_off += best.cut_off ? 1 : 0;
      in_parts += best.parts > 1 ? 1 : 0;
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
  if (const auto sentence = sentence_of_parts(in_parts, s.translation); !sentence.empty())
    progress.say("[translate] " + sentence);
  if (stopped) throw comm::Stopped(sink ? sink->stopped() : "");
  if (sink) sink->publish();
  return 0;
}

}  // namespace

std::unique_ptr<Invocation> make_translate() {
  return invocation_of<Settings>(
      {"translate",
       "Translates text, one sentence per line, with a trained model or an ensemble. Under mpirun the lines are "
       "distributed over the ranks; the output is in the order of the input. The translation of a line without words "
       "is an empty line. After SIGTERM or SIGUSR1 the command stops at once, even inside a sentence, prints the "
       "number of finished lines, and ends with exit code 85. With --output the same command then continues, also "
       "after a crash and on another number of ranks; until all lines are translated, they are in OUTPUT.partial.",
       "--model runs/small --input test.en --output test.out"},
      declare, check, work);
}

}  // namespace rnnsearch::cli
