// What tests include: GoogleTest, the standard library as far as tests use it, the messages of errors, and a folder.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/parallel.h"
#include "tests/support/scratch.h"

namespace rnnsearch {

using testing::AllOf, testing::AnyOf, testing::Each, testing::ElementsAre, testing::HasSubstr, testing::IsEmpty;
using testing::Not, testing::SizeIs, testing::StartsWith;

/// A test may change the number of threads: the next one has the former number again.
class RestoreThreads : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override { before_ = thread_count(); }
  void OnTestEnd(const testing::TestInfo&) override { set_thread_count(before_); }
  std::size_t before_ = 1;
};
inline const bool kThreadsAreRestored = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new RestoreThreads);
  return true;
}();

/// The message of the Error that `act` throws.
template <class Act>
std::string message_of(Act act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// Writes these bytes to a file, and returns its path.
inline std::filesystem::path write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  return path;
}

/// A test that has a folder of its own.
class ScratchTest : public testing::Test {
 protected:
  const Scratch scratch_;
};

}  // namespace rnnsearch
