// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/analysis/versions.hpp>
#include <sublet/core/internal/asked_options.hpp>
#include <sublet/core/internal/range_lists.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <utility>

// --- dependences -----------------------------------------------------------------------------------------

namespace sublet {

SUBLET_DECL position_id dependence_graph::start_of(step_id s) const
{
    for (position_id p : before[position_of[s]])
        if (step_at[p] == s) return p;
    return position_of[s];
}

} // namespace sublet

namespace sublet::detail {

SUBLET_DECL dependence_options dependences_of(plan_options const& options, std::vector<handoff> handoffs)
{
    return {.role = options.role,
            .handoffs = std::move(handoffs),
            .alias_of = options.alias_of,
            .view_offset = options.view_offset,
            .bytes = options.bytes,
            .listed = options.order};
}

/// A step that reads early is two points, any other is one; points are numbered in the order of steps.
struct dependence_points {
    using point = std::uint32_t;

    snapshot const& p;
    table<step_id, point> write_point; // empty if point and step are the same number
    std::vector<step_id> owner;        // by point; empty likewise

    explicit dependence_points(snapshot const& program) : p(program)
    {
        auto const steps = step_id::of(p.steps());
        auto reads_early = [this](step_id s) {
            for (touch t : p.touches(s))
                if (t.kind == touch::access::use_early) return true;
            return false;
        };
        step_id s = 0;
        while (s != steps && !reads_early(s)) ++s;
        if (s == steps) return;
        for (s = 0; s != steps; ++s) {
            if (reads_early(s)) owner.push_back(s);
            write_point.push_back(static_cast<point>(owner.size()));
            owner.push_back(s);
        }
    }
    std::size_t size() const { return owner.empty() ? p.steps() : owner.size(); }
    point last(step_id s) const { return write_point.empty() ? +s : write_point[s]; }
    point first(step_id s) const
    {
        point const l = last(s);
        return l != 0 && owner_of(l - 1) == s ? l - 1 : l;
    }
    step_id owner_of(point x) const { return owner.empty() ? step_id{x} : owner[x]; }
};

/// `other`: the value itself, if it is defined later.
SUBLET_DECL counterexample used_undefined(value_id v, step_id s, value_id other = no_value)
{
    return {fault::used_undefined, counterexample::access{.value = v, .other = other, .step = s}};
}

SUBLET_DECL counterexample cycle_of(std::vector<step_id> steps)
{
    step_id const last = steps.back();
    return {fault::cycle, counterexample::waiting{.step = last}, std::move(steps)};
}

SUBLET_DECL std::optional<counterexample>
unique_defs(snapshot const& p, table<value_id, value_role> const& role, table<value_id, step_id>& def_of)
{
    def_of = table<value_id, step_id>(p.values(), no_step);
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) {
            if (!t.defines() || def_of[t.value] == s) continue;
            if (is_given(role[t.value]))
                return counterexample{fault::several_defs,
                                      counterexample::access{.value = t.value, .step = s, .is_given = true}};
            if (def_of[t.value] != no_step)
                return counterexample{fault::several_defs,
                                      counterexample::access{.value = t.value, .step = s}};
            def_of[t.value] = s;
        }
    auto is_available = [&](value_id v) { return def_of[v] != no_step || is_given(role[v]); };
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s))
            if (!t.defines() && (!is_available(t.value) || def_of[t.value] == s))
                return used_undefined(t.value, s);
    for (edge_use u : p.edge_uses())
        if (!is_available(u.value)) return used_undefined(u.value, p.steps_of(u.pred).last - 1);
    for (value_id v = 0; v != p.values(); ++v)
        if (has_role(role[v], value_role::output) && !is_available(v)) return used_undefined(v, no_step);
    return std::nullopt;
}

/// The steps that make the root of a view, by step that makes a view of no bytes and writes through it: bytes do
/// not order them. Without an entry where the root is made later in the list.
SUBLET_DECL std::vector<handoff> makers_of_empty_views(snapshot const& p, dependence_options const& options,
                                                       table<value_id, step_id> const& def_of,
                                                       table<value_id, value_id> const& root)
{
    std::vector<handoff> found;
    table<step_id, position_id> position;
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) {
            step_id const maker = t.kind == touch::access::write_view ? def_of[root[t.value]] : no_step;
            if (maker == no_step || maker == s || options.bytes[t.value] != 0) continue;
            if (position.empty()) {
                position.resize(p.steps());
                table<position_id, step_id> const listed = steps_in_order(p, options.listed);
                for (position_id at = 0; at != listed.size(); ++at) position[listed[at]] = at;
            }
            if (position[maker] < position[s]) found.push_back({maker, s});
        }
    return found;
}

