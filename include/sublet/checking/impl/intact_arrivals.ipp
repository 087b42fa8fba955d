// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_IMPL_INTACT_ARRIVALS_IPP
#define SUBLET_CHECKING_IMPL_INTACT_ARRIVALS_IPP

#include <sublet/checking/intact_arrivals.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/sorting.hpp>

#include <utility>

namespace sublet {

SUBLET_DECL intact_arrivals::intact_arrivals(snapshot const& p, placed_classes const& classes,
                                             std::vector<value_id> const& given, intact_values& scratch)
    : p_(p), arrivals_(p.nodes()), is_reached_(p.nodes(), 0), is_walked_(p.nodes(), 0)
{
    std::vector<node_id> written_in(p.values(), no_node);
    arrive(0, given);
    while (!open_.empty()) {
        node_id const n = open_.back();
        open_.pop_back();
        walk(n, classes, written_in, scratch);
        while (!losses_.empty()) {
            auto const [from, v] = losses_.back();
            losses_.pop_back();
            for (node_id s : p_.successors(from)) lose_value(s, v);
        }
    }
}

SUBLET_DECL void intact_arrivals::enter(node_id n, intact_values& now) const
{
    arrival const& known = arrivals_[n];
    for (std::size_t i = 0; i != known.values.size(); ++i)
        if (known.is_there[i]) now.add(known.values[i]);
}

SUBLET_DECL void intact_arrivals::arrive(node_id n, std::vector<value_id> const& values)
{
    arrival& known = arrivals_[n];
    if (!std::exchange(is_reached_[n], 1)) {
        known = {values, std::vector<unsigned char>(values.size(), 1),
                 std::vector<unsigned char>(values.size(), 0)};
        open_.push_back(n);
        return;
    }
    for (std::size_t i = 0, j = 0; i != known.values.size(); ++i) {
        while (j != values.size() && values[j] < known.values[i]) ++j;
        if (j == values.size() || values[j] != known.values[i]) lose(n, i);
    }
}

SUBLET_DECL void intact_arrivals::walk(node_id n, placed_classes const& classes,
                                       std::vector<node_id>& written_in, intact_values& now)
{
    is_walked_[n] = 1;
    enter(n, now);
    for (touch t : p_.touches(p_.steps_of(n)))
        if (t.kind == touch_kind::def && classes.is_placed(t.value)) {
            now.write(t.value);
            written_in[t.value] = n;
        }
    arrival& known = arrivals_[n];
    for (std::size_t i = 0; i != known.values.size(); ++i)
        known.passes[i] = now.has(known.values[i]) && written_in[known.values[i]] != n;
    std::vector<value_id> const leaving = now.taken();
    for (node_id s : p_.successors(n)) arrive(s, leaving);
}

SUBLET_DECL void intact_arrivals::lose(node_id n, std::size_t i)
{
    arrival& known = arrivals_[n];
    if (std::exchange(known.is_there[i], 0) && is_walked_[n] && known.passes[i])
        losses_.push_back({n, known.values[i]});
}

SUBLET_DECL void intact_arrivals::lose_value(node_id n, value_id v)
{
    std::vector<value_id> const& values = arrivals_[n].values;
    std::size_t const i = first_that(values.size(), [&](std::size_t at) { return values[at] >= v; });
    if (i != values.size() && values[i] == v) lose(n, i);
}

} // namespace sublet

#endif
