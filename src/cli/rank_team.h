// The ranks of mpirun as the team that prepares a corpus.
#pragma once

#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/corpus/team.h"

namespace rnnsearch::cli {

class RankTeam : public corpus::Team {
 public:
  int rank() const override { return world_.rank(); }
  int size() const override { return world_.size(); }
  /// What is thrown is AgreedError; of a rank other than the root it says which one.
  std::string meet(const std::function<std::string()>& part,
                   const std::function<std::string(std::vector<std::string> parts)>& combine) override;

 private:
  comm::Communicator world_;
};

}  // namespace rnnsearch::cli
