// JSON values are nlohmann's: objects keep the order in which members were added, integers stay integers. A file that
// makes values or looks into them includes <nlohmann/json.hpp>, which takes a second to compile, so headers do not.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace rnnsearch {

using Json = nlohmann::ordered_json;

/// These throw Error if the value is of another kind. A number may be an integer.
std::int64_t as_integer(const Json& json);
double as_number(const Json& json);
const std::string& as_string(const Json& json);
const Json& as_array(const Json& json);
const Json& as_object(const Json& json);
/// The member of this name. Throws Error if this is not an object or has no such member.
const Json& member(const Json& json, std::string_view name);
/// Likewise, but nullptr in place of Error.
const Json* find_member(const Json& json, std::string_view name);

/// Writes the value, on one line if indent < 0. Doubles are written with the fewest digits that are read back as the
/// same bits. Doubles that JSON cannot represent (NaN, infinities) become null, and bytes that are not UTF-8 become
/// U+FFFD, for which the value's own dump() throws.
std::string json_text(const Json& json, int indent = -1);
/// `what` names the text in errors, for example "log.jsonl, line 7". Throws Error with the position of the error.
Json parse_json(std::string_view text, std::string_view what);

}  // namespace rnnsearch
