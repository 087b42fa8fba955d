// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TESTING_SYNTHETIC_HPP
#define SUBLET_TESTING_SYNTHETIC_HPP

/// A kernel for any program, in O(bytes) per step, and orders of steps that expose conflicts: one for each
/// pair of buffers that follow each other in some bytes, in O(positions + waits).

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/graph/concepts.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

// --- synthetic kernel ------------------------------------------------------------------------------------

/// A kernel for every operation: each byte of a result depends on each byte of all operands.
///
///     in(0) ─ digest ─┐
///     in(1) ─ digest ─┼─ fold, with the step ─ seed ─┬─ noise ─► out(0)
///     in(2) ─ digest ─┘                              └─ noise ─► out(1) ...
///
/// Any clobbered value shows in the digests of the results, for any program, without an implementation of its
/// operations. Operands are read before results are written, so in-place results are valid. Scratch is
/// filled, and must be unchanged when the results are written. A view of existing bytes is not written.

namespace sublet {

namespace detail {

class scratch_overwritten : public std::exception {
public:
    char const* what() const noexcept override
    {
        return "sublet: results overlap the scratch of their own step";
    }
};

} // namespace detail

/// Writes into each result what depends on the step and on all bytes of its operands.
struct synthetic_kernel {
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
        if (kept != used) throw detail::scratch_overwritten();
    }
};

// --- adversarial order -----------------------------------------------------------------------------------

/// For two buffers that share bytes, the order of steps that most likely exposes a missing wait between them.
///
///     waits      0: a ──► 1: r a          c lies where a lay, and nothing makes 2 wait for 1
///                2: c ──► 3: r c
///
///     as listed                  0   1   2   3        1 finds a, 3 finds c
///     first 0 and 2, last 1      0   2   3   1        1 finds c
///
/// A random order rarely exposes an unsound pair; this one always does. The producer of a runs, then the
/// producer of b, which overwrites a, each with all that it waits for, and only then the readers of a, with
/// all that waits for them. If a has no later reader but its producer may run late, the roles are swapped: it
/// overwrites b before the readers of b. One run with digests for each pair of neighbours in bytes suffices.
/// Pairs with a third buffer between them that is read later are skipped: if they conflict, so does one of
/// them with the third.
///
/// Source: Sen, "Race directed random testing of concurrent programs", PLDI 2008.

namespace detail {

/// A set of positions that is closed along the waits.
class position_set {
public:
    explicit position_set(step_waits const& waits) : waits_(waits), is_marked_(waits.before.rows()) {}

    [[nodiscard]] bool has(position_id at) const { return is_marked_[at] != 0; }
    void add_with_ancestors(position_id at) { add(at, waits_.before); }
    void add_with_descendants(position_id at) { add(at, waits_.after); }

private:
    void add(position_id at, csr_rows<position_id, position_id> const& next);

    step_waits const& waits_;
    table<position_id, unsigned char> is_marked_;
    std::vector<position_id> worklist_;
};

} // namespace detail

/// An order of all positions that keeps the waits: first each of `first` in turn, after what it waits for; at
/// the end all of `last` that are left, with what waits for them; otherwise ascending.
///
/// Requires:   the arguments are positions.
/// Complexity: O(positions + waits), and O(positions) for each of `first`.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] std::vector<position_id> adversarial_order(step_waits const& waits,
                                                         std::vector<position_id> const& first,
                                                         std::vector<position_id> const& last);

namespace detail {

class conflict_orders {
public:
    conflict_orders(run_order const& order, memory_plan const& plan)
        : order_(order), lowered_(order.lowered), plan_(plan),
          touched_at_(lowered_.touched.transposed(lowered_.table.buffers.size())),
          last_paired_with_(lowered_.table.buffers.size(), no_buffer)
    {
    }

    template <class Visit>
    void visit_pairs(Visit& visit)
    {
        arena_occupants arenas(lowered_, plan_);
        table<buffer_id, std::vector<buffer_id>> before(last_paired_with_.size()); // previous occupants
        for (position_id at = 0; at != lowered_.positions(); ++at)
            for (buffer_id b : lowered_.touched[at]) {
                if (lowered_.first_write[b] != at) continue;
                arenas.occupy(b, [&](buffer_id a) { before[b].push_back(a); });
                std::vector<buffer_id> candidates = before[b];
                for (std::size_t i = 0; i != candidates.size(); ++i) {
                    buffer_id const a = candidates[i];
                    if (std::exchange(last_paired_with_[a], b) == b || !overlaps(a, b)) continue;
                    visit(root(a), root(b), order_for(a, b));
                    if (!is_needed_after(a, lowered_.first_write[a]))
                        candidates.insert(candidates.end(), before[a].begin(), before[a].end());
                }
            }
    }

private:
    buffer const& its(buffer_id b) const { return lowered_.table.buffers[b]; }
    value_id root(buffer_id b) const { return its(b).root; }

    bool overlaps(buffer_id a, buffer_id b) const
    {
        byte_count const at = plan_.offset_of(root(a)), other = plan_.offset_of(root(b));
        return at < other + its(b).size && other < at + its(a).size;
    }
    /// Whether an output, or touched at another position than `producer`.
    bool is_needed_after(buffer_id b, position_id producer) const;

    std::vector<position_id> order_for(buffer_id a, buffer_id b) const;

    run_order const& order_;
    lowered_program const& lowered_;
    memory_plan const& plan_;
    csr_rows<buffer_id, position_id> touched_at_;
    table<buffer_id, buffer_id> last_paired_with_; // the last buffer paired with it
};

/// Calls `visit(a, b, order)` for every two buffers of which b, in program order, takes bytes of a with no
/// live buffer there in between; a and b are given by their roots, `order` lists positions.
///
/// If the waits suffice for the plan, each of these orders leaves what the lowered program leaves. Run them
/// one by one with digests: thread_executor with one worker and queue_policy::given.
///
/// Complexity: O(positions + waits) for each pair.
/// Throws:     unsound_plan as run_order_of(); errors of `visit`.
template <class Visit>
void each_adversarial_order(run_order const& order, memory_plan const& plan, Visit visit)
{
    detail::conflict_orders(order, plan).visit_pairs(visit);
}

} // namespace detail

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/testing/impl/synthetic.ipp>
#endif

#endif
