// SPDX-License-Identifier: BSL-1.0

/// Graphs: rows are sorted and made simple, then each vertex in the order of the heuristic gets the lowest
/// slot that fits; the bound is a clique. SSA: nodes in reverse postorder, steps in order; a value takes a
/// slot where it is defined, and frees it at its last touch or where it is dead at a border of nodes.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/graph/internal/values_of_nodes.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/sharing/color_graph.hpp>
#include <sublet/sharing/detail/chains.hpp>
#include <sublet/sharing/detail/coloring.hpp>

#include <algorithm>
#include <span>
#include <utility>

// --- color graph -----------------------------------------------------------------------------------------

namespace sublet::detail {

/// The graph with ascending rows, each edge once in both, and none at values of 0 bytes.
SUBLET_DECL csr_graph simple_graph(csr_graph const& g, table<value_id, byte_count> const& bytes)
{
    csr_graph const sorted(g.transposed(g.rows()));
    SUBLET_EXPECTS(csr_graph(sorted.transposed(g.rows())) == sorted,
                   "sublet: an interference graph has each edge in the rows of both its ends");
    std::vector<std::uint32_t> first{0};
    std::vector<node_id> item(sorted.items());
    std::uint32_t items = 0;
    for (value_id v = 0; v != sorted.rows(); ++v) {
        value_id before = no_value;
        for (value_id w : values_next_to(sorted, v)) {
            SUBLET_EXPECTS(w != v, "sublet: value % interferes with itself", v);
            if (w != before && bytes[v] != 0 && bytes[w] != 0) item[items++] = node_id::of(+w);
            before = w;
        }
        first.push_back(items);
    }
    item.resize(items);
    return csr_graph({std::move(first), std::move(item)});
}

SUBLET_DECL std::vector<value_id> coloring_order(coloring_options::heuristic by, csr_graph const& g,
                                                 table<value_id, byte_count> const& bytes,
                                                 std::vector<value_id> const& given)
{
    if (by == coloring_options::heuristic::smallest_last) return smallest_last(g).order;
    std::vector<value_id> order;
    std::vector<sort_key> keys;
    for (value_id v = 0; v != g.rows(); ++v) {
        order.push_back(v);
        keys.push_back({descending(bytes[v]), descending(values_next_to(g, v).size()), v});
    }
    if (by == coloring_options::heuristic::by_size) {
        sort_by_key(keys);
        for (std::size_t i = 0; i != keys.size(); ++i) order[i] = keys[i].id;
    } else if (!given.empty()) {
        std::vector<value_id> sorted = given;
        std::sort(sorted.begin(), sorted.end());
        if (sorted != order) broken_order(given, g.rows(), "vertex");
        order = given;
    }
    return order;
}

/// First fit in the given order. With d neighbours one of the slots 0 ... d is free.
SUBLET_DECL table<value_id, slot_id> color_in_order(csr_graph const& g, std::vector<value_id> const& order,
                                                    table<value_id, slot_id> slot_of)
{
    table<slot_id, value_id> taken_for(g.rows(), no_value); // the last vertex that found it taken
    for (value_id v : order) {
        values_of_nodes const neighbors = values_next_to(g, v);
        for (value_id w : neighbors)
            if (slot_of[w] <= neighbors.size()) taken_for[slot_of[w]] = v;
        slot_id s = 0;
        while (taken_for[s] == v) ++s;
        slot_of[v] = s;
    }
    return slot_of;
}

SUBLET_DECL std::optional<counterexample> find_clash(csr_graph const& g,
                                                     table<value_id, slot_id> const& slot_of)
{
    for (value_id v = 0; v != g.rows(); ++v)
        for (value_id w : values_next_to(g, v))
            if (slot_of[v] == slot_of[w] && slot_of[v] != no_slot) return fixed_together(v, w, slot_of[v]);
    return std::nullopt;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL graph_coloring color(csr_graph const& g, coloring_options const& options)
{
    SUBLET_EXPECTS(options.order.empty() || options.by == coloring_options::heuristic::given,
                   "sublet: an order of colouring needs the heuristic `given`");
    auto const bytes = options.bytes.tabulate(g.rows());
    auto slot_of = options.fixed.tabulate(g.rows());
    byte_count size = 0;
    bool sizes_differ = false;
    for (value_id v = 0; v != g.rows(); ++v) {
        SUBLET_EXPECTS(bytes[v] != no_size, "sublet: value %, of unknown size, cannot share a slot", v);
        if (bytes[v] == 0) {
            slot_of[v] = no_slot;
            continue;
        }
        sizes_differ = sizes_differ || (size != 0 && bytes[v] != size);
        size = bytes[v];
    }
    csr_graph const interference = detail::simple_graph(g, bytes);
    detail::clique_bound bound = detail::find_cliques(interference, bytes);
    graph_coloring result;
    result.clique = std::move(bound.clique);
    result.least_bytes = bound.bytes;
    if (!result.refute(detail::find_clash(interference, slot_of))) {
        result.plan.slot_of.assign(g.rows(), no_slot);
        return result;
    }

    coloring_options::heuristic by = options.by;
    if (by == coloring_options::heuristic::exact) {
        detail::exact_assignment found = detail::assign_exact(
            interference,
            {.bytes = bytes, .fixed = std::move(slot_of), .nodes = options.effort.of(10'000'000)});
        result.plan = {std::move(found.slot_of), found.slots};
        result.slot_bytes = std::move(found.slot_bytes);
        result.total_bytes = found.total_bytes;
        result.least_bytes = found.lower_bound;
        return result;
    }
    if (by == coloring_options::heuristic::automatic)
        by = sizes_differ ? coloring_options::heuristic::by_size : coloring_options::heuristic::dsatur;
    std::vector<value_id> order = detail::coloring_order(by, interference, bytes, options.order);
    std::erase_if(order, [&](value_id v) { return bytes[v] == 0 || slot_of[v] != no_slot; });
    slot_of = by == coloring_options::heuristic::dsatur
                  ? detail::color_by_saturation(interference, order, std::move(slot_of))
                  : detail::color_in_order(interference, order, std::move(slot_of));

    for (value_id v = 0; v != g.rows(); ++v) {
        slot_id const s = slot_of[v];
        if (s == no_slot) continue;
        if (result.slot_bytes.size() <= s) result.slot_bytes.resize(std::size_t{s} + 1, 0);
        result.slot_bytes[s] = detail::larger(result.slot_bytes[s], bytes[v]);
    }
    result.plan = {std::move(slot_of), static_cast<std::uint32_t>(result.slot_bytes.size())};
    for (byte_count slot : result.slot_bytes) result.total_bytes = checked_add(result.total_bytes, slot);
    return result;
}

// --- strictness ------------------------------------------------------------------------------------------

SUBLET_DECL verdict check_ssa(snapshot const& p, dominator_tree const& tree)
{
    struct definition {
        node_id node = no_node;
        std::size_t at = 0; // index of the touch in its node; a step's reads stand before its writes
    };
    auto found = [&p](fault what, value_id v, node_id n, std::size_t at) {
        step_id s = p.steps_of(n).first;
        for (; at >= p.touches(s).size(); ++s) at -= p.touches(s).size();
        return counterexample{what, counterexample::access{.value = v, .step = s}};
    };
    table<value_id, definition> def_of(p.values());
    for (node_id n = 0; n != p.nodes(); ++n) {
        auto const touches = p.touches(p.steps_of(n));
        for (std::size_t i = 0; i != touches.size(); ++i) {
            if (!touches[i].defines()) continue;
            definition& d = def_of[touches[i].value];
            if (d.node != no_node) return found(fault::several_defs, touches[i].value, n, i);
            d = {n, i};
        }
    }
    std::optional<counterexample> undefined; // the first
    for (node_id n = 0; n != p.nodes(); ++n) {
        auto const touches = p.touches(p.steps_of(n));
        for (std::size_t i = 0; i != touches.size(); ++i) {
            if (touches[i].defines()) continue;
            definition const d = def_of[touches[i].value];
            if (d.node == no_node && !undefined)
                undefined = found(fault::never_defined, touches[i].value, n, i);
            if (d.node == n ? d.at >= i : d.node != no_node && !tree.dominates(d.node, n))
                return found(fault::not_dominated, touches[i].value, n, i);
        }
    }
    for (edge_use u : p.edge_uses()) {
        node_id const d = def_of[u.value].node;
        step_id const last = p.steps_of(u.pred).last - 1;
        if (d == no_node && !undefined)
            undefined =
                counterexample{fault::never_defined, counterexample::access{.value = u.value, .step = last}};
        if (d != no_node && !tree.dominates(d, u.pred))
            return counterexample{fault::not_dominated,
                                  counterexample::access{.value = u.value, .step = last}};
    }
    return undefined;
}

} // namespace sublet

// --- color chordal ---------------------------------------------------------------------------------------

namespace sublet::detail {

/// By value: the slots of fixed values that are defined at a step that it occupies; `clash` is the first such
/// pair with one slot.  O(values + touches + for each such step, live values and the rest of its node)
SUBLET_DECL csr_rows<value_id, slot_id> slots_to_avoid(snapshot const& p, live_sets const& live,
                                                       table<value_id, slot_id> const& fixed,
                                                       std::optional<counterexample>& clash)
{
    table<value_id, step_id> def_of(p.values(), no_step);
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s))
            if (t.defines()) def_of[t.value] = s;

