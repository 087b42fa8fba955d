// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STEP_WAITS_HPP
#define SUBLET_EXECUTION_STEP_WAITS_HPP

/// The waits between steps that run concurrently: a minimal set for which every run leaves the same bytes as
/// the program in its order. O(V + E + steps + touches + pairs log pairs) time plus a transitive reduction.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

// --- byte owners -----------------------------------------------------------------------------------------

/// For each byte of an arena, the buffer that occupied it last.
///
///     borders    0       64      96          160        where any buffer begins or ends
///     owner      │   a   │   c   │     c     │          c overwrote the end of b
///
/// All bytes between two neighbouring borders have one owner. Claiming a buffer takes a step per segment.

namespace sublet::detail {

class byte_owners {
public:
    /// Requires: each range that is claimed begins and ends at a border.
    byte_owners(std::vector<sort_key> borders, byte_count end);

    void claim(byte_count begin, byte_count end, buffer_id id);
    /// Calls `visit(begin, end, owner)` for each segment of [begin, end), ascending.
    template <class Visit>
    void each(byte_count begin, byte_count end, Visit visit) const
    {
        for (std::size_t i = segment_at(begin); borders_[i].key < end; ++i)
            visit(borders_[i].key, borders_[i + 1].key, owner_[i]);
    }

private:
    std::size_t segment_at(byte_count begin) const;

    std::vector<sort_key> borders_; // ascending, without duplicates
    std::vector<buffer_id> owner_;  // of the segment that begins at each border
};

// --- arena occupants -------------------------------------------------------------------------------------

/// The previous occupants of the bytes of each buffer in an arena.
///
///     before     |=== a ===|= b =|====== (free) ====|
///     c          ......[== c ==============).........      c follows a and b
///
/// A plan says where buffers lie, a lowered program when each is first written. One walk in program order
/// finds the buffers that each new one overlaps: their uses must end before it is written.

class arena_occupants {
public:
    /// Inputs occupy their bytes at the start. Both arguments must outlive this.
    /// Throws: unsound_plan if a buffer has no offset, or ends outside of the arena of its pool.
    arena_occupants(lowered_program const& lowered, memory_plan const& plan);

    /// Lets b occupy its bytes and calls `visit(before)` for each previous occupant, by ascending offset, for
    /// some more than once, in O(segments of b). Inputs and buffers that are not in an arena have none.
    template <class Visit>
    void occupy(buffer_id b, Visit visit)
    {
        if (!its(b).is_planned() || is_given(its(b).role)) return;
        byte_owners& arena = arenas_[its(b).pool];
        buffer_id last = no_buffer;
        arena.each(begin(b), end(b), [&](byte_count, byte_count, buffer_id before) {
            if (before != no_buffer && before != b && before != last) visit(last = before);
        });
        arena.claim(begin(b), end(b), b);
    }

private:
    buffer const& its(buffer_id b) const { return lowered_.table.buffers[b]; }
    byte_count begin(buffer_id b) const { return plan_.offset_of(its(b).root); }
    byte_count end(buffer_id b) const { return begin(b) + its(b).size; }

    lowered_program const& lowered_;
    memory_plan const& plan_;
    table<pool_id, byte_owners> arenas_;
};

// --- program order ---------------------------------------------------------------------------------------

/// Whether a reordering of steps preserves the order of writes to the same bytes.
///
///     listed as                 run as                    part is a view of a
///     0: def a                  0: def a
///     1: view part, write part  2: use a                  reads what 0 wrote, not what 1 writes
///     2: use a                  1: view part, write part
///
/// Bytes that are written once allow every order that data and edges allow. Of two accesses of bytes that are
/// written more than once, one of them a write, the order of the list is kept, if the program can be run in
/// that order; otherwise the order has no meaning.

/// Requires:   each value of the program is made at most once, and never if it is given; the program and
///             the options outlive this.
/// Complexity: construction O(V + E + values + steps + touches), and lifetimes() only where bytes are written
///             more than once.
class program_order {
public:
    program_order(snapshot const& program, plan_options const& options);

    /// The first write that is reordered with another access of its bytes.
    /// Complexity: that of detail::moved_write().
    std::optional<counterexample> moved_write(table<position_id, step_id> const& steps) const;

    /// The order that keeps all writes, beyond data and edges: storage_order().
    std::vector<handoff> handoffs() const;

private:
    snapshot const& program_;
    plan_options const& options_;
    ordered_bytes bytes_;
    bool has_order_ = false; // the listed order can be run, and results depend on it
};

} // namespace sublet::detail

// --- step waits ------------------------------------------------------------------------------------------

/// The waits with which a concurrent run leaves what a sequential run leaves.
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

namespace sublet {

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

namespace detail {

/// A program lowered for a concurrent run. Run one by one in the order of `lowered`, the steps leave what
/// every concurrent run must leave.
struct run_order {
    detail::lowered_program lowered;
    step_waits waits;
};

} // namespace detail

namespace detail {

class wait_finder {
public:
    wait_finder(snapshot const& program, plan_options const& options, lowered_program const& lowered);

    /// Adds waits between touches of one buffer and, if given, of the same arena bytes.
    void follow_touches(arena_occupants* arenas);

    /// Throws: unsound_plan if an edge leads to a lower position.
    void follow_edges();

    /// Requires: they name steps.
    /// Throws:   unsound_plan if one leads to a lower position.
    void follow(std::vector<handoff> const& handoffs);

