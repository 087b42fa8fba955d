// SPDX-License-Identifier: BSL-1.0

/// Copies each step with the names of its touches. What it read and made last, by value before, tells which
/// pairs may be in place under their new names.

#include <sublet/analysis/detail/renamed_program.hpp>
#include <sublet/analysis/internal/storage_order.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <vector>

namespace sublet::detail {

SUBLET_DECL snapshot renamed(snapshot const& p, listed_touches const& listed, std::size_t versions,
                             std::vector<value_id> const& name, table<value_id, unsigned char> const& is_kept)
{
    table<value_id, step_id> used_at(p.values(), no_step), defined_at(p.values(), no_step);
    table<value_id, value_id> used_as(p.values()), defined_as(p.values());
    std::size_t at_end = listed.step_touch_count();
    return with_effects(p, versions, [&](node_id n, effect_sink& sink) {
        step_range const range = p.steps_of(n);
        for (step_id s = range.first; s != range.last; ++s) {
            if (s != range.first) sink.next_step();
            std::size_t touch_index = listed.first_touch(s);
            for (touch t : p.touches(s)) {
                value_id const v = t.value, version = name[touch_index++];
                if (t.defines()) {
                    bool const is_same_storage = !is_kept.empty() && is_kept[version] != 0;
                    if (t.makes() && is_same_storage) sink.add(touch::access::write_view, version);
                    else sink.add(t.kind, version);
                    if (used_at[v] == s && defined_at[v] != s) sink.may_overwrite(used_as[v], version);
                    defined_at[v] = s;
                    defined_as[v] = version;
                    continue;
                }
                sink.add(t.kind, version);
                used_at[v] = s;
                used_as[v] = version;
            }
            for (overwrite o : p.overwrites(s)) // a pair without effect is dropped
                if (o.in != o.out && used_at[o.in] == s && defined_at[o.out] == s)
                    sink.may_overwrite(used_as[o.in], defined_as[o.out]);
            copy_step_facts(p, s, sink);
        }
        for (edge_use u : p.edge_uses(n)) sink.use_at_end_of(u.pred, name[at_end++]);
    });
}

} // namespace sublet::detail
