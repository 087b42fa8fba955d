// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_STREAMS_HPP
#define SUBLET_CHECKING_CHECK_STREAMS_HPP

/// Race checkers: of commands issued to streams, and of the waits between steps that run concurrently.
///
///     conflict_scan    accesses in a list           pairs that, if ordered, order all conflicts
///     stream_clocks    commands on streams          vector clocks: which command happens before which
///     check_streams    commands, blocks, touches    no race; every touch while its block is allocated
///     check_waits      a plan and waits of steps    every execution computes the same result

#include <sublet/checking/internal/places.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

// --- conflict scan ---------------------------------------------------------------------------------------

/// The queries that decide whether an order of accesses preserves the order of all conflicting ones.
///
///     access    0   1   2   3   4            a read:  is it after the last write?    1 after 0, 2 after 0
///     bytes     w   r   r   w   r            a write: is it after all reads since?   3 after 1, 3 after 2
///                                            4 after 3; 3 after 0 follows by way of 1
///
/// Accesses conflict if they touch the same byte and one writes. A scan keeps for each segment of bytes its
/// last writer and the readers since. If each query holds, all conflicts are ordered, by transitivity.
///
/// Source: the happens-before of Lamport, "Time, clocks, and the ordering of events in a distributed system",
/// Communications of the ACM 1978; the last write and the reads since as in Flanagan and Freund, "FastTrack:
/// efficient and precise dynamic race detection", PLDI 2009.

namespace sublet {
namespace detail {

inline constexpr std::uint32_t no_space = ~std::uint32_t{0};

/// An access to bytes [begin, end) of a space: a pool's arena, an allocation, or the caller's storage.
struct byte_access {
    std::uint32_t at = 0; ///< index of the step or command in the list that is ordered
    std::uint32_t space = 0;
    byte_count begin = 0;
    byte_count end = 0;
    value_id value = no_value; ///< the value accessed
    bool writes = false;
};

/// Two conflicting accesses of which the later does not wait for the earlier.
struct race {
    std::uint32_t first = 0; ///< `at` of the accesses
    std::uint32_t second = 0;
    value_id first_value = no_value; ///< both `no_value`: a required order without bytes
    value_id second_value = no_value;
    bool first_writes = false;
    bool second_writes = false;
    std::uint32_t space = detail::no_space; ///< `no_space`: storage of this value and its views only
    byte_count begin = 0;
    byte_count end = 0;
    friend bool operator==(race const&, race const&) = default;
};

[[nodiscard]] counterexample unordered(race const& r);

class conflict_scan {
public:
    explicit conflict_scan(std::vector<byte_access> const& list);

    template <class Visit>
    void run(Visit visit)
    {
        std::vector<sort_key> sorted; // by step; reads first
        for (std::uint32_t i = 0; i != list_.size(); ++i)
            if (list_[i].begin < list_[i].end) sorted.push_back({list_[i].at, list_[i].writes, i});
        sort_by_key(sorted);
        for (sort_key const& next_access : sorted) {
            split_at(begin_[next_access.id]);
            split_at(end_[next_access.id]);
            if (list_[next_access.id].writes) write(next_access.id, visit);
            else read(next_access.id, visit);
        }
    }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    /// Bytes between neighbouring borders with the same access history.
    struct segment {
        std::uint32_t writer = none;  // last write
        std::uint32_t readers = none; // reads since: head of a list; tails are shared
    };
    struct reader {
        std::uint32_t access;
        std::uint32_t next;
    };

    /// Numbers the offsets, over all spaces, at which accesses begin or end; there may be none.
    std::size_t number_borders();

    void split_at(std::uint32_t at);

    template <class Visit>
    void read(std::uint32_t i, Visit& visit)
    {
        for (std::uint32_t s = begin_[i]; s != end_[i]; s = segments_.above(s)) {
            segment& current = segment_[s];
            visit_once(current.writer, i, visit);
            if (current.readers != none && list_[readers_[current.readers].access].at == list_[i].at)
                continue;
            readers_.push_back({i, current.readers});
            current.readers = static_cast<std::uint32_t>(readers_.size() - 1);
        }
    }
    template <class Visit>
    void write(std::uint32_t i, Visit& visit)
    {
        for (std::uint32_t s = begin_[i]; s != end_[i];) {
            for (std::uint32_t r = segment_[s].readers; r != none; r = readers_[r].next)
                visit_once(readers_[r].access, i, visit);
            if (segment_[s].readers == none) visit_once(segment_[s].writer, i, visit);
            std::uint32_t const next = segments_.above(s);
            if (s != begin_[i]) segments_.erase(s);
            s = next;
        }
        segment_[begin_[i]] = {i, none};
    }

    /// Visits each pair of steps once.
    template <class Visit>
    void visit_once(std::uint32_t before, std::uint32_t i, Visit& visit)
    {
        if (before == none) return;
        byte_access const &a = list_[before], &b = list_[i];
        if (a.at == b.at || last_visitor_[a.at] == b.at) return;
        last_visitor_[a.at] = b.at;
        visit(a.at, b.at,
              race{a.at, b.at, a.value, b.value, a.writes, b.writes, a.space, larger(a.begin, b.begin),
                   smaller(a.end, b.end)});
    }

