// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_DETAIL_STEP_ORDER_HPP
#define SUBLET_CHECKING_DETAIL_STEP_ORDER_HPP

/// Which steps come before which in every execution. Included by the checkers of concurrent plans.

#include <sublet/checking/witness.hpp>
#include <sublet/detail/plan_requirements.hpp>
#include <sublet/detail/sorting.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

// --- step order ------------------------------------------------------------------------------------------

/// The order of the steps that every execution keeps, derived from the program without any planner.
///
///     step 0: def a              0 ──► 1 ──► 3        data: who reads waits for who writes
///     step 1: use a, def b       └───► 2 ──► ┘        edges of the program, and the steps of a node in a row
///     step 2: use a, def c                            hand-offs that a plan asks for
///     step 3: use b, use c                            1 and 2 come in any order, or at the same time
///
/// It is the checker's own derivation, on purpose a second one: had it anything in common with what planners
/// use (analysis/dependences.hpp), one mistake there would fool both. Here a step is one point. That it may
/// read before it writes is said where two touches are compared.

namespace sublet::detail {

struct step_order {
    csr_rows after;                ///< by step: those that wait for it directly; maybe more than once
    std::vector<step_id> step_at;  ///< all steps, each before those that wait for it
    std::vector<step_id> position; ///< by step: where it stands there
    std::vector<step_id> def_of;   ///< by value: the one step that writes it; `no_step`: given, or untouched
    std::vector<step_id> cycle;    ///< if there is one: each waits for the one before, the first for the last
    std::optional<witness> fault;  ///< why there is no order; then all else is of no use
};

/// Derive what every execution of `p` keeps that also keeps the hand-offs.
///
/// Requires:   `role` has an entry a value.
/// Ensures:    A hand-off that names no step is left out. `fault` is the first in this order: a value that is
/// written though it was there, by step; a use
///             of what nothing defines before, by step, then at ends of nodes, then of outputs; a cycle.
/// Complexity: O(V + E + steps + touches) time and memory.
[[nodiscard]] step_order order_of_steps(snapshot const& p, std::vector<value_role> const& role,
                                        std::vector<handoff> const& handoffs);

// --- order questions -------------------------------------------------------------------------------------

/// Many questions "do all steps of this row come before that step?", answered exactly, many at a time.
///
///     position  40  41  42  43  44  45  46  47        a bit for each step that is asked about, here 45 and
///       45       1   1   0   1   1   1   ·   ·        47; going down, a step has the bits of all that wait
///       47       1   1   1   1   0   0   1   1        for it. 42 comes before 47 and not before 45.
///
/// Most questions are about steps that lie close together in any order, and are asked together: one short
/// walk downwards answers as many as there are bits in a row. Those of which the steps lie further apart wait
/// until they are as many; so a walk is never much longer than the distance that it has to bridge.

class reachability_queries {
public:
    static constexpr std::uint64_t none = ~std::uint64_t{0};

    /// Questions will be about rows of steps.  Requires: both live as long as this.
    reachability_queries(step_order const& order, csr_rows const& rows) : order_(order), rows_(rows) {}

    /// Do all steps of the row come before `last`, or are it?  The answer will call this question `name`.
    /// Requires: none of them stands behind `last`.
    void add(std::uint32_t row, step_id last, std::uint64_t id);

    /// The lowest name of a question to which the answer is no, or `none`. Then nothing is asked any more.
    ///
    /// Complexity: for q questions about rows of e steps, each row counted as often as it was asked about,
    ///             O(q log q + e). For each power of two that distances come to, O(steps + edges) times 8
    ///             words, and as much again for each 512 of the questions that go over all steps. Memory for
    ///             8 words a step of the longest distance.
    std::uint64_t first_failed();

private:
    static constexpr std::size_t words = 8; // of a row: 512 different steps are asked about in one walk

    static step_id position_of(sort_key const& question) { return static_cast<step_id>(question.key); }

    /// Walk down from the last step of a batch of questions to the first, and answer them.
    std::size_t answer_batch(std::size_t begin);

