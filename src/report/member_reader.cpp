#include "report/member_reader.h"

#include <charconv>

#include "report/figure.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/line_source.h"

namespace rnnsearch::report {

void MemberReader::refuse(const std::string& what) const {
  throw Error(text_of(place_, " ", what, "; the file was not written by rnnsearch or was changed; make it again"));
}

const Json* MemberReader::find(const char* name) const {
  const Json* member = json_.find(name);
  return member == nullptr || member->is_null() ? nullptr : member;
}

std::string MemberReader::text(const char* name) const {
  auto value = optional_text(name);
  if (!value) refuse(text_of("has no \"", name, "\""));
  return std::move(*value);
}

std::optional<std::string> MemberReader::optional_text(const char* name) const {
  const Json* member = find(name);
  if (member == nullptr) return {};
  if (!member->is_string()) refuse(text_of("has a \"", name, "\" that is not a text"));
  return drawable(member->string());
}

double MemberReader::number(const char* name, double low, double high) const {
  const auto value = optional_number(name, low, high);
  if (!value) refuse(text_of("has no \"", name, "\""));
  return *value;
}

std::optional<double> MemberReader::optional_number(const char* name, double low, double high) const {
  const Json* member = find(name);
  if (member == nullptr) return {};
  if (!member->is_number()) refuse(text_of("has a \"", name, "\" that is not a number"));
  const double value = member->number();
  if (!(value >= low && value <= high)) {
    refuse(text_of("has ", value, " as \"", name, "\", which must be from ", low, " to ", high));
  }
  return value;
}

std::uint64_t MemberReader::count(const char* name) const {
  const Json* member = find(name);
  const std::string digits = member == nullptr ? "" : member->dump();
  std::uint64_t value = 0;  // all 64 bits, more than a double has
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || rest != digits.data() + digits.size()) {
    refuse(text_of("has no \"", name, "\" that is a whole number from 0 to 2^64 - 1"));
  }
  return value;
}

bool MemberReader::boolean(const char* name) const {
  const Json* member = find(name);
  if (member == nullptr || (*member != Json(true) && *member != Json(false))) {
    refuse(text_of("has no \"", name, "\" that is true or false"));
  }
  return member->boolean();
}

MemberReader MemberReader::object(const char* name) const {
  const Json* member = find(name);
  if (member == nullptr || !member->is_object()) refuse(text_of("has no object \"", name, "\""));
  return {*member, text_of(place_, ", ", name)};
}

const Json* MemberReader::array(const char* name, bool optional) const {
  const Json* member = find(name);
  if (member == nullptr && optional) return nullptr;
  if (member == nullptr || !member->is_array()) refuse(text_of("has no list \"", name, "\""));
  return member;
}

std::string MemberReader::place_of(const char* name, std::size_t i) const {
  return text_of(place_, ", entry ", i, " of ", name);
}

Json read_json_file(const std::filesystem::path& path, const std::string& format, const std::string& maker) {
  const std::string place = path.string();
  Json json = Json::parse(read_text_file(path), place);
  const Json* found = json.find("format");
  const std::string name = found != nullptr && found->is_string() ? drawable(found->string()) : "";
  if (name != format) {
    throw Error(text_of(place, " is not a file of the format ", format, " (",
                        name.empty() ? "it names no format" : "its format is " + name, "); make one with ", maker));
  }
  const std::uint64_t version = MemberReader(json, place).count("format_version");
  if (version != 1) {
    throw Error(text_of(place, " has format_version ", version, ", but this version of rnnsearch reads only 1; ",
                        version > 1 ? "use a newer rnnsearch" : "make it again", " with ", maker));
  }
  return json;
}

}  // namespace rnnsearch::report
