// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_RANDOM_VIEWS_HPP
#define SUBLET_TEST_RANDOM_VIEWS_HPP

/// Random programs with views of parts, views of views and writes in place, and an oracle that runs them byte
/// by byte: every byte has a content of its own, and what a step reads is compared.

#include "random_source.hpp"
#include "transitive.hpp"
#include "view_sizes.hpp"

#include <sublet/core/plan.hpp>
#include <sublet/graph/snapshot.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

struct random_views {
    struct step {
        std::vector<sublet::touch> touches;
        std::vector<std::pair<sublet::value_id, sublet::value_id>> pairs;
        bool may_recompute() const { return touches.size() % 2 == 0; }
    };
    std::vector<step> steps;
    std::vector<sublet::byte_count> bytes, view_offset;
    std::vector<sublet::value_role> role;
    std::vector<sublet::value_id> alias_of;
    std::vector<sublet::pool_id> pool;

    std::size_t values() const { return bytes.size(); }
    sublet::snapshot program() const
    {
        return sublet::sequence(steps.size(), values(), [&](sublet::step_id s, sublet::effect_sink& sink) {
            for (sublet::touch t : steps[s].touches) sink.add(t.kind, t.value);
            sink.only_views();
            for (auto [in, out] : steps[s].pairs) sink.may_overwrite(in, out);
            sink.may_recompute(steps[s].may_recompute());
        });
    }
    sublet::plan_options options() const
    {
        return {.bytes = bytes,
                .role = role,
                .alias_of = alias_of,
                .view_offset = view_offset,
                .pool = of_roots(pool, alias_of)};
    }
    sublet::value_id root(sublet::value_id v) const { return root_of(alias_of, v); }
    sublet::byte_count begin(sublet::value_id v) const
    {
        sublet::byte_count at = 0;
        for (; alias_of[v] != sublet::no_value; v = alias_of[v]) at += view_offset[v];
        return at;
    }
    bool overlap(sublet::value_id a, sublet::value_id b) const
    {
        return root(a) == root(b) &&
               std::max(begin(a), begin(b)) < std::min(begin(a) + bytes[a], begin(b) + bytes[b]);
    }

    /// Whether a step has to come before a later one, transitively: pair by pair.
    std::vector<std::vector<bool>> order() const
    {
        std::size_t const n = steps.size();
        std::vector<std::vector<bool>> before(n, std::vector<bool>(n));
        for (std::size_t i = 0; i != n; ++i)
            for (std::size_t j = i + 1; j != n; ++j)
                for (sublet::touch t : steps[i].touches)
                    for (sublet::touch u : steps[j].touches) {
                        using access = sublet::touch::access;
                        bool const is_data = t.defines() && !u.defines() && t.value == u.value;
                        bool const is_view =
                            t.kind == access::def && u.kind == access::view && t.value == root(u.value);
                        bool const accesses = t.kind != access::view && u.kind != access::view;
                        if (is_data || is_view ||
                            (accesses && (t.writes() || u.writes()) && overlap(t.value, u.value)))
                            before[i][j] = true;
                    }
        make_transitive(before);
        return before;
    }
};

/// Up to `most` steps. Every value but the given ones is made or viewed by one step.
inline random_views draw_views(random_source& pick, std::uint32_t most, bool has_pools = true)
{
    using namespace sublet;
    using access = touch::access;
    random_views drawn;
    auto chance = [&pick](unsigned percent) { return pick.below(100) < percent; };
    auto value = [&](byte_count bytes, value_role role, value_id of, byte_count offset) {
        drawn.bytes.push_back(bytes);
        drawn.role.push_back(role);
        drawn.alias_of.push_back(of);
        drawn.view_offset.push_back(offset);
        drawn.pool.push_back(has_pools && chance(20) ? 1 : 0);
        return value_id::of(drawn.values() - 1);
    };
    std::vector<value_id> there; // made before the current step
    value_role const given[] = {value_role::input, value_role::input | value_role::output,
                                value_role::external, value_role::state};
    for (unsigned i = pick.below(3); i != 0; --i)
        there.push_back(value(4 + pick.below(12), given[pick.below(4)], no_value, 0));
    drawn.steps.resize(1 + pick.below(most));
    for (auto& step : drawn.steps) {
        std::vector<value_id> made, touched;
        auto any = [&] { return pick.one_of(there); };
        auto add = [&](access kind, value_id v) { step.touches.push_back({v, kind}); };
        for (unsigned i = there.empty() ? 0 : pick.below(3); i != 0; --i) {
            touched.push_back(any());
            add(chance(15) ? access::use_early : access::use, touched.back());
        }
        if (!there.empty() && chance(35)) add(access::write, any());
        if (!there.empty() && chance(45)) {
            value_id const of = any();
            byte_count const size = 1 + pick.below(static_cast<unsigned>(drawn.bytes[of]));
            byte_count const offset = pick.below(static_cast<unsigned>(drawn.bytes[of] - size + 1));
            made.push_back(value(size, value_role::intermediate, of, offset));
            add(chance(40) ? access::write_view : access::view, made.back());
        }
        if (there.empty() || chance(45)) {
            value_id const v = value(1 + pick.below(16),
                                     chance(20) ? value_role::output : value_role::intermediate, no_value, 0);
            made.push_back(v);
            add(access::def, v);
            for (value_id in : touched)
                if (chance(50)) step.pairs.push_back({in, v});
        }
        there.insert(there.end(), made.begin(), made.end());
    }
    return drawn;
}

