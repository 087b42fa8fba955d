// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STEP_WAITS_HPP
#define SUBLET_EXECUTION_STEP_WAITS_HPP

/// Who has to wait for whom if steps run at once, and what leaves the same bytes nevertheless.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/detail/sorting.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

// --- byte owners -----------------------------------------------------------------------------------------

/// Which buffer was the last to move in, for each byte of an arena.
///
///     borders    0       64      96          160        where any buffer begins or ends
///     owner      │   a   │   c   │     c     │          c moved in over the end of b
///
/// Between two neighbouring borders all bytes have one owner. To claim a buffer costs a step for each stretch
/// in it, so less than to paint its bytes: no search tree is needed.

namespace sublet::detail {

class byte_owners {
public:
    /// Requires: all that will be claimed begins and ends at a border.
    byte_owners(std::vector<sort_key> borders, byte_count end);

    void claim(byte_count begin, byte_count end, buffer_id id);
    /// Calls `visit(begin, end, owner)` for each stretch of [begin, end), ascending.
    template <class Visit>
    void each(byte_count begin, byte_count end, Visit visit) const
    {
        for (std::size_t i = segment_at(begin); borders_[i].key < end; ++i)
            visit(borders_[i].key, borders_[i + 1].key, owner_[i]);
    }

private:
    std::size_t segment_at(byte_count begin) const;

    std::vector<sort_key> borders_; // ascending, each once: many buffers begin where one ends
    std::vector<buffer_id> owner_;  // of the stretch that begins at a border
};

// --- tenants ---------------------------------------------------------------------------------------------

/// Whose bytes they were before, when a buffer moves in.
///
///     before     |=== a ===|= b =|====== (nobody) ==|
///     c          ......[== c ==============).........      c follows a, and b
///
/// A plan says where buffers lie, a tape when each is first written. One walk along the tape knows for every
/// newcomer whom it follows: those who must be done with their bytes when steps run at once.

class arena_occupants {
public:
    /// Inputs are there. Both must outlive this.
    ///
    /// Throws: unsound_plan if the plan has no place for a buffer, or one outside of the arena of its pool.
    arena_occupants(lowered_program const& lowered, memory_plan const& plan);

    /// Let b move in, and call `visit(before)` for everybody whose bytes it takes, by ascending offset; for
    /// some more than once. Inputs, and what lies in no arena, have nobody before them.
    ///
    /// Complexity: a step for each stretch between places where buffers begin or end.
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
    std::vector<byte_owners> arenas_; // by pool
};

// --- listed order ----------------------------------------------------------------------------------------

/// Whether steps that need not come as they are listed leave the same nevertheless.
///
///     listed as           run as             part is a view of a, and 1 does not read a: it writes there
///     0: def a            0: def a
///     1: def part         2: use a           finds what 0 has written, not 1
///     2: use a            1: def part
///
/// Data and edges let 2 come first. Where each value has bytes of its own, whatever they let come first may.
/// Where several are written to the same bytes, any two touches of which one writes have to stay in the order
/// of the list, if that is an order in which the program can be run; if it is not, no run says what they
/// mean.

/// Requires:   each value of the program is written once at most, and not at all if it is given; the program
///             and the options live as long as this.
/// Complexity: to make it O(V + E + values + steps + touches), as lifetimes(), which is asked only where
///             several values are written to the same bytes.
class program_order {
public:
    program_order(snapshot const& program, plan_options const& options);

    /// The first write that stands on the other side of another touch of its bytes than in the list.
    ///
    /// Complexity: O(steps + touches) time, O(steps + values) memory.
    std::optional<witness> moved_write(std::vector<step_id> const& steps) const;

    /// What keeps all writes where they are, besides data and edges.  O(V + E + values + touches)
    std::vector<handoff> handoffs() const;

private:
    snapshot const& program_;
    plan_options const& options_;
    std::vector<unsigned char> is_written_; // by value: its def writes
    std::vector<buffer_id> storage_of_;     // by value; `no_buffer`: it is written once, or only given
    std::size_t storages_ = 0;
    bool has_order_ = false; // the program can be run as it is listed, and something depends on it
};

} // namespace sublet::detail