    /// For every position from `floor` on: which columns come after it, or are it.
    void fill_rows(step_id floor);

    step_order const& order_;
    csr_rows const& rows_;
    std::vector<sort_key> queries_; // {how far apart and the position of the last, name, row}
    std::vector<step_id> columns_;
    std::vector<std::uint64_t> bits_; // by position from the floor, as many words each
    std::uint64_t first_failed_ = none;
};

// --- class touches ---------------------------------------------------------------------------------------

/// When the bytes of a class of values are written first and touched last, if steps run in any order.
///
///     step 0: def a              class of a: begins {0}, ends {1, 2}
///     step 1: use a, def b       class of c and its view d: begins {2}, ends {3}
///     step 2: use a, def c       1 may write b over a, if it is offered and 2 has come before
///     step 3: use c, def d = view of c, read by nobody
///
/// A class may have several first and several last steps, of which none comes before the other. Others are
/// left out where that is plain to see; to have kept them would cost time only.

/// Requires: `required` and `order` are of the program, and all of them live as long as this.
class class_touches {
public:
    class_touches(snapshot const& program, plan_requirements const& required, step_order const& order)
        : p_(program), required_(required), order_(order), begins_(boundary_steps(true)),
          ends_(boundary_steps(false))
    {
    }

    /// By root: the steps that write the class, but none that reads any of it. Of no use if it is given.
    [[nodiscard]] csr_rows const& begins() const { return begins_; }
    /// By root: the steps that touch the class, but none of whose result for the class a later step reads.
    [[nodiscard]] csr_rows const& ends() const { return ends_; }
    /// There before all steps: nobody gives to it.
    [[nodiscard]] bool is_given(value_id root) const
    {
        return has_role(required_.class_role[root], value_role::input);
    }
    /// There after all steps: it gives to nobody.
    [[nodiscard]] bool is_kept(value_id root) const
    {
        return has_role(required_.class_role[root], value_role::output);
    }

    /// Whether a step is done with the bytes of class u when it writes class v there. It is if it only reads
    /// them early, and if it may write the result over the one operand that it reads of u, early or not.
    [[nodiscard]] bool can_overwrite(step_id s, value_id u, value_id v, memory_plan const& plan,
                                     bool in_place) const;

private:
    csr_rows boundary_steps(bool only_defs) const;

    snapshot const& p_;
    plan_requirements const& required_;
    step_order const& order_;
    csr_rows begins_;
    csr_rows ends_;
};

// --- clash schedule --------------------------------------------------------------------------------------

/// An order of the steps in which two classes of values meet that lie in the same bytes.
///
///     u is made  ──►  v is written over it  ──►  u is needed
///
///     what the maker    the     what the writer   the       all the rest,
///     waits for         maker   waits for         writer    the needing step included
///
/// If neither may give its bytes to the other, there are such three steps for u and v or for v and u: else
/// some first def of either would come before one of the other, in a circle. The exception are two that are
/// only written, by steps that need not wait for each other; they stand side by side, and may run at once.

/// By step: whether it comes before s, if there is such a step.
std::vector<unsigned char> all_before(step_id s, step_order const& order);

/// Find the three steps for u, and for v that is written over it. `producer` is no step if u is given.
bool find_overwrite(step_order const& order, class_touches const& touches, memory_plan const& plan,
                    bool in_place, value_id u, value_id v, step_id producer, bool both_written,
                    concurrent_witness& w);

/// How u and v meet: the values, the steps and the schedule of the witness.
///
/// Requires:   the classes of the roots u and v lie in the same bytes, and neither may give them to the
/// other. Ensures:    u is named as what is written over, if there is a schedule for that; of steps the
/// first. Complexity: O(steps + edges) for each first def of either class.
[[nodiscard]] concurrent_witness clash_schedule(step_order const& order, class_touches const& touches,
                                                memory_plan const& plan, bool in_place, value_id u,
                                                value_id v);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/step_order.ipp>
#endif

#endif
