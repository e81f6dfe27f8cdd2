// Splits a WMT test set into tags and text. This is not a general parser of SGML or XML; it handles what these files
// hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rnnsearch::corpus {

struct Tag {
  std::string name;                                             // in lower case
  bool begins = false, ends = false;                            // both are set for <seg/>
  std::vector<std::pair<std::string, std::string>> attributes;  // their names are in lower case

  /// The value of an attribute; empty if there is none of this name.
  std::string_view attribute(std::string_view wanted) const;
};

/// Takes time linear in the document, which must outlive this object. Errors name the file and the line.
class MarkupScanner {
 public:
  MarkupScanner(std::string_view document, std::filesystem::path path) : document_(document), path_(std::move(path)) {}

  /// Reads the decoded text up to the next tag, and the tag. Returns false at the end, with the text in front of it.
  /// Comments, processing instructions and the document type are skipped. Throws Error for an incomplete tag, comment
  /// or reference.
  bool next(std::string& text, Tag& tag);

  /// Switches from WMT's SGML, where an '&' or '<' that starts nothing stands for itself, to XML, where it is an error.
  void set_xml() { xml_ = true; }
  /// The line of the last tag, from 1. All calls together take time linear in the document.
  std::uint64_t line();
  /// Throws Error with the line of the last tag, or with the line where the text in front of it begins.
  [[noreturn]] void fail(const std::string& reason) const { fail_at(tag_at_, reason); }
  [[noreturn]] void fail_text(const std::string& reason) const { fail_at(text_at_, reason); }

 private:
  [[noreturn]] void fail_at(std::size_t place, const std::string& reason) const;
  bool begins_with(std::string_view what) const { return document_.substr(at_).starts_with(what); }
  std::string_view through(std::string_view end, const char* what);
  void reference(std::string& text);
  std::string name(const char* of_what);
  void skip_space();
  void read_tag(Tag& tag);
  std::string attribute_value();

  std::string_view document_;
  std::filesystem::path path_;
  std::size_t at_ = 0, tag_at_ = 0, text_at_ = 0;
  std::size_t counted_ = 0;  // position in the document up to which line() has counted
  std::uint64_t line_ = 1;   // the line at that position
  bool xml_ = false;
};

}  // namespace rnnsearch::corpus
