// SPDX-License-Identifier: BSL-1.0

/// Labels are numbered by a hash table; each keeps its first two steps, of which the second only shows that
/// the label is not of one step.

#include <sublet/impl/config.hpp>
#include <sublet/planning/detail/handle_numbers.hpp>
#include <sublet/planning/detail/handle_text.hpp>
#include <sublet/planning/detail/labelled_waits.hpp>

namespace sublet::detail {

SUBLET_DECL void labelled_waits::add(step_id step, std::string_view label)
{
    reserve_more(text_, label.size());
    waits_.push_back({step, text_.size(), label.size()});
    text_.insert(text_.end(), label.begin(), label.end());
}

SUBLET_COLD_DECL std::vector<std::pair<node_id, node_id>>
labelled_waits::edges(std::size_t steps, said_names<step_id> const& labels) const
{
    std::vector<std::pair<node_id, node_id>> found;
    if (waits_.empty()) return found;
    handle_numbers<std::string_view> numbers;
    table<value_id, step_id> first, second; // with a label, by its number
    for (step_id s = 0; s != steps; ++s) {
        if (labels[s].empty()) continue;
        value_id const number = numbers.add(labels[s]);
        if (number == first.size()) {
            first.push_back(s);
            second.push_back(no_step);
        } else if (second[number] == no_step) second[number] = s;
    }
    for (wait const& w : waits_) {
        std::string_view const label(text_.data() + w.first, w.size);
        value_id const number = numbers.find(label);
        step_id const one = number == no_value ? no_step : first[number];
        if (one != no_step && one != w.step && second[number] == no_step) {
            found.push_back({node_id::of(+one), node_id::of(+w.step)}); // each is a node
            continue;
        }
        sentence why;
        why << "sublet: step ";
        why.quote(id_text(labels[w.step]), w.step) << " waits for ";
        if (one == w.step && second[number] == no_step) (why << "itself").fail();
        why << "step '" << label << "', ";
        if (one == no_step) (why << "which is not listed").fail();
        (why << "and steps " << one << " and " << second[number]
             << " have that label: wait for one of them by its step_ref")
            .fail();
    }
    return found;
}

} // namespace sublet::detail
