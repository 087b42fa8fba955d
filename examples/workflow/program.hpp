// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_WORKFLOW_PROGRAM_HPP
#define SUBLET_EXAMPLES_WORKFLOW_PROGRAM_HPP

#include <iosfwd>

namespace workflow {

/// The whole program, for main() and for tests that call it often. `words` begin with the program's name.
///
/// Ensures: an exception inside becomes one line in `err` and status 2.
int run_program(int count, char const* const* words, std::ostream& out, std::ostream& err);

} // namespace workflow

#endif
