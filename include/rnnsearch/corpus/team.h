// The processes that prepare one corpus together, as this room sees them: it knows neither MPI nor who they are.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace rnnsearch::corpus {

class Team {
 public:
  Team() = default;
  virtual ~Team() = default;
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// COLLECTIVE. What `part` returns on each rank goes to rank 0, where `combine` makes one answer of them all, in the
  /// order of ranks, which every rank gets. What one of them throws is thrown on all ranks, as an Error with the same
  /// words: of several the first rank's. May be called by the thread alone that made this.
  virtual std::string meet(const std::function<std::string()>& part,
                           const std::function<std::string(std::vector<std::string> parts)>& combine) = 0;
};

/// One process by itself.
class Alone : public Team {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::string meet(const std::function<std::string()>& part,
                   const std::function<std::string(std::vector<std::string> parts)>& combine) override {
    return combine({part()});
  }
};

}  // namespace rnnsearch::corpus
