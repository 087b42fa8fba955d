// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/analysis/versions.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/structures/internal/segment_tree.hpp>

#include <utility>

// --- storage order ---------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL listed_touches::listed_touches(snapshot const& program, std::vector<node_id> const& order)
    : p(program), steps(steps_in_order(program, order))
{
    for (node_id n = 0; n != p.nodes(); ++n) node_of.resize(p.steps_of(n).last, n);
    auto const uses = p.edge_uses();
    ends = csr_rows<node_id, std::uint32_t>::gathered(p.nodes(), [uses](auto add) {
        for (std::uint32_t i = 0; i != uses.size(); ++i) add(uses[i].pred, i);
    });
}

/// The accesses of ranges of segments so far, and which of them the next one has to follow.
///
///     segments    0       1       2       3     w writes 0 to 3, v writes 2, r reads 2 and 3: w and r cover nodes
///     nodes       └─ 0-1 ─┘       └─ 2-3 ─┘     of more than one segment. A read of all follows v and w; a
///                     └───── 0-3 ─────┘         write of all follows r, which follows v, and w for 0 and 1.
///
/// A segment tree. Accesses are numbered from 1, and a node knows the last ones that cover it, and those under
/// it. Of the reads that cover a node it keeps those since the last write under it: that write follows the
/// reads before it, and they follow it. So reads of a whole that alternate with writes of parts are a chain.
///
/// Complexity: an access takes O(log^2 segments), and O(log segments) for each access that it has to follow.
class range_accesses {
public:
    explicit range_accesses(ordered_bytes const& bytes)
        : tree_{bytes.segments}, nodes_(2 * std::size_t{bytes.segments})
    {
        for (segment_range r : bytes.of) tree_.each(r, [this](std::size_t n) { nodes_[n].is_used = true; });
        for (std::size_t n = 2; n < nodes_.size(); ++n) nodes_[n].is_used |= nodes_[n / 2].is_used;
    }

    /// Calls `visit` for steps to follow, for some more than once.
    template <class Visit>
    void read(segment_range r, step_id s, Visit visit)
    {
        number const now = add(s);
        tree_.each(r, [&](std::size_t n) {
            node& at = nodes_[n];
            number const above = covers(n).write;
            if (!at.reads.empty() && larger(above, at.last_write) > at.reads.back()) {
                at.followed = at.reads.back();
                at.reads.clear();
            }
            visit_writes(n, above, at.followed, visit);
            at.reads.push_back(now);
            at.covering.read = at.all.read = now;
        });
        each_over_ends(r, [&](std::size_t n) {
            update(n);
            std::vector<number>& parts = nodes_[n].reads_of_parts;
            if (nodes_[n].covering.read != now && (parts.empty() || parts.back() != now))
                parts.push_back(now);
        });
    }
    template <class Visit>
    void write(segment_range r, step_id s, Visit visit)
    {
        number const now = add(s);
        tree_.each(r, [&](std::size_t n) {
            last_accesses const above = covers(n);
            for (std::size_t m = n / 2; nodes_[m].is_used; m /= 2)
                visit_newer(nodes_[m].reads, larger(above.write, nodes_[n].all.write), visit);
            visit_overwritten(n, above, visit);
            nodes_[n].covering.write = nodes_[n].all.write = nodes_[n].last_write = now;
        });
        each_over_ends(r, [&](std::size_t n) {
            update(n);
            nodes_[n].last_write = now;
        });
    }

private:
    using number = std::uint32_t;
    struct last_accesses {
        number write = 0, read = 0;
    };
    struct node {
        last_accesses covering;             // of the whole node, by itself
        last_accesses all;                  // each segment has one from this on, those of ancestors not counted
        number last_write = 0;              // of a segment under it, or of all
        number followed = 0;                // writes up to this one precede another that `reads` follow
        std::vector<number> reads;          // of the whole node
        std::vector<number> reads_of_parts; // of segments under it
        bool is_used = false;               // under a node of some range, or one
    };

