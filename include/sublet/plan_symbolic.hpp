// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLAN_SYMBOLIC_HPP
#define SUBLET_PLAN_SYMBOLIC_HPP

/// The front door for programs that run with any batch size: one plan, proved for all of them.
///
///     auto planned = sublet::plan_symbolic(program, {.bytes = sizes, .max_batch = 64}); // {fixed,
///     per_batch} std::cout << planned.report << '\n';          // 9633792*N bytes instead of 150243136*N,
///     for N up to 64 auto plan = planned.plan.at(batch);           // an ordinary plan auto place =
///     planned.plan.buffers[b].start;   // or a formula, to be compiled in
///
/// As plan_memory(), with pack_symbolic() and check_plan(). Sizes of which only a lower bound is
/// known are not sizes: say `affine_bytes::unknown()`, or an upper bound.

#include <sublet/checking/check_plan.hpp>
#include <sublet/detail/text.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/placement/pack.hpp>
#include <sublet/symbolic_plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace sublet {

struct planned_symbolic {
    struct summary {
        /// All arenas together, for one batch.
        struct batch {
            byte_count batch = 1;
            byte_count arena_bytes = 0;       ///< with the plan for every batch
            byte_count own_bytes = 0;         ///< with a plan for this batch alone
            byte_count lower_bound_bytes = 0; ///< no plan for this batch goes below
        };

        std::size_t steps = 0;
        std::size_t values = 0;
        std::size_t buffers = 0;   ///< planned ones: of more than 0 bytes, after in-place decisions
        byte_count max_batch = 1;  ///< asked for
        byte_count fits_up_to = 0; ///< the largest batch whose arenas fit their capacities; 0: none does
        affine_bytes naive;        ///< if every buffer had storage of its own
        affine_bytes arena;        ///< enough for every batch
        std::vector<planned_symbolic::summary::batch> batches; ///< a batch of 1, the largest, and one between
        double seconds = 0;      ///< processor time from the program to the checked plan
        bool is_checked = false; ///< check_plan has looked at it: proved, if it is sound

        /// How far the arenas lie above those of plans for one batch alone, where they lie farthest: 0.02 is
        /// two percent.
        [[nodiscard]] double excess() const;
    };

    symbolic_plan plan;
    planned_symbolic::summary report;
    std::optional<symbolic_witness> refuted; ///< why there is no sound plan; the plan then must not be used

    [[nodiscard]] bool is_sound() const { return !refuted; }

    /// The values that the plan gives an offset, ascending.
    [[nodiscard]] std::vector<value_id> values() const;
};

namespace detail {

void fill_report(planned_symbolic::summary& report, symbolic_plan const& plan,
                 symbolic_packing const& packed);

} // namespace detail

/// Plan where every value lives for every batch from 1 to `options.max_batch`, the steps running one after
/// the other.
///
/// Requires:   `options.order`, if given, names every node once; `options.max_batch` is at least 1.
/// Ensures:    `plan.at(N)` is a plan for each N from 1 to max_batch, and proved to be unless `options.check`
///             is off. `refuted` says what stands against it: an order as in plan_memory(), a view that is
///             larger than its root for some batch, or a capacity that the largest batch exceeds
///             (`report.fits_up_to` then says which does not).
/// Complexity: O(nodes + edges + touches + values), pack_symbolic() and check_plan().
/// Throws:     precondition_error where a precondition of a stage is broken, or where the bytes of the
///             largest batch exceed 64 bits together.
[[nodiscard]] planned_symbolic plan_symbolic(snapshot const& p, symbolic_options const& options);

namespace detail {

template <text_stream Stream>
void write_affine(plain_text<Stream>& out, affine_bytes bytes)
{
    if (bytes.fixed != 0 || bytes.per_batch == 0) out << bytes.fixed;
    if (bytes.fixed != 0 && bytes.per_batch != 0) out << " + ";
    if (bytes.per_batch != 0) out << bytes.per_batch << "*N";
}

} // namespace detail

/// One line to any stream of text.
///
///     9633792*N bytes instead of 150243136*N, for N up to 64
template <detail::text_stream Stream>
Stream& operator<<(Stream& out, planned_symbolic::summary const& r)
{
    detail::plain_text<Stream> text{out};
    detail::write_affine(text, r.arena);
    text << " bytes instead of ";
    detail::write_affine(text, r.naive);
    text << ", for N up to " << r.max_batch;
    return out;
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/impl/plan_symbolic.ipp>
#endif

#endif
