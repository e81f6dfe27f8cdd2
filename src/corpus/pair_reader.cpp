#include "corpus/pair_reader.h"

#include <algorithm>
#include <utility>

#include "rnnsearch/base/error.h"

namespace rnnsearch::corpus {

void fail_on_counts(LineReader& a, LineReader& b) {
  const std::uint64_t a_lines = a.lines() + a.skip_rest(), b_lines = b.lines() + b.skip_rest();
  throw Error(text_of("corpus: ", a.path().string(), " has ", a_lines, " lines but ", b.path().string(), " has ",
                      b_lines, "; line i of one file must be the translation of line i of the other"));
}

std::vector<std::filesystem::path> files_of(const std::vector<TextFiles>& texts) {
  std::vector<std::filesystem::path> files;
  for (const TextFiles& text : texts) {
    files.push_back(text.source);
    if (!text.target.empty()) files.push_back(text.target);
    if (!text.alignments.empty()) files.push_back(text.alignments);
  }
  return files;
}

namespace {

std::unique_ptr<LineReader> source_of(const TextFiles& text, const LineLimit& limit) {
  return std::make_unique<LineReader>(text.source, limit);
}

std::unique_ptr<LineReader> target_of(const TextFiles& text, const LineLimit& limit) {
  if (text.target.empty()) return nullptr;
  return std::make_unique<LineReader>(text.target, limit);
}

std::unique_ptr<LineReader> alignments_of(const TextFiles& text, const LineLimit& limit) {
  if (text.alignments.empty()) return nullptr;
  return std::make_unique<LineReader>(text.alignments, limit);
}

[[noreturn]] void fail_on_count_of_alignments(LineReader& source, LineReader& alignments) {
  const std::uint64_t pairs = source.lines() + source.skip_rest();
  const std::uint64_t lines = alignments.lines() + alignments.skip_rest();
  throw Error(text_of("corpus: ", alignments.path().string(), " has ", lines, " lines but ", source.path().string(),
                      " has ", pairs, "; line i must hold the links of pair i, and be empty if it has none"));
}

}  // namespace

PairReader::PairReader(std::vector<TextFiles> texts, const LineLimit& limit) : texts_(std::move(texts)), limit_(limit) {
  for (const TextFiles& text : texts_) {  // open all texts now, so that a missing file is not found after an hour
    size_ += source_of(text, limit_)->size();
    if (const auto target = target_of(text, limit_)) size_ += target->size();
    if (const auto alignments = alignments_of(text, limit_)) size_ += alignments->size();
  }
}

void PairReader::open_text() {
  const TextFiles& text = texts_[next_text_++];
  source_ = source_of(text, limit_);
  target_ = target_of(text, limit_);
  alignments_ = alignments_of(text, limit_);
}

void PairReader::close_text() {
  pairs_before_ += source_->lines();
  bytes_before_ += source_->size() + (target_ ? target_->size() : 0) + (alignments_ ? alignments_->size() : 0);
  source_.reset();
  target_.reset();
  alignments_.reset();
}

// Appends the links of the next pair, if there are alignments and there is `more` text. Returns `more`.
bool PairReader::append_links(bool more, TextBlock& block) {
  if (!alignments_) return more;
  if (more != alignments_->append(block.alignments.bytes)) fail_on_count_of_alignments(*source_, *alignments_);
  if (more) block.alignments.ends.push_back(block.alignments.bytes.size());
  return more;
}

// Appends the next pair of the current text. Returns false at its end.
bool PairReader::append(TextBlock& block) {
  if (target_) {
    const bool more = source_->append(block.source.bytes);
    if (more != target_->append(block.target.bytes)) fail_on_counts(*source_, *target_);
    if (!append_links(more, block)) return false;
  } else {
    line_.clear();
    if (!append_links(source_->append(line_), block)) return false;
    const std::size_t tab = line_.find('\t');
    if (tab == std::string::npos)
      throw Error(text_of("corpus: ", source_->path().string(), " line ", source_->lines(),
                          " has no tab; a source sentence, a tab and its translation were expected"));
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
    if (alignments_) block.alignments.resize(whole);
    error_ = std::current_exception();
  }
  block.bytes_read =
      bytes_before_ + source_->bytes() + (target_ ? target_->bytes() : 0) + (alignments_ ? alignments_->bytes() : 0);
  if (!more) close_text();
}

bool PairReader::next(TextBlock& block) {
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  block.source.clear();
  block.target.clear();
  block.alignments.clear();
  block.further_columns = 0;
  while (block.size() == 0) {
    if (!source_) {
      if (next_text_ == texts_.size()) return false;
      open_text();
    }
    block.source.path = source_->path();
    block.target.path = target_ ? target_->path() : source_->path();
    if (alignments_) block.alignments.path = alignments_->path();
    block.columns = !target_;
    block.first_line = source_->lines() + 1;
    block.first_pair = pairs_before_ + source_->lines();
    read(block);
  }
  return true;
}

}  // namespace rnnsearch::corpus
