// Command lines that no command accepts, whatever is in the files that they name: here none of them exists.
#include "rnnsearch/cli/command.h"

#include "tests/cli/run.h"
#include "tests/support/test.h"

namespace rnnsearch::cli {
namespace {

/// The command line, and what its error says, after each bar one thing.
constexpr const char* kWrong[] = {
    "align --source s|--model is missing",
    "align --statistical --source s|--target is missing",
    "align --statistical --model m --source s --target t|--model|--statistical",
    "align --model m|--source is missing",
    "align --model m --source s --gold g|--target is missing",
    "align --model m --source s --target t --json - --pharaoh -|--json|--pharaoh|mix",
    "align --model m --source s --target t --pharaoh - --gold g|--gold|--pharaoh|mix",
    "align --model m --source s --target t --bars|--bars|--svg",
    "align --model m --source s --target t --threshold 0.3|--threshold|argmax",
    "align --model m --source s --target t --beam 2|--beam is for translations that align makes",
    "align --model m --source s --target t --heat-map --json x|--heat-map prints the weights in place of",
    "average --output x|either --checkpoint",
    "average --checkpoint m --run r --last 2 --output x|either --checkpoint",
    "average --run r --output x|--run and --last",
    "average --checkpoint m --output x|at least two",
    "benchmark --lengths l --target-length 3|--lengths|--target-length",
    "benchmark --corpus c --source-words 9|--corpus|--source-words",
    "benchmark --beam 2|--beam|--decode",
    "benchmark --decode --estimate-updates 5|--estimate-updates|--decode",
    "benchmark --shortlist-frequent 5|--shortlist-frequent|--decode",
    "benchmark --threads 2,0|--threads|'0,2'",
    "benchmark --threads 1,2,1|--threads|twice|1,1,2",
    "benchmark --threads 1,,2|--threads is '1,,2'",
    "benchmark --preset smal|unknown preset",
    "benchmark --precision int8|--decode",
    "evaluate|nothing to score",
    "evaluate --hypotheses h|--references",
    "evaluate --hypotheses h --references r --edges 10,5|10|and then at 5|ascending",
    "evaluate --hypotheses h --references r --edges 10,10|10|and then at 10|ascending",
    "evaluate --hypotheses a/h --hypotheses b/h --references r|'h'|NAME=FILE",
    "evaluate --hypotheses a=h --hypotheses a=g --references r|'a'|name of its own",
    "evaluate --model a/m --model b/m --corpus c --set test/t|'m'|name of its own",
    "evaluate --hypotheses h --references r --significance bootstrap|--significance|only 'h'",
    "evaluate --hypotheses h --hypotheses a=g --references r --significance bootstrap --baseline b|--baseline is "
    "'b'|h, a",
    "evaluate --hypotheses h --hypotheses a=g --references r --baseline a|--baseline|--significance",
    "evaluate --hypotheses h --references r --significance-samples 10|--significance-samples|bootstrap or "
    "randomization",
    "evaluate --hypotheses h --references r --bucket-by longest|--source is missing|longest",
    "evaluate --hypotheses h --references r --breakdown unknown|--breakdown|--corpus",
    "evaluate --hypotheses h --references r --sentences|--sentences|--json",
    "evaluate --hypotheses h --references r --details --json -|--details|--json",
    "evaluate --hypotheses h --references r --chart --json -|--chart is for the table",
    "evaluate --hypotheses h --references r --smooth-value 0.5|--smooth-value|floor or add-k|exp",
    "evaluate --hypotheses h --references r --no-unknown|--no-unknown|--model|--hypotheses",
    "evaluate --hypotheses h --references r --beam 3|--beam|--model|--hypotheses",
    "evaluate --hypotheses h --references r --length-penalty 1|--length-penalty is for --model",
    "evaluate --hypotheses h --references r --retry-below 5|--retry-below is for --model",
    "evaluate --model m --corpus c --set dev --max-line-bytes 9|--max-line-bytes is for files of text|leave it out",
    "inspect|--file is missing",
    "prepare --train-source s --train-target t|--output is missing",
    "prepare --output x|there is no training text",
    "prepare --train-source s --train-source t --train-target u --output x|--train-source is given 2 times",
    "prepare --train-tsv p --dev-source d --output x|--dev-target is missing",
    "prepare --train-tsv p --vocabulary-of c --target-words 9 --output x|--target-words is not for --vocabulary-of",
    "prepare --train-tsv p --bpe-codes b --source-bpe-codes c --output x|--bpe-codes is for both sides",
    "prepare --train-source s --train-target t --output x --subword-pairs 100|--subword-pairs|--subwords unigram or "
    "bpe",
    "prepare --train-source s --train-target t --output x --subword-seed 2|--subword-seed|--subwords unigram or bpe",
    "prepare --train-source s --train-target t --output x --subword-normalization "
    "nfkc|--subword-normalization|--subwords unigram or bpe",
    "prepare --train-source s --train-target t --output x --script-share 0.9|--script-share|--source-script",
    "prepare --train-tsv p --output x --joint-vocabulary --source-words 10 --target-words 12|source-words is 10 and "
    "target-words 12",
    "prepare --train-source s --train-target t --output x --subwords bpe --subword-model m|exclude each other",
    "prepare --train-source s --train-target t --output x --subword-model m --source-words 300|source-words cannot be "
    "combined with subword-model",
    "prepare --train-source s --train-target t --output x --source-subword-model m|only for the source",
    "prepare --train-source s --train-target t --output x --copy-pattern [0-9|'[0-9' is not a regular expression",
    "prepare --train-source s --train-target t --output x --copy-pattern [0-9]*|matches the empty string",
    "prepare --train-source s --train-target t --output x --train-alignments l --copy-pattern [0-9]+|train-alignments "
    "count the words of the text",
    "prepare --train-source s --train-target t --output x --train-alignments l --train-alignments l|train-alignments 2 "
    "times",
    "prepare --train-source s --train-target t --output x --train-weights w --train-weights w|train-weights 2 times",
    "prepare --train-source s --train-target t --output x --alignments-of subwords|--alignments-of|--train-alignments",
    "report --run r|nothing to",
    "report --run r --terminal --every 5|--every is for --follow",
    "report --run r --terminal --chart-of BLEU|--chart-of is for --chart",
    "rescore|--list is missing",
    "rescore --list l|nothing to do|--model|--weights",
    "rescore --list l --model m|--source is missing",
    "rescore --list l --source s --model m --output x|--output is for the best",
    "rescore --list l --weight Length=1 --output - --n-best-output -|both go to standard output",
    "rescore --list l --weight Length|--weight is 'Length'|NAME=X",
    "rescore --list l --weight Length=1 --weight Length=2|given twice for Length",
    "score --model m --source s|--target is missing",
    "train|--corpus is missing",
    "train --corpus c --run r --preset smal|unknown preset 'smal'|small",
    "train --corpus c --run r --best-metric bleu --validate-bleu=false|best-metric is bleu but",
    "train --corpus c --run r --mix c|must be a corpus, a colon and a weight",
    "train --corpus c --run r --mix c:0|must be a corpus, a colon and a weight",
    "train --corpus c --run r --mix c:x|must be a corpus, a colon and a weight",
    "train --corpus c --run r --dropout 1|at least 0 and below 1",
    "train --corpus c --run r --dropout-kind variational|nothing is dropped",
    "train --corpus c --run r --target-word-dropout 0.1 --state-inputs context --readout-inputs state,context|the "
    "decoder reads no target word",
    "train --corpus c --run r --attention none --attention-dropout 0.1|no weights to drop",
    "train --corpus c --run r --layer-normalization|choose gru-reset = after",
    "train --corpus c --run r --layer-normalization --cell mlp|those of gru, lstm and tanh cells",
    "train --corpus c --run r --attention none --guided-alignment 1|there are no weights to guide",
    "train --corpus c --run r --guided-alignment 1 --attention-window local-p|a word outside the window",
    "train --corpus c --run r --initial-optimizer|initial-optimizer without initial-model makes no sense",
    "translate|--model is missing",
    "translate --model m --n-best 5 --beam 2|--n-best is 5|--beam is 2",
    "translate --model m --normalize --length-penalty 0.5|--normalize|--length-penalty|one of the two",
    "translate --model m --minimum-length 3 --maximum-length 3|--maximum-length is 3|--minimum-length is 3",
    "translate --model m --minimum-length-ratio 5 --maximum-length-ratio 2|--maximum-length-ratio is "
    "2|--minimum-length-ratio is 5",
    "translate --model m --maximum-length-ratio 0.4|--maximum-length-ratio is 0.4|--minimum-length-ratio is 0.5",
    "translate --model m --copy-pattern [0-9|'[0-9' is not a regular expression",
    "translate --model a --model b --model-weight 1|--model is given 2 times|--model-weight 1 times",
    "translate --model a --model b --model-weight 0 --model-weight 1|--model-weight is '0'|above 0",
    "translate --model a --ensemble-of logarithms|--ensemble-of|--model more than once",
    "translate --model m --diversity 1|--diversity is for --beam-groups",
    "translate --model m --beam 4 --beam-groups 3|--beam 4 cannot be divided into --beam-groups 3",
    "translate --model m --beam 4 --beam-groups 2 --require f|--require and --beam-groups both",
    "translate --model m --sample --require f|--require is for a search|--sample",
    "translate --model m --sample --beam-groups 2|--beam-groups is for a search|--sample",
    "translate --model m --sample --glossary f|--glossary|--sample",
    "translate --model m --beam 4 --beam-groups 2 --glossary f|--glossary|--beam-groups",
    "translate --model m --forbid f --replace-unknown|--forbid|--replace-unknown",
    "translate --model m --temperature 2|--temperature is for --sample",
    "translate --model m --top-k 3|--top-k is for --sample",
    "translate --model m --sampling-seed 4|--sampling-seed is for --sample",
    "translate --model m --sample --beam 2|--beam is for a search|--sample",
    "translate --model m --sample --retry-below 0|--retry-below is for a search|--sample",
    "translate --model m --shortlist-frequent 5|--shortlist-frequent|--shortlist FILE",
    "translate --model m --shortlist-translations 5|--shortlist-translations|--shortlist FILE",
    "translate --model m --stream --input s|--stream|standard input to standard output|leave --input out",
    "translate --model m --stream --output x|leave --output out",
    "translate --model m --stream --prefix f|--stream takes no --prefix|--input-format json",
    "translate --model m --stream --require f|--stream takes no --require; give each line its own|\"require\": [...]}",
    "translate --model m --input-format json|--input-format json is for --stream",
    "translate --model m --stream --input-format json --n-best-format moses|--input-format json|--n-best-format",
};

/// What the program prints to standard output for these arguments.
std::string printed(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "rnnsearch");
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_program(static_cast<int>(arguments.size()), arguments.data()), 0);
  return testing::internal::GetCapturedStdout();
}

