// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IMPL_HOSTS_IPP
#define SUBLET_SHARING_IMPL_HOSTS_IPP

#include <sublet/impl/config.hpp>
#include <sublet/sharing/hosts.hpp>

namespace sublet {

SUBLET_DECL hosted_values::hosted_values(std::size_t values)
    : interferes_(values, values), is_left_(1, values)
{
    for (std::size_t v = 0; v != values; ++v) {
        is_left_.set(0, v);
        host_.push_back(static_cast<value_id>(v));
    }
}

SUBLET_DECL void hosted_values::join(value_id guest, value_id host)
{
    for (std::size_t w = 0; w != is_left_.words(); ++w)
        for_each(w, interferes_[guest][w], [&](value_id v) { connect(host, v); });
    leave(guest, host);
}

SUBLET_DECL void hosted_values::find_hosts()
{
    for (std::size_t before = no_value; before != guests_.size();) {
        before = guests_.size();
        for (auto v = static_cast<value_id>(host_.size()); v-- != 0;)
            for (value_id u = 0; u != v && host_[v] == v; ++u)
                if (host_[u] == u && is_covered(v, u)) leave(v, u);
    }
}

SUBLET_DECL csr_rows hosted_values::parts() const
{
    csr_rows result;
    bit_rows open = is_left_;
    std::vector<value_id> reached;
    for (std::size_t first = 0; first != open.words();) {
        if (open[0][first] == 0) {
            ++first;
            continue;
        }
        bit_rows part = open;
        auto const bit = static_cast<value_id>(std::countr_zero(open[0][first]));
        reached.assign(1, static_cast<value_id>(first * 64) + bit);
        open[0][first] ^= word{1} << bit;
        while (!reached.empty()) {
            word const* const others = interferes_[reached.back()];
            reached.pop_back();
            for (std::size_t w = first; w != open.words(); ++w) {
                for_each(w, open[0][w] & ~others[w], [&](value_id v) { reached.push_back(v); });
                open[0][w] &= others[w];
            }
        }
        for (std::size_t w = first; w != open.words(); ++w)
            for_each(w, part[0][w] & ~open[0][w], [&](value_id v) { result.append(v); });
        result.close_row();
    }
    return result;
}

SUBLET_DECL void hosted_values::settle(std::vector<slot_id>& slot_of) const
{
    for (std::size_t i = guests_.size(); i-- != 0;) slot_of[guests_[i]] = slot_of[host_[guests_[i]]];
}

SUBLET_DECL bool hosted_values::is_covered(value_id v, value_id by) const
{
    for (std::size_t w = 0; w != is_left_.words(); ++w)
        if ((interferes_[v][w] & is_left_[0][w] & ~interferes_[by][w]) != 0) return false;
    return true;
}

} // namespace sublet

#endif
