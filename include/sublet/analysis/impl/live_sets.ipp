// SPDX-License-Identifier: BSL-1.0

/// Membership is a bit or a binary search, by how the value is stored. Equality compares the sets as ranges,
/// since the same set may be stored in two ways.

#include <sublet/analysis/live_sets.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace sublet {

SUBLET_DECL std::span<value_id const> detail::node_sets::list(node_id n) const
{
    return listed.rows() == 0 ? std::span<value_id const>{} : listed[n];
}

SUBLET_DECL live_sets detail::solved_sets(liveness_options::method policy, std::size_t nodes,
                                          table<value_id, std::uint32_t> column, std::vector<value_id> value,
                                          node_sets in, node_sets out)
{
    live_sets made;
    made.policy_ = policy;
    made.nodes_ = nodes;
    made.column_ = std::move(column);
    made.value_ = std::move(value);
    made.in_ = std::move(in);
    made.out_ = std::move(out);
    return made;
}

SUBLET_DECL bool live_sets::is_listed(std::span<value_id const> ascending, value_id v)
{
    while (!ascending.empty()) {
        std::size_t const middle = ascending.size() / 2;
        if (ascending[middle] == v) return true;
        ascending = ascending[middle] < v ? ascending.subspan(middle + 1) : ascending.first(middle);
    }
    return false;
}

SUBLET_DECL bool live_sets::same(live_sets const& a, live_sets const& b)
{
    if (a.nodes() != b.nodes() || a.values() != b.values()) return false;
    auto equal = [](detail::live_list const& x, detail::live_list const& y) {
        auto i = x.begin(), j = y.begin();
        while (*i == *j && *i != no_value) ++i, ++j;
        return *i == *j;
    };
    for (node_id n = 0; n != a.nodes(); ++n)
        if (!equal(a.live_in(n), b.live_in(n)) || !equal(a.live_out(n), b.live_out(n))) return false;
    return true;
}

} // namespace sublet
