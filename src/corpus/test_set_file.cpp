#include "rnnsearch/corpus/test_set_file.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>

#include "corpus/byte_source.h"
#include "corpus/markup.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/line_source.h"

namespace rnnsearch::corpus {
namespace {

namespace fs = std::filesystem;

std::string lowered(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

bool is_markup(const fs::path& path) {
  std::string name = lowered(path.filename().string());
  for (const char* packed : {".gz", ".zst", ".xz"}) {
    if (!name.ends_with(packed)) continue;
    name.resize(name.size() - std::string_view(packed).size());
    break;
  }
  return name.ends_with(".sgm") || name.ends_with(".sgml") || name.ends_with(".xml");
}

/// The elements of the format and the parents of each. Other elements are ignored if they hold no text.
struct Element {
  std::string_view name, parents;
};
constexpr std::array<Element, 10> kElements{{{"mteval", "|"},
                                             {"srcset", "|mteval|"},
                                             {"refset", "|mteval|"},
                                             {"tstset", "|mteval|"},
                                             {"dataset", "|"},
                                             {"collection", "dataset|"},
                                             {"doc", "srcset|refset|tstset|dataset|collection|"},
                                             {"src", "doc|"},
                                             {"ref", "doc|"},
                                             {"hyp", "doc|"}}};
constexpr std::string_view kSegment = "seg";

bool is_side(std::string_view name) {
  return name == "src" || name == "ref" || name == "hyp";
}

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/// Replaces runs of white space by one space and removes white space at both ends.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (!is_space(c)) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  if (line.ends_with(' ')) line.pop_back();
  return line;
}

/// One translator, one system, or the source.
struct Voice {
  std::string who;
  TestSet set;
  std::uint64_t documents = 0;      // number of documents that hold it
  std::uint64_t last_document = 0;  // the last of these documents, from 1
};

class Reader {
 public:
  Reader(std::string_view document, const TestSetName& name, TestSetPart part)
      : name_(name),
        wanted_(part == TestSetPart::kSource      ? "src"
                : part == TestSetPart::kReference ? "ref"
                                                  : "hyp"),
        scanner_(document, name.file) {}

  TestSet read() {
    std::string text, segment;
    bool in_segment = false;
    for (Tag tag; scanner_.next(text, tag);) {
      if (in_segment) {
        segment += text;
        if (tag.name != kSegment || tag.begins) {
          scanner_.fail(
              text_of("the tag <", tag.begins ? "" : "/", tag.name, "> is inside a segment; is </seg> missing?"));
        }
        in_segment = false;
        add(segment);
        continue;
      }
      refuse_text(text);
      if (tag.name == kSegment) {
        check_segment(tag);
        if (tag.ends) {
          add("");
        } else {
          in_segment = true;
          segment.clear();
        }
        continue;
      }
      if (tag.begins) begin(tag);
      if (tag.ends) end(tag);
    }
    if (in_segment) scanner_.fail("the file ends inside a segment, so it is truncated");
    refuse_text(text);
    if (!open_.empty()) scanner_.fail(text_of("the file ends without </", open_.back(), ">, so it is truncated"));
    if (!rooted_) scanner_.fail(text_of("the file has no tags", kExpected));
    return chosen();
  }

 private:
  static constexpr const char* kExpected =
      "; a test set of WMT was expected (<srcset>, <refset>, <tstset> or <dataset>); the name of plain text must not "
      "end with .sgm, .sgml or .xml";

  void refuse_text(std::string_view text) {
    if (std::all_of(text.begin(), text.end(), is_space)) return;
    scanner_.fail_text(rooted_ ? std::string("there is text outside of <seg>; is a <seg> tag missing?")
                               : text_of("there is text before the first tag", kExpected));
  }

