// SPDX-License-Identifier: BSL-1.0

/// Steps are taken in order, with the touches of each; roots are found only if a step makes a view. What is
/// said of a view is compared with what is said of its root, value by value, and before that each pool with
/// the list of pools.

#include <sublet/analysis/internal/contents.hpp>
#include <sublet/analysis/internal/left_out.hpp>
#include <sublet/analysis/internal/unclear.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace sublet::detail {

/// The classes of values, found when they are asked for: most programs do not need them.
class lazy_classes {
public:
    explicit lazy_classes(table<value_id, value_id> const& alias_of) : alias_of_(alias_of) {}

    [[nodiscard]] value_id root(value_id v)
    {
        if (!found_) found_ = classes_of(alias_of_);
        return found_->root[found_->buffer_of[v]];
    }

private:
    table<value_id, value_id> const& alias_of_;
    std::optional<buffer_classes> found_;
};

/// The first value that a step reads, if the step changes nothing and only makes views of other storage.
SUBLET_DECL std::optional<counterexample> find_forgotten_write(std::span<touch const> touches, step_id s,
                                                               table<value_id, value_id> const& alias_of,
                                                               lazy_classes& classes)
{
    value_id view = no_value;
    std::size_t views = 0;
    for (touch t : touches) {
        if (t.writes()) return std::nullopt;
        if (t.makes_view()) view = t.value, ++views;
    }
    bool reads_other = views > 1; // or it reads what its only view is a view of
    for (touch t : touches) reads_other = reads_other || (!t.makes_view() && t.value != alias_of[view]);
    if (!reads_other) return std::nullopt;
    std::vector<value_id> viewed(views);
    std::size_t found = 0;
    for (touch t : touches)
        if (t.makes_view()) viewed[found++] = classes.root(t.value);
    value_id const first = viewed.front();
    sort_ascending(viewed);
    for (touch t : touches)
        if (!std::binary_search(viewed.begin(), viewed.end(), classes.root(t.value)))
            return counterexample{fault::forgotten_write,
                                  counterexample::view{.value = t.value, .other = first, .step = s}};
    return std::nullopt;
}

/// A view that a step reads, although the step makes its root: a step reads before it writes.
SUBLET_COLD_DECL std::optional<counterexample> find_early_read(std::span<touch const> touches, step_id s,
                                                               lazy_classes& classes)
{
    std::vector<value_id> made; // ascending
    for (touch t : touches)
        if (t.makes()) made.push_back(t.value);
    if (made.empty()) return std::nullopt;
    sort_ascending(made);
    for (touch t : touches)
        if (t.kind == touch::access::read_view &&
            std::binary_search(made.begin(), made.end(), classes.root(t.value)))
            return counterexample{fault::used_undefined,
                                  counterexample::access{.value = t.value, .other = t.value, .step = s}};
    return std::nullopt;
}

/// The first view of which something is said that does not hold for its root.
SUBLET_DECL std::optional<counterexample> find_unlike_root(plan_options const& options,
                                                           table<value_id, value_id> const& alias_of,
                                                           lazy_classes& classes)
{
    // A fact of which this does not say what it means of a view does not compile. Bytes are those of the view;
    // a pin is that of the root, and its contradiction is one of the placement.
    [[maybe_unused]] auto const& [bytes, alignment, role, view_of, begin, pool, pinned, eligible, kind, pools,
                                  choices, carried, optional, apart, order, previous, previous_value,
                                  keep_within, in_place, check, effort] = options;
    std::size_t const values = alias_of.size();
    table<value_id, byte_count> offset; // filled if some view has an alignment
    for (value_id v = 0; v != values; ++v) {
        if (alias_of[v] == no_value) continue;
        auto unlike = [v, &classes](char const* fact, byte_count its, byte_count of_root) {
            return counterexample{
                fault::unlike_root,
                counterexample::view{
                    .value = v, .other = classes.root(v), .end = its, .needed = of_root, .fact = fact}};
        };
        if (byte_count const its = options.alignment[v];
            its > 1 && its != options.alignment[classes.root(v)]) {
            if (offset.empty())
                offset = offsets_in_roots(alias_of, options.view_offset.tabulate(values, "view_offset"));
            if (offset[v] % its != 0) return unlike("alignment", its, offset[v]);
        }
        if (pool_id const its = options.pool[v]; its != 0 && its != options.pool[classes.root(v)])
            return unlike("pool", its, options.pool[classes.root(v)]);
        if (std::uint32_t const its = options.kind[v]; its != 0 && its != options.kind[classes.root(v)])
            return unlike("kind", its, options.kind[classes.root(v)]);
        if (has_role(options.role[v], value_role::external) &&
            !has_role(options.role[classes.root(v)], value_role::external))
            return unlike("role", 0, 0);
        if (!options.eligible[v] && options.eligible[classes.root(v)]) return unlike("eligible", 0, 1);
    }
    for (plan_options::pool_choice const& c : options.pool_choices)
        if (c.value < values && alias_of[c.value] != no_value)
            return counterexample{fault::unlike_root, counterexample::view{.value = c.value,
                                                                           .other = classes.root(c.value),
                                                                           .end = c.pool,
                                                                           .fact = "pool_choices"}};
    return std::nullopt;
}

