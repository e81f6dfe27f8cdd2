#include "corpus/text_pass.h"

#include <algorithm>
#include <future>
#include <iterator>
#include <span>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/packed.h"
#include "rnnsearch/base/parallel.h"

namespace rnnsearch::corpus {
namespace {

constexpr std::size_t kPiecePairs = 128;

/// The result of one process in a round.
struct Round {
  bool more = true;  // false if the text had ended before this round
  std::uint64_t pairs_read = 0, pairs_kept = 0, further_columns = 0, bytes_read = 0;
  DropCounts dropped;
  std::vector<storage::ShortDigest> blocks;
};

/// The digest of a block: of its bytes and of its line ends.
storage::ShortDigest digest_of(const TextBlock& block) {
  storage::Digest digest;
  for (const TextBlock::Side* side : {&block.source, &block.target}) {
    digest.add(side->bytes).add(std::as_bytes(std::span(side->ends)));
  }
  if (!block.alignments.ends.empty()) {
    digest.add(block.alignments.bytes).add(std::as_bytes(std::span(block.alignments.ends)));
  }
  return storage::short_digest(digest.hex());
}

std::string pack(const Round& round, const std::vector<Piece>& pieces, bool with_pieces) {
  Packer packer;
  packer.add(round.more);
  packer.add(round.pairs_read);
  packer.add(round.pairs_kept);
  packer.add(round.further_columns);
  packer.add(round.bytes_read);
  packer.add(round.dropped);
  packer.add_list(round.blocks);
  packer.add(std::uint64_t{with_pieces ? pieces.size() : 0});
  if (!with_pieces) return packer.take();
  for (const Piece& piece : pieces) {
    for (const Piece::Side* side : {&piece.source, &piece.target}) {
      packer.add_list(side->sizes);
      packer.add_list(side->ids);
    }
    packer.add_list(piece.links.sizes);
    packer.add_list(piece.links.positions);
    packer.add_list(piece.digests);
  }
  return packer.take();
}

/// Returns the round and appends its pieces.
Round unpack(std::string_view packed, std::vector<Piece>& pieces) {
  Unpacker unpacker(packed);
  Round round;
  round.more = unpacker.next<bool>();
  round.pairs_read = unpacker.next<std::uint64_t>();
  round.pairs_kept = unpacker.next<std::uint64_t>();
  round.further_columns = unpacker.next<std::uint64_t>();
  round.bytes_read = unpacker.next<std::uint64_t>();
  round.dropped = unpacker.next<DropCounts>();
  round.blocks = unpacker.next_list<storage::ShortDigest>();
  for (auto left = unpacker.next<std::uint64_t>(); left > 0; --left) {
    Piece& piece = pieces.emplace_back();
    for (Piece::Side* side : {&piece.source, &piece.target}) {
      side->sizes = unpacker.next_list<std::uint32_t>();
      side->ids = unpacker.next_list<WordId>();
    }
    piece.links.sizes = unpacker.next_list<std::uint32_t>();
    piece.links.positions = unpacker.next_list<std::uint32_t>();
    piece.digests = unpacker.next_list<storage::ShortDigest>();
  }
  return round;
}

/// Runs functions on a background thread, one at a time. An exception is rethrown by the next call of run or wait.
class Behind {
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

PassTotals read_text(const std::vector<TextFiles>& texts, const LineLimit& limit,
                     const std::vector<std::optional<LineIndex>>& index, Team& team, const PassSteps& steps,
                     const std::function<void(const PrepareProgress&)>& progress) {
  const bool several = team.size() > 1;
  std::optional<PairReader> reader;
  team.meet(
      [&] {
        reader.emplace(texts, limit, index, team.rank(), team.size());
        return std::string();
      },
      [](const auto&) { return std::string(); });
  PassTotals totals;
  storage::Digest text;
  TextBlock block, next_block;
  std::vector<Piece> pieces, kept, collected;
  Behind keeping, collecting;
  // Reads one block ahead.
  const auto read = [&] { return std::async(std::launch::async, [&] { return reader->next(next_block); }); };
  std::future<bool> reading = read();

  // Processes the blocks of this process in a round, and leaves the results in the first `used` elements of `pieces`.
  std::size_t used = 0;
  const auto work = [&] {
    Round round;
    used = 0;
    do {
      round.more = reading.get();
      if (!round.more) break;
      std::swap(block, next_block);
      reading = read();
      const std::size_t first = used, count = (block.size() + kPiecePairs - 1) / kPiecePairs;
      used += count;
      if (pieces.size() < used) pieces.resize(used);
      parallel_for(count, [&](std::size_t i) {
        Piece& piece = pieces[first + i];
        try {
          steps.work(block, i * kPiecePairs, std::min((i + 1) * kPiecePairs, block.size()), piece);
        } catch (...) {
          piece.error = std::current_exception();
        }
      });
      for (std::size_t i = first; i < used; ++i) {  // throw the first error in the order of the text
        if (pieces[i].error) std::rethrow_exception(std::exchange(pieces[i].error, nullptr));
        round.pairs_kept += pieces[i].kept();
        round.dropped += pieces[i].dropped;
      }
      round.pairs_read += block.size();
      round.further_columns += block.further_columns;
      round.bytes_read = block.bytes_read;
      if (block.size() > 0) round.blocks.push_back(digest_of(block));
    } while (!block.ends_round);
    pieces.resize(used);
    return round;
  };
  const auto add = [&](const Round& round) {
    totals.pairs_read += round.pairs_read;
    totals.pairs_kept += round.pairs_kept;
    totals.further_columns += round.further_columns;
    totals.dropped += round.dropped;
    text.add(std::as_bytes(std::span(round.blocks)));
  };

  for (Round round; round.more;) {
    team.meet(
        [&] {
          round = work();
          return several ? pack(round, pieces, steps.collect != nullptr) : std::string();
        },
        [&](const std::vector<std::string>& parts) {
          std::vector<Piece> from_all;
          if (several) {
            for (const std::string& part : parts) {
              const Round other = unpack(part, from_all);
              if (other.more != round.more) fail_on_change(texts);
              add(other);
            }
          } else {
            add(round);
          }
          if (round.more && several && steps.collect) {
            collecting.wait();
            collected.swap(from_all);
            collecting.run([&] { steps.collect(collected); });
          }
          if (round.more && progress) {
            progress({steps.pass, round.bytes_read, reader->size(), totals.pairs_read});
          }
          return std::string();
        });
    // Errors of the background work are thrown inside meet(), so that all ranks get them.
    const bool own_collecting = !several && steps.collect;
    if (!round.more || (!steps.keep && !own_collecting)) continue;
    team.meet(
        [&] {
          keeping.wait();
          return std::string();
        },
        [](const auto&) { return std::string(); });
    std::swap(pieces, kept);
    keeping.run([&, own_collecting] {
      if (steps.keep) steps.keep(kept);
      if (own_collecting) steps.collect(kept);
    });
  }
  team.meet(
      [&] {
        keeping.wait();
        collecting.wait();
        return std::string();
      },
      [](const auto&) { return std::string(); });
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
  const std::string more = texts.size() == 1 ? "" : text_of(" and ", texts.size() - 1, " more");
  return {first.source.string() + more, (first.target.empty() ? first.source : first.target).string() + more};
}

void fail_on_change(const std::vector<TextFiles>& texts) {
  const auto [source, target] = names_of(texts);
  throw Error(text_of("corpus: ", source, source == target ? "" : " or " + target,
                      " changed while it was read; prepare again when no other process writes to it"));
}

}  // namespace rnnsearch::corpus