  void begin(const Tag& tag) {
    const auto element =
        std::find_if(kElements.begin(), kElements.end(), [&](const Element& e) { return e.name == tag.name; });
    const bool first = open_.empty();
    if (element == kElements.end() || (first && !element->parents.starts_with('|'))) {
      if (first) scanner_.fail(text_of("<", tag.name, "> is the first tag", kExpected));
      return;
    }
    const std::string parent = first ? "|" : open_.back() + "|";
    if (first && rooted_) scanner_.fail(text_of("<", tag.name, "> follows the end of the test set"));
    if (element->parents.find(parent) == std::string_view::npos || (is_side(tag.name) && !dataset_)) {
      scanner_.fail(text_of("<", tag.name, "> is inside <", open_.back(), ">; is a tag missing before it?"));
    }
    rooted_ = true;
    if (tag.name == "dataset") {
      dataset_ = true;
      scanner_.set_xml();
    } else if (tag.name.ends_with("set") && sets_++ > 0) {
      scanner_.fail(text_of("<", tag.name, "> is the second set of the file; put each set into a file of its own"));
    } else if (tag.name == "doc") {
      ++documents_;
      document_ = std::string(tag.attribute("docid").empty() ? tag.attribute("id") : tag.attribute("docid"));
      first_side_.clear();
      if (!dataset_) speak(open_.back() == "srcset" ? std::string_view() : tag.attribute("sysid"));
    } else if (is_side(tag.name)) {
      side_segments_ = 0;
      if (tag.name == wanted_) {
        speak(wanted_ == "src"   ? std::string_view()
              : wanted_ == "ref" ? tag.attribute("translator")
                                 : tag.attribute("system"));
      }
    }
    open_.push_back(tag.name);
  }

  void end(const Tag& tag) {
    if (std::none_of(kElements.begin(), kElements.end(), [&](const Element& e) { return e.name == tag.name; })) return;
    if (open_.empty() || open_.back() != tag.name) {
      scanner_.fail(open_.empty() ? text_of("</", tag.name, "> has no start tag")
                                  : text_of("</", tag.name, "> was found where </", open_.back(), "> was expected"));
    }
    open_.pop_back();
    if (!is_side(tag.name)) return;
    if (first_side_.empty()) {
      first_side_ = tag.name;
      first_segments_ = side_segments_;
    } else if (side_segments_ != first_segments_) {
      scanner_.fail(text_of("<", tag.name, "> ends with ", side_segments_, " segments, but <", first_side_,
                            "> of this document has ", first_segments_));
    }
  }

  /// Assigns the following segments to `who`.
  void speak(std::string_view who) {
    const auto [place, added] = index_.emplace(std::string(who), voices_.size());
    if (added) voices_.push_back({place->first, {}});
    voice_ = place->second;
    Voice& voice = voices_[voice_];
    if (voice.last_document == documents_) {
      scanner_.fail(text_of("one document has a second <", wanted_, "> ", shown(who)));
    }
    voice.last_document = documents_;
    ++voice.documents;
  }

  void check_segment(const Tag& tag) {
    if (!tag.begins) scanner_.fail("</seg> has no <seg>");
    if (open_.empty() || (dataset_ ? !is_side(open_.back()) : open_.back() != "doc")) {
      scanner_.fail(text_of("<seg> is outside of ", dataset_ ? "<src>, <ref> and <hyp>" : "<doc>"));
    }
    segment_ = {document_, std::string(tag.attribute("id")), scanner_.line()};
  }

  void add(std::string_view segment) {
    ++side_segments_;
    if (dataset_ && open_.back() != wanted_) return;
    voices_[voice_].set.lines.push_back(one_line(segment));
    voices_[voice_].set.names.push_back(std::move(segment_));
  }

  std::string shown(std::string_view who) const {
    return who.empty() ? std::string("without a name") : text_of("of '", who, "'");
  }

