// The ranks of mpirun as the team that prepares a corpus.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "rnnsearch/comm/meet.h"
#include "rnnsearch/corpus/team.h"

namespace rnnsearch::cli {

class RankTeam : public corpus::Team {
 public:
  /// `communicator` must outlive the object.
  explicit RankTeam(const comm::Communicator& communicator) : communicator_(communicator) {}
  int rank() const override { return communicator_.rank(); }
  int size() const override { return communicator_.size(); }
  /// What is thrown is AgreedError; of a rank other than the root it says which one.
  std::string meet(const std::function<std::string()>& part,
                   const std::function<std::string(std::vector<std::string> parts)>& combine) override {
    return comm::meet(communicator_, part, [&](std::span<const comm::Outcome> outcomes) {
      std::vector<std::string> parts;
      for (const comm::Outcome& outcome : outcomes) {
        if (!outcome.done()) {
          outcome.fail(text_of(outcome.text, parts.empty() ? "" : text_of(" (rank ", parts.size(), ")")));
        }
        parts.push_back(outcome.text);
      }
      return combine(std::move(parts));
    });
  }

 private:
  const comm::Communicator& communicator_;
};

}  // namespace rnnsearch::cli
