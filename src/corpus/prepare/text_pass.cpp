#include "corpus/prepare/text_pass.h"

#include <algorithm>
#include <future>
#include <span>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/parallel.h"

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

/// Runs functions on a background thread, one at a time. An exception is rethrown by the next call of run or wait.
class BackgroundTask {
 public:
  template <class Act>
  void run(Act act) {
    wait();
    done_ = std::async(std::launch::async, std::move(act));
  }
  void wait() {
    if (done_.valid()) done_.get();
  }

 private:
  std::future<void> done_;
};

}  // namespace

PassTotals read_text(const std::vector<TextFiles>& texts, const LineLimit& limit, const PassSteps& steps,
                     const std::function<void(const PrepareProgress&)>& progress) {
  PairReader reader(texts, limit);
  PassTotals totals;
  storage::Digest text;
  TextBlock block, next_block;
  std::vector<Piece> pieces, kept;
  BackgroundTask keeping;
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
    keeping.wait();
    std::swap(pieces, kept);
    keeping.run([&] { steps.keep(kept); });
  }
  keeping.wait();
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

}  // namespace rnnsearch::corpus
