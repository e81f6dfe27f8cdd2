#include "corpus/prepare/text_pass.h"

#include <algorithm>
#include <future>
#include <limits>
#include <span>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/option.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/corpus/text_lines.h"

namespace rnnsearch::corpus {
namespace {

constexpr std::size_t kPiecePairs = 128;

/// The digest of a block: of its bytes and of its line ends.
storage::ShortDigest digest_of(const TextBlock& block) {
  storage::Digest digest;
  for (const TextBlock::Side* side : {&block.source, &block.target, &block.alignments, &block.weights}) {
    digest.add(side->bytes).add(std::as_bytes(std::span(side->ends)));
  }
  return storage::short_digest(digest.hex());
}

/// The weight of a pair; 1 if the text has none.
float weight_of(const TextBlock& block, std::size_t pair) {
  if (block.weights.ends.empty()) return 1;
  double weight = 0;
  const bool is_number = value::read(std::string(block.weights[pair]), weight);
  if (!is_number || !(weight >= 0 && weight <= std::numeric_limits<float>::max()))
    throw Error("corpus: {} line {}: '{}' is not a weight; each line must hold one number from 0 to {:g}, such as 0.5",
                block.weights.path, block.first_line + pair, printable(block.weights[pair]),
                std::numeric_limits<float>::max());
  return static_cast<float>(weight);
}

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

PassTotals read_text(const std::vector<TextFiles>& texts, const LineLimit& limit, const PassSteps& steps,
                     const std::function<void(const PrepareProgress&)>& progress) {
  PairReader reader(texts, limit);
  PassTotals totals;
  storage::Digest text;
  TextBlock block, next_block;
  std::vector<Piece> pieces, kept;
  std::future<void> keeping;  // steps.keep, of the block before
  const auto keep_before = [&] {
    if (keeping.valid()) keeping.get();
  };
  // Reads one block ahead.
  const auto read = [&] { return std::async(std::launch::async, [&] { return reader.next(next_block); }); };
  for (std::future<bool> reading = read(); reading.get();) {
    std::swap(block, next_block);
    reading = read();
    pieces.resize((block.size() + kPiecePairs - 1) / kPiecePairs);
    parallel_for(pieces.size(), [&](std::size_t i) {
      try {
        steps.work(block, i * kPiecePairs, std::min((i + 1) * kPiecePairs, block.size()), pieces[i]);
      } catch (...) {
        pieces[i].error = std::current_exception();
      }
    });
    for (Piece& piece : pieces) {  // throw the first error in the order of the text
      if (piece.error) std::rethrow_exception(std::exchange(piece.error, nullptr));
      totals.pairs_kept += piece.kept();
      totals.dropped += piece.dropped;
    }
    totals.pairs_read += block.size();
    totals.further_columns += block.further_columns;
    const storage::ShortDigest digest = digest_of(block);
    text.add(std::as_bytes(std::span(&digest, 1)));
    if (progress) progress({steps.pass, block.bytes_read, reader.size(), totals.pairs_read});
    keep_before();
    std::swap(pieces, kept);
    keeping = std::async(std::launch::async, [&] { steps.keep(kept); });
  }
  keep_before();
  totals.digest = text.hex();
  return totals;
}

void check_pair(const TextBlock& block, std::size_t pair) {
  const std::uint64_t line = block.first_line + pair;
  check_text(block.source.path.native(), line, block.source[pair]);
  check_text(block.target.path.native(), line, block.target[pair], block.columns ? block.source[pair].size() + 1 : 0);
}

std::pair<std::string, std::string> names_of(const std::vector<TextFiles>& texts) {
  const TextFiles& first = texts.front();
  const std::string more = texts.size() == 1 ? "" : fmt::format(" and {} more", texts.size() - 1);
  return {first.source.string() + more, (first.target.empty() ? first.source : first.target).string() + more};
}

void fail_on_change(const std::vector<TextFiles>& texts) {
  const auto [source, target] = names_of(texts);
  throw Error("corpus: {}{} changed while it was read; prepare again when no other process writes to it", source,
              source == target ? "" : " or " + target);
}

void split_pairs(const PrepareOptions& options, const PairCleaner& cleaner, const PairSet& repeated,
                 const TextBlock& block, std::size_t first, std::size_t last, Piece& piece) {
  const TextPipeline& pipeline = options.pipeline;
  for (Piece::Side* side : {&piece.source, &piece.target}) {
    side->words.clear();
    side->sizes.clear();
  }
  piece.dropped = {};
  piece.links.sizes.clear();
  piece.links.positions.clear();
  piece.weights.clear();
  const bool of_words = options.alignments_of == "words";
  text::WordList source, target;
  for (std::size_t i = first; i < last; ++i) {
    check_pair(block, i);
    source.clear();
    target.clear();
    if (pipeline.copies) {
      std::string source_line(block.source[i]), target_line(block.target[i]);
      pipeline.replace_copies(source_line, target_line);
      pipeline.to_words(source_line, Side::kSource, source);
      pipeline.to_words(target_line, Side::kTarget, target);
    } else {
      pipeline.to_words(block.source[i], Side::kSource, source);
      pipeline.to_words(block.target[i], Side::kTarget, target);
    }
    auto reason = cleaner.reason(block.source[i], source, block.target[i], target);
    if (!reason && repeated.contains(block.first_pair + i)) reason = Drop::kRepeated;
    const float weight = weight_of(block, i);
    if (reason) {
      ++piece.dropped[*reason];
      continue;
    }
    for (const auto& [words, side] : {std::pair{&source, &piece.source}, {&target, &piece.target}}) {
      side->words.add(*words);
      side->sizes.push_back(static_cast<std::uint32_t>(words->size()));
    }
    piece.weights.push_back(weight);
    if (block.alignments.ends.empty()) continue;
    const std::size_t before = piece.links.positions.size();
    const auto pieces = [&](std::string_view line, Side side, const text::WordList& words) {
      return of_words && pipeline.source_subwords ? pipeline.pieces_of_words(line, side, words)
                                                  : whole_words(words.size());
    };
    const std::string wrong = read_links(block.alignments[i], pieces(block.source[i], Side::kSource, source),
                                         pieces(block.target[i], Side::kTarget, target), piece.links.positions);
    if (!wrong.empty())
      throw Error("corpus: {} line {}: {}; with --alignments-of {}, links such as 0-0 1-2 are between {}",
                  block.alignments.path, block.first_line + i, wrong, options.alignments_of,
                  of_words ? "the words into which --tokenizer splits a pair" : "the subwords of a pair");
    piece.links.sizes.push_back(static_cast<std::uint32_t>(piece.links.positions.size() - before));
  }
}

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