    number add(step_id s)
    {
        step_of_.push_back(s);
        return static_cast<number>(step_of_.size() - 1);
    }
    /// The used nodes of each_over_ends().
    template <class Visit>
    void each_over_ends(segment_range r, Visit visit) const
    {
        tree_.each_over_ends(r, [&](std::size_t n) {
            if (nodes_[n].is_used) visit(n);
            return nodes_[n].is_used;
        });
    }
    /// Of the ancestors.
    last_accesses covers(std::size_t n) const
    {
        last_accesses last;
        while (nodes_[n /= 2].is_used) {
            last.write = larger(last.write, nodes_[n].covering.write);
            last.read = larger(last.read, nodes_[n].covering.read);
        }
        return last;
    }
    void update(std::size_t n)
    {
        node& at = nodes_[n];
        last_accesses below;
        if (n < tree_.leaves) {
            last_accesses const left = nodes_[2 * n].all, right = nodes_[2 * n + 1].all;
            below = {smaller(left.write, right.write), smaller(left.read, right.read)};
        }
        at.all.write = larger(at.covering.write, below.write);
        at.all.read = larger(at.covering.read, below.read);
    }
    bool has_newer_write_below(std::size_t n, number than) const
    {
        return n < tree_.leaves && larger(nodes_[2 * n].last_write, nodes_[2 * n + 1].last_write) > than;
    }

    template <class Visit>
    void visit_newer(std::vector<number> const& list, number than, Visit& visit) const
    {
        for (std::size_t i = list.size(); i != 0 && list[i - 1] > than; --i) visit(step_of_[list[i - 1]]);
    }
    /// The last writes of the segments of n, without those up to `followed`; `above` is of the ancestors.
    template <class Visit>
    // NOLINTNEXTLINE(misc-no-recursion): as deep as a balanced tree
    void visit_writes(std::size_t n, number above, number followed, Visit& visit) const
    {
        number const last = larger(above, nodes_[n].covering.write);
        if (has_newer_write_below(n, larger(last, followed))) {
            visit_writes(2 * n, last, followed, visit);
            visit_writes(2 * n + 1, last, followed, visit);
        } else if (last > followed) {
            visit(step_of_[last]);
        }
    }
    /// The reads at and under n since its last writes, and last writes of segments that were not read since.
    template <class Visit>
    // NOLINTNEXTLINE(misc-no-recursion): as deep as a balanced tree
    void visit_overwritten(std::size_t n, last_accesses above, Visit& visit) const
    {
        node const& at = nodes_[n];
        visit_newer(at.reads, larger(above.write, at.all.write), visit);
        above = {larger(above.write, at.covering.write), larger(above.read, at.covering.read)};
        if (has_newer_write_below(n, above.write)) {
            visit_overwritten(2 * n, above, visit);
            visit_overwritten(2 * n + 1, above, visit);
            return;
        }
        visit_newer(at.reads_of_parts, above.write, visit);
        if (larger(above.read, at.all.read) < above.write) visit(step_of_[above.write]);
    }

    segment_nodes tree_;
    std::vector<node> nodes_;
    std::vector<step_id> step_of_{no_step}; // by access
};

SUBLET_DECL std::vector<handoff> storage_order(snapshot const& p, ordered_bytes const& bytes,
                                               std::vector<node_id> const& order)
{
    listed_touches const listed(p, order);
    table<value_id, step_id> def_of(p.values(), no_step);
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s))
            if (t.defines()) def_of[t.value] = s;

    std::vector<handoff> found; // by `to`, each once
    table<step_id, step_id> last_to(p.steps(), no_step); // of each `from`
    range_accesses accesses(bytes);
    // Of each node: the end of its steps that are known to precede the current one.
    table<node_id, step_id> ordered_before(p.nodes(), 0);
    std::vector<node_id> marked;
    auto mark = [&](node_id n, step_id end) {
        if (ordered_before[n] == 0) marked.push_back(n);
        ordered_before[n] = larger(ordered_before[n], end);
    };
    for (step_id s : listed.steps) {
        node_id const n = listed.node_of[s];
        if (s == p.steps_of(n).first) {
            for (node_id m : marked) ordered_before[m] = 0;
            marked.clear();
            for (node_id m : p.predecessors(n)) mark(m, p.steps_of(m).last);
        }
        mark(n, s);
        listed.each(s, [&](std::size_t, touch t) {
            step_id const writer = def_of[t.value];
            if (!t.defines() && writer != no_step && writer != s) mark(listed.node_of[writer], writer + 1);
        });
        auto order_after = [&](step_id first) {
            bool const is_known = first == s || first < ordered_before[listed.node_of[first]];
            if (!is_known && std::exchange(last_to[first], s) != s) found.push_back({first, s});
        };
        listed.each(s, [&](std::size_t, touch t) {
            segment_range const its = bytes.of[t.value];
            if (t.kind == touch::access::view || is_empty(its)) return;
            if (t.writes()) accesses.write(its, s, order_after);
            else accesses.read(its, s, order_after);
        });
    }
    auto const before = csr_rows<step_id, step_id>::gathered(p.steps(), [&](auto add) {
        for (handoff h : found) add(h.to, h.from);
    });
    csr_rows<step_id, step_id> const after = before.transposed(p.steps());
    found.clear();
    for (step_id from = 0; from != p.steps(); ++from)
        for (step_id to : after[from]) found.push_back({from, to});
    return found;
}

} // namespace sublet::detail

