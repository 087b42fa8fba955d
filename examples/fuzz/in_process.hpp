// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_FUZZ_IN_PROCESS_HPP
#define SUBLET_EXAMPLES_FUZZ_IN_PROCESS_HPP

/// The example programs, called as functions: hundreds of runs in the time of one process start.

#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

struct program {
    std::string_view name;
    int (*run)(int count, char const* const* words, std::ostream& out, std::ostream& err);
    std::string_view statuses; ///< one digit for each exit status that it documents for invalid input
    std::size_t memory;        ///< bytes that it may allocate for the smallest file
};

/// Null if no program has that name.
program const* find_program(std::string_view name);

struct outcome {
    int status = 0;
    std::string out, err;
    std::size_t asked_bytes = 0; ///< what it may allocate for files of this size
    std::size_t most_bytes = 0;  ///< allocated by operator new at once
};

/// `words` without the program's name. An exception that leaves the program ends this one.
outcome run(program const& which, std::vector<std::string> const& words);

/// The rule for all programs that an outcome breaks, or empty: no undocumented exit status, no more memory
/// than in proportion to the files, exactly one sentence per refusal, no answer beside a refusal, no internal
/// words.
std::string contract_violation(program const& which, outcome const& result);

/// Whether a text matches a pattern in which `*` stands for any text.
bool matches(std::string_view text, std::string_view pattern);

std::vector<std::string> words_of(std::string const& line);
std::string joined(std::vector<std::string> const& words);

/// Throws: std::runtime_error if it cannot be written.
void write_file(std::filesystem::path const& file, std::string const& bytes);

} // namespace fuzz

#endif
