// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TESTING_SYNTHETIC_HPP
#define SUBLET_TESTING_SYNTHETIC_HPP

/// A kernel for any program, in O(bytes) per step; and an order of steps that puts some first and others
/// last, for tests of waits.
///
/// A kernel for every operation: each byte of a result depends on each byte of all operands.
///
///     in(0) ─ digest ─┐
///     in(1) ─ digest ─┼─ fold, with the step ─ seed ─┬─ noise ─► out(0)
///     in(2) ─ digest ─┘                              └─ noise ─► out(1) ...
///
/// Any clobbered value shows in the digests of the results, for any program, without an implementation of its
/// operations. Operands are read before results are written, so in-place results are valid. Scratch is
/// filled, and must be unchanged when the results are written. A view of existing bytes is not written.

#include <sublet/core/units.hpp>
#include <sublet/execution/digest.hpp>
#include <sublet/execution/step_waits.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

namespace sublet {

/// Writes into each result what depends on the step and on all bytes of its operands.
struct synthetic_kernel {
    /// The results of a step overlap its scratch.
    class scratch_overwritten : public std::exception {
    public:
        char const* what() const noexcept override
        {
            return "sublet: results overlap the scratch of their own step";
        }
    };

    std::uint64_t seed = 0; ///< different seeds give different contents

    /// Runs a step.
    ///
    /// Complexity: O(bytes of operands, results and scratch), no allocation.
    /// Throws:     scratch_overwritten.
    template <class Call>
    void operator()(Call const& call) const
    {
        std::uint64_t sum = fold_digest(seed, call.step);
        for (std::size_t i = 0; i != call.uses().size(); ++i) sum = fold_digest(sum, digest(call.in(i)));
        for (std::size_t k = 0; k != call.scratch_count(); ++k)
            fill_noise(call.scratch(k), ~fold_digest(sum, k));
        std::uint64_t used = 0;
        for (std::size_t k = 0; k != call.scratch_count(); ++k)
            used = fold_digest(used, digest(call.scratch(k)));
        for (std::size_t j = 0; j != call.defs().size(); ++j)
            if (call.is_update(j)) sum = fold_digest(sum, digest(call.out(j)));
        for (std::size_t j = 0; j != call.defs().size(); ++j)
            if (!call.is_view(j)) fill_noise(call.out(j), fold_digest(sum, j));
        std::uint64_t kept = 0;
        for (std::size_t k = 0; k != call.scratch_count(); ++k)
            kept = fold_digest(kept, digest(call.scratch(k)));
        if (kept != used) throw scratch_overwritten();
    }
};

/// An order of all positions that keeps the waits: first each of `first` in turn, after what it waits for; at
/// the end all of `last` that are left, with what waits for them; otherwise ascending.
///
/// Requires:   the arguments are positions.
/// Complexity: O(positions + waits), and O(positions) for each of `first`.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] std::vector<position_id> adversarial_order(step_waits const& waits,
                                                         std::vector<position_id> const& first,
                                                         std::vector<position_id> const& last);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/testing/impl/synthetic.ipp>
#endif

#endif
