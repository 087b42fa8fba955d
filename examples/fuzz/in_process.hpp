// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_FUZZ_IN_PROCESS_HPP
#define SUBLET_EXAMPLES_FUZZ_IN_PROCESS_HPP

/// The example programs, called as functions: hundreds of runs in the time of one process start.

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

struct program {
    std::string_view name;
    int (*run)(int count, char const* const* words, std::ostream& out, std::ostream& err);
    std::string_view statuses; ///< a digit for each exit status that it documents for bad or odd input
};

/// Null if there is none of that name.
program const* find_program(std::string_view name);

struct outcome {
    int status = 0;
    std::string out, err;
};

/// `words` without the program's name. An exception that leaves the program ends this one.
outcome run(program const& which, std::vector<std::string> const& words);

/// What no program may do, whatever it is given; empty if it did not: end with a status that it does not
/// document, refuse with more or less than one sentence, print an answer beside a refusal, or show words
/// that are only of the inside.
std::string contract_violation(program const& which, outcome const& result);

/// Does a text have this pattern, in which `*` stands for any text?
bool matches(std::string_view text, std::string_view pattern);

std::vector<std::string> words_of(std::string const& line);

} // namespace fuzz

#endif
