#include "rnnsearch/train/shared_files.h"

#include <optional>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/log.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/storage/sealed_file.h"
#include "rnnsearch/train/run_directory.h"

namespace rnnsearch::train {
namespace {

constexpr const char* kAdvice = "give every host the same file, or name one on a file system that they share";

}  // namespace

corpus::Corpus open_corpus(const std::filesystem::path& path, const comm::Communicator& communicator) {
  std::optional<corpus::Corpus> corpus;
  const auto verify = communicator.is_root() ? corpus::Verify::kDigest : corpus::Verify::kSkip;
  comm::agree(communicator, {fmt::format("corpus {}", path), kAdvice, [&] {
                               const comm::Activity activity(communicator, "verifies the corpus");
                               corpus.emplace(path, verify, stop_if_signal_came);
                               return "the fingerprint " + corpus->fingerprint();
                             }});
  return *std::move(corpus);
}

LoadedModel open_model(const std::filesystem::path& run_or_checkpoint, const comm::Communicator& communicator) {
  std::string checkpoint;
  std::optional<LoadedModel> loaded;
  const auto find = [&] {
    return comm::at_root(communicator, [&] { return checkpoint_of(run_or_checkpoint).string(); });
  };
  read_newest(find, [&](const std::string& found) {
    checkpoint = found;
    comm::agree(communicator, {fmt::format("checkpoint {}", checkpoint), kAdvice, [&] {
                                 const comm::Activity activity(communicator, "reads the checkpoint");
                                 const std::string digest = storage::sealed_digest(checkpoint, "checkpoint");
                                 loaded.emplace(load_model(checkpoint, stop_if_signal_came));
                                 loaded->digest = digest;
                                 return "the digest " + digest;
                               }});
  });
  if (communicator.is_root()) {
    const std::string changed = corpus::changed_libraries(loaded->pipeline);
    if (!changed.empty()) log_line(fmt::format("[model] the corpus of {}: {}", checkpoint, changed));
  }
  return *std::move(loaded);
}

}  // namespace rnnsearch::train