TEST(Help, HasLinesOfAtMost80Columns) {
  std::vector<std::string> pages{printed({"--help"}), printed({"--version"})};
  for (const Command& command : commands()) {
    pages.push_back(printed({command.name, "--help"}));
    pages.push_back(printed({command.name, "-h"}));
  }
  for (const std::string& page : pages) {
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  }
}

TEST(Help, IsShortWithWhatACommandNeedsAndLongWithAllThatItTakes) {
  const std::string all = printed({"help"});
  EXPECT_EQ(printed({"-h"}), all);
  EXPECT_EQ(printed({"--help"}), all);
  for (const Command& command : commands()) {
    SCOPED_TRACE(command.name);
    EXPECT_THAT(all, HasSubstr(fmt::format("\n  {} ", command.name)));
    const std::string page = printed({command.name, "--help"}), brief = printed({command.name, "-h"});
    EXPECT_EQ(printed({"help", command.name}), page);
    EXPECT_THAT(brief, HasSubstr(fmt::format("\nExample:\n  rnnsearch {} ", command.name)));
    EXPECT_LT(std::count(brief.begin(), brief.end(), '\n'), 60);
    const auto invocation = command.make();
    for (const Option& option : invocation->options.rows()) {
      const std::string name = fmt::format("\n  --{}", option.name);
      EXPECT_THAT(page, HasSubstr(name));
      EXPECT_TRUE(!option.required || brief.find(name) != brief.npos) << name;
    }
  }
}

