// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TESTING_SYNTHETIC_HPP
#define SUBLET_TESTING_SYNTHETIC_HPP

/// A kernel for any program, and orders of its steps that are chosen to do harm.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

// --- synthetic -------------------------------------------------------------------------------------------

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

namespace sublet {

namespace detail {

/// Results were written over the scratch of their own step.
class scratch_overwritten : public std::exception {
public:
    char const* what() const noexcept override
    {
        return "sublet: results lie over the scratch of their own step";
    }
};

} // namespace detail

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
        if (kept != used) throw detail::scratch_overwritten();
    }
};

// --- adversarial order -----------------------------------------------------------------------------------

/// For two buffers that share bytes, the order of steps in which they are most likely to get into each
/// other's way.
///
///     waits      0: a ──► 1: r a          c lies where a lay, and nothing makes 2 wait for 1
///                2: c ──► 3: r c
///
///     as listed                  0   1   2   3        1 finds a, 3 finds c
///     first 0 and 2, last 1      0   2   3   1        1 finds c
///
/// Run in random orders, an unsound pair shows now and then. But what has to happen is known: the one is
/// made, the other is written over it, and only then the first is needed. So who makes them goes first, with
/// all that it waits for, and who needs the first goes last, with all that wait for it. If nobody needs the
/// first any more, but its maker may come late, it is the other way round: that writes over the second before
/// the second is needed. One run for each two neighbours in bytes, digests taken, leaves nothing to chance.
/// Pairs between which somebody lay in the bytes whom others need are left out: if they clash, so does one of
/// them with that one.
///
/// Source: that a race is shown by a schedule made for it is from Sen, "Race directed random testing of
/// concurrent programs", PLDI 2008.

namespace detail {

/// Sets of positions that grow along the waits.
class position_set {
public:
    explicit position_set(step_waits const& waits) : waits_(waits), is_marked_(waits.before.rows()) {}

    [[nodiscard]] bool has(step_id at) const { return is_marked_[at] != 0; }
    /// It, and all that it waits for.
    void add_with_ancestors(step_id at) { add(at, waits_.before); }
    /// It, and all that wait for it.
    void add_with_descendants(step_id at) { add(at, waits_.after); }

private:
    void add(step_id at, csr_rows const& next);

    step_waits const& waits_;
    std::vector<unsigned char> is_marked_;
    std::vector<step_id> worklist_;
};

} // namespace detail

/// The positions in an order that keeps the waits: first each of `first` in turn, with what it waits for, and
/// at the end all of `last` that have not come yet, with what waits for them; otherwise ascending.
///
/// Requires:   what they name are positions.
/// Complexity: O(positions + waits), and O(positions) for each of `first`.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] std::vector<step_id> adversarial_order(step_waits const& waits,
                                                     std::vector<step_id> const& first,
                                                     std::vector<step_id> const& last);

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
        std::vector<std::vector<buffer_id>> before(last_paired_with_.size()); // whose bytes a buffer took
        for (step_id at = 0; at != lowered_.positions(); ++at)
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
    /// By anybody but this one.
    bool is_needed_after(buffer_id b, step_id producer) const;

    std::vector<step_id> order_for(buffer_id a, buffer_id b) const;

    run_order const& order_;
    lowered_program const& lowered_;
    memory_plan const& plan_;
    csr_rows touched_at_;                     // by buffer: positions
    std::vector<buffer_id> last_paired_with_; // by buffer: under whom it was met last
};

/// Call `visit(a, b, order)` for every two buffers of which b, in the order of the tape, moves in where a lay
/// before, and nobody since whose contents are needed; a and b go by their roots, `order` names positions.
///
/// If the waits are what the plan needs, all of these orders leave what the tape leaves. Run them one after
/// the other, digests taken: by thread_executor with one worker and queue_policy::given.
///
/// Complexity: O(positions + waits) for each pair.
/// Throws:     unsound_plan as run_order_of(); what `visit` throws.
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