// --- versions --------------------------------------------------------------------------------------------

namespace sublet::detail {

/// Of each value: whether a step writes it although it is given or written by another step.
SUBLET_DECL table<value_id, unsigned char> values_to_split(snapshot const& p,
                                                           table<value_id, value_role> const& role)
{
    table<value_id, unsigned char> is_split(p.values());
    table<value_id, step_id> def_of(p.values(), no_step);
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) {
            if (!t.defines() || def_of[t.value] == s) continue;
            if (def_of[t.value] != no_step || is_given(role[t.value])) is_split[t.value] = 1;
            def_of[t.value] = s;
        }
    return is_split;
}

/// An edge that leads to a node that is not later in the list.
SUBLET_DECL std::optional<counterexample> edge_against_order(listed_touches const& listed)
{
    snapshot const& p = listed.p;
    table<step_id, position_id> position(p.steps());
    for (position_id at = 0; at != p.steps(); ++at) position[listed.steps[at]] = at;
    for (node_id n = 0; n != p.nodes(); ++n)
        for (node_id to : p.successors(n)) {
            step_id const from = p.steps_of(n).last - 1, next = p.steps_of(to).first;
            if (position[from] >= position[next])
                return counterexample{fault::leads_back, counterexample::waiting{.step = from}};
        }
    return std::nullopt;
}

/// By index of a touch, the version that it touches. Adds versions, and a use before a def, to `result`.
SUBLET_DECL std::vector<value_id> name_versions(listed_touches const& listed, versioned_program& result,
                                                table<value_id, unsigned char> const& is_split,
                                                table<value_id, unsigned char> const& is_kept)
{
    table<value_id, value_id> const alias_of = result.alias_of;
    table<value_id, value_id>& current = result.last;
    table<value_id, unsigned char> is_available(current.size());
    for (value_id v = 0; v != current.size(); ++v) is_available[v] = !is_split[v] || is_given(result.role[v]);
    table<value_id, step_id> def_at(current.size(), no_step), touched_at(current.size(), no_step); // last
    std::vector<value_id> name(listed.step_touch_count() + listed.p.edge_uses().size());
    for (step_id s : listed.steps) {
        listed.each(s, [&](std::size_t touch_index, touch t) {
            value_id const v = t.value;
            if (t.defines() && def_at[v] != s) {
                def_at[v] = s;
                if (!is_available[v]) {
                    if (touched_at[v] != no_step)
                        result.refute(counterexample{
                            fault::used_undefined,
                            counterexample::access{.value = v, .other = v, .step = touched_at[v]}});
                    is_available[v] = 1;
                } else if (is_split[v]) {
                    SUBLET_EXPECTS(result.value_of.size() + 1 < no_value, "sublet: more versions than ids");
                    result.number.push_back(result.number[current[v]] + 1);
                    result.role.push_back(value_role::intermediate);
                    result.alias_of.push_back(is_kept[v] ? v : no_value);
                    current[v] = value_id::of(result.value_of.size());
                    result.value_of.push_back(v);
                }
            }
            touched_at[v] = s;
            name[touch_index] = current[v];
        });
        for (touch t : listed.p.touches(s)) { // a view refers to the version available when its step ends
            value_id const of = alias_of[t.value];
            if (!t.defines() || of == no_value) continue;
            value_id& made = result.alias_of[current[t.value]];
            if (made != t.value) made = current[of];
        }
    }
    for (value_id v = 0; v != current.size(); ++v)
        if (current[v] != v && has_role(result.role[v], value_role::output)) {
            result.role[v] = static_cast<value_role>(static_cast<unsigned>(result.role[v]) &
                                                     ~static_cast<unsigned>(value_role::output));
            result.role[current[v]] = value_role::output;
        }
    return name;
}

