// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_TRANSPILER_PROGRAM_HPP
#define SUBLET_EXAMPLES_TRANSPILER_PROGRAM_HPP

#include <iosfwd>

namespace transpiler {

/// The whole program, for main() and for tests that call it often. `words` begin with the program's name.
///
/// Ensures: an exception inside becomes one line in `err` and status 2.
int run_program(int count, char const* const* words, std::ostream& out, std::ostream& err);

} // namespace transpiler

#endif
