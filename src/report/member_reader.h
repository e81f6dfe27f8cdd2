// Reads the members of a JSON file that is not trusted. Errors name the file and the place in it.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "rnnsearch/base/json.h"

namespace rnnsearch::report {

class MemberReader {
 public:
  /// `json` must outlive this object. place: the start of error messages, such as "eval.json: systems, 2".
  MemberReader(const Json& json, std::string place) : json_(json), place_(std::move(place)) {}

  /// Throws Error. what: the rest of the message after the place.
  [[noreturn]] void refuse(const std::string& what) const;

  /// The member, or nullptr if it is missing or null.
  const Json* find(const char* name) const;
  std::string text(const char* name) const;  // converted with `drawable` of figure.h
  std::optional<std::string> optional_text(const char* name) const;
  double number(const char* name, double low, double high) const;
  std::optional<double> optional_number(const char* name, double low, double high) const;
  std::uint64_t count(const char* name) const;
  bool boolean(const char* name) const;
  MemberReader object(const char* name) const;

  /// Calls `act` with a reader for every item of a list of objects. A missing member counts as an empty list if it is
  /// optional.
  void each(const char* name, bool optional, const std::function<void(const MemberReader&)>& act) const;
  const Json* array(const char* name, bool optional) const;
  const Json& json() const { return json_; }
  const std::string& place() const { return place_; }

 private:
  std::string place_of(const char* name, std::size_t i) const;

  const Json& json_;
  std::string place_;
};

/// Reads a file and checks its "format" and its "format_version", which must be 1. maker: the command that writes such
/// files, for errors. Throws Error.
Json read_json_file(const std::filesystem::path& path, const std::string& format, const std::string& maker);

}  // namespace rnnsearch::report
