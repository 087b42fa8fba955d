// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STEP_WAITS_HPP
#define SUBLET_EXECUTION_STEP_WAITS_HPP

/// The waits between steps that run concurrently: a minimal set for which every run leaves the same bytes as
/// the program in its order. O(V + E + steps + touches + pairs log pairs) time plus a transitive reduction.
///
///     0: w -> a        0 ──data──► 1          1 reads what 0 wrote
///     1: a -> b        0 ──data──► 2
///     2: a -> w        2 ─handoff► 3          c takes the bytes of a: all readers of a must be done
///     3: b -> c        0 ──anti──► 2          2 writes w again: implied here by the wait for data
///
/// A run leaves the same bytes in every order that keeps, of any two accesses of the same bytes, one of them
/// a write, the first before the second. One walk in program order, with the last writer of each range of
/// bytes and its readers since, finds these pairs; for a plan for one order, so does a walk over the
/// occupants of its bytes. Waits that follow from others are left out (transitive reduction).
///
/// A buffer is one range, unless a step changes it in place: then the borders of its values cut it, and
/// accesses of different parts do not wait for each other. A step that makes a view waits for the step that
/// first makes its root, unless the caller gives that, and those that read the view wait for it; it accesses
/// no byte, so it may run before or after a step that writes the root again. Nor does a view of no bytes.
///
/// Source: flow, anti and output dependences as in Kuck, Kuhn, Padua, Leasure and Wolfe, "Dependence graphs
/// and compiler optimizations", POPL 1981.

#include <sublet/core/units.hpp>
#include <sublet/graph/program.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

/// The waits of a concurrent run, by the position of the lowered program.
struct step_waits {
    /// Why a step waits for another; the first that applies.
    enum class kind : std::uint8_t {
        data,    ///< it reads what the other wrote
        anti,    ///< it writes what the other reads
        output,  ///< both write the same bytes
        control, ///< an edge of the program, or steps of one node
        handoff  ///< it reuses bytes that the other touches
    };

    /// One wait.
    struct wait {
        position_id from = no_position;                ///< lower than
        position_id to = no_position;                  ///< the position that waits
        step_waits::kind why = step_waits::kind::data; ///< the reason
        friend bool operator==(step_waits::wait, step_waits::wait) = default;
    };

    std::vector<step_waits::wait> list; ///< sorted by `to`, `from`; unique, and none implied by others
    csr_rows<position_id, position_id> after;  ///< those that wait for it directly, ascending
    csr_rows<position_id, position_id> before; ///< those that it waits for directly, ascending

    /// How many waits have that reason.
    [[nodiscard]] std::size_t count(step_waits::kind why) const;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/step_waits.ipp>
#endif

#endif
