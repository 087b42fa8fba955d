// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_ALIASES_HPP
#define SUBLET_ANALYSIS_ALIASES_HPP

/// Which buffers of a plan take over bytes of which earlier ones, and between which steps: what a host needs
/// for aliasing barriers, to discard contents, or to pass fences from one resource to the next.
///
///     bytes   steps 0       1       2       3         a ─► c   [ 0, 64)   after step 1, before step 2
///     128     ┌───────────────┐                       b ─► c   [64, 96)   after step 1, before step 2
///      96     │       b       ├───────────────┐       b ─► d   [96,128)   after step 1, before step 3
///      64     ├───────────────┤       c       │
///             │       a       │               │       the next round:  c ─► a, c ─► b, d ─► b
///       0     └───────────────┴───────────────┘
///
/// A buffer takes over a byte from the one that had it last. Earlier ones are not listed: they ended before
/// that one began.

#include <sublet/core/errors.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/snapshot.hpp>

#include <vector>

namespace sublet {

/// One buffer that takes over bytes of an earlier one.
struct alias {
    buffer_id before = no_buffer; ///< had these bytes last
    buffer_id after = no_buffer;  ///< takes them over
    value_id before_root = no_value; ///< the value that names `before`
    value_id after_root = no_value;  ///< the value that names `after`
    pool_id pool = 0;             ///< the pool of both
    byte_count first = 0;         ///< the first byte, in the arena of the pool
    byte_count last = 0;          ///< the byte after the last one
    bool next_round = false;      ///< `before` is of one round, `after` of the next one
    /// The steps after which `before` is not needed; none: not before the end of the round, or no step
    /// touches it. In a plan for every schedule no other touch of `before` follows these.
    std::vector<step_id> ends = {};
    /// The steps with which `after` begins; none: it is there when the round begins. Each follows all of
    /// `ends`.
    std::vector<step_id> begins = {};
    /// If asked for, in a plan for every schedule and within a round: for each of `begins` and each of `ends`
    /// the steps of a path from the latter to the former along data, edges and hand-offs, which orders them.
    std::vector<std::vector<step_id>> paths = {};

    /// A step reads `before` while it writes `after` over it: contents pass from one to the other, and no
    /// barrier can lie between.
    [[nodiscard]] bool is_within_step() const
    {
        return ends.size() == 1 && begins.size() == 1 && ends[0] == begins[0] && !next_round;
    }
    friend bool operator==(alias const&, alias const&) = default;
};

/// What aliases() lists.
struct alias_options {
    /// Also the bytes that the first buffers of a round take over from the last ones of the round before.
    bool repeats = false;
    bool paths = false; ///< what orders the steps, in a plan for every schedule
};

namespace detail {

/// A list that is found for a listing, with its names. A template, so that operators in namespace sublet are
/// found for it.
template <class T>
struct named_list : std::vector<T> {
    std::vector<char> names = {};       ///< of steps 0, 1, 2 ..., each ends with '\0'
    std::vector<char> value_names = {}; ///< of values
    char const* unit = nullptr;         ///< of sizes, if not bytes
};

} // namespace detail

/// The buffers of a plan that take over bytes of earlier ones. The plan may be invalid; it is not checked.
///
///     for (sublet::alias const& a : sublet::aliases(list, planned))
///         if (!a.is_within_step()) discard(a.before, a.after); // after a.ends, before a.begins
///
/// <sublet/reporting/aliases.hpp> prints them, and writes them as JSON.
///
/// Ensures:    each byte of a buffer that an earlier one had is in exactly one alias of that buffer, and each
///             byte that the round before left to another buffer in one with `next_round`. Neighbouring bytes
///             of one pair are one range. Sorted by `next_round`, by the begin of `after` in an order of the
///             steps, and by byte. In a plan for one order `ends` and `begins` have at most one step. What is
///             carried into the next round (plan_options::carried) takes its contents along, and is not listed
///             there; nor are values that change places, which no others share.
/// Complexity: O((steps + touches + segments) log) time and memory, for segments of bytes between the borders
///             of buffers that a buffer takes over. In a plan for every schedule also O(positions + edges)
///             from the first to the last touch of each listed buffer, and for each path.
/// Throws:     precondition_error if the plan is of another program or for control flow, where the path that
///             is taken decides, if it has a buffer without an offset or beyond the arena of its pool, or if
///             the steps wait for each other in a cycle.
[[nodiscard]] std::vector<alias> aliases(snapshot const& p, memory_plan const& plan,
                                         plan_options const& options, alias_options const& asked = {});
/// The same for a listing, with its options: printed, values and steps have their names.
template <detail::listed L>
[[nodiscard]] detail::named_list<alias> aliases(L const& list, memory_plan const& plan,
                                                alias_options const& asked = {})
{
    return list.named(detail::named_list<alias>{aliases(list.program(), plan, list.options(), asked)});
}
/// The same for a planner's result.
/// Throws: also precondition_error if there is no plan.
template <detail::listed L, class Planned>
    requires requires(Planned const& planned) {
        memory_plan(planned.plan);
        planned.error();
    }
[[nodiscard]] detail::named_list<alias> aliases(L const& list, Planned const& planned,
                                                alias_options const& asked = {})
{
    SUBLET_EXPECTS(bool{planned},
                   "sublet: aliases() is given the result of a planner that has found no plan");
    return aliases(list, planned.plan, asked);
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/aliases.ipp>
#endif

#endif
