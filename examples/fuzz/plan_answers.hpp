// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_FUZZ_PLAN_ANSWERS_HPP
#define SUBLET_EXAMPLES_FUZZ_PLAN_ANSWERS_HPP

/// All modes of plan_model, and the properties of every correct answer.

#include "in_process.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace fuzz {

/// The facts about a drawn model.
struct model_facts {
    std::set<std::string> names;
    std::uint64_t buffers = 0, naive_bytes = 0, peak_bytes = 0; ///< in file order, with nothing in place
    std::vector<std::size_t> order;                             ///< another order in which its nodes can run
    bool is_of_bodies = false; ///< it may have graphs inside: `peak_bytes` is less than any plan needs, and
                               ///< `naive_bytes` are of one allocation a value
    std::size_t results = 0;   ///< of nodes, also of those inside; if is_of_bodies
    std::uint64_t unread_bytes = 0; ///< of carried values that nothing reads: a plan may leave them out
};

/// The words for each: ORDER stands for the file of an order; OUT is the prefix of the written files' names.
std::vector<std::string> plan_modes();

/// What is wrong with an answer that claims success; empty if nothing is. `words`: the arguments of the
/// program, with the names of files inserted.
std::string mistake_in_plan(std::vector<std::string> const& words, outcome const& result,
                            std::optional<model_facts> const& known);

/// A refusal that is right for a valid model as well: it has no such dimension, or another structure for
/// other sizes of it, or a header would not hold all values.
bool is_unsized(std::vector<std::string> const& words, outcome const& result);

/// Ways to call a program on a file; the memory limit is small, because a damaged file may ask for much.
/// Some modes are of TensorFlow Lite files only.
std::vector<std::string> modes_of(std::string const& program, bool is_tflite = false);

/// The table that a mode with TABLE reads, with the file as its pins.
inline constexpr char pinned_table[] = "id,lower,upper,size\n1,0,3,8\n0,2,5,16\n2,4,6,8\n";

/// The words of a mode, with FILE, ORDER, TABLE and OUT replaced.
std::vector<std::string> words_of_mode(std::string const& mode, std::string const& file,
                                       std::filesystem::path const& work);

/// What is wrong with an answer about a file that may be damaged; empty if nothing is.
std::string mistake_about_damaged(std::string const& program, std::vector<std::string> const& words,
                                  outcome const& result);

} // namespace fuzz

#endif
