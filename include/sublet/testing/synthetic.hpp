// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TESTING_SYNTHETIC_HPP
#define SUBLET_TESTING_SYNTHETIC_HPP

/// A kernel for every operation there is: each byte of a result depends on each byte of all operands.
///
///     in(0) ─ digest ─┐
///     in(1) ─ digest ─┼─ fold, with the step ─ seed ─┬─ noise ─► out(0)
///     ...            ─┘                              └─ noise ─► out(1) ...
///
/// It computes nothing of use, and that is the point: whatever a plan clobbers, anywhere, shows in the
/// digests of the results, on any program, without an implementation of its operations. Operands are read
/// before results are written, so in place is fine; scratch is filled, and has to be unchanged when the
/// results are there; a view of bytes that were there before is left as it is.

#include <sublet/execution/storage.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>

namespace sublet {

/// Results were written over the scratch of their own step.
class scratch_overwritten : public std::exception {
public:
    char const* what() const noexcept override
    {
        return "sublet: results lie over the scratch of their own step";
    }
};

struct synthetic_kernel {
    std::uint64_t seed = 0;

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
            if (!call.is_view(j)) fill_noise(call.out(j), fold_digest(sum, j));
        std::uint64_t kept = 0;
        for (std::size_t k = 0; k != call.scratch_count(); ++k)
            kept = fold_digest(kept, digest(call.scratch(k)));
        if (kept != used) throw scratch_overwritten();
    }
};

} // namespace sublet

#endif
