// The lock of HDF5, which every call of HDF5 holds.
#pragma once

#include "rnnsearch/storage/hdf5.h"

namespace rnnsearch::storage {

/// Holds the lock of HDF5 and sets HDF5 up. The first call turns off its exit handler, which loops forever over files
/// that a full disk kept from being closed, and plugins, which are code that a file could request. In each thread it
/// turns off printing: a thread-safe HDF5, such as Debian's, has an error stack for each thread and prints it by
/// default.
class Lock : Exclusive {
 public:
  Lock();
};

}  // namespace rnnsearch::storage
