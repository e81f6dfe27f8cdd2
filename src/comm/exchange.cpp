#include "comm/exchange.h"

#include <bit>
#include <cassert>
#include <utility>

#include "rnnsearch/base/parallel.h"

namespace rnnsearch::comm {
namespace {

/// Elements in a cache line; every part of a block begins at a cache line of that block.
constexpr std::size_t kLine = 16;
/// Elements that are added at a time: they fit into the L1 cache.
constexpr std::size_t kPiece = 2048;

// The loops over a block run on the progress thread and must keep up with the network, so they are also compiled for
// wide vectors. They only add, so every clone gives the same bits.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define RNNSEARCH_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define RNNSEARCH_CLONES
#endif

RNNSEARCH_CLONES void add(const float* values, float* to, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) to[i] += values[i];
}

}  // namespace

Grid::Grid(int rank, int ranks, int ranks_of_host, int widest) : rank_(rank), ranks_(ranks) {
  assert(ranks_of_host >= 1 && ranks % ranks_of_host == 0);
  const bool hosts_have_lines = ranks_of_host > 1 && ranks_of_host < ranks;
  if (hosts_have_lines) add_dimension(ranks_of_host);
  const int hosts = hosts_have_lines ? ranks / ranks_of_host : ranks;
  int shorter = 1;
  if (hosts > widest) {
    for (int divisor = 2; divisor * divisor <= hosts; ++divisor) {
      if (hosts % divisor == 0) shorter = divisor;
    }
  }
  int longer = hosts / shorter;
  // Ranks that have been added to one another are one node if they are a power of two.
  const auto is_power = [](int number) { return std::has_single_bit(static_cast<unsigned>(number)); };
  if (shorter > 1 && is_power(shorter) && !is_power(longer)) std::swap(shorter, longer);
  if (longer > 1) add_dimension(longer);
  if (shorter > 1) add_dimension(shorter);
}

void Grid::add_dimension(int width) {
  const auto here = static_cast<std::size_t>(dimensions_++);
  width_[here] = width;
  stride_[here] = here == 0 ? 1 : stride_[here - 1] * width_[here - 1];
  coordinate_[here] = rank_ / stride_[here] % width;
}

int Grid::neighbour(int dimension, int coordinate) const {
  return rank_ + (coordinate - coordinate_[dimension]) * stride_[dimension];
}

Exchange::Range Exchange::part(int dimension, int coordinate) const {
  const Range& whole = ranges_[dimension];
  const auto width = static_cast<std::size_t>(grid_->width(dimension));
  const std::size_t lines = ceil_div(whole.size, kLine);
  const auto begin = [&](std::size_t at) { return std::min(whole.size, lines * at / width * kLine); };
  const std::size_t first = begin(static_cast<std::size_t>(coordinate));
  return {whole.first + first, begin(static_cast<std::size_t>(coordinate) + 1) - first};
}

void Exchange::begin(MPI_Comm comm, const Grid& grid, std::uint64_t number, const Block& block) {
  assert(done() && block.shards % static_cast<unsigned>(grid.ranks()) == 0);
  assert(block.shards != 0 || block.earlier.empty());
  comm_ = comm;
  grid_ = &grid;
  number_ = number;
  block_ = block;
  if (block_.shards == 0) block_.shards = static_cast<std::uint64_t>(grid.ranks());
  dimension_ = 0;
  ranges_[0] = {0, block.values.size()};
  bytes_sent_ = 0;
  complete_ = 0;
  addends_.clear();
  for (const auto& sum : block.earlier) addends_.push_back({sum.data(), 0});
  addends_.push_back({block.values.data(), 0});
  if (grid.dimensions() == 0 || block.values.empty()) return;
  stage_ = Stage::kReduce;
  begin_reduce();
}

bool Exchange::advance() {
  while (!done()) {
    if (open_ > 0) test();
    if (open_ > 0) return false;
    if (stage_ == Stage::kReduce) {
      end_reduce();
      if (++dimension_ < grid_->dimensions()) {
        begin_reduce();
      } else {
        stage_ = Stage::kGather;
        --dimension_;
        begin_gather();
      }
    } else if (dimension_-- == 0) {
      stage_ = Stage::kDone;
    } else {
      begin_gather();
    }
  }
  return true;
}

void Exchange::test() {
  int count = 0;
  const int result =
      MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, finished_.data(), statuses_.data());
  if (result == MPI_ERR_IN_STATUS) {
    for (int i = 0; i < count; ++i) check(statuses_[static_cast<std::size_t>(i)].MPI_ERROR, "a message");
  }
  check(result, "MPI_Testsome");
  open_ -= static_cast<std::size_t>(count);
  complete_ += static_cast<std::uint64_t>(count);
}

std::vector<ShardRange> Exchange::nodes_at(int coordinate) const {
  const ShardTree tree(block_.shards);
  // The ranks whose sum it holds differ in the dimensions before.
  const int stride = grid_->stride(dimension_), first = grid_->neighbour(dimension_, coordinate) / stride * stride;
  return tree.nodes_of(tree.shards_of(static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(stride),
                                      static_cast<std::uint64_t>(grid_->ranks())));
}

