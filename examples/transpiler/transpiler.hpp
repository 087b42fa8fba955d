// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_TRANSPILER_TRANSPILER_HPP
#define SUBLET_EXAMPLES_TRANSPILER_TRANSPILER_HPP

/// The two calls that a user of PaddlePaddle's memory transpiler knew, on sublet.

#include "program_desc.hpp"

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <set>
#include <string>

namespace transpiler {

struct optimized {
    std::uint64_t before = 0, after = 0; ///< bytes of what may share; of a batch of 1 where that is not known
    std::size_t reused = 0;              ///< variables that took the storage of another
    bool was_optimized = false;          ///< nothing has been done
};

/// Let variables take the storage of dead ones, in all blocks. Level 0: of equal shape; level 1: at least as
/// large, of a batch that is not known only with others of such a batch.
///
/// What is persistable, crosses into a sub-block, is read and written by one operator, made on the host, or
/// in `skip_opt_set`, stays as it is; so do gradients that optimizers read, unless `skip_grads` is off. What
/// replaced what is written to `print_log`, if that is given.
///
/// Throws: program_error where the program makes no sense.
optimized memory_optimize(program_desc& program, std::set<std::string> const& skip_opt_set = {},
                          std::ostream* print_log = nullptr, int level = 0, bool skip_grads = true);

/// Delete variables behind their last use in their block. Returns how many.
std::size_t release_memory(program_desc& program, std::set<std::string> const& skip_opt_set = {});

} // namespace transpiler

#endif
