// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_STREAMS_HPP
#define SUBLET_CHECKING_CHECK_STREAMS_HPP

/// Proves lists of commands on streams, and lists of waits; or says which accesses race.

#include <sublet/checking/detail/places.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/detail/sorting.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

// --- race questions --------------------------------------------------------------------------------------

/// What has to be asked about an order in which accesses to bytes are carried out, to know that it keeps all
/// of those that do not commute.
///
///     access    0   1   2   3   4            does 1 come after 0, and 2 after 0?    a read: the last write
///     bytes     w   r   r   w   r            does 3 come after 1, and after 2?      a write: all reads since
///                                            does 4 come after 3?
///                                            3 after 0: nobody needs to ask, 1 stands between them
///
/// Two accesses to the same byte, one of which writes, have to come in the order of the list. Walk along it,
/// with the last writer of each stretch of bytes and its readers since: if each answer is yes, then so it is,
/// by way of those between, for every pair. It makes no difference here what the bytes are for or who keeps
/// the order: the waits of a program, the events of streams.
///
/// Source: the happens-before of Lamport, "Time, clocks, and the ordering of events in a distributed system",
/// Communications of the ACM 1978; the last write and the reads since as in Flanagan and Freund, "FastTrack:
/// efficient and precise dynamic race detection", PLDI 2009.

namespace sublet {
namespace detail {

inline constexpr std::uint32_t no_space = ~std::uint32_t{0};

/// Somebody touches bytes [begin, end) of a space: of a pool's arena, of an allocation, of caller's storage.
struct byte_access {
    std::uint32_t at = 0; ///< which of the things that are ordered does it, by its place in the list of them
    std::uint32_t space = 0;
    byte_count begin = 0;
    byte_count end = 0;
    value_id value = no_value; ///< as what
    bool writes = false;
};

/// Two accesses of which neither waits for the other, or the later one does not wait for the earlier.
struct race {
    std::uint32_t first = 0; ///< the accesses' `at`
    std::uint32_t second = 0;
    value_id first_value = no_value; ///< both `no_value`: an order that was asked for without any bytes
    value_id second_value = no_value;
    bool first_writes = false;
    bool second_writes = false;
    std::uint32_t space = detail::no_space; ///< `no_space`: storage that only this value and its views have
    byte_count begin = 0;
    byte_count end = 0;
    friend bool operator==(race const&, race const&) = default;
};

} // namespace detail

/// A sentence, to any stream that takes text and integers.
template <class Stream>
    requires requires(Stream& out, byte_count number) { out << "text" << number; }
Stream& operator<<(Stream& out, detail::race const& r)
{
    if (r.first_value == no_value) {
        out << "position " << r.second << " does not wait for position " << r.first
            << ", as an edge of the program or a hand-off asks";
        return out;
    }
    out << "position " << r.first << (r.first_writes ? " writes value " : " reads value ") << r.first_value
        << " and position " << r.second << (r.second_writes ? " writes value " : " reads value ")
        << r.second_value;
    if (r.space != detail::no_space)
        out << ", both in bytes [" << r.begin << ", " << r.end << ") of space " << r.space;
    out << ", and the later does not wait for the earlier";
    return out;
}

namespace detail {

/// As the reason why a plan cannot be run so.
[[nodiscard]] witness as_witness(race const& r);

class conflict_scan {
public:
    explicit conflict_scan(std::vector<byte_access> const& list);

