// Distributes items over the ranks, computes them there, and returns the results to the root in the order of the items.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/base/packed.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/comm/communicator.h"

namespace rnnsearch::decode {

/// Batches of items that are computed together, as the numbers of the items. Batch k goes to rank k mod ranks.
using Assignment = std::vector<std::vector<std::uint64_t>>;

/// Batches of at most `batch_items`, the longest items first, equally long ones in their order. Batches are cut before
/// they are assigned, so that no rounding depends on the number of ranks.
Assignment by_length(std::span<const std::size_t> lengths, std::size_t batch_items);
/// Item i goes to rank i mod ranks; each rank computes all its items together.
Assignment round_robin(std::size_t items, std::size_t ranks);

/// Runs `act`, in which computations end at a stop signal, and returns early when one came.
void until_stopped(const std::function<void()>& act);

/// COLLECTIVE. `items` and `assignment` are those of the root. Every rank calls work(batch), where `batch` is a vector
/// const Item*, for its batches; it returns an optional Result for each item. The root gets the results in the order of
/// the items, the other ranks nothing. A rank that receives a signal stops: its remaining items have no result, and the
/// caller asks comm::stop_signal_came_anywhere. Items and results are sent as `Packer` does. An exception of
/// `work` is thrown on that rank only.
template <class Item, class Result, class Work>
std::vector<std::optional<Result>> distribute(const comm::Communicator& communicator, std::span<const Item> items,
                                              const Assignment& assignment, Work&& work) {
  Packer packer;  // a text for each batch, so that a rank skips those of others
  for (const auto& numbers : assignment) {
    Packer part;
    part.add(numbers);
    for (const std::uint64_t number : numbers) part.add(items[number]);
    packer.add(part.take());
  }
  std::string message = packer.take();
  communicator.broadcast(message);
  Packer own;
  until_stopped([&] {
    const auto ranks = static_cast<std::size_t>(communicator.size()),
               rank = static_cast<std::size_t>(communicator.rank());
    std::size_t k = 0;
    for (Unpacker parts(message); !parts.empty(); ++k) {
      Unpacker part(parts.next<std::string_view>());
      if (k % ranks != rank) continue;
      stop_if_signal_came();
      const auto numbers = part.next<std::vector<std::uint64_t>>();
      std::vector<Item> received(numbers.size());
      std::vector<const Item*> batch;
      for (Item& item : received) {
        part.read(item);
        batch.push_back(&item);
      }
      std::vector<std::optional<Result>> found = work(batch);
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (!found[i]) continue;
        own.add(numbers[i]);
        own.add(*found[i]);
      }
    }
  });
  std::vector<std::optional<Result>> results(items.size());
  for (const std::string& of_rank : communicator.gather(own.take())) {
    for (Unpacker unpacker(of_rank); !unpacker.empty();) {
      const auto number = unpacker.next<std::uint64_t>();
      unpacker.read(results[number].emplace());
    }
  }
  return results;
}

}  // namespace rnnsearch::decode