  TestSet chosen() {
    const auto refuse = [&](const std::string& reason) {
      throw Error(text_of("corpus: ", name_.file.string(), " ", reason));
    };
    std::string names;
    for (const Voice& voice : voices_) names += (names.empty() ? "" : ", ") + shown(voice.who);
    const std::string element = dataset_ ? "<" + wanted_ + ">" : "<doc>";
    if (voices_.empty()) refuse(text_of("holds no ", element));
    std::size_t index = 0;
    if (!name_.who.empty()) {
      const auto found = index_.find(name_.who);
      if (found == index_.end()) refuse(text_of("has no ", element, " of '", name_.who, "', only ", names));
      index = found->second;
    } else if (voices_.size() > 1) {
      refuse(
          text_of("has ", element, " ", names, "; choose one by appending its name: ", name_.file.string(), "@NAME"));
    }
    Voice& voice = voices_[index];
    if (dataset_ && voice.documents != documents_) {
      refuse(text_of("has ", element, " ", shown(voice.who), " in ", voice.documents, " of its ", documents_,
                     " documents; remove the other documents from the file"));
    }
    if (voice.set.lines.empty()) refuse("holds no segments");
    return std::move(voice.set);
  }

  const TestSetName& name_;
  const std::string wanted_;
  MarkupScanner scanner_;
  std::vector<std::string> open_;  // the open elements, outermost first
  bool rooted_ = false, dataset_ = false;
  std::uint64_t sets_ = 0, documents_ = 0, side_segments_ = 0;
  std::string document_;    // name of the current document
  TestSet::Name segment_;   // name of the current segment
  std::string first_side_;  // the first complete side of the document (<src>, <ref> or <hyp>); empty if there is none
  std::uint64_t first_segments_ = 0;
  std::vector<Voice> voices_;
  std::map<std::string, std::size_t, std::less<>> index_;  // from a name to its index in voices_
  std::size_t voice_ = 0;
};

}  // namespace

std::optional<TestSetName> test_set_name(const fs::path& path) {
  if (is_markup(path)) return TestSetName{path, {}};
  const std::string text = path.string();
  const std::size_t at = text.rfind('@');
  std::error_code ignored;
  if (at == std::string::npos || at + 1 == text.size() || !is_markup(text.substr(0, at)) || fs::exists(path, ignored)) {
    return std::nullopt;
  }
  return TestSetName{text.substr(0, at), text.substr(at + 1)};
}

TestSet segments_of(std::string_view document, const TestSetName& name, TestSetPart part) {
  const std::string text = checked_text(document, name.file.string());
  return Reader(text, name, part).read();
}

std::filesystem::path file_named(const std::filesystem::path& path) {
  const auto name = test_set_name(path);
  return name ? name->file : path;
}

TestSet read_test_set(const TestSetName& name, TestSetPart part, const LineLimit& limit) {
  const auto source = ByteSource::open(name.file);
  std::string document;
  std::vector<char> buffer(1 << 18);
  while (const std::size_t count = source->read(buffer)) {
    document.append(buffer.data(), count);
    if (document.size() > kTestSetBytes) {
      throw Error(text_of("corpus: ", name.file.string(), " is longer than the ", kTestSetBytes >> 20,
                          " MiB that a test set may have; convert it to plain text with one sentence per line"));
    }
  }
  TestSet set = segments_of(document, name, part);
  for (std::size_t i = 0; i < set.lines.size(); ++i) {
    if (set.lines[i].size() <= limit.max_line_bytes) continue;
    limit.refuse(text_of("corpus: ", name.file.string(), " line ", set.names[i].line, ": the segment is "),
                 set.lines[i]);
  }
  return set;
}

void check_same_segments(const fs::path& a_path, const TestSet& a, const fs::path& b_path, const TestSet& b) {
  const auto said = [](const TestSet::Name& name) {
    return text_of("segment '", name.segment, "' of document '", name.document, "'");
  };
  for (std::size_t i = 0; i < std::min(a.names.size(), b.names.size()); ++i) {
    const TestSet::Name &in_a = a.names[i], &in_b = b.names[i];
    if (in_a.document.empty() || in_a.segment.empty() || in_b.document.empty() || in_b.segment.empty()) continue;
    if (in_a.document == in_b.document && in_a.segment == in_b.segment) continue;
    throw Error(text_of("corpus: ", b_path.string(), " line ", in_b.line, ": found ", said(in_b), ", but expected ",
                        said(in_a), ", which is in ", a_path.string(), " line ", in_a.line,
                        "; both files must have their segments in the same order"));
  }
}

}  // namespace rnnsearch::corpus
