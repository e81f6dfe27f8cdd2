// Test sets as WMT publishes them: segments in SGML (<srcset>, <refset>, <tstset>: the format of mteval) or, since
// 2021, in XML (<dataset>, sources, references and systems in one file).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rnnsearch::corpus {

/// What is wanted of a <dataset>: its <src>, <ref> or <hyp>. A set in SGML has one side and gives that.
enum class TestSetPart { kSource, kReference, kHypothesis };

struct TestSetName {
  std::filesystem::path file;
  std::string who;  // the translator or the system, where there are several; empty: there is one
};

/// The name alone decides, so that plain text may begin with whatever it likes: FILE.sgm, FILE.sgml or FILE.xml, in any
/// case, perhaps compressed (.gz, .zst, .xz) and perhaps followed by @WHO, is a test set; any other is plain text.
std::optional<TestSetName> test_set_name(const std::filesystem::path& path);

/// The file that is meant by the path of a test set or of plain text.
std::filesystem::path file_named(const std::filesystem::path& path);

/// Lines, and what the file calls them.
struct TestSet {
  struct Name {
    std::string document, segment;  // docid (XML: id of <doc>) and id of <seg>; empty: it does not say
    std::uint64_t line = 0;         // of the file, where <seg> is; from 1
  };
  std::vector<std::string> lines;
  std::vector<Name> names;  // [lines]
};

/// The segments in their order, each a line: references to characters decoded, white space made one space. Throws Error
/// (file, line, reason) for what is no such file, is damaged (tags that do not match, text outside of segments, no
/// UTF-8), or has several translators or systems, of which `who` names none. Memory: the file, at most kTestSetBytes.
TestSet read_test_set(const TestSetName& name, TestSetPart part);
inline constexpr std::size_t kTestSetBytes = 256u << 20;  // of text: WMT's have a few million

/// The same of a document in memory, which errors call `file`.
TestSet segments_of(std::string_view document, const TestSetName& name, TestSetPart part);

/// Segment i of one belongs to segment i of the other. Throws Error (file, line, found, expected) for the first two of
/// which both say document and id, but not the same.
void check_same_segments(const std::filesystem::path& a_path, const TestSet& a, const std::filesystem::path& b_path,
                         const TestSet& b);

}  // namespace rnnsearch::corpus
