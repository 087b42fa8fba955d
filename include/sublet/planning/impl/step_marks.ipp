// SPDX-License-Identifier: BSL-1.0

/// Values give the step that makes them; labels are sorted, and those of several steps are skipped.

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

/// The steps that `is_open` selects, by label; without labels that several have.
template <class IsOpen>
std::vector<std::pair<std::string_view, step_id>> steps_by_label(step_marks const& marks, IsOpen is_open)
{
    std::vector<std::pair<std::string_view, step_id>> all, once;
    for (step_id s = 0; s != marks.makes.size(); ++s)
        if (is_open(s) && !marks.labels[s].empty()) all.push_back({marks.labels[s], s});
    std::sort(all.begin(), all.end());
    for (std::size_t i = 0; i != all.size(); ++i)
        if ((i == 0 || all[i - 1].first != all[i].first) &&
            (i + 1 == all.size() || all[i + 1].first != all[i].first))
            once.push_back(all[i]);
    return once;
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
    auto const open_planned = steps_by_label(planned, [&](step_id s) { return result[s] == no_step; });
    auto const open_here = steps_by_label(here, [&](step_id s) { return is_matched[s] == 0; });
    for (std::size_t i = 0, k = 0; i != open_planned.size() && k != open_here.size();) {
        if (open_planned[i].first < open_here[k].first) ++i;
        else if (open_here[k].first < open_planned[i].first) ++k;
        else match(open_planned[i++].second, open_here[k++].second);
    }
    // What has no mark of its own.
    std::vector<step_id> rest_planned, rest_here;
    auto has_none = [](step_marks const& of, step_id s) {
        return of.makes[s] == no_value && of.labels[s].empty();
    };
    for (step_id s = 0; s != result.size(); ++s)
        if (has_none(planned, s)) rest_planned.push_back(s);
    for (step_id s = 0; s != is_matched.size(); ++s)
        if (has_none(here, s)) rest_here.push_back(s);
    for (std::size_t i = 0; rest_planned.size() == rest_here.size() && i != rest_here.size(); ++i)
        match(rest_planned[i], rest_here[i]);
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
