// SPDX-License-Identifier: BSL-1.0

/// Values give the step that makes them, then labels that one step has; of steps that make nothing, labels of
/// as many.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/planning/detail/step_marks.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace sublet::detail {

SUBLET_COLD_DECL step_marks step_marks_of(effect_record const& record, said_names<step_id> const& labels)
{
    step_marks marks{{}, labels};
    std::size_t const steps = record.step_begin.size();
    marks.makes.assign(steps, no_value);
    for (step_id s = 0; s != steps; ++s) {
        std::size_t const last = s + 1 == steps ? record.touches.size() : record.step_begin[s + 1];
        for (std::size_t i = record.step_begin[s]; i != last && marks.makes[s] == no_value; ++i)
            if (record.touches[i].defines()) marks.makes[s] = record.touches[i].value;
    }
    return marks;
}

/// The steps that `is_one` selects, by label, then as they are listed.
template <class IsOne>
std::vector<std::pair<std::string_view, step_id>> steps_by_label(step_marks const& marks, IsOne is_one)
{
    std::vector<std::pair<std::string_view, step_id>> found;
    for (step_id s = 0; s != marks.makes.size(); ++s)
        if (is_one(s)) found.push_back({marks.labels[s], s});
    std::sort(found.begin(), found.end());
    return found;
}

/// Calls match(step of `a`, step of `b`) along each label that as many steps have in both, up to `most`.
template <class Match>
void match_labels(std::vector<std::pair<std::string_view, step_id>> const& a,
                  std::vector<std::pair<std::string_view, step_id>> const& b, std::size_t most, Match match)
{
    auto end_of = [](auto const& list, std::size_t first) {
        std::size_t last = first;
        while (last != list.size() && list[last].first == list[first].first) ++last;
        return last;
    };
    for (std::size_t i = 0, k = 0; i != a.size() && k != b.size();) {
        std::size_t const last_i = end_of(a, i), last_k = end_of(b, k);
        int const order = a[i].first.compare(b[k].first);
        if (order == 0 && last_i - i == last_k - k && last_i - i <= most)
            for (std::size_t one = 0; one != last_i - i; ++one) match(a[i + one].second, b[k + one].second);
        if (order <= 0) i = last_i;
        if (order >= 0) k = last_k;
    }
}

SUBLET_COLD_DECL table<step_id, step_id> matched_steps(step_marks const& planned, step_marks const& here,
                                                       table<value_id, value_id> const& value_here)
{
    table<step_id, step_id> result(planned.makes.size(), no_step);
    table<step_id, unsigned char> is_matched(here.makes.size(), 0);
    auto match = [&](step_id of_planned, step_id s) {
        result[of_planned] = s;
        is_matched[s] = 1;
    };
    std::size_t values = 0; // here, as far as steps make them
    for (value_id v : here.makes)
        if (v != no_value) values = larger(values, std::size_t{v} + 1);
    table<value_id, step_id> maker(values, no_step); // by value here
    for (step_id s = 0; s != here.makes.size(); ++s)
        if (value_id const v = here.makes[s]; v != no_value && maker[v] == no_step) maker[v] = s;
    for (step_id s = 0; s != planned.makes.size(); ++s) {
        value_id const made = planned.makes[s];
        value_id const v = made == no_value || made >= value_here.size() ? no_value : value_here[made];
        if (v == no_value || v >= maker.size()) continue;
        if (step_id const one = maker[v]; one != no_step && is_matched[one] == 0) match(s, one);
    }
    auto is_labelled = [](step_marks const& of) {
        return [&of](step_id s) { return !of.labels[s].empty(); };
    };
    match_labels(steps_by_label(planned, is_labelled(planned)), steps_by_label(here, is_labelled(here)), 1,
                 [&](step_id of_planned, step_id s) {
                     if (result[of_planned] == no_step && is_matched[s] == 0) match(of_planned, s);
                 });
    auto is_planned_left = [&](step_id s) { return planned.makes[s] == no_value && result[s] == no_step; };
    auto is_left = [&](step_id s) { return here.makes[s] == no_value && is_matched[s] == 0; };
    match_labels(steps_by_label(planned, is_planned_left), steps_by_label(here, is_left), planned.makes.size(),
                 match);
    return result;
}

SUBLET_COLD_DECL void renumber_steps(memory_plan& plan, table<step_id, step_id> const& step_here)
{
    auto here = [&](step_id s) { return s < step_here.size() ? step_here[s] : no_step; };
    std::vector<handoff> handoffs;
    for (handoff h : plan.handoffs)
        if (here(h.from) != no_step && here(h.to) != no_step) handoffs.push_back({here(h.from), here(h.to)});
    plan.handoffs = std::move(handoffs);
    std::vector<node_id> order; // each step is a node
    for (node_id n : plan.order)
        if (step_id const s = here(step_id::of(+n)); s != no_step) order.push_back(node_id::of(+s));
    plan.order = std::move(order);
}

} // namespace sublet::detail