/// The root of each value; or a view of a root that no step makes and the caller does not give.
SUBLET_DECL std::optional<counterexample> find_roots(snapshot const& p, dependence_options const& options,
                                                     table<value_id, step_id> const& def_of,
                                                     table<value_id, value_id>& root)
{
    table<value_id, value_role> const role = options.role.tabulate(p.values(), "role");
    table<value_id, value_id> const alias_of = options.alias_of.tabulate(p.values(), "alias_of");
    buffer_classes const classes = detail::classes_of(alias_of);
    for (buffer_id b : classes.buffer_of) root.push_back(classes.root[b]);
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) {
            value_id const of = root[t.value];
            if (t.views_what_is_there() && def_of[of] == no_step && !is_given(role[of]))
                return used_undefined(of, s);
        }
    return std::nullopt;
}

/// A step that changes a value and is listed before the step that makes it: either has to wait for the other.
SUBLET_DECL std::optional<counterexample> change_before_def(snapshot const& p,
                                                            dependence_options const& options,
                                                            table<value_id, step_id> const& def_of)
{
    table<position_id, step_id> const listed = steps_in_order(p, options.listed);
    table<step_id, position_id> position(p.steps());
    for (position_id at = 0; at != listed.size(); ++at) position[listed[at]] = at;
    for (step_id s : listed)
        for (touch t : p.touches(s)) {
            step_id const maker = def_of[t.value];
            if (t.kind == touch::access::write && maker != no_step && position[s] < position[maker])
                return used_undefined(t.value, s, t.value);
        }
    return std::nullopt;
}