TEST(Help, HasExamplesThatParse) {
  for (const Command& command : commands()) {
    SCOPED_TRACE(command.name);
    const auto invocation = command.make();
    std::string brief = invocation->options.short_help();
    const std::string start = fmt::format("\n  rnnsearch {} ", command.name);
    brief.erase(0, brief.find(start) + start.size());
    std::istringstream words(brief.substr(0, brief.find("\n\n")));
    Arguments arguments;
    for (std::string word; words >> word;)
      if (word != "\\") arguments.push_back(word);
    EXPECT_TRUE(invocation->options.parse(arguments));
    invocation->check();
  }
}

TEST(Json, GoesToAFileOrToStandardOutputInEveryCommandThatWritesIt) {
  std::size_t count = 0;
  for (const Command& command : commands()) {
    const auto invocation = command.make();
    const Option* const json = invocation->options.find("json");
    if (!json) continue;
    ++count;
    EXPECT_EQ(json->path.kind, Path::kOutputFile) << command.name;
    EXPECT_TRUE(json->path.stream) << command.name;
    EXPECT_THAT(json->help, HasSubstr("as JSON to this file; -: to standard output")) << command.name;
  }
  EXPECT_EQ(count, 7U);
}

TEST(Command, RefusesAWrongCommandLineBeforeItReadsAFile) {
  const Scratch scratch;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(scratch.path());
  for (const char* row : kWrong) {
    SCOPED_TRACE(row);
    std::istringstream facts(row);
    std::string line, fact, name, word;
    std::getline(facts, line, '|');
    std::istringstream words(line);
    words >> name;
    Arguments arguments;
    while (words >> word) arguments.push_back(word);
    const auto command =
        std::find_if(commands().begin(), commands().end(), [&](const Command& one) { return one.name == name; });
    ASSERT_NE(command, commands().end());
    std::string said = "nothing was refused";
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    try {
      run(command->make(), arguments);
    } catch (const UsageError& error) {
      said = error.what();
    } catch (const std::exception& error) {
      said = fmt::format("not about usage: {}", error.what());
    }
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    testing::internal::GetCapturedStderr();
    while (std::getline(facts, fact, '|')) EXPECT_THAT(said, HasSubstr(fact));
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace rnnsearch::cli
