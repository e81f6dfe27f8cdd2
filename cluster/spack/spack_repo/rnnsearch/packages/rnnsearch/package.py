# Spack's recipe for rnnsearch. How to use it is in cluster/README.md.
import pathlib

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Rnnsearch(CMakePackage):
    """Trains attention-based neural machine translation (Bahdanau, Cho and Bengio 2014) on clusters of CPU nodes."""

    # The sources are those of the clone that holds this recipe, so that nothing is downloaded but the dependencies.
    git = pathlib.Path(__file__).resolve().parents[6].as_uri()

    version("main", branch="main")

    depends_on("cxx", type="build")
    depends_on("c", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("perl", type="build")  # man pages

    depends_on("mpi@3.1:")
    depends_on("tbb")
    depends_on("hdf5@1.10.7:")
    depends_on("highway@1.0.3:")
    depends_on("re2@2023-09-01:")  # earlier ones in Spack install no re2.pc
    depends_on("sentencepiece@0.1.97:")
    depends_on("icu4c@60:")
    depends_on("fmt@9:")
    depends_on("nlohmann-json@3.9:")
    depends_on("pugixml@1.11:")
    depends_on("xxhash@0.8:")
    depends_on("zlib-api")
    depends_on("zstd@1.4:")
    depends_on("xz@5.2:")
    depends_on("googletest@1.12: +gmock", type="test")

    conflicts("%gcc@:11", msg="no whole build has been tried with a GCC before 12")

    generator("ninja")

    def cmake_args(self):
        return [self.define("BUILD_TESTING", self.run_tests)]
