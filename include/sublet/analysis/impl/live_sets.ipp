// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_IMPL_LIVE_SETS_IPP
#define SUBLET_ANALYSIS_IMPL_LIVE_SETS_IPP

#include <sublet/analysis/live_sets.hpp>
#include <sublet/impl/config.hpp>

#include <utility>

namespace sublet::detail {

SUBLET_DECL std::span<value_id const> node_sets::list(node_id n) const
{
    return listed.rows() == 0 ? std::span<value_id const>{} : listed[n];
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL live_sets::live_sets(liveness_policy policy, std::size_t nodes, std::vector<std::uint32_t> column,
                                 std::vector<value_id> value, detail::node_sets in, detail::node_sets out)
    : policy_(policy), nodes_(nodes), column_(std::move(column)), value_(std::move(value)),
      in_(std::move(in)), out_(std::move(out))
{
}

SUBLET_DECL bool live_sets::is_live_in(value_id v, node_id n) const { return contains(in_, v, n); }

SUBLET_DECL bool live_sets::is_live_out(value_id v, node_id n) const { return contains(out_, v, n); }

SUBLET_DECL bool live_sets::contains(detail::node_sets const& sets, value_id v, node_id n) const
{
    if (column_[v] != no_value) return sets.bits.test(n, column_[v]);
    std::span<value_id const> rest = sets.list(n);
    while (!rest.empty()) {
        std::size_t const middle = rest.size() / 2;
        if (rest[middle] == v) return true;
        rest = rest[middle] < v ? rest.subspan(middle + 1) : rest.first(middle);
    }
    return false;
}

SUBLET_DECL bool live_sets::same(live_sets const& a, live_sets const& b)
{
    if (a.nodes() != b.nodes() || a.values() != b.values()) return false;
    auto equal = [](live_list const& x, live_list const& y) {
        auto i = x.begin(), j = y.begin();
        while (*i == *j && *i != no_value) ++i, ++j;
        return *i == *j;
    };
    for (node_id n = 0; n != a.nodes(); ++n)
        if (!equal(a.live_in(n), b.live_in(n)) || !equal(a.live_out(n), b.live_out(n))) return false;
    return true;
}

} // namespace sublet

#endif
