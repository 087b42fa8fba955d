// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_INTERNAL_CONFLICT_SCAN_HPP
#define SUBLET_CHECKING_INTERNAL_CONFLICT_SCAN_HPP

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

#include <sublet/checking/internal/places.hpp>
#include <sublet/checking/stream_commands.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

inline constexpr std::uint32_t no_space = ~std::uint32_t{0};

/// An access of the step or command `at`, to bytes of the space `space`: a pool's arena, an allocation, or
/// the caller's storage.
using byte_access = stream_commands::byte_access;

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

/// The pairs, by one pass over the accesses.
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

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/conflict_scan.ipp>
#endif

#endif