    std::vector<byte_access> const& list_;
    std::vector<std::uint32_t> begin_, end_; // by access: numbers of borders
    std::vector<segment> segment_;           // by the border at which one begins
    rank_set segments_;
    std::vector<reader> readers_;
    std::vector<std::uint32_t> last_visitor_; // by `at`: the last step it was visited with
};

/// Calls `visit(earlier, later, race)` for pairs of `at`, the lower first. If all these pairs are ordered, so
/// are all conflicting accesses. `race` describes the race if the pair is not ordered. Accesses of one `at`
/// are unordered; its reads precede its writes.
///
/// Ensures:    by ascending `later`; no pair twice. Every pair conflicts, so each has to be ordered.
/// Complexity: O(n log n) for n accesses, and for each of them a step for each segment in it with its own
///             history; for each write, a step for each reader that it meets there. Memory of the same order
///             without the logarithm.
/// Throws:     precondition_error where `at` is no_step.
template <class Visit>
void for_conflicting_pairs(std::vector<byte_access> const& accesses, Visit visit)
{
    detail::conflict_scan(accesses).run(visit);
}

} // namespace detail

// --- stream commands -------------------------------------------------------------------------------------

/// The commands issued to a device, as data: before a schedule runs, or recorded while it ran.
///
///     0  stream 0   allocate block 0          work touches   at   space   begin   end   as value
///     1  stream 0   work (step 4)                             1     0       0      64      7     writes
///     2  stream 0   record event 0                            4     0       0      64      7
///     3  stream 1   wait for event 0
///     4  stream 1   work (step 5)
///
/// Commands are in the order of issue. A block is one allocation of bytes: if the device allocates the same
/// address again, that is another block.

struct stream_commands {
    /// What a command does.
    enum class operation_kind : std::uint8_t {
        allocate, ///< a block, in the order of the stream
        release,  ///< a block
        record,   ///< an event: all earlier commands of the stream
        wait,     ///< for the last record of an event
        work,     ///< of a step, or a copy (`no_step`): it touches bytes
        join,     ///< the caller waits for the stream
        join_all  ///< the caller waits for all streams
    };

    /// One command on a stream.
    struct operation {
        stream_commands::operation_kind what = stream_commands::operation_kind::work; ///< what it does
        std::uint32_t stream = 0;      ///< the stream that it is issued on
        std::uint32_t which = no_step; ///< block, event or step
        friend bool operator==(stream_commands::operation const&,
                               stream_commands::operation const&) = default;
    };

    /// One allocation.
    struct block {
        byte_count bytes = 0;  ///< its size
        bool is_given = false; ///< allocated before the first command; it may be released
        friend bool operator==(stream_commands::block const&, stream_commands::block const&) = default;
    };

    std::size_t streams = 0;                                 ///< how many streams there are, numbered from 0
    std::vector<stream_commands::operation> operations = {}; ///< in the order of issue
    std::vector<detail::byte_access> touches = {}; ///< `at` is a command's number, `space` a block's
    std::vector<stream_commands::block> blocks = {}; ///< by the number that commands use
};

// --- stream clocks ---------------------------------------------------------------------------------------

/// Vector clocks: which commands happen before which, in every order in which a device may execute them.
///
///     stream 0   a   b   record e            before    stream 0   1   2
///     stream 1   c   wait e   d              a             -      -   -
///     stream 2   f                           d             3      2   -      so a, b and c come before d,
///                                                                            and f need not
///
/// A command happens after those before it in its stream, after all that an awaited event covers, and after
/// all that the caller had joined when it was issued. So it suffices to count, for each stream, how many of
/// its commands happen before; the counts never decrease along a stream, and change at waits.
///
/// Source: vector clocks, found by Fidge, "Timestamps in message-passing systems that preserve the partial
/// ordering", 11th Australian Computer Science Conference, 1988, and by Mattern, "Virtual time and global
/// states of distributed systems", 1989.

namespace detail {

class stream_clocks {
public:
    /// Complexity: O(commands + (waits + joins x streams) x streams) time and memory.
    /// Throws:     precondition_error for a stream that is not one of `streams`.
    explicit stream_clocks(stream_commands const& list);

    /// Whether `earlier` happens before `later`.  Requires: earlier < later.
    [[nodiscard]] bool is_before(std::uint32_t earlier, std::uint32_t later) const
    {
        command const &a = rows_[earlier], &b = rows_[later];
        return a.stream == b.stream || counts_[b.row * streams_ + a.stream] > a.number;
    }
    /// Whether the event of the wait was recorded.
    [[nodiscard]] bool is_recorded(std::uint32_t wait) const { return rows_[wait].is_recorded; }

private:
    /// Rows of `counts_` are shared and immutable once another command refers to them; row 0 is all zeros.
    struct stream_clock {
        std::size_t row = 0;
        std::uint32_t count = 0; // commands so far
        std::uint32_t joins = 0; // joins of the caller merged so far
    };
    struct event_state {
        bool is_recorded = false;
        std::uint32_t stream = 0;
        std::uint32_t count = 0;
        std::size_t row = 0;
    };
    struct command {
        std::uint32_t stream;
        std::uint32_t number; // in its stream
        std::size_t row;
        bool is_recorded;
    };