    template <class Visit>
    void run(Visit visit)
    {
        std::vector<sort_key> sorted; // those of one step: reads first
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

    /// Bytes between neighbouring borders that have the same history.
    struct segment {
        std::uint32_t writer = none;  // the access that wrote them last
        std::uint32_t readers = none; // since then: the head of a list, of which others may share the rest
    };
    struct reader {
        std::uint32_t access;
        std::uint32_t next;
    };

    /// Through all spaces, the places at which accesses begin or end; there may be none.
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

    /// Of what one step does it is asked about another step once.
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
    std::vector<std::uint32_t> last_visitor_; // by `at`: who was last to ask
};

/// Call `visit(earlier, later, race)` for pairs of `at`, the lower first, such that an order in which all of
/// these are ordered so orders every two accesses to a byte so, of which one writes.
///
/// Accesses of one and the same `at` have no order, and it reads before it writes. `race` is what has been
/// found if the answer is no.
///
/// Ensures:    by ascending `later`; no pair twice. Every pair is one of accesses to the same byte, one of
///             which writes, so that none of the answers may be no.
/// Complexity: O(n log n) for n accesses, and for each of them a step for each stretch of bytes in it that
///             differs from its neighbours in who touched it since it was written; for each write, a step
///             for each reader that it meets there. Memory of the same order without the logarithm.
/// Throws:     precondition_error where `at` is no_step.
template <class Visit>
void for_conflicting_pairs(std::vector<byte_access> const& accesses, Visit visit)
{
    detail::conflict_scan(accesses).run(visit);
}

} // namespace detail

// --- stream commands -------------------------------------------------------------------------------------

/// What was asked of a device, as data: by a schedule before anything runs, or by whoever has just run.
///
///     0  stream 0   allocate block 0          work touches   at   space   begin   end   as value
///     1  stream 0   work (step 4)                             1     0       0      64      7     writes
///     2  stream 0   record event 0                            4     0       0      64      7
///     3  stream 1   wait for event 0
///     4  stream 1   work (step 5)
///
/// Commands stand in the order in which they were issued. A block is one life of some bytes: what a device
/// hands out again is another block, at the same address.

struct stream_commands {
    enum class operation_kind : std::uint8_t {
        allocate, ///< a block, in the order of the stream
        release,  ///< a block
        record,   ///< an event: all that was issued in the stream before
        wait,     ///< for the last record of an event
        work,     ///< of a step, or a copy (`no_step`): it touches bytes
        join,     ///< the caller waits for the stream
        join_all  ///< and for all
    };

    struct operation {
        stream_commands::operation_kind what = stream_commands::operation_kind::work;
        std::uint32_t stream = 0;
        std::uint32_t which = no_step; ///< the block, the event, the step
        friend bool operator==(stream_commands::operation const&,
                               stream_commands::operation const&) = default;
    };

    struct block {
        byte_count bytes = 0;
        bool is_given = false; ///< there before the first command; it may be released
        friend bool operator==(stream_commands::block const&, stream_commands::block const&) = default;
    };

    std::size_t streams = 0;
    std::vector<stream_commands::operation> operations = {};
    std::vector<detail::byte_access> touches = {}; ///< `at` is a command's number, `space` a block's
    std::vector<stream_commands::block> blocks = {};
};

// --- stream clocks ---------------------------------------------------------------------------------------

/// Which commands on streams come after which, in every order in which a device may carry them out.
///
///     stream 0   a   b   record e            before    stream 0   1   2
///     stream 1   c   wait e   d              a             -      -   -
///     stream 2   f                           d             3      2   -      so a, b and c come before d,
///                                                                            and f need not
///
/// A command comes after those before it in its stream, after all that an event it waited for had seen, and
/// after all that the caller had waited for when it was issued. So it is enough to count, for each stream,
/// how many of its commands come before: numbers that only grow along a stream, and change at waits.
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

    /// Whether the command comes before the one that was issued later.  Requires: earlier < later.
    [[nodiscard]] bool is_before(std::uint32_t earlier, std::uint32_t later) const
    {
        command const &a = rows_[earlier], &b = rows_[later];
        return a.stream == b.stream || counts_[b.row * streams_ + a.stream] > a.number;
    }
    /// Whether the event was recorded for which the command waits.
    [[nodiscard]] bool is_recorded(std::uint32_t wait) const { return rows_[wait].is_recorded; }

private:
    /// Rows of `counts_` are never changed once somebody else has them: row 0 is everybody's.
    struct stream_clock {
        std::size_t row = 0;
        std::uint32_t count = 0; // commands so far
        std::uint32_t joins = 0; // of the caller, which it has heard of
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
    /// Into a row that is nobody's but this command's.
    void advance(stream_clock& current, std::uint32_t stream, std::uint32_t count);

