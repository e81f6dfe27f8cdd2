#include "corpus/prepare/pair_reader.h"

#include <algorithm>
#include <utility>

#include "rnnsearch/base/error.h"

namespace rnnsearch::corpus {

std::vector<std::filesystem::path> files_of(const std::vector<TextFiles>& texts) {
  std::vector<std::filesystem::path> files;
  for (const TextFiles& text : texts) {
    files.push_back(text.source);
    if (!text.target.empty()) files.push_back(text.target);
    for (const Companion& companion : kCompanions)
      if (!(text.*companion.path).empty()) files.push_back(text.*companion.path);
  }
  return files;
}

namespace {

constexpr const char* kOfTranslations = "line i of one file must be the translation of line i of the other";

std::unique_ptr<TrainingFile> opened(const std::filesystem::path& path, const LineLimit& limit) {
  return path.empty() ? nullptr : std::make_unique<TrainingFile>(path, limit);
}

std::uint64_t lines_in(TrainingFile& file) {
  for (Line line; file.text.next(line);) {
  }
  return file.text.lines();
}

/// Counts the remaining lines of two files and throws Error with the different numbers of lines.
[[noreturn]] void fail_on_counts(TrainingFile& a, TrainingFile& b, const char* advice) {
  const std::uint64_t a_lines = lines_in(a), b_lines = lines_in(b);
  throw Error("corpus: {} has {} lines but {} has {}; {}", a.bytes.path(), a_lines, b.bytes.path(), b_lines, advice);
}

}  // namespace

PairReader::PairReader(std::vector<TextFiles> texts, const LineLimit& limit) : texts_(std::move(texts)), limit_(limit) {
  // Open all texts now, so that a missing file is not found after an hour.
  for (const auto& file : files_of(texts_)) size_ += ByteSource::open(file)->size();
}

void PairReader::open_text() {
  const TextFiles& text = texts_[next_text_++];
  source_ = opened(text.source, limit_);
  target_ = opened(text.target, limit_);
  for (std::size_t k = 0; k < kCompanions.size(); ++k) companions_[k] = opened(text.*kCompanions[k].path, limit_);
}

std::vector<const ByteSource*> PairReader::open_files() const {
  std::vector<const ByteSource*> files;
  const auto add = [&](const std::unique_ptr<TrainingFile>& file) {
    if (file) files.push_back(&file->bytes);
  };
  add(source_);
  add(target_);
  for (const auto& file : companions_) add(file);
  return files;
}

void PairReader::close_text() {
  if (source_->text.lines() == 0) throw Error("corpus: cannot read {}: it is empty", source_->bytes.path());
  pairs_before_ += source_->text.lines();
  for (const ByteSource* file : open_files()) bytes_before_ += file->size();
  source_.reset();
  target_.reset();
  for (auto& file : companions_) file.reset();
}

// Appends the lines of the companions for the next pair, if there is `more` text. Returns `more`.
bool PairReader::append_companions(bool more, TextBlock& block) {
  for (std::size_t k = 0; k < kCompanions.size(); ++k) {
    if (!companions_[k]) continue;
    TextBlock::Side& lines = block.*kCompanions[k].lines;
    if (more != companions_[k]->text.append(lines.bytes))
      fail_on_counts(*companions_[k], *source_, kCompanions[k].advice);
    if (more) lines.ends.push_back(lines.bytes.size());
  }
  return more;
}

// Appends the next pair of the current text. Returns false at its end.
bool PairReader::append(TextBlock& block) {
  if (target_) {
    const bool more = source_->text.append(block.source.bytes);
    if (more != target_->text.append(block.target.bytes)) fail_on_counts(*source_, *target_, kOfTranslations);
    if (!append_companions(more, block)) return false;
  } else {
    line_.clear();
    if (!append_companions(source_->text.append(line_), block)) return false;
    const std::size_t tab = line_.find('\t');
    if (tab == std::string::npos)
      throw Error("corpus: {} line {} has no tab; a source sentence, a tab and its translation were expected",
                  source_->bytes.path(), source_->text.lines());
    const std::size_t end = std::min(line_.find('\t', tab + 1), line_.size());
    block.further_columns += end < line_.size() ? 1 : 0;
    block.source.bytes.append(line_, 0, tab);
    block.target.bytes.append(line_, tab + 1, end - tab - 1);
  }
  block.source.ends.push_back(block.source.bytes.size());
  block.target.ends.push_back(block.target.bytes.size());
  return true;
}

// Reads pairs of the current text until the block is complete, the text ends, or an error occurs.
void PairReader::read(TextBlock& block) {
  bool more = true;
  try {
    while (more && block.size() < kPairs && block.source.bytes.size() < kBytes && block.target.bytes.size() < kBytes)
      more = append(block);
  } catch (...) {
    if (block.size() == 0) throw;
    const std::size_t whole = std::min(block.source.ends.size(), block.target.ends.size());
    block.source.resize(whole);
    block.target.resize(whole);
    for (std::size_t k = 0; k < kCompanions.size(); ++k)
      if (companions_[k]) (block.*kCompanions[k].lines).resize(whole);
    error_ = std::current_exception();
  }
  block.bytes_read = bytes_before_;
  for (const ByteSource* file : open_files()) block.bytes_read += file->position();
  if (!more) close_text();
}

bool PairReader::next(TextBlock& block) {
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  block.source.clear();
  block.target.clear();
  for (const Companion& companion : kCompanions) (block.*companion.lines).clear();
  block.further_columns = 0;
  while (block.size() == 0) {
    if (!source_) {
      if (next_text_ == texts_.size()) return false;
      open_text();
    }
    block.source.path = source_->bytes.path();
    block.target.path = target_ ? target_->bytes.path() : source_->bytes.path();
    for (std::size_t k = 0; k < kCompanions.size(); ++k)
      if (companions_[k]) (block.*kCompanions[k].lines).path = companions_[k]->bytes.path();
    block.columns = !target_;
    block.first_line = source_->text.lines() + 1;
    block.first_pair = pairs_before_ + source_->text.lines();
    read(block);
  }
  return true;
}

}  // namespace rnnsearch::corpus
