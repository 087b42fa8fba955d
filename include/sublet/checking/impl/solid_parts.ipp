// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_IMPL_SOLID_PARTS_IPP
#define SUBLET_CHECKING_IMPL_SOLID_PARTS_IPP

#include <sublet/checking/rank_set.hpp>
#include <sublet/checking/solid_parts.hpp>
#include <sublet/contract.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>
#include <sublet/sorting.hpp>

#include <cstddef>
#include <cstdint>

namespace sublet::detail {

/// Who is tied to whom, and how far above.
class colocation_ties {
public:
    explicit colocation_ties(placement_problem const& problem)
        : parent_(problem.buffers.size()), up_(problem.buffers.size(), 0), contradicts(parent_.size(), 0)
    {
        for (std::size_t b = 0; b != parent_.size(); ++b) parent_[b] = static_cast<buffer_id>(b);
        for (colocation const& c : problem.colocated) {
            SUBLET_EXPECTS(c.buffer < parent_.size() && c.anchor < parent_.size(),
                           "sublet: a colocated buffer does not exist");
            buffer_id low = root_of(c.anchor), high = root_of(c.buffer);
            // How far the root of c.buffer lies above that of c.anchor. Distances below a root wrap round.
            byte_count distance = up_[c.anchor] + c.distance - up_[c.buffer];
            if (low == high) {
                contradicts[low] |= distance != 0;
                continue;
            }
            if (high < low) {
                buffer_id const first = high;
                high = low;
                low = first;
                distance = -distance;
            }
            parent_[high] = low;
            up_[high] = distance;
            contradicts[low] |= contradicts[high];
        }
    }

    /// Afterwards `up` speaks of the root.
    buffer_id root_of(buffer_id b)
    {
        path_.clear();
        for (; parent_[b] != b; b = parent_[b]) path_.push_back(b);
        for (std::size_t i = path_.size(); i-- > 1;) { // those next to the root first
            up_[path_[i - 1]] += up_[path_[i]];
            parent_[path_[i - 1]] = b;
        }
        return b;
    }
    std::int64_t up(buffer_id b) const { return static_cast<std::int64_t>(up_[b]); }

private:
    std::vector<buffer_id> parent_, path_;
    std::vector<byte_count> up_;

public:
    std::vector<unsigned char> contradicts; ///< by root
};

/// Replace parts of one group, from the one at `first` on, by one at a position. What is solid is kept by the
/// rank of its begin and by that of its end, so lowest and highest are at hand.
template <class Part>
void take_hulls(std::vector<Part>& parts, std::size_t first)
{
    enum : unsigned { dies, is_born };
    std::vector<keyed> by_begin, by_end, events;
    for (std::size_t i = first; i != parts.size(); ++i) {
        auto const who = static_cast<std::uint32_t>(i - first);
        by_begin.push_back({parts[i].begin, 0, who});
        by_end.push_back({falling(parts[i].end), 0, who});
        events.push_back({parts[i].when.first, is_born, who});
        events.push_back({parts[i].when.last, dies, who});
    }
    sort_keyed(by_begin);
    sort_keyed(by_end);
    sort_keyed(events);
    std::vector<std::uint32_t> low_rank(by_begin.size()), high_rank(by_begin.size());
    for (std::uint32_t r = 0; r != by_begin.size(); ++r) {
        low_rank[by_begin[r].who] = r;
        high_rank[by_end[r].who] = r;
    }
    rank_set lows(by_begin.size()), highs(by_begin.size());
    auto first_of = [](rank_set const& set) { return set.contains(0) ? 0 : set.above(0); };
    std::size_t alive = 0;
    step_id since = 0;
    std::vector<Part> hulls;
    for (keyed const& e : events) {
        if (alive != 0 && e.key != since) {
            Part const& low = parts[first + by_begin[first_of(lows)].who];
            Part const& high = parts[first + by_end[first_of(highs)].who];
            hulls.push_back({{since, static_cast<step_id>(e.key)}, low.begin, high.end, low.buffer});
        }
        since = static_cast<step_id>(e.key);
        if (e.tie == is_born) {
            lows.insert(low_rank[e.who]);
            highs.insert(high_rank[e.who]);
            ++alive;
        } else {
            lows.erase(low_rank[e.who]);
            highs.erase(high_rank[e.who]);
            --alive;
        }
    }
    parts.resize(first);
    for (Part const& h : hulls) parts.push_back(h);
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL solid_parts solid_parts_of(placement_problem const& problem)
{
    std::size_t const n = problem.buffers.size();
    detail::colocation_ties ties(problem);
    std::vector<keyed> gaps, members; // by buffer, by root
    for (std::size_t i = 0; i != problem.gaps.size(); ++i) {
        SUBLET_EXPECTS(problem.gaps[i].buffer < n, "sublet: a gap is one of no buffer");
        gaps.push_back({problem.gaps[i].buffer, problem.gaps[i].when.first, static_cast<std::uint32_t>(i)});
    }
    sort_keyed(gaps);

    solid_parts result;
    result.root.resize(n);
    result.above.assign(n, 0);
    result.needs_place.assign(n, 0);
    for (buffer_id b = 0; b != n; ++b) {
        result.root[b] = ties.root_of(b);
        placement_buffer const& buffer = problem.buffers[b];
        if (buffer.size != 0 && !is_empty(buffer.life)) members.push_back({result.root[b], 0, b});
    }
    result.contradicts = ties.contradicts;
    if (!problem.colocated.empty()) sort_keyed(members);

    for (std::size_t i = 0, last = 0; i != members.size(); i = last) {
        std::int64_t lowest = ties.up(members[i].who);
        for (last = i; last != members.size() && members[last].key == members[i].key; ++last)
            lowest = smaller(lowest, ties.up(members[last].who));
        std::size_t const first_part = result.parts.size();
        for (std::size_t m = i; m != last; ++m) {
            buffer_id const b = members[m].who;
            placement_buffer const& buffer = problem.buffers[b];
            byte_count const above = static_cast<byte_count>(ties.up(b) - lowest);
            result.above[b] = above;
            auto add = [&](live_range when, byte_count begin, byte_count end) {
                if (!is_empty(when) && begin < end)
                    result.parts.push_back({when, above + begin, above + end, b});
            };
            step_id solid_from = buffer.life.first;
            std::size_t g =
                gaps.empty() ? 0 : first_that(gaps.size(), [&](std::size_t k) { return gaps[k].key >= b; });
            for (; g != gaps.size() && gaps[g].key == b; ++g) {
                buffer_gap const& gap = problem.gaps[gaps[g].who];
                live_range const when{larger(gap.when.first, solid_from),
                                      smaller(gap.when.last, buffer.life.last)};
                if (is_empty(when)) continue;
                add({solid_from, when.first}, 0, buffer.size);
                add(when, gap.begin, gap.end);
                solid_from = when.last;
            }
            add({solid_from, buffer.life.last}, 0, buffer.size);
        }
        if (result.parts.size() == first_part) continue;
        if (last - i > 1) detail::take_hulls(result.parts, first_part);
        for (std::size_t m = i; m != last; ++m) result.needs_place[members[m].who] = 1;
    }
    return result;
}

} // namespace sublet

#endif