/// The contents of bytes while steps run one by one. A byte is a space and an index in it.
class painted_bytes {
public:
    using place = std::pair<std::uint64_t, sublet::byte_count>;

    template <class PlaceOf>
    painted_bytes(random_views const& views, PlaceOf place_of) : views_(views)
    {
        for (sublet::value_id v = 0; v != views.values(); ++v) place_.push_back(place_of(v));
        for (sublet::value_id v = 0; v != views.values(); ++v)
            if (sublet::detail::is_given(views.role[v]))
                for (sublet::byte_count i = 0; i != views.bytes[v]; ++i) byte(v, i) = mix(v + 1, i);
    }

    /// What the step reads, as one number.
    std::uint64_t run(sublet::snapshot const& p, sublet::step_id s)
    {
        using access = sublet::touch::access;
        std::uint64_t sum = s + 1;
        for (sublet::touch t : p.touches(s)) {
            if (t.kind == access::view || t.kind == access::def) continue;
            for (sublet::byte_count i = 0; i != views_.bytes[t.value]; ++i) sum = mix(sum, byte(t.value, i));
        }
        std::uint64_t operand = 0;
        for (sublet::touch t : p.touches(s)) {
            ++operand;
            if (!t.writes()) continue;
            for (sublet::byte_count i = 0; i != views_.bytes[t.value]; ++i)
                byte(t.value, i) = mix(sum, 1000 * operand + i);
        }
        return sum;
    }
    /// What is left in outputs and in the caller's storage.
    std::uint64_t left()
    {
        std::uint64_t sum = 0;
        for (sublet::value_id v = 0; v != views_.values(); ++v)
            if (has_role(views_.role[v], sublet::value_role::output) ||
                has_role(views_.role[v], sublet::value_role::external))
                for (sublet::byte_count i = 0; i != views_.bytes[v]; ++i) sum = mix(sum, byte(v, i));
        return sum;
    }

private:
    static std::uint64_t mix(std::uint64_t a, std::uint64_t b)
    {
        a = (a ^ (b + 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;
        return a ^ (a >> 31);
    }
    std::uint64_t& byte(sublet::value_id v, sublet::byte_count i)
    {
        return content_[{place_[v].first, place_[v].second + i}];
    }

    random_views const& views_;
    std::vector<place> place_; // by value
    std::map<place, std::uint64_t> content_;
};

/// What each step reads, and what is left, if the nodes run in `order` with the given places. Each is a step.
template <class PlaceOf>
std::vector<std::uint64_t> paint(random_views const& views, std::vector<sublet::node_id> const& order,
                                 PlaceOf place_of)
{
    sublet::snapshot const p = views.program();
    painted_bytes bytes(views, place_of);
    std::vector<std::uint64_t> seen(p.steps() + 1);
    for (sublet::node_id n : order) seen[n] = bytes.run(p, +n);
    seen.back() = bytes.left();
    return seen;
}

/// As listed, each root with storage of its own: the truth.
inline std::vector<std::uint64_t> paint_apart(random_views const& views)
{
    std::vector<sublet::node_id> order(views.steps.size());
    for (sublet::node_id n = 0; n != order.size(); ++n) order[n] = n;
    return paint(views, order, [&](sublet::value_id v) {
        return painted_bytes::place{views.root(v), views.begin(v)};
    });
}

/// In the arenas of a plan; a root that is not planned has a space of its own.
inline std::vector<std::uint64_t> paint_in(random_views const& views, sublet::memory_plan const& plan,
                                           std::vector<sublet::node_id> const& order)
{
    return paint(views, order, [&](sublet::value_id v) {
        if (plan.buffer_of[v] == sublet::no_buffer)
            return painted_bytes::place{1000 + views.root(v), views.begin(v)};
        return painted_bytes::place{plan.buffers[plan.buffer_of[v]].pool, plan.offset_of(v)};
    });
}

/// A random order of the nodes in which each comes after those before it, and after its hand-offs.
inline std::vector<sublet::node_id> draw_order(std::vector<std::vector<bool>> const& before,
                                               std::vector<sublet::handoff> const& handoffs,
                                               random_source& pick)
{
    std::size_t const n = before.size();
    std::vector<sublet::node_id> order;
    std::vector<bool> has_run(n);
    while (order.size() != n) {
        std::vector<sublet::node_id> ready;
        for (sublet::node_id s = 0; s != n; ++s) {
            bool is_ready = !has_run[s];
            for (std::size_t i = 0; i != n; ++i) is_ready = is_ready && (has_run[i] || !before[i][s]);
            for (sublet::handoff h : handoffs) is_ready = is_ready && (h.to != +s || has_run[h.from]);
            if (is_ready) ready.push_back(s);
        }
        if (ready.empty()) return {}; // the hand-offs contradict the order
        order.push_back(pick.one_of(ready));
        has_run[order.back()] = true;
    }
    return order;
}

#endif
