// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_RACE_QUESTIONS_HPP
#define SUBLET_CHECKING_RACE_QUESTIONS_HPP

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

#include <sublet/checking/rank_set.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/keyed.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

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
    std::uint32_t space = no_space; ///< `no_space`: storage that only this value and its views have
    byte_count begin = 0;
    byte_count end = 0;
    friend bool operator==(race const&, race const&) = default;
};

/// A sentence, to any stream that takes text and integers.
template <class Stream>
    requires requires(Stream& out, byte_count number) { out << "text" << number; }
Stream& operator<<(Stream& out, race const& r)
{
    if (r.first_value == no_value) {
        out << "position " << r.second << " does not wait for position " << r.first
            << ", as an edge of the program or a hand-off asks";
        return out;
    }
    out << "position " << r.first << (r.first_writes ? " writes value " : " reads value ") << r.first_value
        << " and position " << r.second << (r.second_writes ? " writes value " : " reads value ")
        << r.second_value;
    if (r.space != no_space)
        out << ", both in bytes [" << r.begin << ", " << r.end << ") of space " << r.space;
    out << ", and the later does not wait for the earlier";
    return out;
}

/// As the reason why a plan cannot be run so.
[[nodiscard]] witness as_witness(race const& r);

namespace detail {

class access_walk {
public:
    explicit access_walk(std::vector<byte_access> const& list);

    template <class Ask>
    void go(Ask ask)
    {
        std::vector<keyed> turns; // those of one step: reads first
        for (std::uint32_t i = 0; i != list_.size(); ++i)
            if (list_[i].begin < list_[i].end) turns.push_back({list_[i].at, list_[i].writes, i});
        sort_keyed(turns);
        for (keyed const& turn : turns) {
            cut(begin_[turn.who]);
            cut(end_[turn.who]);
            if (list_[turn.who].writes) write(turn.who, ask);
            else read(turn.who, ask);
        }
    }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    /// Bytes between neighbouring borders that have the same history.
    struct stretch {
        std::uint32_t writer = none;  // the access that wrote them last
        std::uint32_t readers = none; // since then: the head of a list, of which others may share the rest
    };
    struct reader {
        std::uint32_t access;
        std::uint32_t others;
    };

    /// Through all spaces, the places at which accesses begin or end; there may be none.
    std::size_t number_borders();

    void cut(std::uint32_t at);

    template <class Ask>
    void read(std::uint32_t i, Ask& ask)
    {
        for (std::uint32_t s = begin_[i]; s != end_[i]; s = stretches_.above(s)) {
            stretch& mine = stretch_[s];
            ask_once(mine.writer, i, ask);
            if (mine.readers != none && list_[readers_[mine.readers].access].at == list_[i].at) continue;
            readers_.push_back({i, mine.readers});
            mine.readers = static_cast<std::uint32_t>(readers_.size() - 1);
        }
    }
    template <class Ask>
    void write(std::uint32_t i, Ask& ask)
    {
        for (std::uint32_t s = begin_[i]; s != end_[i];) {
            for (std::uint32_t r = stretch_[s].readers; r != none; r = readers_[r].others)
                ask_once(readers_[r].access, i, ask);
            if (stretch_[s].readers == none) ask_once(stretch_[s].writer, i, ask);
            std::uint32_t const next = stretches_.above(s);
            if (s != begin_[i]) stretches_.erase(s);
            s = next;
        }
        stretch_[begin_[i]] = {i, none};
    }

    /// Of what one step does it is asked about another step once.
    template <class Ask>
    void ask_once(std::uint32_t before, std::uint32_t i, Ask& ask)
    {
        if (before == none) return;
        byte_access const &a = list_[before], &b = list_[i];
        if (a.at == b.at || asked_by_[a.at] == b.at) return;
        asked_by_[a.at] = b.at;
        ask(a.at, b.at,
            race{a.at, b.at, a.value, b.value, a.writes, b.writes, a.space, larger(a.begin, b.begin),
                 smaller(a.end, b.end)});
    }

    std::vector<byte_access> const& list_;
    std::vector<std::uint32_t> begin_, end_; // by access: numbers of borders
    std::vector<stretch> stretch_;           // by the border at which one begins
    rank_set stretches_;
    std::vector<reader> readers_;
    std::vector<std::uint32_t> asked_by_; // by `at`: who was last to ask
};

} // namespace detail

/// Call `ask(earlier, later, race)` for pairs of `at`, the lower first, such that an order in which all of
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
template <class Ask>
void race_questions(std::vector<byte_access> const& accesses, Ask ask)
{
    detail::access_walk(accesses).go(ask);
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/race_questions.ipp>
#endif

#endif
