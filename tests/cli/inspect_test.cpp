#include "rnnsearch/cli/command.h"

#include "rnnsearch/base/file.h"
#include "rnnsearch/cli/options.h"
#include "rnnsearch/train/checkpoint.h"
#include "tests/cli/run.h"
#include "tests/support/change_sealed.h"
#include "tests/support/test.h"

namespace rnnsearch::cli {
namespace {

/// Of a small model after one logged update.
void save(const std::filesystem::path& path) {
  model::ModelOptions options;
  options.source_words = options.target_words = 5;
  options.embedding = options.state = options.alignment = options.maxout = 2;
  const model::Model model(options);
  const auto optimizer = train::make_optimizer({}, model.parameters().size());
  const corpus::Vocabulary vocabulary({"<unk>", "<s>", "</s>", "a", "b"});
  const train::History history{{{1, 2.5, 1, 100}}, {}};
  train::save_checkpoint(path, {model, *optimizer, {}, history, vocabulary, vocabulary, {}, {}});
}

TEST(Inspect, ListsTheParametersOfTheModelHoweverTheirGroupIsLinked) {
  const Scratch scratch;
  const std::filesystem::path path = scratch / "checkpoint.h5";
  save(path);
  const auto shown = [&] {
    testing::internal::CaptureStdout();
    EXPECT_EQ(run(make_inspect(), {path.string(), "--json", "-"}), 0);
    return testing::internal::GetCapturedStdout();
  };
  const std::string good = shown();
  EXPECT_THAT(good, HasSubstr("\"decoder/W_z\""));
  support::change_sealed(path, [](hid_t file) {
    for (const char* loop : {"/parameters/loop", "/parameters/decoder/first", "/parameters/decoder/second"})
      H5Lcreate_hard(file, "/parameters", file, loop, H5P_DEFAULT, H5P_DEFAULT);
  });
  EXPECT_EQ(shown(), good);
}

TEST(Inspect, RefusesAHistoryWhoseColumnsHaveOtherLengths) {
  const Scratch scratch;
  const std::filesystem::path path = scratch / "checkpoint.h5";
  save(path);
  support::change_sealed(path, [](hid_t file) {
    H5Ldelete(file, "/history/learning_rate", H5P_DEFAULT);
    H5Lcreate_hard(file, "/history/validation/bleu", file, "/history/learning_rate", H5P_DEFAULT, H5P_DEFAULT);
  });
  EXPECT_THAT(message_of([&] {
                run(make_inspect(), {path.string(), "--history"});
              }),
              HasSubstr("/history/learning_rate has 0 values for 1 updates"));
}

namespace fs = std::filesystem;

/// A folder that is the current one while this lives, with a file under several names, names that lead to one file that
/// does not exist, and a run.
class Folder {
 public:
  Folder() {
    fs::current_path(scratch_.path());
    write_file_atomically("file", kText);
    fs::create_symlink("file", "link");
    fs::create_hard_link("file", "hard");
    fs::create_symlink("new", "dangling");
    fs::create_directories("sub");
    fs::create_directory_symlink(".", "here");
    fs::create_directories("run/checkpoints");
    write_file_atomically("run/log.jsonl", kText);
  }
  ~Folder() { fs::current_path(before_); }
  std::string absolute(const char* name) const { return (scratch_.path() / name).string(); }

  static constexpr const char* kText = "# no key\n";

