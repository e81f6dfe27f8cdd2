#include "report/json_file.h"

#include <nlohmann/json.hpp>

#include "report/figures/figure.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/json.h"
#include "rnnsearch/base/line_source.h"

namespace rnnsearch::report {
namespace {

void make_drawable(Json& json) {
  if (json.is_string()) json = drawable(as_string(json));
  if (json.is_array()) {
    for (Json& item : json) make_drawable(item);
  } else if (json.is_object()) {
    Json members = Json::object();
    for (const auto& [name, value] : json.items()) {
      make_drawable(value);
      members[drawable(name)] = std::move(value);
    }
    json = std::move(members);
  }
}

}  // namespace

Json read_json_file(const std::filesystem::path& path, const std::string& format, const std::string& maker) {
  const std::string location = path.string();
  Json json = parse_json(read_text_file(path), location);
  make_drawable(json);
  const Json* found = find_member(json, "format");
  const std::string name = found != nullptr && found->is_string() ? as_string(*found) : "";
  if (name != format) {
    throw Error("{} is not a file of the format {} ({}); make one with {}", location, format,
                name.empty() ? "it names no format" : "its format is " + name, maker);
  }
  std::uint64_t version = 0;
  JsonReader(json, location)("format_version", version);
  if (version != 1) {
    throw Error("{} has format_version {}, but this version of rnnsearch reads only 1; {} with {}", location, version,
                version > 1 ? "use a newer rnnsearch" : "make it again", maker);
  }
  return json;
}

}  // namespace rnnsearch::report
