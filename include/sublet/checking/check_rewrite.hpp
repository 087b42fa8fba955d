// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_REWRITE_HPP
#define SUBLET_CHECKING_CHECK_REWRITE_HPP

/// The opponent of every renaming: do the steps still read from whom they read before?
///
///     before              after                    the last step reads what step 1 wrote,
///     0: def a            0: def x                 and it should be what step 0 wrote: b
///     1: use a, def b     1: use x, def x          must not be called x as long as a is
///     2: use a, use b     2: use x, use x
///
/// A planner that writes its decisions back into a program gives new names to values: slots, arenas,
/// versions. The steps stay, and so do the places at which each of them reads and writes. Run both lists side
/// by side and note at every name who has written it last: a read is right if both programs say the same. It
/// costs one look a touch, so it can be done every time.
///
/// Both are read sequentially, in one order. Whether other orders would do as well is a question about
/// storage, which check_concurrent_plan answers.

#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace sublet {

struct rewrite_fault {
    enum class kind : std::uint8_t {
        shape,       ///< nodes, edges, steps, or what a step touches how: no renaming at all
        read,        ///< a use reads something else
        read_at_end, ///< a use at the end of a node does; `operand` is its place in edge_uses()
        kept,        ///< an output, or what belongs to the caller, is not in the end what it was
        aliasing, ///< two results of a step, or two given values (no step), have become one, or one and its
                  ///< view have become two
        in_place  ///< a result may no longer, or may now, be written over an operand: by the names after,
                  ///< `name` over `value`
    };

    /// Who has written what is read: the touch of a step; or, without a step, the given value; or nobody.
    struct source {
        step_id step = no_step;
        std::uint32_t operand = no_value;
        friend bool operator==(rewrite_fault::source, rewrite_fault::source) = default;
    };

    rewrite_fault::kind what = rewrite_fault::kind::shape;
    step_id step = no_step;              ///< `no_step`: in the end, at first, or in the graph
    std::uint32_t operand = 0;           ///< which of the step's touches
    value_id value = no_value;           ///< in the program before
    value_id name = no_value;            ///< in the program after
    rewrite_fault::source expected = {}; ///< before
    rewrite_fault::source found = {};    ///< after
    friend bool operator==(rewrite_fault const&, rewrite_fault const&) = default;
};

/// What the program before is, by its values, and where its ends are tied to the program after.
struct rewrite_options {
    per_value<value_role> role = value_role::intermediate;
    per_value<value_id> alias_of = no_value; ///< views are one name with what they are views of
    /// What a given value is called at first, and what is kept in the end (an output, or what belongs to the
    /// caller); `no_value`: by its own number.
    per_value<value_id> given_as = no_value;
    per_value<value_id> kept_as = no_value;
    std::vector<node_id> order = {}; ///< empty: 0, 1, 2 ...
};

/// One way in which `after` is not `before` under other names, or nothing if it is.
///
/// Ensures:    there is none if and only if, in the order given: every use in `after` reads what the use at
///             its place in `before` reads, written by the same touch or the same given value; outputs, and
///             what belongs to the caller, are in the end what they are there; results of a step, and given
///             values, are one exactly where they were; and so are the pairs of an operand and a result that
///             may be written over it. An operand and a result of one name are such a pair, declared or not:
///             that needs a declaration in `before`, or one name there, and that the step reads no other
///             value by it; what it reads early needs nothing. Of several, the first in the order is
///             returned.
/// Complexity: O(V + E + values + touches + pairs log pairs) time, O(V + values) memory.
/// Throws:     precondition_error if `given_as` or `kept_as` names no value of `after`, a property has not
///             one entry a value, views run in a circle, or the order does not name every node once.
[[nodiscard]] std::optional<rewrite_fault> check_rewrite(snapshot const& before, snapshot const& after,
                                                         rewrite_options const& options = {});

/// A sentence, to any stream that takes text and integers.
template <class Stream>
    requires requires(Stream& out, std::uint32_t number) { out << "text" << number; }
Stream& operator<<(Stream& out, rewrite_fault const& f)
{
    auto source = [&out](rewrite_fault::source from) {
        if (from.step != no_step) out << "what step " << from.step << " writes as its touch " << from.operand;
        else if (from.operand != no_value) out << "the given value " << from.operand;
        else out << "nothing";
    };
    switch (f.what) {
    case rewrite_fault::kind::shape:
        if (f.step == no_step) out << "the programs have different nodes, edges or steps";
        else out << "step " << f.step << " touches values in another way than before";
        return out;
    case rewrite_fault::kind::aliasing:
        if (f.step != no_step) out << "step " << f.step << " writes value ";
        else out << "it is given value ";
        out << f.value << " as " << f.name << ", and other bytes by that name or the same ones by another";
        return out;
    case rewrite_fault::kind::in_place:
        out << "step " << f.step << " may write " << f.name << " over " << f.value
            << " in one of the programs only";
        return out;
    case rewrite_fault::kind::kept: out << "in the end"; break;
    case rewrite_fault::kind::read: out << "at step " << f.step; break;
    case rewrite_fault::kind::read_at_end: out << "at the end of the node of step " << f.step; break;
    }
    out << ", value " << f.value << ", now called " << f.name << ", is ";
    source(f.found);
    out << " and should be ";
    source(f.expected);
    return out;
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_rewrite.ipp>
#endif

#endif