 private:
  fs::path before_ = fs::current_path();
  Scratch scratch_;
};

/// A value of the option that has this path in it.
std::string value_with(const Option& about, const std::string& path) {
  if (about.placeholder.starts_with("[NAME=]")) return "name=" + path;
  if (about.placeholder == "NAME:SRC:REF") return "name:other:" + path;
  if (about.placeholder == "FILE:WEIGHT") return path + ":0.5";
  return path;
}

/// What parsing says of these options, with a value for each required one; "accepted" if nothing.
std::string said(const Command& command, const Arguments& given) {
  const auto invocation = command.make();
  Arguments arguments = given;
  for (const Option& about : invocation->options.rows()) {
    if (!about.required || std::find(given.begin(), given.end(), "--" + about.name) != given.end()) continue;
    arguments.insert(arguments.end(), {"--" + about.name, "any-" + about.name});
  }
  try {
    invocation->options.parse(arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

/// Calls act(command, name, about) for every option that names a path.
void for_each_path(const std::function<void(const Command&, const std::string&, const Option&)>& act) {
  for (const Command& command : commands()) {
    const auto invocation = command.make();
    for (const Option& about : invocation->options.rows())
      if (about.path.kind != Path::kNone) act(command, about.name, about);
  }
}

TEST(Outputs, AreNoInputAndNoOtherOutputOfAnyCommand) {
  const Folder folder;
  const std::vector<std::pair<std::string, std::vector<std::string>>> names{
      {"file", {"file", "./file", folder.absolute("file"), "link", "hard", "here/file", "sub/../file"}},
      {"new", {"new", "./new", folder.absolute("new"), "dangling", "here/new", "sub/../new"}}};
  std::size_t cells = 0;
  for_each_path([&](const Command& command, const std::string& output, const Option& of_output) {
    if (!of_output.path.is_output()) return;
    const auto invocation = command.make();
    for (const Option& of_other : invocation->options.rows()) {
      const std::string& other = of_other.name;
      const bool resumes = of_output.path.kind == Path::kOutputRun && of_other.path.kind == Path::kInputRun;
      if (other == output || of_other.path.kind == Path::kNone || resumes) continue;
      for (const auto& [name, aliases] : names) {
        if (other == "config" && name == "new") continue;  // it is read before
        for (const std::string& alias : aliases) {
          for (const bool swapped : {false, true}) {
            const Arguments arguments{"--" + output, swapped ? name : alias, "--" + other,
                                      value_with(of_other, swapped ? alias : name)};
            EXPECT_THAT(said(command, arguments), AllOf(HasSubstr("--" + output), HasSubstr("--" + other)))
                << command.name << " " << testing::PrintToString(arguments);
            ++cells;
          }
        }
      }
    }
  });
  EXPECT_GT(cells, 1000U);
  RecordProperty("cells", static_cast<int>(cells));
}

TEST(Outputs, AreNotUnderANameThatAnotherOutputGets) {
  const Folder folder;
  const auto path_of = [](const char* option, const Path& as, const char* path) { return GivenPath{option, as, path}; };
  const Path csv{.kind = Path::kOutputFolder, .extension = ".csv"};
  for (const auto& [output, as, input, refused] : std::vector<std::tuple<const char*, Path, const char*, bool>>{
           {"out", kOutputFile, "out.partial", true},
           {"dangling", kOutputFile, "here/new.partial", true},
           {"out", kOutputFile, "sub/out.partial", false},
           {"out", kOutputFile, ".out.tmp-host-1-2-3", true},
           {"here/out", kOutputFile, "./.out.tmp-x", true},
           {"out", kOutputFile, "out.txt", false},
           {"sub", csv, "sub/table.csv", true},
           {"sub/", csv, "here/sub/table.csv", true},
           {"sub", csv, "sub/table.json", false},
           {"sub", csv, "table.csv", false}}) {
    const std::vector<GivenPath> paths{path_of("--output", as, output), path_of("--input", kInputFile, input)};
    if (refused) {
      EXPECT_THROW(check_paths(paths), UsageError) << output << " " << input;
    } else {
      EXPECT_NO_THROW(check_paths(paths)) << output << " " << input;
    }
  }
}

TEST(Outputs, AreNoFileOfARun) {
  const Folder folder;
  fs::create_directory_symlink("run/checkpoints", "linked");
  for_each_path([&](const Command& command, const std::string& name, const Option& about) {
    if (!about.path.is_output()) return;
    for (const char* path : {"run/checkpoints/x", "run/checkpoints/sub/x", "linked/x", "run/validation/x"}) {
      EXPECT_THAT(said(command, {"--" + name, path}), HasSubstr("keeps the files of the run")) << command.name << path;
    }
    const bool is_file = about.path.kind == Path::kOutputFile;
    for (const char* path : {"run/config.ini", "here/run/log.jsonl", "run/environment.json", "run/.attempt.tmp-1"}) {
      if (is_file) {
        EXPECT_THAT(said(command, {"--" + name, path}), HasSubstr("keeps the files of the run")) << command.name;
      }
    }
    EXPECT_EQ(said(command, {"--" + name, "run/my-own"}), "accepted") << command.name << " --" << name;
  });
  EXPECT_EQ(said(commands()[1], {"--run", "run", "--config", "run/log.jsonl"}), "accepted");  // a run repeats itself
}

TEST(Dash, IsAStreamWhereTheOptionTakesOneAndElsewhereRefused) {
  const Folder folder;
  std::size_t streams = 0;
  for_each_path([&](const Command& command, const std::string& name, const Option& about) {
    if (name == "config") return;
    const std::string answer = said(command, {"--" + name, value_with(about, "-")});
    if (about.path.stream) {
      EXPECT_EQ(answer, "accepted") << command.name << " --" << name;
      EXPECT_THAT(command.make()->options.help(), HasSubstr("--" + name + " FILE|-"));
      ++streams;
    } else {
      EXPECT_THAT(answer, AllOf(HasSubstr("--" + name + " is '-'"), HasSubstr("./-"))) << command.name;
    }
    EXPECT_EQ(said(command, {"--" + name, value_with(about, "./-")}), "accepted") << command.name << " --" << name;
  });
  EXPECT_GT(streams, 5U);
  EXPECT_THAT(said(commands().front(), {"--config", "-"}), HasSubstr("--config is '-'"));
  for (const Command& command : commands()) {
    if (std::string(command.name) != "align") continue;
    EXPECT_THAT(said(command, {"--json", "-", "--pharaoh", "-"}),
                AllOf(HasSubstr("--json"), HasSubstr("--pharaoh"), HasSubstr("mix")));
  }
}

TEST(EmptyValues, AreRefusedOfEveryOptionOnTheCommandLineAndInAFile) {
  const Folder folder;
  std::size_t cells = 0;
  for (const Command& command : commands()) {
    const auto invocation = command.make();
    for (const Option& about : invocation->options.rows()) {
      const std::string& name = about.name;
      if (name == "help") continue;
      for (const Arguments& arguments : {Arguments{"--" + name, ""}, Arguments{"--" + name + "="}}) {
        EXPECT_THAT(said(command, arguments), HasSubstr("--" + name + " needs a value")) << command.name;
        ++cells;
      }
      if (name == "config" || name == "check") continue;
      write_file_atomically("c.ini", name + " =  # nothing\n");
      EXPECT_THAT(said(command, {"--config", "c.ini"}), HasSubstr("c.ini: " + name + " needs a value"));
      ++cells;
    }
  }
  EXPECT_GT(cells, 500U);
  RecordProperty("cells", static_cast<int>(cells));
}

TEST(EmptyPaths, AreRefusedInsideOfValues) {
  const Folder folder;
  for_each_path([&](const Command& command, const std::string& name, const Option& about) {
    if (about.path.in == nullptr || name == "resume") return;
    EXPECT_THAT(said(command, {"--" + name, value_with(about, "")}), HasSubstr("--" + name)) << command.name;
    EXPECT_THAT(said(command, {"--" + name, value_with(about, "x"), "--" + name, ""}), HasSubstr("needs a value"));
  });
}

}  // namespace
}  // namespace rnnsearch::cli