SUBLET_DECL snapshot renamed(snapshot const& p, listed_touches const& listed, std::size_t versions,
                             std::vector<value_id> const& name,
                             table<value_id, unsigned char> const& is_kept)
{
    table<value_id, step_id> used_at(p.values(), no_step), defined_at(p.values(), no_step);
    table<value_id, value_id> used_as(p.values()), defined_as(p.values());
    std::size_t at_end = listed.step_touch_count();
    return with_effects(p, versions,
        [&](node_id n, effect_sink& sink) {
            step_range const range = p.steps_of(n);
            for (step_id s = range.first; s != range.last; ++s) {
                if (s != range.first) sink.next_step();
                std::size_t touch_index = listed.first_touch(s);
                for (touch t : p.touches(s)) {
                    value_id const v = t.value, version = name[touch_index++];
                    if (t.defines()) {
                        bool const is_same_storage = !is_kept.empty() && is_kept[version] != 0;
                        if (t.makes() && is_same_storage)
                            sink.add(touch::access::write_view, version);
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

namespace sublet {

SUBLET_DECL versioned_program detail::versions_of(snapshot const& p, version_options const& options)
{
    expect_steps_run_once(p);
    std::size_t const values = p.values();
    versioned_program result;
    result.role = options.role.tabulate(values, "role");
    result.alias_of = options.alias_of.tabulate(values, "alias_of");
    result.number.assign(values, 0);
    for (value_id v = 0; v != values; ++v) result.value_of.push_back(v);
    result.last = result.value_of;
    table<value_id, unsigned char> const is_split = detail::values_to_split(p, result.role);
    bool splits = false;
    for (unsigned char is : is_split) splits |= is != 0;
    if (!splits) {
        result.program = p;
        return result;
    }
    detail::listed_touches const listed(p, options.order);
    if (!result.refute(detail::edge_against_order(listed))) return result;
    auto const same_storage = options.same_storage.tabulate(values, "same_storage");
    table<buffer_id, unsigned char> keeps(values);
    table<value_id, unsigned char> is_kept(values);
    buffer_classes const classes = aliases(values, [&](value_id v) { return result.alias_of[v]; });
    for (value_id v = 0; v != values; ++v)
        if (same_storage[v] || has_role(result.role[v], value_role::external))
            keeps[classes.buffer_of[v]] = 1;
    for (value_id v = 0; v != values; ++v) is_kept[v] = keeps[classes.buffer_of[v]];

    std::vector<value_id> const name = detail::name_versions(listed, result, is_split, is_kept);
    if (!result) return result;
    is_kept.assign(result.value_of.size(), 0); // of each version: a view of the first one
    for (value_id v = 0; v != is_kept.size(); ++v)
        is_kept[v] = v != result.value_of[v] && result.alias_of[v] == result.value_of[v];
    result.program = detail::renamed(p, listed, result.value_of.size(), name, is_kept);
    return result;
}

SUBLET_DECL versioned_program versions(snapshot const& p, plan_options const& given,
                                       per_value<bool> const& same_storage)
{
    auto const asked = detail::with_said_views(p, detail::tabulated_options(given, p.values()));
    plan_options const& options = *asked;
    auto keeps = same_storage.tabulate(p.values());
    for (value_id v = 0; v != p.values(); ++v)
        if (options.pinned[v] != no_offset || !options.eligible[v]) keeps[v] = 1;
    versioned_program made = detail::versions_of(
        p,
        {.role = options.role, .alias_of = options.alias_of, .same_storage = keeps, .order = options.order});
    if (p.said_views().empty()) return made;
    plan_options const lifted = with_versions(options, made);
    std::size_t const values = made.value_of.size();
    made.program = made.program.with_views(lifted.alias_of.tabulate(values), lifted.view_offset.tabulate(values));
    return made;
}

SUBLET_DECL plan_options with_versions(plan_options const& options, versioned_program const& versioned)
{
    std::size_t const before = versioned.last.size(), values = versioned.value_of.size();
    auto const begin = options.view_offset.tabulate(before, "view_offset");
    table<value_id, byte_count> view_offset(values);
    for (value_id v = 0; v != values; ++v) {
        bool const is_first = versioned.alias_of[v] == versioned.value_of[v]; // the same bytes as the first version
        view_offset[v] = is_first ? 0 : begin[versioned.value_of[v]];
    }
    return detail::options_of_copies(
        options, before, {versioned.value_of, versioned.role, versioned.alias_of, view_offset});
}

} // namespace sublet
