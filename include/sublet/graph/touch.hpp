// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_TOUCH_HPP
#define SUBLET_GRAPH_TOUCH_HPP

/// What a step says of itself: which values it accesses and how, which results may overwrite which operands,
/// and what its views are parts of.
///
///     use a, def b        {a, use}, {b, def}
///     b may overwrite a   {step, a, b}

#include <sublet/core/units.hpp>

#include <cstdint>

namespace sublet {

/// One access of a step to a value.
struct touch {
    /// What the step does with the value.
    enum class access : std::uint8_t {
        use,        ///< reads; holds the storage until the step ends
        use_early,  ///< reads before the step writes: a result may take the storage in the same step
        write,      ///< reads and writes bytes of a value that is there already; it stays that value
        view,       ///< makes a view: names bytes that are there, and neither reads nor writes them
        read_view,  ///< makes a view and reads its bytes, as they are before the step writes
        write_view, ///< makes a view and writes its bytes: the storage may be written here for the first time
        def,        ///< makes a value: writes all of its bytes, even if the result is never read
        allocate ///< makes a value that has no contents yet: steps write them, or it is scratch of this one
    };

    value_id value;     ///< the value that is accessed
    touch::access kind; ///< what the step does with it

    /// The value is there from this step on: made, or a view of one that is.
    [[nodiscard]] constexpr bool defines() const { return kind >= touch::access::view; }
    /// The step makes a view, whether it reads or writes through it or not.
    [[nodiscard]] constexpr bool makes_view() const { return defines() && !makes(); }
    /// The step makes a view of storage that has to be there before.
    [[nodiscard]] constexpr bool views_what_is_there() const
    {
        return kind == touch::access::view || kind == touch::access::read_view;
    }
    /// The step makes a value that is no view, with or without contents.
    [[nodiscard]] constexpr bool makes() const { return kind >= touch::access::def; }
    /// Uses the value, and needs its storage to the end of the step.
    [[nodiscard]] constexpr bool holds() const
    {
        return kind == touch::access::use || kind == touch::access::write;
    }
    /// Bytes of its storage change, or have no contents yet.
    [[nodiscard]] constexpr bool writes() const
    {
        return kind == touch::access::write || kind >= touch::access::write_view;
    }
    friend bool operator==(touch, touch) = default;
};

/// A phi operand: `node` uses `value` at the end of its predecessor `pred`.
struct edge_use {
    node_id node;   ///< the node with the phi
    node_id pred;   ///< the predecessor; the value is read at its end
    value_id value; ///< the operand
    friend bool operator==(edge_use, edge_use) = default;
};

/// In `step`, the result `out` may overwrite the storage of the operand `in`.
struct overwrite {
    step_id step; ///< the step that declares it
    value_id in;  ///< the operand
    value_id out; ///< the result
    friend bool operator==(overwrite, overwrite) = default;
};

/// A step says of what its view is a part.
struct said_view {
    step_id step;      ///< the step that says it
    value_id value;    ///< the view
    value_id of;       ///< what it is a view of
    byte_count offset; ///< its first byte there
    friend bool operator==(said_view const&, said_view const&) = default;
};

} // namespace sublet

#endif
