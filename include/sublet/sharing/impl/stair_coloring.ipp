// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IMPL_STAIR_COLORING_IPP
#define SUBLET_SHARING_IMPL_STAIR_COLORING_IPP

#include <sublet/impl/config.hpp>
#include <sublet/sharing/stair_coloring.hpp>

#include <utility>

namespace sublet {

SUBLET_DECL stair_coloring::stair_coloring(bit_rows const& interferes, std::vector<std::uint32_t> end_of)
    : interferes_(interferes), end_of_(std::move(end_of)), stair_of_(end_of_.empty() ? 0 : end_of_.back())
{
    for (std::uint32_t stair = 0, v = 0; stair != end_of_.size(); ++stair)
        while (v != end_of_[stair]) stair_of_[v++] = stair;
    last_.assign(stair_of_.size(), no_slot);
    free_.resize(stair_of_.size());
    failures_.resize(stair_of_.size());
    place_of_.resize(stair_of_.size());
    guilty_ = bit_rows(stair_of_.size(), stair_of_.size());
    blamed_ = bit_rows(1, stair_of_.size());
}

SUBLET_DECL stair_answer stair_coloring::color(std::size_t last, std::vector<std::uint32_t> const& slots,
                                               std::uint64_t patience)
{
    count_ = end_of_[last];
    slots_ = slots.data();
    if (is_extended()) return stair_answer::colored;
    width_ = slots[last];
    taken_.assign(count_ * width_, 0);
    tenants_.assign(width_, 0);
    slot_of.assign(stair_of_.size(), no_slot);
    trail_.clear();
    for (std::size_t v = 0; v != count_; ++v) free_[v] = allowed(v);
    begin_of_.clear();
    for (std::size_t stair = 0; stair <= last; ++stair)
        begin_of_.resize(slots[stair], static_cast<slot_id>(begin_of_.size()));
    std::size_t colored = 0;
    for (std::size_t stair = 0; stair <= last; ++stair) {
        std::uint32_t const first = stair == 0 ? 0 : end_of_[stair - 1];
        std::uint32_t const above = stair == 0 ? 0 : slots[stair - 1];
        if (end_of_[stair] - first != 1 || slots[stair] == above) continue;
        put(first, above);
        place_of_[first] = 0;
        ++colored;
    }
    for (; colored + trail_.size() != count_; ++nodes) {
        value_id v = most_urgent();
        slot_id s = no_slot;
        if (free_[v] != 0) {
            s = next_choice(v, no_slot);
            trail_.push_back(v);
            place_of_[v] = static_cast<std::uint32_t>(trail_.size());
            for (std::size_t w = 0; w != guilty_.words(); ++w) guilty_[v][w] = 0;
        } else {
            ++failures_[v];
            for (std::size_t w = 0; w != guilty_.words(); ++w) blamed_[0][w] = 0;
            blame(v);
            for (; !trail_.empty(); trail_.pop_back()) {
                v = trail_.back();
                slot_id const tried = take_away(v);
                if (!blamed_.test(0, v)) continue; // whatever it has, the dead end stays
                for (std::size_t w = 0; w != guilty_.words(); ++w)
                    blamed_[0][w] = guilty_[v][w] |= blamed_[0][w];
                s = next_choice(v, tried);
                if (s != no_slot) break;
                blame(v);
            }
            if (trail_.empty()) return stair_answer::impossible;
        }
        if (patience-- == 0) return stair_answer::undecided;
        put(v, s);
    }
    for (std::size_t v = 0; v != count_; ++v) last_[v] = slot_of[v];
    answered_ = count_;
    return stair_answer::colored;
}

SUBLET_DECL bool stair_coloring::is_extended()
{
    std::size_t const known = smaller(answered_, count_);
    for (std::size_t v = 0; v != known; ++v)
        if (last_[v] >= allowed(v)) return false;
    std::size_t const width = slots_[stair_of_[count_ - 1]];
    taken_.assign(width, no_value); // by slot: the last newcomer who found it taken
    slot_of.assign(stair_of_.size(), no_slot);
    for (std::size_t v = 0; v != known; ++v) slot_of[v] = last_[v];
    for (auto v = static_cast<value_id>(known); v != count_; ++v) {
        for_each_neighbor(v, [&](std::size_t u) {
            if (u < v) taken_[slot_of[u]] = v;
        });
        slot_id s = allowed(v);
        while (s != 0 && taken_[s - 1] == v) --s;
        if (s == 0) return false;
        slot_of[v] = s - 1;
    }
    for (std::size_t v = known; v != count_; ++v) last_[v] = slot_of[v];
    answered_ = larger(answered_, count_);
    return true;
}

SUBLET_DECL void stair_coloring::put(value_id v, slot_id s)
{
    slot_of[v] = s;
    ++tenants_[s];
    for_each_neighbor(v, [&](std::size_t u) { free_[u] -= taken_[u * width_ + s]++ == 0 && s < allowed(u); });
}

SUBLET_DECL slot_id stair_coloring::take_away(value_id v)
{
    slot_id const s = std::exchange(slot_of[v], no_slot);
    --tenants_[s];
    for_each_neighbor(v, [&](std::size_t u) { free_[u] += --taken_[u * width_ + s] == 0 && s < allowed(u); });
    return s;
}

SUBLET_DECL void stair_coloring::blame(value_id v)
{
    first_in_.assign(allowed(v), no_value);
    for_each_neighbor(v, [&](std::size_t u) {
        if (slot_of[u] >= allowed(v)) return;
        value_id& first = first_in_[slot_of[u]];
        if (first == no_value || place_of_[u] < place_of_[first]) first = static_cast<value_id>(u);
    });
    for (value_id u : first_in_)
        if (u != no_value && place_of_[u] != 0) blamed_.set(0, u);
}

SUBLET_DECL value_id stair_coloring::most_urgent() const
{
    value_id found = no_value;
    for (value_id v = 0; v != count_; ++v) {
        if (slot_of[v] != no_slot) continue;
        if (found == no_value || free_[v] * (failures_[found] + 1) < free_[found] * (failures_[v] + 1))
            found = v;
    }
    return found;
}

SUBLET_DECL slot_id stair_coloring::next_choice(value_id v, slot_id tried) const
{
    slot_id const favorite = last_[v] < allowed(v) && is_free(v, last_[v]) ? last_[v] : no_slot;
    if (tried == no_slot && favorite != no_slot) return favorite;
    if (tried == favorite) tried = no_slot;
    std::uint32_t const first_empty =
        favorite != no_slot && tenants_[favorite] == 0 ? begin_of_[favorite] : no_slot;
    std::uint32_t last_empty = no_slot;
    for (slot_id s = allowed(v); s-- != 0;) {
        if (s == favorite || !is_free(v, s)) continue;
        if (tenants_[s] == 0) {
            if (begin_of_[s] == first_empty || begin_of_[s] == last_empty) continue;
            last_empty = begin_of_[s];
        }
        if (s < tried) return s;
    }
    return no_slot;
}

} // namespace sublet

#endif