    void merge(stream_clock& current, std::size_t other);
    /// Writes into a row that only the current command owns.
    void advance(stream_clock& current, std::uint32_t stream, std::uint32_t count);

    std::size_t streams_;
    std::vector<std::uint32_t> counts_; // by row, by stream
    std::vector<command> rows_;         // by command
    std::size_t new_row_ = 0;           // row made by the current command, or 0
};

} // namespace detail

// --- check streams ---------------------------------------------------------------------------------------

/// Checks that commands on streams have the same result in every order in which a device may execute them.
///
///     stream 0   allocate 0   write 0   record e               release 0
///     stream 1                                   wait e  read 0
///
/// This holds if every two conflicting touches happen in the order of issue, and every touch after the
/// allocation of its block and before its release. Nothing is executed and no orders are enumerated.
///
/// Source: PyTorch's CUDA stream sanitizer (torch.cuda._sanitizer) checks the accesses of issued commands so.

/// Whether a list of commands is valid: true, or its first fault. `must_release`: every allocated block has
/// to be released.
///
/// Ensures:    if it is, every execution that respects streams, events and the caller's joins
///             performs conflicting touches in the order of the list, each while its block is allocated. If
///             there is one, some execution does not (or the list is malformed). Blocks are checked first,
///             then single touches, then pairs: the first fault is returned, with the lowest later command.
/// Complexity: that of stream_clocks and for_conflicting_pairs(); pairs are not enumerated.
/// Throws:     precondition_error where a command names a stream or a block that is not listed.
[[nodiscard]] verdict check_streams(stream_commands const& list, bool must_release = false);

// --- check waits -----------------------------------------------------------------------------------------

/// Checks waits of concurrent steps: every execution must compute what the plan's reference order computes.
///
///     reference order   0: w a      1: r a      2: w b over a      3: r b
///     waits             0 ──► 1, 2 ──► 3                           2 need not wait for 1: a race
///
/// The plan is valid for the steps one after the other in the reference order; now each step begins when
/// those it waits for are done. If of every two conflicting accesses of different steps the later waits for
/// the earlier, every execution gives the result of the reference order. Proof: list the steps of an
/// execution in an order that respects the waits. While it differs from the reference order, two neighbours
/// are in the wrong order; they do not conflict, so exchanging them changes no access. Exchanges lead to the
/// reference order. Steps that run at the same time do not conflict, so they may be listed in either order.
///
/// Bytes and accesses are derived from the program again, apart from execution/.

namespace detail {

/// The inverse of an order of the steps.
table<step_id, position_id> positions_of(table<position_id, step_id> const& step_at, std::size_t steps);

/// The accesses of all steps, by position. The space of a
/// planned value is its pool, of `pools`. Each class without a place has a space of its own behind these: the
/// caller's storage, values of unknown size, every class if there is no plan. There a class of 0 bytes has
/// one byte: its readers wait for its writer.
///
/// A view accesses its own bytes only, and making one accesses none. Steps that read it still wait for the
/// one that makes it, so such a name has a byte of its own: its space is `pools` + the view. Steps that make
/// a view wait for the step that first makes its root, so this has one too: in `pools` + values + the root.
///
/// Requires:   `step_at` names every step once; in a plan every value that needs one has a place within the
///             arena of its pool.
/// Complexity: O(values + steps + touches) time and memory.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] std::vector<byte_access> accesses_of(snapshot const& p, plan_options const& options,
                                                   memory_plan const* plan, std::uint32_t pools,
                                                   table<position_id, step_id> const& step_at);

/// Finds two steps that must be ordered and are not, if a position begins when those that it waits for are
/// done. None: every execution computes what the reference order computes. Two steps must be ordered if they
/// conflict; or if an edge of the program, the sequence of steps of a node or a hand-off, of a concurrent
/// plan or among `handoffs`, requires it.
///
/// Requires:   as accesses_of(); check_plan() accepts the plan for the reference order, or
///             check_concurrent_plan() accepts it. `after` has, by position, the positions that wait for it:
///             each higher.
/// Ensures:    of conflicts the first by the later position, else the first required order. Of conflicts
///             within an arena `space` is the pool; others lie in `no_space`.
/// Complexity: that of accesses_of(), of for_conflicting_pairs(), and of reachability_queries.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] verdict check_waits(snapshot const& p, plan_options const& options, memory_plan const* plan,
                                  table<position_id, step_id> const& step_at,
                                  csr_rows<position_id, position_id> const& after,
                                  std::vector<handoff> const& handoffs = {});

} // namespace detail

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_streams.ipp>
#endif

#endif