// --- step waits ------------------------------------------------------------------------------------------

/// Who has to wait for whom, if steps run at once and are to leave what they leave one after the other.
///
///     0: w -> a        0 ──data──► 1          1 reads what 0 wrote
///     1: a -> b        0 ──data──► 2
///     2: a -> w        2 ─handoff► 3          c moves in where a was: all who read a have to be done
///     3: b -> c        0 ──anti──► 2          2 writes w again: here the wait for data says it already
///
/// In the order in which the steps are listed each read finds what was written last. It finds the same in
/// every order that keeps, of any two touches of the same bytes one of which writes, the one before the
/// other. So a walk along the list, with the last writer of each class of values and its readers since, sees
/// all that has to be kept; and where a plan for one order is run at once, so does a walk over the tenants of
/// its bytes. What longer ways say anyway is left out.
///
/// A step that reads a value and names a view of it, a new name that is written once, has written nothing:
/// other readers need not wait for it, those who read the view do. If it does write there, as for versions of
/// a name in one place, the order of the other readers is kept by the hand-offs that come with them.
///
/// Source: flow, anti and output dependences as in Kuck, Kuhn, Padua, Leasure and Wolfe, "Dependence graphs
/// and compiler optimizations", POPL 1981.

namespace sublet {

struct step_waits {
    /// Why a step waits for another; the first reason that there is.
    enum class kind : std::uint8_t {
        data,    ///< it reads what the other wrote
        anti,    ///< it writes what the other reads
        output,  ///< both write the same
        control, ///< the program says so: an edge, or steps of one node
        handoff  ///< bytes change hands
    };

    struct wait {
        step_id from = no_step; ///< a position, lower than
        step_id to = no_step;
        step_waits::kind why = step_waits::kind::data;
        friend bool operator==(step_waits::wait, step_waits::wait) = default;
    };

    std::vector<step_waits::wait> list; ///< by `to`, then `from`; each pair once, and none that others imply
    csr_rows after;                     ///< by position: who waits for it directly, ascending
    csr_rows before;                    ///< by position: whom it waits for directly, ascending

    [[nodiscard]] std::size_t count(step_waits::kind why) const;
};

namespace detail {

/// A program as it is run at once. Positions are those of the tape: one after the other in this order, the
/// steps leave what every other run has to leave.
struct run_order {
    detail::lowered_program lowered;
    step_waits waits;
};

} // namespace detail

namespace detail {

class wait_finder {
public:
    wait_finder(snapshot const& program, plan_options const& options, lowered_program const& lowered);

    /// Of touches of the same values; and, if there are tenants, of the same bytes of arenas.
    void follow_touches(arena_occupants* arenas);

    /// Throws: unsound_plan if an edge leads back.
    void follow_edges();

    /// Requires: they name steps.
    /// Throws:   unsound_plan if one leads back.
    void follow(std::vector<handoff> const& handoffs);

    step_waits reduced();

private:
    /// Of a class: who wrote it last, and who has read it since, but for those for whom a later one waits.
    struct users {
        step_id writer = no_step;
        std::vector<step_id> readers{};
        step_id touched_at = no_step, read_at = no_step, written_at = no_step; // last, to the present step
    };

    static step_waits::wait as_wait(step_waits::wait const& wait) { return wait; }
    static step_waits::wait as_wait(sort_key const& f)
    {
        return {static_cast<step_id>(f.key), static_cast<step_id>(f.key >> 32),
                static_cast<step_waits::kind>(f.tie)};
    }

    void add(step_id from, step_id to, step_waits::kind why);
    void add_steps(step_id from, step_id to, step_waits::kind why)
    {
        if (position_of_[from] >= position_of_[to])
            throw unsound_plan({.what = fault::leads_back, .position = position_of_[from]});
        add(position_of_[from], position_of_[to], why);
    }

    users& touched(value_id v, step_id at);
    void read(value_id v, step_id at)
    {
        touched(v, at).read_at = at;
        add(viewed_at_[v], at, step_waits::kind::data);
    }

