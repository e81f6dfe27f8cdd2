// Reads whole files, pipes and terminals, and replaces files atomically.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace rnnsearch {

/// Called several times a second while a read waits, and at least once for each part that it reads. An exception that
/// it throws ends the reading and reaches the caller.
using Poll = std::function<void()>;

/// Bytes of a file, a pipe or a terminal, in order.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Waits for the next bytes and returns them, which are valid until the next call; empty at the end.
  virtual std::string_view take() = 0;
  /// Whether take() would return at once.
  virtual bool ready() const { return true; }
};

/// Reads a file descriptor through poll(2), so that a waiting program can react to signals.
class WaitingInput : public ByteStream {
 public:
  /// Does not close the descriptor. name: its name in errors.
  WaitingInput(int descriptor, std::string name, Poll poll);
  /// Opens a named pipe without waiting for its writer. Throws Error if it cannot be read.
  WaitingInput(const std::filesystem::path& path, Poll poll);
  ~WaitingInput() override;
  WaitingInput(const WaitingInput&) = delete;
  WaitingInput& operator=(const WaitingInput&) = delete;

  std::string_view take() override;
  bool ready() const override;

 private:
  int descriptor_, owned_ = -1;
  std::string name_;
  Poll poll_;
  std::array<char, 1 << 16> buffer_;
};

/// The most that read_file takes from a pipe or a device, because a device such as /dev/zero has no end.
inline constexpr std::size_t kMaxPipedBytes = std::size_t{64} << 20;

/// A file that open(2) opened, and that is closed with the object.
class Descriptor {
 public:
  /// Throws Error with the path and the system's reason.
  Descriptor(const std::filesystem::path& path, int flags);
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }
  /// The result of close(2).
  int close();

 private:
  int number_;
};

/// flock(2) with LOCK_SH or LOCK_EX. Gives up after ten seconds, because the process that holds the lock may be stopped
/// for good, and then returns false; on a file system without locks it returns true at once.
bool lock_if_possible(int descriptor, int operation);

/// Returns the content of a file. Throws Error with the path and the system's reason, and for a pipe or a device with
/// more than kMaxPipedBytes. `poll` is called while waiting for a pipe.
std::string read_file(const std::filesystem::path& path, const Poll& poll = {});

/// Replaces a file atomically: the content is written to a temporary file, which is renamed to `target` when it is
/// complete. Readers, also after a power loss, see either the previous file or the new one. If the target is a symbolic
/// link, the file that it names is replaced. The new file gets the mode of the previous one and, as far as the user has
/// the permission, its owner and group.
class AtomicFile {
 public:
  /// Creates an empty temporary file in the folder of the target. Throws Error if the target is a folder, a pipe or a
  /// device, or if no file can be created.
  explicit AtomicFile(std::filesystem::path target);
  /// Removes the temporary file unless it was published.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// The path of the temporary file, to which the caller writes.
  const std::filesystem::path& temporary() const { return temporary_; }
  /// Flushes the temporary file to the disk, renames it and flushes the folder. `check` is called before the renaming;
  /// if it throws, the target stays unchanged. Between the two, no other process that publishes with a check publishes
  /// a file in this folder, provided that the file system supports flock(2) for folders. REQUIRES: everything was
  /// written, and the temporary file was closed.
  void publish(const std::function<void()>& check = {});

 private:
  std::filesystem::path target_, temporary_;  // with symbolic links resolved
};

/// The file that would be replaced at this path: symbolic links are resolved. Throws Error if it is a folder, a pipe or
/// a device.
std::filesystem::path file_to_replace(const std::filesystem::path& target);
/// Gives a finished file the mode of the one at `target`, flushes it to the disk, calls `check`, renames it to `target`
/// and flushes the folder, as AtomicFile::publish does. `target` is a file_to_replace in the same folder.
void replace_file(const std::filesystem::path& finished, const std::filesystem::path& target,
                  const std::function<void()>& check = {});

/// Writes all of `content` to a descriptor. Returns false, with errno set, if that fails.
bool write_all(int descriptor, std::string_view content);
/// Writes a file with AtomicFile. Throws Error, for example for a full disk; the previous file then stays unchanged,
/// and no temporary file is left.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// The output of a command. Writes to a temporary file, which `publish` renames when it is complete; or to another
/// stream, such as standard output.
class OutputFile {
 public:
  /// `option` is the option that gave the path, for errors: "--output". With an empty path, or -, the output goes to
  /// `standard_output`, which must outlive this object. Throws Error if the path is a folder or no file can be written
  /// there.
  OutputFile(const std::string& option, std::filesystem::path path, std::ostream& standard_output);
  void write(const std::string& text) { stream() << text; }
  /// Throws Error if a write has failed, usually because the disk is full.
  void check();
  /// Throws Error, a full disk included.
  void publish();

 private:
  std::ostream& stream();

  std::ostream& standard_output_;
  std::optional<AtomicFile> target_;  // nothing: standard output
  std::filesystem::path path_;
  std::ofstream file_;
};

/// The path that a symbolic link leads to, through further links; the file itself need not exist. Other paths are
/// returned unchanged. Throws Error for a symbolic link that leads to itself.
std::filesystem::path without_links(const std::filesystem::path& link);

/// A file name that no other process and no other call uses, in the folder of `path` (of the file that it names, if it
/// is a symbolic link): ".NAME.tmp-HOST-BOOT-NAMESPACE-PID.CALL", where BOOT identifies the running kernel and
/// NAMESPACE its namespace of process ids. Several threads may call this at the same time. Throws Error for a symbolic
/// link that leads to itself.
std::filesystem::path temporary_beside(const std::filesystem::path& path);

/// Removes temporary files of `path` that killed processes left behind. Files of other hosts and namespaces stay,
/// because nothing is known about their processes. Does not throw for a folder or a file that it cannot read or remove.
/// It lists the whole folder, so do not call it for each of many files in a folder.
void remove_abandoned(const std::filesystem::path& path);

}  // namespace rnnsearch
