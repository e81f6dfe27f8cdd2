// The commands, one in each file of its name. Each prints its results to standard output.
#pragma once

#include <memory>

#include "rnnsearch/cli/invocation.h"

namespace rnnsearch::cli {

std::unique_ptr<Invocation> make_align();
std::unique_ptr<Invocation> make_average();
std::unique_ptr<Invocation> make_benchmark();
std::unique_ptr<Invocation> make_evaluate();
std::unique_ptr<Invocation> make_inspect();
std::unique_ptr<Invocation> make_node_check();
std::unique_ptr<Invocation> make_prepare();
std::unique_ptr<Invocation> make_report();
std::unique_ptr<Invocation> make_rescore();
std::unique_ptr<Invocation> make_score();
std::unique_ptr<Invocation> make_train();
std::unique_ptr<Invocation> make_translate();

/// The steps of a command whose settings are an S.
template <class S>
struct Steps {
  void (*declare)(Options& options, S& settings);
  void (*check)(const Options& options, S& settings);
  int (*work)(const Options& options, S& settings, const comm::Communicator& communicator);
  bool checks_files = false;
};

template <class S>
class InvocationOf final : public Invocation {
 public:
  InvocationOf(const char* command, const char* about, const char* example, Steps<S> steps)
      : Invocation(command, about, example), steps_(steps) {
    steps_.declare(options(), settings_);
  }
  void check() override { steps_.check(options(), settings_); }
  int work(const comm::Communicator& communicator) override { return steps_.work(options(), settings_, communicator); }
  bool checks_files() const override { return steps_.checks_files; }

 private:
  S settings_;
  Steps<S> steps_;
};

}  // namespace rnnsearch::cli
