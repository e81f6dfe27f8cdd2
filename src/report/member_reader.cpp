#include "report/member_reader.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "report/figure.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/line_source.h"

namespace rnnsearch::report {

void MemberReader::refuse(const std::string& what) const {
  throw Error("{} {}; the file was not written by rnnsearch or was changed; make it again", place_, what);
}

const Json* MemberReader::find(const char* name) const {
  const Json* member = find_member(json_, name);
  return member == nullptr || member->is_null() ? nullptr : member;
}

std::string MemberReader::text(const char* name) const {
  auto value = optional_text(name);
  if (!value) refuse(fmt::format("has no \"{}\"", name));
  return std::move(*value);
}

std::optional<std::string> MemberReader::optional_text(const char* name) const {
  const Json* member = find(name);
  if (member == nullptr) return {};
  if (!member->is_string()) refuse(fmt::format("has a \"{}\" that is not a text", name));
  return drawable(as_string(*member));
}

double MemberReader::number(const char* name, double low, double high) const {
  const auto value = optional_number(name, low, high);
  if (!value) refuse(fmt::format("has no \"{}\"", name));
  return *value;
}

std::optional<double> MemberReader::optional_number(const char* name, double low, double high) const {
  const Json* member = find(name);
  if (member == nullptr) return {};
  if (!member->is_number()) refuse(fmt::format("has a \"{}\" that is not a number", name));
  const double value = as_number(*member);
  if (!(value >= low && value <= high))
    refuse(fmt::format("has {:g} as \"{}\", which must be from {:g} to {:g}", value, name, low, high));
  return value;
}

std::uint64_t MemberReader::count(const char* name) const {
  const Json* member = find(name);
  const std::string digits = member == nullptr ? "" : json_text(*member);
  std::uint64_t value = 0;  // all 64 bits, more than a double has
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || rest != digits.data() + digits.size())
    refuse(fmt::format("has no \"{}\" that is a whole number from 0 to 2^64 - 1", name));
  return value;
}

bool MemberReader::boolean(const char* name) const {
  const Json* member = find(name);
  if (member == nullptr || !member->is_boolean()) refuse(fmt::format("has no \"{}\" that is true or false", name));
  return as_boolean(*member);
}

MemberReader MemberReader::object(const char* name) const {
  const Json* member = find(name);
  if (member == nullptr || !member->is_object()) refuse(fmt::format("has no object \"{}\"", name));
  return {*member, fmt::format("{}, {}", place_, name)};
}

void MemberReader::each(const char* name, bool optional, const std::function<void(const MemberReader&)>& act) const {
  const Json* list = array(name, optional);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const MemberReader reader((*list)[i], place_of(name, i + 1));
    if (!reader.json().is_object()) reader.refuse("is not an object");
    act(reader);
  }
}

const Json* MemberReader::array(const char* name, bool optional) const {
  const Json* member = find(name);
  if (member == nullptr && optional) return nullptr;
  if (member == nullptr || !member->is_array()) refuse(fmt::format("has no list \"{}\"", name));
  return member;
}

std::string MemberReader::place_of(const char* name, std::size_t i) const {
  return fmt::format("{}, entry {} of {}", place_, i, name);
}

Json read_json_file(const std::filesystem::path& path, const std::string& format, const std::string& maker) {
  const std::string place = path.string();
  Json json = parse_json(read_text_file(path), place);
  const Json* found = find_member(json, "format");
  const std::string name = found != nullptr && found->is_string() ? drawable(as_string(*found)) : "";
  if (name != format) {
    throw Error("{} is not a file of the format {} ({}); make one with {}", place, format,
                name.empty() ? "it names no format" : "its format is " + name, maker);
  }
  const std::uint64_t version = MemberReader(json, place).count("format_version");
  if (version != 1) {
    throw Error("{} has format_version {}, but this version of rnnsearch reads only 1; {} with {}", place, version,
                version > 1 ? "use a newer rnnsearch" : "make it again", maker);
  }
  return json;
}

}  // namespace rnnsearch::report
