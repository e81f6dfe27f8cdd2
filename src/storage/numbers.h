// Numbers by their type: what HDF5 calls it in files and in memory, its name in errors, and how such numbers are read.
// The caller must hold the lock of HDF5.
#pragma once

#include <hdf5.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/storage/hdf5.h"
#include "storage/content.h"

namespace rnnsearch::storage {

template <Number T>
hid_t type_of() {
  if constexpr (std::same_as<T, float>) return H5T_IEEE_F32LE;
  if constexpr (std::same_as<T, double>) return H5T_IEEE_F64LE;
  if constexpr (std::same_as<T, std::uint8_t>) return H5T_STD_U8LE;
  if constexpr (std::same_as<T, std::uint32_t>) return H5T_STD_U32LE;
  if constexpr (std::same_as<T, std::uint64_t>) return H5T_STD_U64LE;
  if constexpr (std::same_as<T, std::int64_t>) return H5T_STD_I64LE;
}

template <Number T>
hid_t memory_type_of() {
  if constexpr (std::same_as<T, float>) return H5T_NATIVE_FLOAT;
  if constexpr (std::same_as<T, double>) return H5T_NATIVE_DOUBLE;
  if constexpr (std::same_as<T, std::uint8_t>) return H5T_NATIVE_UINT8;
  if constexpr (std::same_as<T, std::uint32_t>) return H5T_NATIVE_UINT32;
  if constexpr (std::same_as<T, std::uint64_t>) return H5T_NATIVE_UINT64;
  if constexpr (std::same_as<T, std::int64_t>) return H5T_NATIVE_INT64;
}

template <Number T>
const char* name_of() {
  if constexpr (std::same_as<T, float>) return "float32";
  if constexpr (std::same_as<T, double>) return "float64";
  if constexpr (std::same_as<T, std::uint8_t>) return "uint8";
  if constexpr (std::same_as<T, std::uint32_t>) return "uint32";
  if constexpr (std::same_as<T, std::uint64_t>) return "uint64";
  if constexpr (std::same_as<T, std::int64_t>) return "int64";
}

template <Number T>
MatrixView<std::byte> bytes_of(MatrixView<T> values) {
  return {reinterpret_cast<std::byte*>(values.data), values.rows, values.cols * sizeof(T), values.stride * sizeof(T)};
}

/// Opens a dataset of numbers of type T. Throws Error for another type.
template <Number T>
Dataset open_numbers(hid_t file, const Place& place) {
  Dataset dataset = open_dataset(file, place);
  if (dataset.type != type_of<T>()) unlike(place, "values of another type", name_of<T>());
  return dataset;
}

/// The length of a list. Throws Error for an array of two dimensions.
inline std::uint64_t length_of(const Dataset& list, const Place& place) {
  if (list.shape.size() != 1) unlike(place, "an array of shape " + shape_text(list.shape), "a list");
  return list.shape[0];
}

/// Elements [first, first + count) of a list. REQUIRES: it has them.
template <Number T>
std::vector<T> read_part(const Dataset& list, const Place& place, std::uint64_t first, std::uint64_t count) {
  std::vector<T> values(count);
  read_numbers(list, place, first, bytes_of(MatrixView<T>(values.data(), 1, count)));
  return values;
}

/// A whole dataset of exactly the shape `expected`, else throws Error.
template <Number T>
void read_all(hid_t file, const Place& place, MatrixView<T> values, const std::vector<std::uint64_t>& expected) {
  const Dataset dataset = open_numbers<T>(file, place);
  if (dataset.shape != expected) unlike(place, "an array of shape " + shape_text(dataset.shape), shape_text(expected));
  read_numbers(dataset, place, 0, bytes_of(values));
}

/// An attribute with one number.
template <Number T>
T read_scalar(hid_t file, const Place& place, const std::string& attribute) {
  const Handle handle = open_attribute(file, place, attribute, std::floating_point<T> ? H5T_FLOAT : H5T_INTEGER);
  T value{};
  if (H5Aread(handle.get(), memory_type_of<T>(), &value) < 0) cannot("read", place);
  return value;
}

}  // namespace rnnsearch::storage