    std::vector<value_id> avoids; // value i avoids slot avoided[i]
    std::vector<slot_id> avoided;
    std::vector<value_id> defined_fixed, occupants;
    for (node_id n = 0; n != p.nodes(); ++n)
        for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s) {
            defined_fixed.clear();
            for (touch t : p.touches(s))
                if (t.defines() && fixed[t.value] != no_slot) defined_fixed.push_back(t.value);
            if (defined_fixed.empty()) continue;

            occupants.clear();
            auto add_occupant = [&](value_id v) { // unless it is defined later in the node
                if (def_of[v] <= s || def_of[v] >= p.steps_of(n).last) occupants.push_back(v);
            };
            for (touch t : p.touches(s))
                if (t.kind != touch::access::use_early) add_occupant(t.value);
            for (touch t : p.touches({s + 1, p.steps_of(n).last}))
                if (!t.defines()) add_occupant(t.value);
            live.for_each_live_out(n, add_occupant);

            for (value_id defined : defined_fixed)
                for (value_id v : occupants) {
                    if (v == defined) continue;
                    if (fixed[v] == no_slot) {
                        avoids.push_back(v);
                        avoided.push_back(fixed[defined]);
                    } else if (fixed[v] == fixed[defined] && !clash) {
                        clash = fixed_together(defined, v, fixed[v], s);
                    }
                }
        }
    return csr_rows<value_id, slot_id>::gathered(p.values(), [&](auto add) {
        for (std::size_t i = 0; i != avoids.size(); ++i) add(avoids[i], avoided[i]);
    });
}

