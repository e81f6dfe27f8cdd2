# Debian's cross compiler for arm64. The libraries are in the folder that ARM64_SYSROOT names; run.sh fills it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

set(sysroot $ENV{ARM64_SYSROOT})
set(CMAKE_FIND_ROOT_PATH ${sysroot})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${sysroot}/usr/lib/aarch64-linux-gnu/pkgconfig:${sysroot}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${sysroot})

# The compiler takes its own C library, and what the libraries need in turn from the folder.
foreach(folder usr/lib/aarch64-linux-gnu lib/aarch64-linux-gnu)
  string(APPEND CMAKE_EXE_LINKER_FLAGS_INIT " -Wl,-rpath-link,${sysroot}/${folder}")
endforeach()

# The compiler wrappers of MPI and HDF5 are arm64 programs, so they cannot be asked.
set(lib ${sysroot}/usr/lib/aarch64-linux-gnu)
set(MPI_SKIP_COMPILER_WRAPPER ON)
set(MPI_C_HEADER_DIR ${lib}/openmpi/include CACHE PATH "")
set(MPI_C_LIB_NAMES mpi CACHE STRING "")
set(MPI_mpi_LIBRARY ${lib}/openmpi/lib/libmpi.so CACHE FILEPATH "")
set(HDF5_C_INCLUDE_DIR ${sysroot}/usr/include/hdf5/serial CACHE PATH "")
set(HDF5_C_LIBRARY_hdf5 ${lib}/hdf5/serial/libhdf5.so CACHE FILEPATH "")

# -E: the program's own libraries come from the folder, too; QEMU_CPU selects the processor.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64;-L;${sysroot};-E;LD_LIBRARY_PATH=${lib}:${lib}/hdf5/serial:${lib}/openmpi/lib)