SUBLET_DECL std::vector<handoff> order_of_writes(snapshot const& p, dependence_options const& options)
{
    ordered_bytes const ordered = find_ordered_bytes(p, {.role = options.role,
                                                         .alias_of = options.alias_of,
                                                         .view_offset = options.view_offset,
                                                         .bytes = options.bytes});
    return ordered.segments == 0 ? std::vector<handoff>{} : storage_order(p, ordered, options.listed);
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL dependence_graph dependences(snapshot const& p, dependence_options const& given)
{
    detail::expect_steps_run_once(p);
    auto const asked = detail::with_said_views(
        p, detail::asked_options(given, p.values(), &dependence_options::role, &dependence_options::alias_of,
                                 &dependence_options::view_offset, &dependence_options::bytes));
    dependence_options const& options = *asked;
    dependence_graph g;
    table<value_id, step_id> def_of;
    if (!g.refute(detail::unique_defs(p, options.role.tabulate(p.values(), "role"), def_of))) return g;
    table<value_id, value_id> root; // filled if some step makes a view
    if (p.has_views()) {
        if (!g.refute(detail::find_roots(p, options, def_of, root))) return g;
    }
    std::vector<handoff> const storage =
        p.has_writes() ? detail::order_of_writes(p, options) : std::vector<handoff>{};
    std::vector<handoff> const makers = p.has_writes() && p.has_views()
                                            ? detail::makers_of_empty_views(p, options, def_of, root)
                                            : std::vector<handoff>{};
    for (handoff h : options.handoffs)
        SUBLET_EXPECTS(h.from < p.steps() && h.to < p.steps(),
                       "sublet: a hand-off leads from step % to step %, but there are only % steps", h.from,
                       h.to, p.steps());

    using point = detail::dependence_points::point;
    detail::dependence_points const points(p);
    auto const after = csr_rows<point, point>::gathered(points.size(), [&](auto add) {
        for (node_id n = 0; n != p.nodes(); ++n) {
            step_range const range = p.steps_of(n);
            for (step_id s = range.first; s != range.last; ++s) {
                point const begin = points.first(s), end = points.last(s);
                if (begin != end) add(begin, end);
                if (s != range.first) add(points.last(s - 1), begin);
                for (touch t : p.touches(s)) {
                    step_id const needed_from = t.views_what_is_there() ? def_of[root[t.value]]
                                                : t.defines()                 ? no_step
                                                                              : def_of[t.value];
                    if (needed_from != no_step && needed_from != s) add(points.last(needed_from), begin);
                }
            }
            for (node_id to : p.successors(n))
                add(points.last(range.last - 1), points.first(p.steps_of(to).first));
        }
        for (edge_use u : p.edge_uses()) {
            step_id const reader = p.steps_of(u.pred).last - 1, writer = def_of[u.value];
            if (writer != no_step && writer != reader) add(points.last(writer), points.last(reader));
        }
        for (auto const* list : {&storage, &makers, &options.handoffs})
            for (handoff h : *list) add(points.last(h.from), points.first(h.to));
    });
    std::vector<std::uint32_t> in_degree(points.size(), 0);
    for (point x = 0; x != points.size(); ++x)
        for (point y : after[x]) ++in_degree[y];
    table<position_id, point> const order = detail::topological_points(after, in_degree, options.order);
    if (order.size() != points.size()) {
        if (!g.refute(detail::change_before_def(p, options, def_of))) return g;
        std::vector<step_id> steps;
        for (point x : detail::residual_cycle(after, in_degree)) {
            step_id const s = points.owner_of(x);
            if (steps.empty() || (steps.back() != s && steps.front() != s)) steps.push_back(s);
        }
        g.refute(detail::cycle_of(std::move(steps)));
        return g;
    }

    std::vector<std::uint32_t>& position_of = in_degree; // by point
    for (position_id at = 0; at != order.size(); ++at) position_of[order[at]] = at;
    auto const before = csr_rows<position_id, position_id>::gathered(points.size(), [&](auto add) {
        for (position_id at = 0; at != order.size(); ++at)
            for (point y : after[order[at]]) add(position_of[y], at);
    });
    g.before.reserve(before.rows(), before.items());
    for (position_id at = 0; at != before.rows(); ++at) {
        position_id last = no_position;
        for (position_id x : before[at])
            if (x != last) g.before.append(last = x);
        g.before.close_row();
    }
    g.after = g.before.transposed(points.size());
    g.step_at.reserve(order.size());
    for (point x : order) g.step_at.push_back(points.owner_of(x));
    g.position_of.reserve(p.steps());
    for (step_id s = 0; s != p.steps(); ++s) g.position_of.push_back(position_of[points.last(s)]);
    return g;
}

} // namespace sublet

// --- concurrent lifetimes --------------------------------------------------------------------------------

namespace sublet::detail {

/// Appends the members of the row with no edge to another touch, that is, directly before (or after) it.
SUBLET_DECL void append_extremal(csr_rows<buffer_id, position_id>& to, std::vector<position_id> const& row,
                                 table<position_id, unsigned char> const& is_touch,
                                 csr_rows<position_id, position_id> const& edges)
{
    // Suffices for most steps; more edges of a step with a thousand successors are not worth the time.
    constexpr std::size_t max_edges = 16;
    for (std::size_t i = 0; i != row.size(); ++i) {
        if (i != 0 && row[i] == row[i - 1]) continue;
        bool is_extremal = true;
        std::size_t edges_examined = 0;
        for (position_id next : edges[row[i]]) {
            if (edges_examined++ == max_edges) break;
            if (is_touch[next]) is_extremal = false;
        }
        if (is_extremal) to.append(row[i]);
    }
}

} // namespace sublet::detail

