// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_IMPL_CLASH_SCHEDULE_IPP
#define SUBLET_CHECKING_IMPL_CLASH_SCHEDULE_IPP

#include <sublet/checking/clash_schedule.hpp>
#include <sublet/impl/config.hpp>

namespace sublet::detail {

SUBLET_DECL std::vector<unsigned char> all_before(step_id s, step_order const& order)
{
    std::vector<unsigned char> comes(order.step_at.size());
    for (step_id at = s == no_step ? 0 : order.position[s]; at-- != 0;)
        for (step_id next : order.after[order.step_at[at]])
            if (next == s || comes[next]) comes[order.step_at[at]] = 1;
    return comes;
}

SUBLET_DECL bool meets(step_order const& order, class_touches const& touches, memory_plan const& plan,
                       bool in_place, value_id u, value_id v, step_id maker, bool both_written,
                       concurrent_witness& w)
{
    auto const earlier = all_before(maker, order);
    for (step_id writer : touches.begins()[v]) {
        if (earlier[writer]) continue;
        auto const first = all_before(writer, order);
        bool is_needed = touches.is_kept(u);
        w.needed_at = no_step;
        for (step_id t : touches.ends()[u]) {
            if (is_needed) break;
            if (t == writer ? touches.hands_over(t, u, v, plan, in_place) : first[t] || earlier[t]) continue;
            is_needed = t != maker || both_written;
            w.needed_at = t;
        }
        if (!is_needed) continue;
        w.written_at = writer;
        bool const side_by_side = maker == no_step || !first[maker];
        auto turn_of = [&](step_id s) {
            if (s == writer) return 3;
            if (s == maker) return 1;
            if (earlier[s] || (side_by_side && first[s])) return 0;
            return first[s] ? 2 : 4;
        };
        for (int turn = 0; turn != 5; ++turn)
            for (step_id s : order.step_at) {
                if (turn_of(s) != turn) continue;
                if (s == writer) w.position = static_cast<step_id>(w.schedule.size());
                w.schedule.push_back(s);
            }
        return true;
    }
    return false;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL concurrent_witness clash_schedule(step_order const& order, class_touches const& touches,
                                              memory_plan const& plan, bool in_place, value_id u, value_id v)
{
    concurrent_witness w;
    w.value = u;
    w.other = v;
    if (touches.is_given(u) && touches.is_given(v)) return w;
    for (int attempt = 0; attempt != 4; ++attempt) {
        w.value = attempt % 2 == 0 ? u : v;
        w.other = attempt % 2 == 0 ? v : u;
        bool const both_written = attempt >= 2;
        auto meets = [&](step_id maker) {
            return detail::meets(order, touches, plan, in_place, w.value, w.other, maker, both_written, w);
        };
        if (touches.is_given(w.other)) continue;
        if (touches.is_given(w.value) && meets(no_step)) return w;
        for (step_id maker : touches.begins()[w.value])
            if (!touches.is_given(w.value) && meets(maker)) return w;
    }
    return w;
}

} // namespace sublet

#endif
