// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_FUZZ_GROWN_FILES_HPP
#define SUBLET_EXAMPLES_FUZZ_GROWN_FILES_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

struct grown_file {
    std::string name; ///< with the ending
    std::string bytes;
};

/// Valid files of about this size in shapes that could take memory or time out of proportion: chains, stars,
/// values that are all alive at once, deep nesting, long lists of dimensions.
std::vector<grown_file> grown_files(std::string_view program, std::size_t bytes);

/// Models of about this size with graphs inside, functions, high ranks and known elements.
std::vector<grown_file> grown_bodies(std::size_t bytes);

/// Files of some bytes with the largest numbers that can be written.
std::vector<grown_file> boasting_files(std::string_view program);

} // namespace fuzz

#endif