namespace sublet {

namespace detail {

SUBLET_DECL concurrent_live_ranges concurrent_lifetimes(snapshot const& p, dependence_graph const& g,
                                                        std::size_t buffers,
                                                        table<value_id, buffer_id> const& buffer_of,
                                                        table<value_id, value_role> const& role)
{
    SUBLET_EXPECTS(buffer_of.size() == p.values() && role.size() == p.values(),
                   "sublet: a table needs one entry for each value");
    auto const positions = static_cast<std::uint32_t>(g.positions());
    auto each = [&](bool defs, auto add) { // by ascending position
        for (position_id at = 0; at != positions; ++at) {
            step_id const s = g.step_at[at];
            bool const is_write_position = g.position_of[s] == at;
            for (touch t : p.touches(s)) {
                if ((t.kind == touch::access::use_early) == is_write_position) continue;
                if (buffer_of[t.value] != no_buffer && (!defs || t.defines())) add(buffer_of[t.value], at);
            }
        }
    };
    using positions_of = csr_rows<buffer_id, position_id>;
    auto const defs = positions_of::gathered(buffers, [&](auto add) { each(true, add); });
    auto const touches = positions_of::gathered(buffers, [&](auto add) {
        each(false, add);
        for (edge_use u : p.edge_uses())
            if (buffer_of[u.value] != no_buffer)
                add(buffer_of[u.value], g.position_of[p.steps_of(u.pred).last - 1]);
    });
    table<buffer_id, unsigned char> is_given(buffers), is_kept(buffers);
    for (value_id v = 0; v != p.values(); ++v) {
        if (buffer_of[v] == no_buffer) continue;
        if (sublet::detail::is_given(role[v])) is_given[buffer_of[v]] = 1;
        if (has_role(role[v], value_role::output)) is_kept[buffer_of[v]] = 1;
    }

    concurrent_live_ranges lives;
    lives.positions = positions;
    lives.begins.reserve(buffers, buffers);
    lives.ends.reserve(buffers, buffers);
    table<position_id, unsigned char> is_touch(positions);
    std::vector<position_id> row;
    for (buffer_id b = 0; b != buffers; ++b) {
        for (position_id at : touches[b]) is_touch[at] = 1;
        if (!is_given[b]) {
            row.assign(defs[b].begin(), defs[b].end());
            detail::append_extremal(lives.begins, row, is_touch, g.before);
        }
        lives.begins.close_row();
        if (is_kept[b]) {
            lives.ends.append(positions);
        } else {
            row.assign(touches[b].begin(), touches[b].end());
            if (!p.edge_uses().empty()) std::sort(row.begin(), row.end()); // edge uses come last
            detail::append_extremal(lives.ends, row, is_touch, g.after);
        }
        lives.ends.close_row();
        for (position_id at : touches[b]) is_touch[at] = 0;
    }
    return lives;
}

} // namespace detail

} // namespace sublet

// --- unreached positions ---------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL void intersect_from(std::vector<live_range>& ranges, position_id from,
                                std::span<live_range const> others, std::vector<live_range>& old)
{
    std::size_t to = partition_point(ranges.size(), [&](std::size_t i) { return from < ranges[i].last; });
    if (to == ranges.size()) return;
    old.assign(ranges.begin() + static_cast<std::ptrdiff_t>(to), ranges.end());
    ranges.resize(to + old.size() + others.size() + 1);
    std::size_t i = 0, j = 0;
    live_range a = old[0], b{0, from};
    if (!others.empty() && others[0].first == from) b.last = others[j++].last;
    while (true) {
        ranges[to] = {larger(a.first, b.first), smaller(a.last, b.last)};
        if (!is_empty(ranges[to])) ++to;
        if (a.last <= b.last) {
            if (++i == old.size()) break;
            a = old[i];
        } else {
            if (j == others.size()) break;
            b = others[j++];
        }
    }
    ranges.resize(to);
}

// --- conflict ranges -------------------------------------------------------------------------------------

SUBLET_DECL void unite(std::span<live_range const> a, std::span<live_range const> b,
                       std::vector<live_range>& to)
{
    to.clear();
    for (std::size_t i = 0, j = 0; i != a.size() || j != b.size();)
        if (j == b.size() || (i != a.size() && a[i].first <= b[j].first)) push_range(to, a[i++]);
        else push_range(to, b[j++]);
}

/// Of each position, and the end: the next position at which a buffer begins, or the number of positions.
SUBLET_DECL table<position_id, position_id> next_begins(concurrent_live_ranges const& lives)
{
    table<position_id, position_id> next(std::size_t{lives.positions} + 1, lives.positions);
    for (buffer_id b = 0; b != lives.buffers(); ++b)
        for (position_id p : lives.begins[b]) next[p] = p;
    for (position_id p = lives.positions; p-- != 0;)
        if (next[p] == lives.positions) next[p] = next[p + 1];
    return next;
}

