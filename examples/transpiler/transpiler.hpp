// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_TRANSPILER_TRANSPILER_HPP
#define SUBLET_EXAMPLES_TRANSPILER_TRANSPILER_HPP

/// The two calls of PaddlePaddle's memory transpiler, implemented with sublet.

#include "program_desc.hpp"

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <set>
#include <string>

namespace transpiler {

struct optimized {
    std::uint64_t before = 0, after = 0; ///< bytes of shareable variables, for batch size 1 if unknown
    std::size_t reused = 0;              ///< variables that take the storage of another
    bool was_optimized = false;          ///< the call has changed nothing
};

/// Lets variables take the storage of dead ones, in all blocks. Level 0: of equal shape; level 1: at least as
/// large, and both with or both without an unknown batch size.
///
/// Unchanged are variables that are persistable, captured by a nested block, read and written by one
/// operator, written on the host, or in `skip_opt_set`; and gradients that optimizers read, unless
/// `skip_grads` is off. The replacements are written to `print_log`, if given.
///
/// Throws: program_error if the program is invalid.
optimized memory_optimize(program_desc& program, std::set<std::string> const& skip_opt_set = {},
                          std::ostream* print_log = nullptr, int level = 0, bool skip_grads = true);

/// Deletes variables after their last use in their block. Returns their number.
std::size_t release_memory(program_desc& program, std::set<std::string> const& skip_opt_set = {});

} // namespace transpiler

#endif
