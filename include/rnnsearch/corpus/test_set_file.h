// Test sets in the formats of WMT: SGML (<srcset>, <refset> or <tstset>, the format of mteval) or, since 2021, XML
// (<dataset>, with sources, references and system outputs in one file).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/base/line_limit.h"

namespace rnnsearch::corpus {

/// Which side of a <dataset> to read: <src>, <ref> or <hyp>. An SGML file has one side, which is read in any case.
enum class TestSetPart { kSource, kReference, kHypothesis };

struct TestSetName {
  std::filesystem::path file;
  std::string who;  // the translator or system to read; empty if the file has only one
};

/// Recognises test sets by their name only, so that plain text may begin with anything: FILE.sgm, FILE.sgml or
/// FILE.xml, in upper or lower case, optionally compressed (.gz, .zst, .xz) and optionally followed by @WHO. Any other
/// name is plain text.
std::optional<TestSetName> test_set_name(const std::filesystem::path& path);

/// The file that a path names: a test set without its @WHO, or plain text.
std::filesystem::path file_named(const std::filesystem::path& path);

/// The lines of a test set, and the names that the file gives to them.
struct TestSet {
  struct Name {
    std::string document, segment;  // docid (XML: id of <doc>) and id of <seg>; empty if the file has none
    std::uint64_t line = 0;         // line of <seg> in the file, from 1
  };
  std::vector<std::string> lines;
  std::vector<Name> names;  // [lines]
};

/// Reads the segments in order, each as one line: character references are decoded, and runs of white space become one
/// space. Throws Error (file, line, reason) if the file is not a test set, is damaged (tags that do not match, text
/// outside of segments, invalid UTF-8), has several translators or systems and `who` names none of them, or has a
/// segment that is longer than the limit. Memory: the file, at most kTestSetBytes.
TestSet read_test_set(const TestSetName& name, TestSetPart part, const LineLimit& limit);
inline constexpr std::size_t kTestSetBytes = 256u << 20;  // limit of the unpacked text; WMT's have a few million bytes

/// The same for a document in memory; errors name the file `name.file`.
TestSet segments_of(std::string_view document, const TestSetName& name, TestSetPart part);

/// Checks that segment i of `a` belongs to segment i of `b`. Throws Error (file, line, found, expected) at the first
/// segment for which both files give a document and an id and these differ.
void check_same_segments(const std::filesystem::path& a_path, const TestSet& a, const std::filesystem::path& b_path,
                         const TestSet& b);

}  // namespace rnnsearch::corpus