    std::size_t streams_;
    std::vector<std::uint32_t> counts_; // by row, by stream
    std::vector<command> rows_;         // by command
    std::size_t new_row_ = 0;           // the row that the command in hand has made, or 0
};

} // namespace detail

// --- check streams ---------------------------------------------------------------------------------------

/// Does a list of commands on streams leave the same in every order in which a device may carry them out?
///
///     stream 0   allocate 0   write 0   record e               release 0
///     stream 1                                   wait e  read 0
///
///     command 5 on stream 0 releases block 0 and does not wait for command 4 on stream 1,
///     step 1, as value 7, which touches bytes [0, 64) of it
///
/// It does, if every two touches of the same bytes, one of which writes, come in the order in which they were
/// issued; and if every touch comes after the allocation of its block and before its release. Nothing is run,
/// and no order is tried: what comes before what in every order is a fact about the list.
///
/// Source: accesses against streams are checked so, on what was issued, by PyTorch's CUDA stream sanitizer
/// (torch.cuda._sanitizer).

struct stream_fault {
    enum class kind : std::uint8_t {
        race,                  ///< second does not wait for first, and both touch these bytes
        use_before_allocation, ///< second touches the block and does not wait for its allocation, first
        use_after_release,     ///< second touches the block, whose release was issued before: first
        freed_in_use,          ///< second releases the block and does not wait for first, which touches it
        double_release,        ///< second releases the block, as first did
        never_allocated,       ///< second releases or touches a block that nobody allocated before
        double_allocation,     ///< second allocates a block that was there already, by first
        out_of_bounds,         ///< second touches bytes beyond the end of the block
        unrecorded,            ///< second waits for an event that nobody recorded before
        leaked,                ///< the block, allocated by first, is never released
        order                  ///< second does not wait for first, though it was asked for: not found here
    };

