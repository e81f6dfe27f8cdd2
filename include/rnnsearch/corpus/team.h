// Interface to the processes that prepare a corpus together. It keeps MPI out of this room.
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
  /// COLLECTIVE. Gathers the results of `part` at rank 0 in rank order, calls `combine` there, and returns its result
  /// on every rank. If `part` or `combine` throws, all ranks throw an Error with the same message; if several ranks
  /// throw, it is that of the first one. Must be called by the thread that created the object.
  virtual std::string meet(const std::function<std::string()>& part,
                           const std::function<std::string(std::vector<std::string> parts)>& combine) = 0;
};

/// COLLECTIVE. Runs `act` at rank 0 and returns its result, a string, on every rank. If it throws, all ranks throw.
template <class Act>
std::string at_root(Team& team, const Act& act) {
  return team.meet([] { return std::string(); }, [&](const auto&) { return std::string(act()); });
}

/// A team of a single process.
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
