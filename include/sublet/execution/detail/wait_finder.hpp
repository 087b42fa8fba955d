// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_WAIT_FINDER_HPP
#define SUBLET_EXECUTION_DETAIL_WAIT_FINDER_HPP

/// Finds the waits of a lowered program: step_waits says which they are.
///
///     follow_touches()    data, anti and output; with arenas, hand-offs where bytes are reused
///     follow_edges()      control
///     follow(handoffs)    hand-offs that are given
///     reduced()           those that no others imply

#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/internal/arena_occupants.hpp>
#include <sublet/execution/internal/lowered_program.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet::detail {

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
    /// Of a range of bytes: its last writer and the readers since, without readers that a later one waits
    /// for.
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
            throw unsound_plan(
                {fault::leads_back, counterexample::waiting{.step = from, .position = position_of_[from]}});
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
    /// Returns whether the step itself uses bytes that b takes over.
    bool occupy(buffer_id b, position_id at, arena_occupants& arenas);
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
    /// The first piece of a buffer: which of these it waits for, and its step, if that uses the bytes, too.
    struct first_piece {
        std::size_t first = 0, last = 0;
        position_id user = no_position;
    };
    table<buffer_id, first_piece> first_pieces_; // by buffer that begins with one; empty if there are none
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/wait_finder.ipp>
#endif

#endif