    stream_fault::kind what = stream_fault::kind::race;
    std::uint32_t first = no_step; ///< commands; `no_step` where there is none
    std::uint32_t second = no_step;
    std::uint32_t first_stream = 0;
    std::uint32_t second_stream = 0;
    step_id first_step = no_step; ///< of which they are
    step_id second_step = no_step;
    value_id first_value = no_value;
    value_id second_value = no_value;
    std::uint32_t block = no_step; ///< or the event, or none
    byte_count begin = 0;
    byte_count end = 0;
    friend bool operator==(stream_fault const&, stream_fault const&) = default;
};

namespace detail {

template <class Stream>
void write_command(Stream& out, std::uint32_t command, std::uint32_t stream, step_id step, value_id value)
{
    out << "command " << command << " on stream " << stream;
    if (step != no_step) out << ", step " << step << ',';
    if (value != no_value) out << " as value " << value;
}

} // namespace detail

/// A sentence, to any stream that takes text and integers.
template <class Stream>
    requires requires(Stream& out, byte_count number) { out << "text" << number; }
Stream& operator<<(Stream& out, stream_fault const& f)
{
    using kind = stream_fault::kind;
    auto const write_first = [&] {
        detail::write_command(out, f.first, f.first_stream, f.first_step, f.first_value);
    };
    auto const write_bytes = [&] {
        out << " touches bytes [" << f.begin << ", " << f.end << ") of block " << f.block;
    };
    if (f.what == kind::leaked) {
        write_first();
        out << " allocates block " << f.block << ", which is never released";
        return out;
    }
    detail::write_command(out, f.second, f.second_stream, f.second_step, f.second_value);
    switch (f.what) {
    case kind::race:
        write_bytes();
        out << " and does not wait for ";
        write_first();
        out << ", which touches them too";
        break;
    case kind::use_before_allocation:
        out << " asks for block " << f.block << " and does not wait for ";
        write_first();
        out << ", which allocates it";
        break;
    case kind::use_after_release:
        out << " touches block " << f.block << " after ";
        write_first();
        out << " has released it";
        break;
    case kind::freed_in_use:
        out << " releases block " << f.block << " and does not wait for ";
        write_first();
        out << ", which touches bytes [" << f.begin << ", " << f.end << ") of it";
        break;
    case kind::double_release:
        out << " releases block " << f.block << " after ";
        write_first();
        out << " has released it";
        break;
    case kind::never_allocated:
        out << " asks for block " << f.block << ", which nobody allocated before";
        break;
    case kind::double_allocation: out << " allocates block " << f.block << ", which is there already"; break;
    case kind::out_of_bounds:
        write_bytes();
        out << ", which ends before";
        break;
    case kind::unrecorded: out << " waits for event " << f.block << ", which nobody recorded before"; break;
    case kind::order:
        out << " does not wait for ";
        write_first();
        out << ", as an edge, a hand-off or the ends of the run ask";
        break;
    case kind::leaked: break;
    }
    return out;
}

/// The first fault in a list of commands, or none. `must_release`: what is allocated has to be released as well.
///
/// Ensures:    if there is none, every order that keeps streams, events and the caller's joins carries out
///             any two touches that do not commute in the order of the list, each while its block is there.
///             If there is one, some order does otherwise (or the list asks for what is not there).
///             Blocks are looked at first, then touches of each, then pairs: the first of these that fails is
///             told, with the lowest later command.
/// Complexity: that of stream_clocks and for_conflicting_pairs(): a row of streams for each wait, and what touches
///             cost; no walk over pairs.
/// Throws:     precondition_error where a command names a stream or a block that is not listed.
[[nodiscard]] std::optional<stream_fault> check_streams(stream_commands const& list,
                                                        bool must_release = false);

// --- check waits -----------------------------------------------------------------------------------------

/// The opponent of everything that lets steps run at once: looks for two that touch the same bytes and need
/// not come in the order in which a plan is right.
///
///     reference order   0: w a      1: r a      2: w b over a      3: r b
///     waits             0 ──► 1, 2 ──► 3                           2 need not wait for 1: that is the race
///
/// A plan that is sound for the steps one after the other, in the reference order, is run at once: each step
/// begins when those it waits for are done. Say that two accesses clash if they touch the same byte and one
/// of them writes. If every two that clash are of the same step, or the later one waits for the earlier, then
/// each execution leaves what the reference order leaves. For put the steps of any execution into a row that
/// keeps the waits, and take the first in the reference order that does not stand where it stands there. It
/// and its left neighbour are in the wrong order, so do not clash, and may change places: no access finds
/// another byte than before. Exchange by exchange the row becomes the reference order. And steps that do run
/// at the same time do not clash, so it makes no difference in which row they are put.
///
/// Shares nothing with execution/: bytes and accesses are derived from the program afresh.

namespace detail {

/// By step, its place in an order of the steps.
std::vector<step_id> positions_of(std::vector<step_id> const& step_at, std::size_t steps);

/// Who touches which bytes at which position, if a step touches all the bytes of a value with its views. The
/// space of a planned value is its pool; there are `pools` of them, and behind these each class of values
/// that lies nowhere has a space of its own: the caller's storage, that of a value of unknown size, that of a
/// class before there is a plan. A class of 0 bytes has one there: its readers wait for its writer.
///
/// A result is not written if it is a view of what is there and the step reads: of a class that was given or
/// written before, by a name that was not, and is written once. Whoever reads it waits for that step still,
/// so such a name has a byte of its own.
///
/// Requires:   `step_at` names every step once; in a plan every value that needs one has a place within the
///             arena of its pool.
/// Complexity: O(values + steps + touches) time and memory.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] std::vector<byte_access> accesses_of(snapshot const& p, plan_options const& options,
                                                   memory_plan const* plan, std::uint32_t pools,
                                                   std::vector<step_id> const& step_at);

/// Look for two steps that have to come one after the other and need not, if a position begins when those
/// that it waits for are done. None: every execution leaves what the reference order leaves.
///
/// They have to if both touch the same bytes and one of them writes; and if the program says so by an edge,
/// by the row of steps of a node, or a hand-off does, of a concurrent plan or among `handoffs`.
///
/// Requires:   as accesses_of(); check_plan() passes the plan for the reference order, or
///             check_concurrent_plan() passes it. `after` has, by position, who waits for it: each higher.
/// Ensures:    of clashes the first by the later position, else the first order that was asked for. Of
///             clashes within an arena `space` is the pool; others lie in `no_space`.
/// Complexity: that of accesses_of(), of for_conflicting_pairs(), and of reachability_queries for what is asked.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] std::optional<race> check_waits(snapshot const& p, plan_options const& options,
                                              memory_plan const* plan, std::vector<step_id> const& step_at,
                                              csr_rows const& after,
                                              std::vector<handoff> const& handoffs = {});

} // namespace detail

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_streams.ipp>
#endif

#endif
