// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_NAIVE_SLOT_CHOOSER_HPP
#define SUBLET_TEST_NAIVE_SLOT_CHOOSER_HPP

#include <sublet/core/units.hpp>
#include <sublet/sharing/detail/tokens.hpp>

#include <algorithm>
#include <optional>
#include <vector>

inline constexpr sublet::slot_choice all_choices[] = {
    sublet::slot_choice::most_shared, sublet::slot_choice::best_fit, sublet::slot_choice::smallest_sufficient,
    sublet::slot_choice::grow_largest, sublet::slot_choice::caffe2_sized};

/// The rules of slot_choice by definition: all slots are examined for each buffer.
struct naive_slot_chooser {
    struct slot {
        sublet::byte_count bytes, first_size;
        sublet::pool_id pool;
        sublet::buffer_id occupant;
        unsigned occupants;
        sublet::position_id free_from;
        bool ends;
    };
    sublet::slot_choice choice;
    std::vector<slot> slots;
    std::vector<sublet::slot_id> slot_of;

    template <class MayReuseSlot>
    void assign(sublet::detail::slot_request const& r, MayReuseSlot may_reuse_slot)
    {
        std::vector<sublet::slot_id> free;
        for (sublet::slot_id s = 0; s != slots.size(); ++s)
            if (slots[s].pool == r.pool && slots[s].ends && slots[s].free_from <= r.begins &&
                may_reuse_slot(slots[s].occupant))
                free.push_back(s);
        if (!r.may_reuse) free.clear();
        auto best = [&](auto is_better) -> std::optional<sublet::slot_id> {
            if (free.empty()) return std::nullopt;
            return *std::min_element(free.begin(), free.end(), is_better);
        };
        auto bytes = [&](sublet::slot_id s) { return slots[s].bytes; };
        auto fits = [&](sublet::slot_id s) { return bytes(s) >= r.size; };
        auto by_fit = [&](sublet::slot_id a, sublet::slot_id b) {
            if (fits(a) != fits(b)) return fits(a);
            return fits(a) ? bytes(a) < bytes(b) : bytes(a) > bytes(b);
        };
        std::optional<sublet::slot_id> chosen;
        switch (choice) {
        case sublet::slot_choice::most_shared:
            chosen = best([&](sublet::slot_id a, sublet::slot_id b) {
                return slots[a].occupants > slots[b].occupants;
            });
            break;
        case sublet::slot_choice::best_fit:
            chosen = best([&](sublet::slot_id a, sublet::slot_id b) {
                auto away = [&](sublet::slot_id s) {
                    return fits(s) ? bytes(s) - r.size : r.size - bytes(s);
                };
                return away(a) != away(b) ? away(a) < away(b) : fits(a) && !fits(b);
            });
            break;
        case sublet::slot_choice::smallest_sufficient:
            chosen = best(by_fit);
            if (chosen && !fits(*chosen)) chosen.reset();
            break;
        case sublet::slot_choice::grow_largest: chosen = best(by_fit); break;
        case sublet::slot_choice::caffe2_sized: { // Caffe2's loop
            std::sort(free.begin(), free.end(), [&](sublet::slot_id a, sublet::slot_id b) {
                return slots[a].free_from != slots[b].free_from ? slots[a].free_from < slots[b].free_from
                                                                : a < b;
            });
            std::optional<sublet::byte_count> most;
            for (sublet::slot_id s : free) {
                sublet::byte_count const has = slots[s].first_size;
                if (!most || (has >= *most && (*most < r.size || *most >= has))) {
                    most = has;
                    chosen = s;
                }
            }
        }
        }
        if (r.size == 0) return;
        if (!chosen) {
            chosen = sublet::slot_id::of(slots.size());
            slots.push_back({0, r.size, r.pool, 0, 0, 0, false});
        }
        slot& s = slots[*chosen];
        s = {std::max(s.bytes, r.size),
             s.first_size,
             s.pool,
             r.buffer,
             s.occupants + 1,
             std::max<sublet::position_id>(r.free_from, r.begins + 1),
             r.free_from != sublet::no_position};
        slot_of[r.buffer] = *chosen;
    }
};

#endif