/// The number of pairs that are forbidden where the sets are not exact.
SUBLET_DECL std::uint64_t count_undecided(concurrent_live_ranges const& lives, buffer_range_lists const& of,
                                          range_sets const& sets, std::size_t first_owner)
{
    table<position_id, std::uint32_t> begun(std::size_t{lives.positions} + 1); // before each position
    for (buffer_id b = 0; b != lives.buffers(); ++b)
        for (position_id p : lives.begins[b]) ++begun[p + std::size_t{1}];
    for (std::size_t p = 0; p != lives.positions; ++p) begun[p + 1] += begun[p];
    std::uint64_t count = 0;
    for (buffer_id b = 0; b != lives.buffers(); ++b) {
        position_id const known = sets.exact_until(first_owner + b);
        for (live_range r : of[b])
            if (known < r.last) count += begun[r.last] - begun[larger(r.first, known)];
    }
    return count;
}

} // namespace sublet::detail

namespace sublet {

namespace detail {

SUBLET_DECL conflict_ranges find_conflict_ranges(dependence_graph const& g,
                                                 concurrent_live_ranges const& lives,
                                                 std::uint64_t max_ranges)
{
    auto const positions = lives.positions;
    std::size_t const buffers = lives.buffers(), owners = positions + buffers;
    SUBLET_EXPECTS(g && g.positions() == positions, "sublet: these are live ranges of another graph");
    SUBLET_EXPECTS(owners < no_position, "sublet: more positions and buffers than 32-bit ids");

    // Ranges begin and end where a buffer begins, so that ranges without a begin between them are merged.
    table<position_id, position_id> const next = detail::next_begins(lives);
    csr_rows<position_id, buffer_id> const ends_at = lives.ends.transposed(std::size_t{positions} + 1);
    std::uint64_t const default_limit = detail::larger(std::uint64_t{1} << 24, 8 * std::uint64_t{owners});
    detail::range_sets sets(owners, max_ranges == 0 ? default_limit : max_ranges);
    std::vector<live_range> scratch;
    auto end_at = [&](position_id t, std::vector<live_range> const& unreached, position_id known) {
        for (buffer_id b : ends_at[t]) {
            std::size_t const owner = positions + std::size_t{b};
            position_id until = known;
            if (t == lives.ends[b].back()) { // its last end, visited first
                scratch.clear();
                detail::push_range(scratch, {lives.first(b), t == positions ? t : next[t + 1]});
                detail::push_ranges(scratch, unreached);
            } else {
                detail::unite(sets[owner], unreached, scratch);
                until = detail::smaller(known, sets.exact_until(owner));
            }
            sets.assign(owner, scratch, until);
        }
        return true;
    };
    end_at(positions, {}, no_position);
    detail::find_unreached(g, next, sets, false, end_at);

    std::vector<std::uint32_t> row{0};
    std::vector<live_range> ranges;
    std::size_t all = 0;
    for (std::size_t b = 0; b != buffers; ++b)
        all += detail::larger(sets[positions + b].size(), std::size_t{1});
    SUBLET_EXPECTS(all < no_position, "sublet: more ranges than 32-bit ids");
    row.reserve(buffers + 1);
    ranges.reserve(all);
    for (buffer_id b = 0; b != buffers; ++b) {
        auto const buffer_ranges = sets[positions + std::size_t{b}];
        if (buffer_ranges.empty() && positions != 0) // it has no touches
            ranges.push_back({lives.first(b), lives.first(b) + 1});
        for (live_range r : buffer_ranges) ranges.push_back(r);
        row.push_back(static_cast<std::uint32_t>(ranges.size()));
    }
    conflict_ranges result;
    result.of = detail::buffer_range_lists(live_range_lists::source::from_liveness, positions, std::move(row),
                                           std::move(ranges));
    if (sets.is_coarsened()) result.undecided = detail::count_undecided(lives, result.of, sets, positions);
    return result;
}

SUBLET_DECL bool reusable_by(conflict_ranges const& conflicts, concurrent_live_ranges const& lives,
                             buffer_id u, buffer_id v)
{
    if (lives.begins[v].empty()) return false;
    if (lives.ends[u].empty()) return true;
    auto const buffer_ranges = conflicts.of[u];
    for (position_id begin : lives.begins[v]) {
        std::size_t const at = detail::partition_point(
            buffer_ranges.size(), [&](std::size_t i) { return begin < buffer_ranges[i].last; });
        if (begin < buffer_ranges.front().first ||
            (at != buffer_ranges.size() && buffer_ranges[at].first <= begin))
            return false;
    }
    return true;
}

} // namespace detail

} // namespace sublet
