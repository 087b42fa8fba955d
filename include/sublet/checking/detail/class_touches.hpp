// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_DETAIL_CLASS_TOUCHES_HPP
#define SUBLET_CHECKING_DETAIL_CLASS_TOUCHES_HPP

/// Two classes of values in the same bytes, if steps run concurrently: the first defs and the last touches
/// of each, which decide whether one may reuse the bytes of the other; and a schedule in which they
/// conflict.

#include <sublet/checking/detail/step_order.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/internal/plan_requirements.hpp>
#include <sublet/graph/snapshot.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

// --- class touches ---------------------------------------------------------------------------------------

/// The first defs and the last touches of each class of values, if steps run in any order.
///
///     step 0: def a              class of a: begins {0}, ends {1, 2}
///     step 1: use a, def b       class of c and its view d: begins {2}, ends {3}
///     step 2: use a, def c       1 may write b over a if it is declared and 2 happens before
///     step 3: use c, def d = view of c, not read
///
/// A class may have several of both, none before another. Other steps are left out where that is cheap.

namespace sublet::detail {

/// Requires: `required` and `order` are of the program, and all arguments outlive this.
class class_touches {
public:
    class_touches(snapshot const& program, plan_requirements const& required, step_order const& order);

    /// By root: the steps that write the class and read none of it. Unused for given classes.
    [[nodiscard]] csr_rows<value_id, step_id> const& begins() const { return begins_; }
    /// By root: the steps that touch the class, without those that write a value of it that is read later.
    [[nodiscard]] csr_rows<value_id, step_id> const& ends() const { return ends_; }
    /// Live before all steps: it reuses no bytes.
    [[nodiscard]] bool is_given(value_id root) const
    {
        return has_role(required_.class_role[root], value_role::input);
    }
    /// Live after all steps: its bytes are not reused.
    [[nodiscard]] bool is_kept(value_id root) const
    {
        return has_role(required_.class_role[root], value_role::output);
    }

    /// Whether step s may write class v over class u: it only reads u early, or it may write the result over
    /// the one operand of u that it reads.  O(log(touches + pairs)) and the touches of u and v by s
    [[nodiscard]] bool can_overwrite(step_id s, value_id u, value_id v, memory_plan const& plan,
                                     bool in_place) const;

private:
    static constexpr std::size_t few = 16;

    csr_rows<value_id, step_id> boundary_steps(bool only_defs) const;
    template <class Visit>
    void each_touch_of(step_id s, value_id root, Visit visit) const
    {
        auto const touches = p_.touches(s);
        if (touches.size() <= few) {
            for (touch t : touches)
                if (required_.root[t.value] == root) visit(t);
            return;
        }
        std::uint64_t const name = std::uint64_t{s} << 32 | root;
        auto is_there = [&](std::size_t i) { return by_root_[i].key >= name; };
        for (std::size_t i = partition_point(by_root_.size(), is_there);
             i != by_root_.size() && by_root_[i].key == name; ++i)
            visit(touches[to_size(by_root_[i].tie)]);
    }

    snapshot const& p_;
    plan_requirements const& required_;
    step_order const& order_;
    csr_rows<value_id, step_id> begins_;
    csr_rows<value_id, step_id> ends_;
    std::vector<sort_key> by_root_;     // {step and root, index of the touch}: of steps with more than a few
    std::vector<sort_key> read_at_end_; // {root, step}
    std::vector<sort_key> pairs_;       // {step, operand and result}
};

// --- clash schedule --------------------------------------------------------------------------------------

/// An execution order in which two classes of values in the same bytes conflict.
///
///     u is produced  ──►  v is written over it  ──►  u is needed
///
///     what the producer   the        what the writer   the       all other steps,
///     waits for           producer   waits for         writer    the reading one included
///
/// If neither class may reuse the bytes of the other, such three steps exist for u and v or for v and u: else
/// the first defs would form a cycle. The exception are two classes that are only written, by unordered
/// steps; these are adjacent in the schedule, and may run at once.

/// By step and join: whether it happens before s; none does if s is no_step.
std::vector<unsigned char> all_before(step_id s, step_order const& order);

/// Finds the three steps for `its.other` written over `its.value`. `producer` is no_step if that is given.
bool find_overwrite(step_order const& order, class_touches const& touches, memory_plan const& plan,
                    bool in_place, step_id producer, bool both_written, counterexample::overlap& its,
                    std::vector<step_id>& schedule);

/// The steps and the schedule of the counterexample for the values u and v of `both`.
///
/// Requires:   the classes of the roots u and v lie in these bytes, and neither may reuse the other's.
/// Ensures:    u is the overwritten value, if there is a schedule for that; of the steps the first.
/// Complexity: O(steps + edges) for each first def of either class.
[[nodiscard]] counterexample clash_schedule(step_order const& order, class_touches const& touches,
                                            memory_plan const& plan, bool in_place,
                                            counterexample::overlap const& both);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/class_touches.ipp>
#endif

#endif