// The tag tells apart sums that overtake each other, and the two stages of one sum. It need not name the dimension,
// because the dimensions have different neighbours, nor the node, because MPI keeps the order of messages between two
// ranks.
int Exchange::tag(Stage stage) const {
  return static_cast<int>(number_ % kNumbers * 2 + (stage == Stage::kGather ? 1 : 0));
}

void Exchange::send(const float* values, std::size_t count, int to) {
  if (count == 0) return;
  bytes_sent_ += count * sizeof(float);
  requests_.push_back(MPI_REQUEST_NULL);
  check(MPI_Isend(values, static_cast<int>(count), MPI_FLOAT, to, tag(stage_), comm_, &requests_.back()), "MPI_Isend");
}

void Exchange::receive(float* values, std::size_t count, int from) {
  if (count == 0) return;
  requests_.push_back(MPI_REQUEST_NULL);
  check(MPI_Irecv(values, static_cast<int>(count), MPI_FLOAT, from, tag(stage_), comm_, &requests_.back()),
        "MPI_Irecv");
}

// Call it when all messages of a stage have been posted.
void Exchange::posted() {
  finished_.resize(requests_.size());
  statuses_.resize(requests_.size());
  open_ = requests_.size();
}

void Exchange::begin_reduce() {
  const int width = grid_->width(dimension_), coordinate = grid_->coordinate(dimension_);
  const Range own = ranges_[dimension_ + 1] = part(dimension_, coordinate);
  std::vector<std::size_t> first_slot(static_cast<std::size_t>(width) + 1);  // of each coordinate
  for (int from = 0; from < width; ++from) {
    const auto at = static_cast<std::size_t>(from);
    first_slot[at + 1] = first_slot[at] + nodes_at(from).size();
  }
  assert(nodes_at(coordinate).size() == addends_.size());
  requests_.clear();
  received_.resize(std::max(received_.size(), first_slot.back() * own.size));
  // Each rank starts with its right neighbour, so that the ranks do not all send to the first rank at once.
  for (int step = 1; step < width; ++step) {
    const int from = (coordinate - step + width) % width;
    const int rank = grid_->neighbour(dimension_, from);
    for (std::size_t i = first_slot[static_cast<std::size_t>(from)]; i < first_slot[static_cast<std::size_t>(from) + 1];
         ++i) {
      receive(received_.data() + i * own.size, own.size, rank);
    }
  }
  for (int step = 1; step < width; ++step) {
    const int to = (coordinate + step) % width;
    const Range theirs = part(dimension_, to);
    const int rank = grid_->neighbour(dimension_, to);
    for (const Addend& sum : addends_) send(sum.values + (theirs.first - sum.first), theirs.size, rank);
  }
  posted();
}

void Exchange::end_reduce() {
  const Range range = ranges_[dimension_ + 1];
  const auto own = values_in(range);
  struct Step {
    const float* values;    // of a node
    std::size_t additions;  // that it makes possible
  };
  std::vector<Step> steps;
  NodeStack nodes{ShardTree(block_.shards)};
  std::size_t slot = 0, depth = 0;
  for (int from = 0; from < grid_->width(dimension_); ++from) {
    const bool here = from == grid_->coordinate(dimension_);
    const auto theirs = nodes_at(from);
    for (std::size_t i = 0; i < theirs.size(); ++i, ++slot) {
      const float* const values =
          here ? addends_[i].values + (range.first - addends_[i].first) : received_.data() + slot * own.size();
      steps.push_back({values, nodes.push(theirs[i])});
      depth = std::max(depth, nodes.nodes().size());
    }
  }
  const std::size_t sums = nodes.nodes().size();
  std::vector<float>& kept = kept_[static_cast<std::size_t>(dimension_)];
  kept.resize(std::max(kept.size(), (sums - 1) * own.size()));
  std::vector<float> stack((depth + 1) * kPiece);
  for (std::size_t first = 0; first < own.size(); first += kPiece) {
    const std::size_t size = std::min(kPiece, own.size() - first);
    float* top = stack.data();  // past the last node
    for (const Step& step : steps) {
      if (step.additions == 0) {
        std::copy_n(step.values + first, size, top);
        top += kPiece;
        continue;
      }
      add(step.values + first, top - kPiece, size);
      for (std::size_t i = 1; i < step.additions; ++i, top -= kPiece) add(top - kPiece, top - 2 * kPiece, size);
    }
    for (std::size_t i = 0; i < sums; ++i) {
      std::copy_n(stack.data() + i * kPiece, size, i + 1 < sums ? kept.data() + i * own.size() + first : &own[first]);
    }
  }
  addends_.clear();
  for (std::size_t i = 0; i + 1 < sums; ++i) addends_.push_back({kept.data() + i * own.size(), range.first});
  addends_.push_back({block_.values.data(), 0});
}

void Exchange::begin_gather() {
  const int width = grid_->width(dimension_), coordinate = grid_->coordinate(dimension_);
  const auto own = values_in(ranges_[dimension_ + 1]);
  requests_.clear();
  for (int step = 1; step < width; ++step) {
    const int from = (coordinate - step + width) % width;
    const auto theirs = values_in(part(dimension_, from));
    receive(theirs.data(), theirs.size(), grid_->neighbour(dimension_, from));
  }
  for (int step = 1; step < width; ++step) {
    send(own.data(), own.size(), grid_->neighbour(dimension_, (coordinate + step) % width));
  }
  posted();
}

}  // namespace rnnsearch::comm
