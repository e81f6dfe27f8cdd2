#include "cli/translation_input.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "cli/n_best.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/base/waiting_input.h"
#include "rnnsearch/corpus/text_stream.h"

namespace rnnsearch::cli {
namespace {

/// Sets `source`, in which line ends count as spaces, unless there is an error. `place` names the line.
Request request_of(const corpus::ArrivedLine& line, const std::string& place, std::string& source) {
  Request request;
  try {
    const auto refuse = [&](const std::string& what) { throw Error(text_of(place, ": ", what)); };
    if (!line.problem.empty()) refuse(line.problem);
    const Json object = Json::parse(line.text, place);
    const Json *const id = object.find("id"), *const text = object.find("source");
    if (id && (id->is_string() || id->is_number())) request.id = *id;
    if (!text || !text->is_string()) {
      refuse("not an object with a string \"source\"; expected {\"id\": 7, \"source\": \"a sentence\"}");
    }
    if (id && !id->is_null() && request.id.is_null()) refuse("its \"id\" is neither a string nor a number");
    if (text->string().find('\0') != std::string::npos) refuse("its \"source\" has a NUL character");
    source = text->string();
    std::replace(source.begin(), source.end(), '\n', ' ');
  } catch (const Error& error) {
    request.error = error.what();
  }
  return request;
}

}  // namespace

TranslationInput::TranslationInput(const std::filesystem::path& path) : path_(path) {
  if (const auto test_set = corpus::test_set_name(path)) {
    segments_ = corpus::read_test_set(*test_set, corpus::TestSetPart::kSource).lines;
    return;
  }
  if (path.empty()) {
    stream_ = std::make_unique<WaitingStream>(STDIN_FILENO, name(), stop_if_signal_came);
  } else {
    stream_ = corpus::open_text(path, stop_if_signal_came);
  }
  lines_.emplace(*stream_, name());
}

TranslationInput::TranslationInput(InputFormat format) : format_(format) {
  arriving_.emplace(STDIN_FILENO, name(), stop_if_signal_came);
}

Portion TranslationInput::next(std::size_t count) {
  if (arriving_) return arrived(count);
  if (lines_) return {lines_->next(count)};
  const auto first = segments_->begin() + static_cast<std::ptrdiff_t>(given_);
  const auto last = first + static_cast<std::ptrdiff_t>(std::min(count, segments_->size() - given_));
  given_ += static_cast<std::size_t>(last - first);
  return {{std::make_move_iterator(first), std::make_move_iterator(last)}};
}

Portion TranslationInput::arrived(std::size_t count) {
  const auto place = [&] { return text_of(name(), ", line ", given_ + 1); };
  const auto refuse = [&](const std::string& problem) {
    throw Error(text_of(place(), ", ", problem, "; the text must be plain UTF-8, one sentence a line"));
  };
  if (!problem_.empty()) refuse(problem_);
  Portion portion;
  for (corpus::ArrivedLine& line : arriving_->next(count)) {
    if (format_ == InputFormat::kJson) {
      portion.requests.push_back(request_of(line, place(), portion.lines.emplace_back()));
    } else if (line.problem.empty()) {
      portion.lines.push_back(std::move(line.text));
    } else {
      if (portion.lines.empty()) refuse(line.problem);
      problem_ = line.problem;
      break;
    }
    ++given_;
  }
  return portion;
}

std::string answer_line(const Request& request, std::size_t line, bool n_best,
                        const std::vector<decode::LineTranslation>& translations) {
  Json answer = Json::object({{"id", request.id}});
  if (!request.error.empty()) {
    answer["error"] = request.error;
    return answer.dump();
  }
  answer["translation"] = translations.front().text;
  for (std::size_t rank = 0; n_best && rank < translations.size(); ++rank) {
    answer["n_best"].push_back(n_best_entry(line, rank, translations[rank]));
  }
  return answer.dump();
}

}  // namespace rnnsearch::cli
