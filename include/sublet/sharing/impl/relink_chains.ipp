// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IMPL_RELINK_CHAINS_IPP
#define SUBLET_SHARING_IMPL_RELINK_CHAINS_IPP

#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>
#include <sublet/live_range.hpp>
#include <sublet/sharing/range_matching.hpp>
#include <sublet/sharing/relink_chains.hpp>

#include <cstddef>

namespace sublet::detail {

class relinker {
    using place = std::uint32_t;
    static constexpr place none = ~place{0};

public:
    relinker(takers const& members, std::vector<byte_count> const& sizes, sized_chains& chains)
        : members_(members), sizes_(sizes), chains_(chains), next_(members.size(), none),
          before_(members.size(), none), found_by_(members.size()), head_(chains.slot_bytes.size()),
          tail_(chains.slot_bytes.size(), none), stamp_(chains.slot_bytes.size())
    {
        left_.reset(members.size());
        for (place i = 0; i != members.size(); ++i) {
            slot_id const s = chains.slot_of[i];
            if (tail_[s] == none) head_[s] = i;
            else link(tail_[s], i);
            tail_[s] = i;
        }
    }

    bool improve(std::uint64_t& visits)
    {
        std::size_t const slots = tail_.size();
        std::vector<place> reached;
        for (std::size_t k = 0; k != slots; ++k) {
            reached.assign(1, tail_[k == 0 ? slots - 1 : k - 1]);
            for (std::size_t i = 0; i != reached.size(); ++i) {
                bool is_improved = false;
                members_.for_each_range(reached[i], [&](live_range r) {
                    for (place c = left_.from(r.first); c < r.last && !is_improved; c = left_.from(c + 1)) {
                        left_.take(c);
                        ++visits;
                        found_by_[c] = reached[i];
                        if (before_[c] == none) is_improved = take_path_to(c, visits);
                        else reached.push_back(before_[c]);
                    }
                });
                if (is_improved) return true;
            }
        }
        return false;
    }

private:
    void link(place u, place v)
    {
        next_[u] = v;
        before_[v] = u;
    }

    /// Relink along the path that leads to the head of a chain, if that pays.
    bool take_path_to(place head, std::uint64_t& visits)
    {
        ++round_;
        byte_count was = 0, is = 0;
        affected_.clear();
        auto affect = [&](slot_id s) {
            if (stamp_[s] == round_) return;
            stamp_[s] = round_;
            affected_.push_back(s);
            was += chains_.slot_bytes[s];
        };
        lost_.clear();
        affect(chains_.slot_of[head]);
        for (place c = head; c != none; c = lost_.back()) {
            place const giver = found_by_[c];
            affect(chains_.slot_of[giver]);
            lost_.push_back(next_[giver]);
            link(giver, c);
        }
        for (slot_id s : affected_) {
            if (before_[head_[s]] != none) continue;
            byte_count largest = 0;
            for (place i = head_[s]; i != none; i = next_[i], ++visits)
                largest = larger(largest, sizes_[members_[i]]);
            is += largest;
        }
        if (is < was) {
            renumber();
            return true;
        }
        place giver = found_by_[head];
        before_[head] = none;
        for (place lost : lost_) {
            next_[giver] = lost;
            if (lost == none) break;
            before_[lost] = giver;
            giver = found_by_[lost];
        }
        return false;
    }

    /// Largest slot first, then the one that begins first.
    void renumber()
    {
        std::vector<keyed> order;
        for (place i = 0; i != members_.size(); ++i) {
            bool const is_first = before_[i] == none;
            slot_id const s = is_first ? static_cast<slot_id>(order.size()) : chains_.slot_of[before_[i]];
            if (is_first) order.push_back({no_size, 0, s});
            chains_.slot_of[i] = s;
            order[s].key = smaller(order[s].key, falling(sizes_[members_[i]]));
        }
        sort_keyed(order);
        std::vector<slot_id> number(order.size());
        chains_.slot_bytes.clear();
        for (keyed const& slot : order) {
            number[slot.who] = static_cast<slot_id>(chains_.slot_bytes.size());
            chains_.slot_bytes.push_back(falling(slot.key));
        }
        for (slot_id& s : chains_.slot_of) s = number[s];
    }

    takers const& members_;
    std::vector<byte_count> const& sizes_;
    sized_chains& chains_;
    std::vector<place> next_, before_; // of its chain, by place
    std::vector<place> found_by_;      // who would give to it
    std::vector<place> head_, tail_;   // by slot
    numbers_left left_;
    std::vector<std::uint32_t> stamp_; // by slot: the last path that touched it
    std::uint32_t round_ = 0;
    std::vector<slot_id> affected_;
    std::vector<place> lost_; // the successors that the givers of a path had
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL bool relink_chains(takers const& members, std::vector<byte_count> const& sizes,
                               sized_chains& chains, std::uint64_t& visits)
{
    visits += members.size();
    return detail::relinker(members, sizes, chains).improve(visits);
}

} // namespace sublet

#endif