/// The first value of known size with storage to plan that names a pool which is not listed; then the first
/// choice. Without any list all pools are without limits.
SUBLET_DECL std::optional<counterexample> find_unlisted_pool(plan_options const& options,
                                                             table<value_id, value_id> const& alias_of)
{
    std::size_t const listed = options.pools.size();
    if (listed == 0) return std::nullopt;
    auto unlisted = [listed](value_id v, pool_id pool) {
        return counterexample{fault::unlisted_pool,
                              counterexample::place{.value = v, .pool = pool, .needed = listed}};
    };
    for (value_id v = 0; v != alias_of.size(); ++v) {
        pool_id const its = options.pool[v];
        if (its >= listed && alias_of[v] == no_value && options.eligible[v] && options.bytes[v] != no_size &&
            !has_role(options.role[v], value_role::external))
            return unlisted(v, its);
    }
    for (plan_options::pool_choice const& c : options.pool_choices)
        if (c.pool >= listed && c.value < alias_of.size()) return unlisted(c.value, c.pool);
    return std::nullopt;
}

SUBLET_DECL std::optional<counterexample> find_unclear_words(snapshot const& p, plan_options const& options)
{
    if (!p.has_views() && options.pools.empty() && options.alias_of.is_constant(no_value))
        return find_unwritten(p, options);
    table<value_id, value_id> const of = options.alias_of.tabulate(p.values(), "alias_of");
    if (auto unlisted = find_unlisted_pool(options, of)) return unlisted;
    bool has_views = p.has_views();
    for (value_id v = 0; v != of.size() && !has_views; ++v) has_views = of[v] != no_value;
    if (!has_views) return find_unwritten(p, options);
    lazy_classes classes(of);
    std::optional<counterexample> forgotten;
    for (step_id s = 0; s != p.steps(); ++s) {
        std::span<touch const> const touches = p.touches(s);
        bool makes_view = false;
        for (touch t : touches) {
            if (!t.defines()) continue;
            makes_view = makes_view || t.makes_view();
            if (t.makes_view() == (of[t.value] != no_value)) continue;
            (void)classes.root(t.value); // refuses a cycle of views
            return counterexample{fault::unclear_view,
                                  counterexample::view{.value = t.value, .other = of[t.value], .step = s}};
        }
        if (!makes_view || forgotten) continue;
        forgotten = find_early_read(touches, s, classes);
        if (!forgotten && !p.only_views(s)) forgotten = find_forgotten_write(touches, s, of, classes);
    }
    if (forgotten) return forgotten;
    if (auto const unlike = find_unlike_root(options, of, classes)) return unlike;
    return find_unwritten(p, options);
}

SUBLET_DECL std::optional<counterexample> find_unclear(snapshot const& p, plan_options const& options)
{
    if (auto unclear = find_unclear_words(p, options)) return unclear;
    return find_needed(p, options);
}

} // namespace sublet::detail
