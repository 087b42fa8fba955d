// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CLASS_TOUCHES_HPP
#define SUBLET_CHECKING_CLASS_TOUCHES_HPP

/// When the bytes of a class of values are written first and touched last, if steps run in any order.
///
///     step 0: def a              class of a: begins {0}, ends {1, 2}
///     step 1: use a, def b       class of c and its view d: begins {2}, ends {3}
///     step 2: use a, def c       1 may write b over a, if it is offered and 2 has come before
///     step 3: use c, def d = view of c, read by nobody
///
/// A class may have several first and several last steps, of which none comes before the other. Others are
/// left out where that is plain to see; to have kept them would cost time only.

#include <sublet/checking/demands.hpp>
#include <sublet/checking/step_order.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

namespace sublet {

/// Requires: `asked` and `order` are of the program, and all of them live as long as this.
class class_touches {
public:
    class_touches(snapshot const& program, plan_demands const& asked, step_order const& order)
        : p_(program), asked_(asked), order_(order), begins_(outermost(true)), ends_(outermost(false))
    {
    }

    /// By root: the steps that write the class, but none that reads any of it. Of no use if it is given.
    [[nodiscard]] csr_rows const& begins() const { return begins_; }
    /// By root: the steps that touch the class, but none of whose result for the class a later step reads.
    [[nodiscard]] csr_rows const& ends() const { return ends_; }
    /// There before all steps: nobody gives to it.
    [[nodiscard]] bool is_given(value_id root) const
    {
        return has_role(asked_.class_role[root], value_role::input);
    }
    /// There after all steps: it gives to nobody.
    [[nodiscard]] bool is_kept(value_id root) const
    {
        return has_role(asked_.class_role[root], value_role::output);
    }

    /// Whether a step is done with the bytes of class u when it writes class v there. It is if it only reads
    /// them early, and if it may write the result over the one operand that it reads of u, early or not.
    [[nodiscard]] bool hands_over(step_id s, value_id u, value_id v, memory_plan const& plan,
                                  bool in_place) const;

private:
    csr_rows outermost(bool only_defs) const;

    snapshot const& p_;
    plan_demands const& asked_;
    step_order const& order_;
    csr_rows begins_;
    csr_rows ends_;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/class_touches.ipp>
#endif

#endif