    /// The step reads what this is a view of, and makes this name for it, once: nothing is written.
    bool is_mere_view(value_id v, step_id at)
    {
        return lowered_.is_view(v, at) && versions_[v] == 1 && touched(v, at).read_at == at;
    }

    void wait(buffer_id b, step_id at, arena_occupants* arenas);

    snapshot const& program_;
    lowered_program const& lowered_;
    std::vector<step_id> position_of_;    // by step
    std::vector<std::uint32_t> versions_; // by value: how often it is written, and once more if it is given
    std::vector<step_id> viewed_at_;      // by value: where it was made as a view, and nothing written
    std::vector<sort_key> end_uses_;      // {position, 0, value}: needed where a node ends
    std::vector<users> users_;            // by buffer
    std::vector<buffer_id> touched_;      // by the present step
    std::vector<step_id> last_waiter_;    // by position: by whom last
    std::vector<sort_key> found_;         // {to and from, why}
};

/// The steps of a program in an order that keeps data, edges and hand-offs, as they are listed where they can
/// be; where several values are written to the same bytes they have to be.
std::vector<step_id> concurrent_step_order(snapshot const& p, plan_options const& options,
                                           std::vector<handoff> handoffs);

/// How a program is run at once in a memory mode.
///
/// Of a plan for any schedule, the order is one that its hand-offs, data and edges leave; what it says about
/// bytes is believed. If the program can be run as it is listed, in `options.order`, the order leaves what
/// that leaves: a part that is written through a view stays where it is among the readers. For a plan for one
/// order, and without a plan, the order is `options.order`, and hand-offs are found where bytes change hands.
/// `handoffs` are kept besides, as `versions()` returns them.
///
/// Requires:   as tape_of().
/// Ensures:    whatever keeps the waits leaves what the tape leaves step by step. None can be left out.
/// Complexity: O(V + E + steps + touches + pairs log pairs), and has_indirect_path() for pairs: one for each read,
///             for each write one for each reader since the write before, for each buffer that moves in one
///             for each reader of those whose bytes it takes, but for readers for whom a later one waits
///             directly. With a plan for one order, and a step for each stretch of bytes of each buffer.
/// Throws:     unsound_plan if the order does not hold, an edge or a hand-off leads back in it, hand-offs
///             move a write to the other side of another touch of its storage, or the plan is of other
///             values or steps or has a place outside of its arenas; precondition_error where a requirement
///             is broken.
template <detail::memory_mode Mode>
[[nodiscard]] run_order run_order_of(snapshot const& p, plan_options const& options, Mode const& mode,
                                     per_value<bool> const& scratch = false,
                                     std::vector<handoff> const& handoffs = {})
{
    run_order result;
    memory_plan const* plan = nullptr;
    if constexpr (std::same_as<Mode, arena>) plan = &mode.plan;
    bool const is_for_any_schedule = plan != nullptr && plan->valid_for == program_reading::concurrent;
    std::vector<handoff> kept = handoffs;
    auto names_steps = [&](handoff h) { return h.from < p.steps() && h.to < p.steps(); };
    SUBLET_EXPECTS(std::all_of(kept.begin(), kept.end(), names_steps), "sublet: a hand-off names no step");
    if (is_for_any_schedule) {
        if (!std::all_of(plan->handoffs.begin(), plan->handoffs.end(), names_steps))
            throw unsound_plan({.what = fault::foreign_plan});
        kept.insert(kept.end(), plan->handoffs.begin(), plan->handoffs.end());
    }
    result.lowered =
        is_for_any_schedule
            ? detail::lower_program(p, options, scratch, detail::concurrent_step_order(p, options, kept))
            : detail::lower_program(p, options, scratch);
    detail::wait_finder finder(p, options, result.lowered);
    if (plan != nullptr && !is_for_any_schedule) {
        detail::arena_occupants arenas(result.lowered, *plan);
        finder.follow_touches(&arenas);
    } else {
        finder.follow_touches(nullptr);
    }
    finder.follow_edges();
    finder.follow(kept);
    result.waits = finder.reduced();
    return result;
}

} // namespace detail

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/step_waits.ipp>
#endif

#endif