/// Requires that the entry reaches all nodes: then a use that its definition does not dominate is at the end
/// of a path from the entry without a definition, so its value is live where the entry begins.
/// O(values + touches)
SUBLET_DECL bool is_strict(snapshot const& p, live_sets const& live)
{
    bool is_defined_twice = false;
    table<value_id, unsigned char> is_defined(p.values(), 0);
    for (touch t : p.touches({0, step_id::of(p.steps())})) {
        bool const defines = t.defines();
        is_defined_twice |= defines & (is_defined[t.value] != 0);
        is_defined[t.value] |= static_cast<unsigned char>(defines);
    }
    return !is_defined_twice && (p.nodes() == 0 || live.live_in_count(0) == 0);
}

/// For each touch of a node, when its value frees its slot for good.
enum class kill_point : unsigned char { none, before_writes, after_step };

class kill_points {
public:
    explicit kill_points(std::size_t values) : touched_in_(values, no_node) {}

    /// By index of the touch in the node; valid until the next call. Call it once per node.
    std::vector<kill_point> const& of(snapshot const& p, live_sets const& live, node_id n)
    {
        std::span<touch const> const all = p.touches(p.steps_of(n));
        kills_.resize(all.size());
        bool early = false, held = false;
        for (std::size_t i = all.size(); i-- != 0;) { // without branches: they would be unpredictable
            touch const t = all[i];
            bool const is_early = t.kind == touch::access::use_early;
            early |= is_early;
            held |= t.holds();
            bool const is_last = touched_in_[t.value] != n, lives_on = live.is_live_out(t.value, n);
            touched_in_[t.value] = n;
            kills_[i] =
                static_cast<kill_point>((unsigned{is_last} & unsigned{!lives_on}) << unsigned{!is_early});
        }
        if (early && held) defer_held_kills(p, n);
        return kills_;
    }

private:
    /// A value that its step reads early and late is not killed before the writes.
    void defer_held_kills(snapshot const& p, node_id n)
    {
        held_in_.resize(touched_in_.size(), no_step);
        std::size_t i = 0;
        for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s) {
            for (touch t : p.touches(s))
                if (t.holds()) held_in_[t.value] = s;
            for (touch t : p.touches(s)) {
                if (kills_[i] == kill_point::before_writes && held_in_[t.value] == s)
                    kills_[i] = kill_point::after_step;
                ++i;
            }
        }
    }

    table<value_id, node_id> touched_in_; // the last node queried
    table<value_id, step_id> held_in_;    // the last step that holds it; empty unless it is needed
    std::vector<kill_point> kills_;
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL chordal_coloring color(snapshot const& given, live_sets const& live,
                                   per_value<slot_id> const& fixed_slot)
{
    snapshot listed;
    snapshot const& p = detail::as_control_flow(given, listed);
    detail::expect_sets_of(p, live);
    table<value_id, slot_id> const fixed = fixed_slot.tabulate(p.values());
    chordal_coloring result;
    depth_first_forest const search = depth_first(p.graph());
    bool const is_one_tree = search.reachable == p.nodes();
    if ((!is_one_tree || !detail::is_strict(p, live)) && !result.refute(check_ssa(p))) return result;

    csr_rows<value_id, slot_id> avoided;
    bool has_fixed = false;
    for (slot_id s : fixed) has_fixed = has_fixed || s != no_slot;
    std::optional<counterexample> clash;
    if (has_fixed) avoided = detail::slots_to_avoid(p, live, fixed, clash);
    if (!result.refute(std::move(clash))) return result;

    auto const affinities = csr_rows<value_id, value_id>::gathered(p.values(), [&p](auto add) {
        for (overwrite o : p.overwrites()) {
            add(o.in, o.out);
            add(o.out, o.in);
        }
    });
    table<value_id, slot_id> slot_of(p.values(), no_slot);
    detail::slot_set taken;
    auto may_take = [&](value_id v, slot_id slot) {
        if (slot == no_slot || taken.contains(slot)) return false;
        if (avoided.rows() == 0) return true;
        for (slot_id s : avoided[v])
            if (s == slot) return false;
        return true;
    };
    auto slot_for = [&](value_id v) {
        if (fixed[v] != no_slot) return fixed[v];
        for (value_id w : affinities[v])
            if (may_take(v, slot_of[w])) return slot_of[w];
        slot_id slot = taken.lowest_free();
        while (!may_take(v, slot)) slot = taken.lowest_free(slot + 1);
        return slot;
    };

    // In reverse postorder, as in every order of the nodes in which dominators come first, the values of the
    // slots taken at a definition are those that live there.
    std::vector<node_id> const order = detail::reverse_postorder(search);
    detail::kill_points kill_points(p.values());
    std::uint32_t alive = 0;
    auto kill_if = [&](bool is_dead, value_id v) {
        taken.erase_if(is_dead, slot_of[v]);
        alive -= std::uint32_t{is_dead};
    };
    for (std::size_t i = 0; i != order.size(); ++i) {
        node_id const n = order[i];
        if (is_one_tree && i != 0) {
            // At the end of a node `taken` is what its live-out values have: few end or begin in between.
            live.for_each_change(
                order[i - 1], n, [&](value_id v) { kill_if(true, v); },
                [&](value_id v) {
                    taken.insert_again(slot_of[v]);
                    ++alive;
                });
        } else {
            taken.clear();
            alive = 0;
            live.for_each_live_in(n, [&](value_id v) {
                if (taken.contains(slot_of[v])) return; // of an earlier tree, into which n has an edge
                taken.insert_again(slot_of[v]);
                ++alive;
            });
        }
        detail::kill_point const* kills = kill_points.of(p, live, n).data();
        for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s) {
            std::span<touch const> const touches = p.touches(s);
            bool kills_after_step = false;
            for (std::size_t k = 0; k != touches.size(); ++k) {
                value_id const v = touches[k].value;
                if (touches[k].defines()) {
                    slot_of[v] = slot_for(v);
                    taken.insert(slot_of[v]);
                    ++alive;
                    if (result.plan.slots <= slot_of[v]) result.plan.slots = slot_of[v] + 1;
                }
                kill_if(kills[k] == detail::kill_point::before_writes, v);
                kills_after_step |= kills[k] == detail::kill_point::after_step;
            }
            if (alive > result.max_live) {
                result.max_live = alive;
                result.max_live_step = s;
            }
            for (std::size_t k = 0; kills_after_step && k != touches.size(); ++k)
                kill_if(kills[k] == detail::kill_point::after_step, touches[k].value);
            kills += touches.size();
        }
    }
    for (overwrite o : p.overwrites())
        result.affinities_kept += slot_of[o.in] != no_slot && slot_of[o.in] == slot_of[o.out];
    result.plan.slot_of = std::move(slot_of);
    return result;
}

SUBLET_DECL chordal_coloring color(snapshot const& given, per_value<slot_id> const& fixed)
{
    snapshot listed;
    snapshot const& p = detail::as_control_flow(given, listed);
    return color(p, liveness(p), fixed);
}

} // namespace sublet
