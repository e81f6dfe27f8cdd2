#include "corpus/line_index.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "corpus/byte_source.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/packed.h"

namespace rnnsearch::corpus {
namespace {

constexpr std::size_t kBufferBytes = 1 << 20;

/// The line ends in a part of a file. The marks number the lines from 0 at the start of the part.
struct PartLines {
  std::uint64_t count = 0;
  std::vector<LineIndex::Mark> marks;
};

PartLines lines_of(ByteSource& source, std::uint64_t begin, std::uint64_t end) {
  PartLines lines;
  std::vector<char> buffer(kBufferBytes);
  source.seek(begin);
  while (begin < end) {
    const std::size_t size = source.read(
        std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(kBufferBytes, end - begin))));
    if (size == 0) break;
    for (const char *at = buffer.data(), *const last = at + size;
         (at = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(last - at)))) != nullptr;) {
      ++at;
      if (++lines.count % LineIndex::kLines == 0)
        lines.marks.push_back({lines.count, begin + static_cast<std::uint64_t>(at - buffer.data())});
      if (at == last) break;
    }
    begin += size;
  }
  return lines;
}

}  // namespace

LineIndex::Mark LineIndex::before(std::uint64_t line) const {
  const auto after = std::upper_bound(marks_.begin(), marks_.end(), line,
                                      [](std::uint64_t sought, const Mark& mark) { return sought < mark.line; });
  return after == marks_.begin() ? Mark{} : *(after - 1);
}

std::vector<std::optional<LineIndex>> index_lines(const std::vector<std::filesystem::path>& files, Team& team) {
  const auto rank = static_cast<std::uint64_t>(team.rank()), ranks = static_cast<std::uint64_t>(team.size());
  const std::string answer = team.meet(
      [&] {
        Packer packer;
        for (const auto& file : files) {
          const auto source = ByteSource::open(file);
          const std::uint64_t size = source->size();
          const bool plain = source->seek(0);
          const PartLines lines =
              plain ? lines_of(*source, size / ranks * rank, rank + 1 == ranks ? size : size / ranks * (rank + 1))
                    : PartLines{};
          packer.add(size);
          packer.add(plain);
          packer.add(lines.count);
          packer.add_list(lines.marks);
        }
        return packer.take();
      },
      [&](const std::vector<std::string>& parts) {
        std::vector<Unpacker> unpackers(parts.begin(), parts.end());
        Packer packer;
        for (const auto& file : files) {
          std::uint64_t first_size = 0, before = 0;
          bool plain = false;
          std::vector<LineIndex::Mark> marks;
          for (std::size_t i = 0; i < unpackers.size(); ++i) {
            const auto size = unpackers[i].next<std::uint64_t>();
            if (i == 0) first_size = size;
            if (size != first_size)
              throw Error(text_of("corpus: ", file.string(), " has ", size, " bytes on rank ", i, " and ", first_size,
                                  " on rank 0; name a file on a file system that the ranks share"));
            plain = unpackers[i].next<bool>();
            const auto count = unpackers[i].next<std::uint64_t>();
            for (auto [line, offset] : unpackers[i].next_list<LineIndex::Mark>()) {
              marks.push_back({before + line, offset});
            }
            before += count;
          }
          packer.add(plain);
          packer.add_list(marks);
        }
        return packer.take();
      });
  std::vector<std::optional<LineIndex>> indexes;
  Unpacker unpacker(answer);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const bool plain = unpacker.next<bool>();
    auto marks = unpacker.next_list<LineIndex::Mark>();
    if (plain) {
      indexes.emplace_back(std::move(marks));
    } else {
      indexes.emplace_back();
    }
  }
  return indexes;
}

}  // namespace rnnsearch::corpus