    step_waits reduced();

private:
    /// Of a range of bytes: its last writer and the readers since, without readers that a later one waits for.
    struct users {
        position_id writer = no_position;
        std::vector<position_id> readers{};
        position_id touched_at = no_position, read_at = no_position,
                    written_at = no_position; // latest so far
    };

    static step_waits::wait as_wait(step_waits::wait const& wait) { return wait; }
    static step_waits::wait as_wait(sort_key const& f)
    {
        return {position_id::of(f.key), position_id::of(f.key >> 32), static_cast<step_waits::kind>(f.tie)};
    }

    void add(position_id from, position_id to, step_waits::kind why);
    void add_steps(step_id from, step_id to, step_waits::kind why)
    {
        if (position_of_[from] >= position_of_[to])
            throw unsound_plan({fault::leads_back, counterexample::waiting{.position = position_of_[from]}});
        add(position_of_[from], position_of_[to], why);
    }

    /// The ranges of bytes [first, last), by number.
    struct byte_ranges {
        std::uint32_t first = 0;
        std::uint32_t last = 0;
    };
    /// The ranges of bytes of a buffer.
    byte_ranges ranges_of(buffer_id b) const { return ranges_[lowered_.table.buffers[b].root]; }
    void access_bytes(value_id v, position_id at, bool reads, bool writes);
    void access(std::uint32_t range, position_id at, bool reads, bool writes);
    void wait(std::uint32_t range, position_id at);
    void occupy(buffer_id b, position_id at, arena_occupants& arenas);
    /// Storage that no step makes may begin piece by piece: each waits for the uses that the first one waits
    /// for.
    void begin_piece(value_id v, position_id at);

    snapshot const& program_;
    lowered_program const& lowered_;
    table<step_id, position_id> position_of_;
    table<value_id, byte_ranges> ranges_;         // its ranges of bytes
    std::vector<bool> is_given_;                  // by value
    table<value_id, position_id> made_at_;        // the first that makes it
    std::vector<sort_key> end_uses_;              // {position, 0, value}: needed where a node ends
    std::vector<users> users_;                    // by range of bytes, then the name of each view
    std::uint32_t names_ = 0;                     // the first of these
    std::vector<std::uint32_t> touched_;          // ranges that the current step accesses
    table<position_id, position_id> last_waiter_; // the last that waits for it
    std::vector<sort_key> found_;                 // {to and from, why}
    /// By buffer that begins with a piece: which of these it waits for. Empty if there are none.
    table<buffer_id, std::pair<std::size_t, std::size_t>> first_pieces_;
};

/// The steps of a program in an order that keeps data, edges and hand-offs, as close as possible to the
/// listed order; writes to shared storage keep the listed order.
table<position_id, step_id> concurrent_step_order(snapshot const& p, plan_options const& options,
                                                  std::vector<handoff> handoffs);

/// Checks a plan for its own reading.
/// Throws: unsound_plan with what check_plan() or check_concurrent_plan() finds.
void expect_sound(snapshot const& p, memory_plan const& plan, plan_options const& options);

/// The steps in the order of the plan, or in that of the options if there is no plan; for a plan for any
/// schedule in one that data, edges, its hand-offs and those given allow. `plan` may be null.
///
/// Requires:   as lower_program(); the options are those of the plan, as options_of_plan() returns them.
/// Complexity: that of lower_program(), and for a plan for any schedule of dependences().
/// Throws:     unsound_plan if there is no such order, or a hand-off of the plan does not name two steps;
///             precondition_error where a requirement is broken, or a given hand-off does not.
[[nodiscard]] lowered_program lower_planned(snapshot const& p, plan_options const& options,
                                            memory_plan const* plan, per_value<bool> const& scratch,
                                            std::vector<handoff> handoffs = {});

/// Lowers a program for a concurrent run in a memory mode, and finds its waits.
///
/// For a plan for any schedule, the order is one that its hand-offs, data and edges allow; its offsets are
/// not checked. If the listed order in `options.order` can be run, the new order has the same results: a part
/// that is written through a view keeps its place among the readers. For a plan for one order, the order is
/// that of the plan, and hand-offs are found where bytes are reused. Without a plan it is `options.order`.
/// `handoffs` are kept too.
///
/// Requires:   as lower_program().
/// Ensures:    every run that keeps the waits leaves what the lowered program leaves step by step. No wait
///             can be left out.
/// Complexity: O(V + E + steps + touches + pairs log pairs), and has_indirect_path() for the pairs: one for
///             each read; for each write one for each reader since the last write; for each buffer placed one
///             for each reader of the buffers that it overlaps; without readers that a later one waits
///             for directly. With a plan for one order, also O(segments) for each buffer.
/// Throws:     unsound_plan if the order is invalid, an edge or a hand-off leads to a lower position,
///             hand-offs reorder a write with another touch of its storage, or the plan is of another program
///             or, for one order, has wrong addresses; precondition_error where a requirement is broken.
[[nodiscard]] run_order run_order_of(snapshot const& p, plan_options const& options, memory_plan const* plan,
                                     per_value<bool> const& scratch, std::vector<handoff> const& handoffs);
template <detail::memory_mode Mode>
[[nodiscard]] run_order run_order_of(snapshot const& p, plan_options const& options, Mode const& mode,
                                     per_value<bool> const& scratch = false,
                                     std::vector<handoff> const& handoffs = {})
{
    return run_order_of(p, options, plan_in(mode), scratch, handoffs);
}

} // namespace detail

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/step_waits.ipp>
#endif

#endif
