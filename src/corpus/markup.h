// Tags and text of a WMT test set, one after the other. Not a parser of SGML or XML: it knows what these files hold.
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
  bool begins = false, ends = false;                            // both: <seg/>
  std::vector<std::pair<std::string, std::string>> attributes;  // names in lower case

  /// Empty when there is none of this name.
  std::string_view attribute(std::string_view wanted) const;
};

/// Linear in the document, which outlives this. Errors name the file and the line.
class MarkupScanner {
 public:
  MarkupScanner(std::string_view document, std::filesystem::path path) : document_(document), path_(std::move(path)) {}

  /// The text up to the next tag, decoded, and the tag; false at the end, with what text there is. Comments, processing
  /// instructions and the document type are left out. Throws Error for a tag, comment or reference that is not whole.
  bool next(std::string& text, Tag& tag);

  /// SGML as WMT writes it, the default: '&' and '<' that begin nothing stand for themselves. XML: they are errors.
  void set_xml() { xml_ = true; }
  /// Of the last tag, from 1. Linear in the document, over all calls.
  std::uint64_t line();
  /// Throws Error about the place of the last tag, or about where the text before it begins.
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
  std::size_t counted_ = 0;  // of the document, for line()
  std::uint64_t line_ = 1;   // there
  bool xml_ = false;
};

}  // namespace rnnsearch::corpus
