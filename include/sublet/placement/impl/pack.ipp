// SPDX-License-Identifier: BSL-1.0
#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/affine_placement.hpp>
#include <sublet/placement/detail/best_packing.hpp>
#include <sublet/placement/detail/compose.hpp>
#include <sublet/placement/detail/improve.hpp>
#include <sublet/placement/detail/infeasible_core.hpp>
#include <sublet/placement/detail/pack.hpp>
#include <sublet/placement/detail/portfolio.hpp>

#include <algorithm>
#include <bit>
#include <optional>
#include <span>

// --- pack ------------------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL pool_members members_by_pool(placement_problem const& problem)
{
    pool_members result;
    result.first.assign(pool_count(problem) + 1, 0);
    for (placement_problem::buffer const& b : problem.buffers) ++result.first[b.pool + 1];
    for (std::size_t p = 1; p < result.first.size(); ++p) result.first[p] += result.first[p - 1];
    table<pool_id, std::uint32_t> next(result.first);
    result.buffers.resize(problem.buffers.size());
    for (buffer_id b = 0; b != problem.buffers.size(); ++b)
        result.buffers[next[problem.buffers[b].pool]++] = b;
    return result;
}

SUBLET_DECL std::vector<buffer_id> buffers_in(placement_shapes const& all,
                                              std::vector<std::uint32_t> const& some)
{
    std::vector<unsigned char> is_in(all.size(), 0);
    for (std::uint32_t s : some) is_in[s] = 1;
    std::vector<buffer_id> buffers;
    for (shape_part const& p : all.parts)
        if (is_in[p.shape] != 0) buffers.push_back(p.buffer);
    return buffers;
}

SUBLET_DECL placement::proof contradiction(placement_problem const& problem, placement_shapes const& shapes)
{
    switch (shapes.fault) {
    case shape_fault::pin_misaligned:
        return {placement::proof::reason::pin_misaligned, no_limit, 0, {shapes.buffer}};
    case shape_fault::parts_clash:
        return {placement::proof::reason::parts_clash, no_limit, 0, {shapes.buffer, shapes.other}};
    case shape_fault::none: break;
    }
    auto const clash = clashing_pins(shapes);
    if (!clash.conflict) return {};
    auto pinned = [&](std::uint32_t s) {
        return best_part(shapes, s, [&](shape_part const& p) {
            return byte_count{problem.buffers[p.buffer].pinned != no_offset};
        });
    };
    return {placement::proof::reason::pins_clash, no_limit, 0, {pinned(clash.one), pinned(clash.other)}};
}

SUBLET_DECL placement::proof proof_of(placement_problem const& problem, placement_shapes const& shapes,
                                      placement_bound const& bound)
{
    placement::proof proof{bound.kind, bound.bytes};
    if (bound.kind == placement::proof::reason::live_bytes)
        proof.position = shapes.positions[bound.peak_position];
    if (bound.kind == placement::proof::reason::top_of_pin)
        proof.buffers = {best_part(shapes, bound.shape, [&](shape_part const& p) {
            return p.distance + problem.buffers[p.buffer].size;
        })};
    if (bound.kind == placement::proof::reason::exhausted) proof.buffers = buffers_in(shapes, bound.stacked);
    return proof;
}

SUBLET_DECL bool is_searched(placement_shapes const& shapes, std::size_t most)
{
    return shapes.size() <= most &&
           (shapes.size() == 0 || shapes.pieces.size() <= max_compared_pieces / shapes.size());
}

SUBLET_DECL placement::pool_result stack_members(placement_problem const& problem,
                                                 std::vector<buffer_id> const& members, pool_limits limits,
                                                 placement::objective objective,
                                                 table<buffer_id, byte_count>& offset)
{
    SUBLET_EXPECTS(limits.alignment >= 1, "sublet: the alignment of a pool is 0, but has to be at least 1");
    table<buffer_id, unsigned char> is_part;  // if any are colocated
    table<buffer_id, std::uint32_t> unneeded; // if there are gaps: positions without bytes
    if (!problem.colocated.empty()) is_part.assign(problem.buffers.size(), 0);
    for (placement_problem::colocation const& c : problem.colocated)
        for (buffer_id b : {c.buffer, c.anchor})
            if (b < is_part.size()) is_part[b] = 1;
    if (!problem.gaps.empty()) unneeded.assign(problem.buffers.size(), 0);
    for (placement_problem::gap const& g : problem.gaps) {
        if (g.buffer >= unneeded.size() || g.begin != g.end) continue;
        live_range const life = problem.buffers[g.buffer].life;
        live_range const when{larger(g.when.first, life.first), smaller(g.when.last, life.last)};
        if (!is_empty(when)) unneeded[g.buffer] += length(when);
    }
    bool const in_blocks = limits.largest_block != no_limit;
    placement::pool_result out;
    placement::proof bound;
    std::vector<buffer_id> fixed; // these depend on others
    byte_count unit = 1;
    for (buffer_id b : members) {
        placement_problem::buffer const& buffer = problem.buffers[b];
        expect_placeable(buffer, b);
        if (buffer.pinned != no_offset || (!is_part.empty() && is_part[b] != 0)) fixed.push_back(b);
        if (!in_blocks) continue;
        unit = combine_alignment(unit, combine_alignment(buffer.alignment, limits.alignment));
        if (!fixed.empty() || buffer.size > limits.largest_block) {
            out.height = no_limit;
            return out;
        }
    }
    if (!fixed.empty()) {
        placement_shapes const shapes = shapes_of(problem, fixed, limits);
        out.proof = contradiction(problem, shapes);
        if (out.proof.bytes == no_limit) {
            out.status = placement::outcome::infeasible;
            return out;
        }
        placement_bound tops;
        raise_to_tops(shapes, tops);
        bound = proof_of(problem, shapes, tops);
        packing const stacked = stack_all(shapes);
        out.height = stacked.height;
        if (out.height == no_limit) return out;
        for (shape_part const& p : shapes.parts) offset[p.buffer] = stacked.origin[p.shape] + p.distance;
    }
    out.proof = std::move(bound);
    byte_count begin = 0; // of the last block
    for (std::size_t i = 0, next = 0; i != members.size(); ++i) {
        buffer_id const b = members[i];
        placement_problem::buffer const& buffer = problem.buffers[b];
        if (next != fixed.size() && fixed[next] == b) {
            ++next;
            continue;
        }
        if (buffer.size == 0 || is_empty(buffer.life)) continue;
        if (!unneeded.empty() && unneeded[b] >= length(buffer.life)) continue;
        byte_count at = align_up(out.height, combine_alignment(buffer.alignment, limits.alignment));
        if (in_blocks && (at == no_offset || at - begin > limits.largest_block - buffer.size)) {
            out.blocks.push_back({0, begin, out.height - begin});
            begin = at = align_up(out.height, unit);
        }
        if (at == no_offset || buffer.size >= no_limit - 1 - at) {
            for (buffer_id placed : members) offset[placed] = no_offset;
            out = {};
            out.height = no_limit;
            return out;
        }
        offset[b] = at;
        out.height = at + buffer.size;
        if (buffer.size > out.proof.bytes)
            out.proof = {placement::proof::reason::top_of_pin, buffer.size, 0, {b}};
    }
    if (in_blocks && out.height != 0) out.blocks.push_back({0, begin, out.height - begin});
    out.lower_bound = out.proof.bytes;
    out.peak_position = 0;
    out.packings = 1;
    out.status = status_of(out.height, out.lower_bound, limits.capacity, objective);
    return out;
}

/// Above so many shapes the visit budget grows with their number.
inline constexpr std::size_t visits_scale_above = 200'000;

/// Nodes of the first, short search, or 64 a shape if that is less: easy problems need no more.
inline constexpr std::size_t short_search_nodes = 16'000;

/// Exact search for the shapes of a pool with `nodes` nodes: may lower `best` and raise the bound in `out`.
/// No stacking is lower than `least_stacking`, which it may raise, too.
SUBLET_DECL packing search_exactly(placement_shapes const& shapes, byte_count capacity,
                                   pack_options const& options, std::uint64_t nodes, packing best,
                                   search_control& control, placement::pool_result& out,
                                   byte_count& least_stacking)
{
    auto raise_bound = [&](byte_count least, std::vector<std::uint32_t> const& core) {
        out.lower_bound = least;
        out.proof = {placement::proof::reason::exhausted, least, 0, buffers_in(shapes, core)};
    };
    if (best.height > capacity) {
        pool_control for_pool(control, best.height, out);
        search_result found = decide(shapes, capacity, {.nodes = nodes, .seed = options.seed}, for_pool);
        out.nodes += found.nodes;
        if (found.outcome == search_outcome::exhausted) {
            least_stacking = capacity + 1;
            if (can_only_be_stacked(shapes, found.core)) raise_bound(capacity + 1, found.core);
        }
        if (found.outcome != search_outcome::found) return best;
        best.origin = std::move(found.origin);
        best.height = found.height;
    }
    if (options.objective == placement::objective::fit || best.height <= out.lower_bound) return best;
    minimize_result found =
        minimize(shapes, out.lower_bound, std::move(best), {.nodes = nodes, .seed = options.seed}, control);
    out.nodes += found.nodes;
    if (found.bound > out.lower_bound) raise_bound(found.bound, found.core);
    least_stacking = larger(least_stacking, found.least_stacking);
    return std::move(found.best);
}

/// The shapes in the order of their first buffers, which is the caller's order.
SUBLET_DECL std::vector<std::uint32_t> order_of_caller(placement_shapes const& shapes, step_poll const& poll)
{
    std::vector<buffer_id> first(shapes.size(), no_buffer); // by shape
    table<buffer_id, std::uint32_t> shape_of;               // the shape that it is the first of
    for (shape_part const& p : shapes.parts) first[p.shape] = smaller(first[p.shape], p.buffer);
    for (std::uint32_t s = 0; s != first.size() && !poll.stops(2); ++s) {
        if (first[s] == no_buffer) continue;
        if (shape_of.size() <= first[s]) shape_of.resize(std::size_t{first[s]} + 1, no_shape);
        shape_of[first[s]] = s;
    }
    std::vector<std::uint32_t> order;
    for (std::uint32_t s : shape_of)
        if (s != no_shape) order.push_back(s);
    return order;
}

/// Composition costs so many visits a shape.
inline constexpr std::uint64_t compose_visits = 1000;

/// Shapes that were cut from a rectangle, put together again where they fit without a gap.
class cut_shapes {
public:
    packing best; ///< of the shapes, as they were

    /// First fit in the caller's order and in its reverse, then composition, and a search of what is left if
    /// these are less than half of the shapes. Orders end at `ceiling` or below. The result is `best`, never
    /// higher than `start`.
    cut_shapes(placement_shapes const& shapes, placement_bound const& goal, byte_count ceiling,
               std::uint64_t visits, std::uint64_t nodes, packing start, search_control& control,
               placement::pool_result& out)
        : best(std::move(start))
    {
        step_poll const poll(control);
        std::vector<std::uint32_t> order = order_of_caller(shapes, poll);
        for (std::size_t i = 0; i != 2 && order.size() == shapes.size() && best.height > goal.bytes; ++i) {
            packing found = fit(
                shapes, order, fit_rule::first_fit,
                {.ceiling = ceiling, .known_height = goal.bytes, .visits = visits / 8, .stop = {&control}});
            ++out.packings;
            if (found.height < best.height) {
                best = std::move(found);
                ceiling = best.height - 1;
            }
            std::reverse(order.begin(), order.end());
        }
        if (best.height <= goal.bytes) return;
        composed_ = compose(shapes, smaller(visits, compose_visits * shapes.size()), control);
        if (composed_.shapes.size() > shapes.size() / 2 || control.stop(no_limit, 0, 0)) return;
        bound_ = lower_bound(composed_.shapes);
        bound_.bytes = larger(bound_.bytes, goal.bytes);
        placed_ = first_packing(composed_.shapes, bound_, control);
        if (placed_.height > bound_.bytes)
            placed_ =
                best_packing(composed_.shapes, bound_, visits / 4, std::move(placed_), control, out.packings);
        keep_lower(shapes);
        search(shapes, nodes, 0, control, out);
    }

    [[nodiscard]] bool may_be_searched() const
    {
        return placed_.height > bound_.bytes && !placed_.origin.empty() && is_searched(composed_.shapes);
    }
    void search(placement_shapes const& shapes, std::uint64_t nodes, std::uint64_t seed,
                search_control& control, placement::pool_result& out)
    {
        if (!may_be_searched() || nodes == 0) return;
        minimize_result lowest = minimize(composed_.shapes, bound_.bytes, std::move(placed_),
                                          {.nodes = nodes, .seed = seed}, control);
        out.nodes += lowest.nodes;
        bound_.bytes = larger(bound_.bytes, lowest.bound);
        placed_ = std::move(lowest.best);
        keep_lower(shapes);
    }

private:
    void keep_lower(placement_shapes const& shapes)
    {
        if (placed_.height >= best.height) return;
        best.height = placed_.height;
        best.origin = composed_.origins(placed_.origin);
        best.origin.resize(shapes.size());
    }

    composed_shapes composed_;
    placement_bound bound_; // of the composed shapes
    packing placed_;        // of the composed shapes
};

/// Ranges of positions in which a part of the shapes is searched exactly; the others keep their origins.
///
///     peak   ─ ─ ─ ─ +--x--+ ─ ─         the window ends where few shapes cross; those that do are pinned,
///        |---+  +----+--+--+  +---       and only the part of them in the window counts
///            |  |       |     |
///       -----+--+-------+-----+---
///               a             b
class search_windows {
public:
    search_windows(placement_shapes const& all, step_poll const& poll)
        : all_(all), poll_(poll), begun_(all.positions.size() + 2), ended_(begun_)
    {
        for (placement_shape const& s : all.shapes) {
            if (poll.stops(2)) return;
            ++begun_[s.life.first + 1];
            ++ended_[s.life.last];
        }
        for (std::size_t p = 1; p != begun_.size(); ++p) {
            begun_[p] += begun_[p - 1];
            ended_[p] += ended_[p - 1];
        }
    }

    /// Around a live range, with up to `most` shapes; empty if there are more in it.
    live_range around(live_range life, std::uint32_t most) const
    {
        auto spanning = [&](position_id at) { return begun_[at] - ended_[at]; };
        live_range best = life;
        std::uint32_t const own = overlapping(life);
        if (own > most) return {};
        for (position_id at = life.first; overlapping({at, life.last}) <= own + (most - own) / 2; --at) {
            if (spanning(at) < spanning(best.first)) best.first = at;
            if (at == 0) break;
        }
        for (position_id at = life.last; at != all_.positions.size(); ++at) {
            if (overlapping({best.first, at}) > most) break;
            if (spanning(at) < spanning(best.last)) best.last = at;
        }
        return best;
    }

    /// The shapes in a window, as a problem of its own; `ids` gets their numbers.
    placement_shapes inside(live_range window, std::vector<byte_count> const& origin,
                            std::vector<std::uint32_t>& ids) const
    {
        std::vector<sort_key> by_begin;
        for (std::uint32_t s = 0; s != begun_[window.last] && !poll_.stops(2); ++s) {
            live_range const now = within(s, window);
            if (now.first < now.last) by_begin.push_back({now.first, 0, s});
        }
        sort_by_key(by_begin);
        ids.clear();
        placement_shapes own;
        for (sort_key const& k : by_begin) {
            placement_shape shape = all_.shapes[k.id];
            if (shape.life.first < window.first || window.last < shape.life.last) shape.pinned = origin[k.id];
            shape.life = shifted(within(k.id, window), window);
            if (poll_.stops(all_.pieces_of(k.id).size())) break;
            for (shape_piece const& p : all_.pieces_of(k.id))
                if (live_range const when = common(p.when, window); when.first < when.last)
                    own.pieces.push_back({shifted(when, window), p.begin, p.end});
            own.shapes.push_back(shape);
            own.first_piece.push_back(static_cast<std::uint32_t>(own.pieces.size()));
            ids.push_back(k.id);
        }
        auto const first = all_.positions.begin() + window.first;
        own.positions.assign(first, first + (window.last - window.first) + 1);
        return own;
    }

private:
    static live_range common(live_range a, live_range b)
    {
        return {larger(a.first, b.first), smaller(a.last, b.last)};
    }
    static live_range shifted(live_range r, live_range window)
    {
        return {r.first - window.first, r.last - window.first};
    }
    std::uint32_t overlapping(live_range r) const { return begun_[r.last] - ended_[r.first]; }
    /// From the first piece of a shape in the window to the last; empty if there is none.
    live_range within(std::uint32_t s, live_range window) const
    {
        live_range found;
        for (shape_piece const& p : all_.pieces_of(s))
            if (live_range const when = common(p.when, window); when.first < when.last)
                found = found.first < found.last ? live_range{found.first, when.last} : when;
        return found;
    }

    placement_shapes const& all_;
    step_poll const& poll_;
    table<position_id, std::uint32_t> begun_, ended_; // shapes that begin below it, or end at or below
};

/// Shapes of the first window around a peak, and nodes of its search for each of them. Both grow if that
/// fails; the number of shapes up to max_searched_shapes.
inline constexpr std::uint32_t first_window_shapes = 250;
inline constexpr std::uint64_t first_window_nodes = 16;

/// Reports the height of all shapes, not that of the part that is searched.
class part_control final : public search_control {
public:
    /// Requires: both outlive this.
    part_control(search_control& control, byte_count const& height) : control_(control), height_(height) {}
    [[nodiscard]] bool stop(byte_count, byte_count bound, std::uint64_t nodes) override
    {
        return control_.stop(height_, bound, nodes);
    }
    void run(std::size_t tasks, task_ref task) override { control_.run(tasks, task); }
    [[nodiscard]] std::uint64_t steps_per_question() const override { return control_.steps_per_question(); }

private:
    search_control& control_;
    byte_count const& height_;
};

/// Lowers peaks by exact search of windows around them, for any number of shapes, with `nodes` nodes. One
/// window counts as a node for each of its shapes, and as one for a thousand others.
SUBLET_DECL packing repair_windows(placement_shapes const& shapes, placement_bound const& goal,
                                   std::uint64_t nodes, std::uint64_t seed, packing best,
                                   search_control& control, placement::pool_result& out)
{
    step_poll const poll(control);
    search_windows const windows(shapes, poll);
    part_control of_window(control, best.height);
    std::vector<std::uint32_t> ids;
    std::uint32_t most = first_window_shapes;
    std::uint64_t nodes_each = first_window_nodes;
    auto top = [&](std::uint32_t s) { return best.origin[s] + shapes.shapes[s].size; };
    for (std::uint64_t spent = 0;
         best.height > goal.bytes && spent < nodes && !control.stop(best.height, goal.bytes, 0);) {
        std::uint32_t peak = 0;
        while (top(peak) != best.height) ++peak;
        live_range const window = windows.around(shapes.shapes[peak].life, most);
        bool is_lower = false;
        spent += 1 + shapes.size() / 1000;
        if (window.first < window.last) {
            placement_shapes const own = windows.inside(window, best.origin, ids);
            if (poll.has_stopped()) break;
            byte_count const least = larger(goal.bytes, lower_bound(own).bytes);
            packing now;
            now.height = best.height;
            for (std::uint32_t s : ids) now.origin.push_back(best.origin[s]);
            spent += own.size();
            if (least < best.height && is_searched(own)) {
                search_options const options{
                    .nodes = smaller(nodes_each * own.size(), nodes - smaller(spent, nodes)), .seed = seed};
                minimize_result const found = minimize(own, least, std::move(now), options, of_window);
                out.nodes += found.nodes;
                spent += found.nodes;
                is_lower = found.best.height < best.height;
                for (std::size_t i = 0; i != ids.size() && is_lower; ++i)
                    best.origin[ids[i]] = found.best.origin[i];
            }
        }
        if (is_lower) {
            best.height = 0;
            for (std::uint32_t s = 0; s != shapes.size(); ++s) best.height = larger(best.height, top(s));
            most = first_window_shapes;
        } else if (most < max_searched_shapes) {
            most *= 2;
        } else {
            if (nodes_each >= 1'000'000) break;
            most = first_window_shapes;
            nodes_each *= 4;
        }
    }
    return best;
}

SUBLET_DECL packing pack_shapes(placement_shapes const& shapes, placement_bound const& bound,
                                byte_count capacity, pack_options const& options, search_control& control,
                                placement::pool_result& out)
{
    pool_control until_first(control, no_limit, out);
    packing best = first_packing(shapes, bound, until_first);
    std::optional<cut_shapes> cuts; // the search of few shapes goes on without what it finds
    ++out.packings;
    placement_bound goal = bound; // a height that ends the search
    auto lowest = [&] { return cuts ? smaller(best.height, cuts->best.height) : best.height; };
    auto is_done = [&] {
        if (out.lower_bound > capacity) goal.bytes = no_limit;
        else if (options.objective == placement::objective::fit) goal.bytes = capacity;
        else goal.bytes = out.lower_bound;
        // Called even if the goal is reached: a progress listener may be attached.
        return control.stop(lowest(), out.lower_bound, out.nodes) || lowest() <= goal.bytes;
    };
    std::size_t const n = shapes.size();
    // One more order pays for any number of shapes; it takes about a hundred visits for each.
    std::uint64_t const visits = n <= visits_scale_above || options.visits > no_limit / n
                                     ? options.visits
                                     : options.visits / visits_scale_above * n;
    bool const is_small = is_searched(shapes);
    byte_count least_stacking = 0;
    auto search = [&](std::uint64_t nodes) {
        if (nodes == 0) return; // what the search needs is quadratic in the shapes at worst
        best =
            search_exactly(shapes, capacity, options, nodes, std::move(best), control, out, least_stacking);
    };
    auto raise_by_stacks = [&] {
        placement_bound raised = bound;
        raised.bytes = out.lower_bound;
        std::uint64_t const work = smaller(smaller(options.nodes, max_stack_work) * 64, max_stack_work);
        pool_control for_pool(control, best.height, out);
        if (!detail::raise_by_stacks(shapes, work, raised, step_poll(for_pool))) return;
        out.lower_bound = raised.bytes;
        out.proof = {placement::proof::reason::exhausted, raised.bytes, 0,
                     buffers_in(shapes, raised.stacked)};
        least_stacking = larger(least_stacking, raised.bytes);
    };
    if (is_small && !is_done())
        search(smaller(options.nodes, byte_count{smaller(64 * n, short_search_nodes)}));
    if (!is_done() && options.nodes != 0) raise_by_stacks();
    if (!is_done() && visits != 0) {
        pool_control for_pool(control, best.height, out);
        best = best_packing(shapes, goal, visits, std::move(best), for_pool, out.packings);
    }
    if (!is_done() && visits != 0) {
        pool_control for_pool(control, best.height, out);
        byte_count const ceiling = is_small ? goal.bytes : best.height - 1;
        cuts.emplace(shapes, goal, ceiling, visits, smaller(options.nodes, pack_options{}.nodes), best,
                     for_pool, out);
        if (!is_small) best = cuts->best;
    }
    auto search_cuts = [&](std::uint64_t nodes, unsigned round) {
        if (!cuts || !cuts->may_be_searched() || is_done()) return;
        pool_control for_pool(control, lowest(), out);
        cuts->search(shapes, nodes, options.seed + round, for_pool, out);
        if (!is_small && cuts->best.height < best.height) best = cuts->best;
    };
    // Many shapes: ejection, windows, and at last the whole in turn, with budgets that double; few are
    // searched as a whole.
    std::uint64_t visits_left =
        is_small ? smaller(options.improve_visits, pack_options{}.improve_visits) : options.improve_visits;
    std::uint64_t nodes_left = is_small ? 0 : options.nodes;
    for (unsigned round = 0; round != 32 && (visits_left != 0 || nodes_left != 0); ++round) {
        if (!is_done() && visits_left != 0) {
            pool_control for_pool(control, lowest(), out);
            std::uint64_t const now = smaller(visits_left, pack_options{}.improve_visits << round);
            best = improve(shapes, goal, std::move(best), {.visits = now, .seed = options.seed + round},
                           for_pool, out.packings);
            visits_left -= now;
        }
        if (!is_done() && nodes_left != 0) {
            pool_control for_pool(control, lowest(), out);
            std::uint64_t const now = smaller(nodes_left, pack_options{}.nodes << round);
            best = repair_windows(shapes, goal, now, options.seed + round, std::move(best), for_pool, out);
            nodes_left -= now;
            if (round == 0) continue;
            search_cuts(now, round);
            if (is_searched(shapes, 2 * max_searched_shapes) && least_stacking < best.height && !is_done())
                search(now);
        }
        if (is_done()) break;
    }
    // A search begins anew each time: it is not divided if it is the only one.
    for (unsigned round = 0; is_small && out.nodes < options.nodes && least_stacking <= capacity &&
                             least_stacking < lowest() && !is_done();
         ++round) {
        std::uint64_t const left = options.nodes - out.nodes;
        bool const is_only = !cuts || !cuts->may_be_searched() || round == 40;
        std::uint64_t const now = is_only ? left : smaller(left, pack_options{}.nodes << round);
        search(now);
        search_cuts(now, round);
        if (is_only) break;
    }
    return cuts && cuts->best.height < best.height ? std::move(cuts->best) : best;
}

} // namespace sublet::detail

// --- blocks ----------------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL std::uint32_t first_over_block(placement_shapes const& shapes, byte_count largest)
{
    std::uint32_t s = 0;
    for (; s != shapes.size(); ++s) {
        placement_shape const& shape = shapes.shapes[s];
        byte_count const least = shape.pinned != no_offset ? shape.pinned : shape.phase;
        if (shape.size > largest || least > largest - shape.size) break;
    }
    return s;
}

/// Shapes in blocks; origins are from the begin of the block.
struct block_packing {
    std::vector<std::uint32_t> block; ///< by shape
    std::vector<byte_count> origin;   ///< by shape
    std::vector<byte_count> height;   ///< by block

    /// The begin of each block, and the end of the last, if begins are multiples of `unit`.
    std::vector<byte_count> borders(byte_count unit) const
    {
        std::vector<byte_count> at;
        byte_count end = 0;
        for (byte_count h : height) {
            at.push_back(align_up(end, unit));
            SUBLET_EXPECTS(at.back() != no_offset, "sublet: blocks end beyond 64 bits");
            end = checked_add(at.back(), h);
        }
        at.push_back(end);
        return at;
    }
};

/// Of no use once `poll` has stopped.
SUBLET_DECL block_packing fill_blocks(placement_shapes const& all, std::vector<std::uint32_t> const& order,
                                      byte_count largest, bool grows_least, step_poll const& poll)
{
    block_packing result{std::vector<std::uint32_t>(all.size()), std::vector<byte_count>(all.size()), {}};
    std::vector<placed_pieces> placed;
    auto put = [&](std::uint32_t s, std::size_t block, byte_count at) {
        if (block == placed.size()) {
            placed.emplace_back(all);
            result.height.push_back(0);
        }
        placed[block].insert(all, s, at);
        result.block[s] = static_cast<std::uint32_t>(block);
        result.origin[s] = at;
        result.height[block] = larger(result.height[block], at + all.shapes[s].size);
    };
    for (std::uint32_t s : order)
        if (all.shapes[s].pinned != no_offset) put(s, 0, all.shapes[s].pinned);
    for (std::uint32_t s : order) {
        placement_shape const& shape = all.shapes[s];
        if (poll.stops(64)) break;
        if (shape.pinned != no_offset) continue;
        std::size_t block = placed.size();
        byte_count least = no_limit, at = shape.phase;
        for (std::size_t k = 0; k != placed.size() && least != 0; ++k) {
            if (poll.stops(64)) break;
            byte_count const here = placed[k].free_origin(all, s, 0, largest - shape.size);
            if (here == no_offset) continue;
            byte_count const end = here + shape.size;
            byte_count const growth = grows_least && end > result.height[k] ? end - result.height[k] : 0;
            if (growth >= least) continue;
            least = growth;
            block = k;
            at = here;
        }
        put(s, block, at);
    }
    return result;
}

/// The blocks of a placement that is cut at multiples of a distance; what was cut lies in more blocks.
///
///     |  +--+   +--+            border: c and e are cut. Rectangles that are cut by one border are live one
///     |--|c |---|e |------      after the other: they lie at one offset
///     |  +--+   +--+  +--+
///
/// Requires:   each shape fits a block.  O(n)
SUBLET_DECL block_packing cut_into_blocks(placement_shapes const& all, packing const& whole,
                                          byte_count largest, byte_count unit)
{
    block_packing result{std::vector<std::uint32_t>(all.size()), std::vector<byte_count>(all.size()), {0}};
    byte_count const distance = largest / unit * unit;
    std::vector<sort_key> cut; // {border, , shape}; each shape that is no rectangle is by itself
    auto put = [&](std::uint32_t s, std::size_t block, byte_count at) {
        result.height.resize(larger(result.height.size(), block + 1), 0);
        result.block[s] = static_cast<std::uint32_t>(block);
        result.origin[s] = at;
        result.height[block] = larger(result.height[block], at + all.shapes[s].size);
    };
    std::size_t const most_blocks = all.size();
    for (std::uint32_t s = 0; s != all.size(); ++s) {
        byte_count const origin = whole.origin[s], size = all.shapes[s].size;
        byte_count const block = distance == 0 ? 0 : origin / distance, past = origin - block * distance;
        if (size <= largest && origin <= largest - size) put(s, 0, origin);
        else if (block != 0 && block < most_blocks && size <= distance && past <= distance - size)
            put(s, static_cast<std::size_t>(block), past);
        else cut.push_back({all.is_plain(s) && distance != 0 ? block : no_limit, 0, s});
    }
    sort_by_key(cut);
    std::size_t block = result.height.size();
    byte_count begin = 0, end = 0; // of the shapes of a border
    for (std::size_t i = 0; i != cut.size();) {
        std::size_t last = i + 1;
        while (cut[i].key != no_limit && last != cut.size() && cut[last].key == cut[i].key) ++last;
        auto end_from = [&](byte_count from) {
            for (std::size_t k = i; k != last; ++k)
                end = larger(end, align_up(from, all.shapes[cut[k].id]) + all.shapes[cut[k].id].size);
            return end;
        };
        if (end_from(begin) > largest) {
            ++block;
            begin = end = 0;
            end_from(begin);
        }
        for (; i != last; ++i) put(cut[i].id, block, align_up(begin, all.shapes[cut[i].id]));
        begin = end;
    }
    std::vector<std::uint32_t> number; // of the blocks that are not empty
    std::size_t used = 0;
    for (byte_count h : result.height) {
        number.push_back(static_cast<std::uint32_t>(used));
        if (h != 0) result.height[used++] = h;
    }
    result.height.resize(used);
    for (std::uint32_t& block_of : result.block) block_of = number[block_of];
    return result;
}

/// Reports the height and the bound of the pool instead of those of a block.
class block_control final : public search_control {
public:
    block_control(search_control& control, byte_count best, byte_count bound)
        : control_(control), best_(best), bound_(bound)
    {
    }
    [[nodiscard]] bool stop(byte_count, byte_count, std::uint64_t nodes) override
    {
        return control_.stop(best_, bound_, nodes);
    }
    void run(std::size_t tasks, task_ref task) override { control_.run(tasks, task); }
    [[nodiscard]] std::uint64_t steps_per_question() const override { return control_.steps_per_question(); }

private:
    search_control& control_;
    byte_count best_, bound_;
};

/// Some of the shapes, `ids` ascending.
SUBLET_DECL placement_shapes shapes_among(placement_shapes const& all, std::vector<std::uint32_t> const& ids)
{
    placement_shapes some;
    some.positions = all.positions;
    for (std::uint32_t s : ids) {
        some.shapes.push_back(all.shapes[s]);
        for (shape_piece const& p : all.pieces_of(s)) some.pieces.push_back(p);
        some.first_piece.push_back(static_cast<std::uint32_t>(some.pieces.size()));
    }
    return some;
}

/// From the lowest offset, of equal ones the largest first. Once `poll` has stopped, in any order.
SUBLET_DECL std::vector<std::uint32_t>
order_of_offsets(placement_shapes const& shapes, std::vector<byte_count> const& origin, step_poll const& poll)
{
    std::vector<std::uint32_t> order;
    std::vector<byte_count> size, below;
    for (std::uint32_t s = 0; s != shapes.size(); ++s) {
        order.push_back(s);
        size.push_back(shapes.shapes[s].size);
        below.push_back(~origin[s]);
    }
    sort_descending(order, size, poll);
    sort_descending(order, below, poll);
    return order;
}

SUBLET_DECL std::vector<memory_plan::block> split_into_blocks(placement_shapes const& shapes,
                                                              placement_bound const& bound,
                                                              byte_count largest, packing& best,
                                                              search_control& control)
{
    block_control for_block(control, best.height, bound.bytes);
    step_poll const poll(for_block);
    byte_count unit = 1;
    for (placement_shape const& s : shapes.shapes) unit = combine_alignment(unit, s.alignment);
    std::vector<std::vector<std::uint32_t>> orders{order_of_offsets(shapes, best.origin, poll)};
    for (placement_order which : {placement_order::size, placement_order::area, placement_order::load_area,
                                  placement_order::load_death, placement_order::peak_length})
        if (!poll.has_stopped()) orders.push_back(order_by(which, shapes, bound, poll));

    block_packing found;
    auto is_better = [&](block_packing const& next) {
        byte_count const end = next.borders(unit).back(), old = found.borders(unit).back();
        return found.height.empty() || end < old || (end == old && next.height.size() < found.height.size());
    };
    for (std::vector<std::uint32_t> const& order : orders)
        for (bool grows_least : {false, true}) {
            if (poll.has_stopped()) break;
            block_packing next = fill_blocks(shapes, order, largest, grows_least, poll);
            if (!poll.has_stopped() && is_better(next)) found = std::move(next);
        }
    if (found.height.empty()) found = cut_into_blocks(shapes, best, largest, unit);

    std::vector<std::vector<std::uint32_t>> members(found.height.size());
    for (std::uint32_t s = 0; s != shapes.size(); ++s) members[found.block[s]].push_back(s);
    pack_options const small{.visits = 1'000'000, .improve_visits = 1'000'000, .nodes = 10'000};
    for (std::size_t k = 0; k != members.size() && !poll.stops(shapes.positions.size()); ++k) {
        placement_shapes const own = shapes_among(shapes, members[k]);
        placement_bound const least = lower_bound(own, poll);
        if (poll.has_stopped() || found.height[k] <= least.bytes) continue;
        placement::pool_result out;
        out.lower_bound = least.bytes;
        packing const again = pack_shapes(own, least, no_limit, small, for_block, out);
        if (again.height >= found.height[k]) continue;
        found.height[k] = again.height;
        for (std::size_t i = 0; i != members[k].size(); ++i) found.origin[members[k][i]] = again.origin[i];
    }

    std::vector<byte_count> const borders = found.borders(unit);
    std::vector<memory_plan::block> blocks;
    for (std::size_t k = 0; k != found.height.size(); ++k) blocks.push_back({0, borders[k], found.height[k]});
    for (std::uint32_t s = 0; s != shapes.size(); ++s)
        best.origin[s] = borders[found.block[s]] + found.origin[s];
    best.height = borders.back();
    return blocks;
}

} // namespace sublet::detail

// --- clocks ----------------------------------------------------------------------------------------------

namespace sublet::detail {

class clock_rows {
public:
    explicit clock_rows(placement_problem const& problem)
        : threads(problem.clocks.threads), begin_(problem.clocks.begin), end_(problem.clocks.end)
    {
        std::size_t const counters = problem.buffers.size() * threads;
        SUBLET_EXPECTS(begin_.size() == counters && end_.size() == counters,
                       "sublet: clocks need one begin and one end for each buffer and thread");
        for (std::size_t i = 0; i != counters; ++i)
            SUBLET_EXPECTS(begin_[i] <= end_[i], "sublet: a clock ends before it begins");
        SUBLET_EXPECTS(problem.gaps.empty() && problem.colocated.empty(),
                       "sublet: buffers with clocks have no gaps and no colocations");
    }

    std::span<std::uint32_t const> begin(buffer_id b) const { return row(begin_, b); }
    std::span<std::uint32_t const> end(buffer_id b) const { return row(end_, b); }
    /// Whether no counter of `low` is above that of `high`.
    bool is_below(std::span<std::uint32_t const> low, std::span<std::uint32_t const> high) const
    {
        for (std::size_t t = 0; t != threads; ++t)
            if (low[t] > high[t]) return false;
        return true;
    }
    /// v may take over the bytes of u.
    bool precedes(buffer_id u, buffer_id v) const { return is_below(end(u), begin(v)); }

    std::size_t const threads;

private:
    std::span<std::uint32_t const> row(std::vector<std::uint32_t> const& counters, buffer_id b) const
    {
        return {counters.data() + b * threads, threads};
    }
    std::vector<std::uint32_t> const& begin_;
    std::vector<std::uint32_t> const& end_;
};

/// The buffers that need bytes, each after all buffers with bytes that it may take over; those of equal
/// begins are adjacent.
SUBLET_DECL std::vector<buffer_id> order_by_begins(placement_problem const& problem, clock_rows const& clocks)
{
    std::vector<buffer_id> order;
    table<buffer_id, std::uint64_t> sum(problem.buffers.size(), 0);
    for (buffer_id b = 0; b != problem.buffers.size(); ++b) {
        if (problem.buffers[b].size == 0 || clocks.precedes(b, b)) continue;
        for (std::uint32_t counter : clocks.begin(b)) sum[b] += counter;
        order.push_back(b);
    }
    sort_by(order, [&](buffer_id a, buffer_id b) {
        if (sum[a] != sum[b]) return sum[a] < sum[b];
        auto const x = clocks.begin(a), y = clocks.begin(b);
        if (!clocks.is_below(x, y))
            return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
        return a < b; // equal: their sums are
    });
    return order;
}

/// The heaviest set of buffers of which none may take over the bytes of another: their weight less the most
/// bytes that can be taken over. Nodes of the flow are the ends 0 .. n - 1, the begins n .. 2 n - 1, a source
/// and a sink.
///
/// Source: Dinitz, "Algorithm for solution of a problem of maximum flow in networks with power estimation",
/// Soviet Mathematics Doklady 11, 1970.
class clock_antichain {
public:
    /// `order` is a part of order_by_begins().
    clock_antichain(placement_problem const& problem, clock_rows const& clocks,
                    std::vector<buffer_id> const& order)
        : order_(order), n_(static_cast<std::uint32_t>(order.size()))
    {
        for (std::uint32_t j = 0; j != n_; ++j) {
            byte_count const weight = problem.buffers[order[j]].size;
            add(source(), j, weight);
            add(n_ + j, sink(), weight);
            add(n_ + j, j, no_limit);
            latest_.clear(); // those before j that come before no other such
            for (std::uint32_t i = j; i-- != 0 && is_within_visits();) {
                if (!clocks.precedes(order[i], order[j])) continue;
                bool is_implied = false;
                for (std::size_t k = 0; k != latest_.size() && !is_implied; ++k, ++visits_)
                    is_implied = clocks.precedes(order[i], order[latest_[k]]);
                if (is_implied) continue;
                latest_.push_back(i);
                add(i, n_ + j, no_limit);
            }
            visits_ += j / 8;
        }
        first_.assign(std::size_t{2} * n_ + 3, 0);
        for (arc const& a : arcs_) ++first_[a.from + std::size_t{1}];
        for (std::size_t x = 1; x != first_.size(); ++x) first_[x] += first_[x - 1];
        leaving_.resize(arcs_.size());
        std::vector<std::uint32_t> next = first_;
        for (std::uint32_t a = 0; a != arcs_.size(); ++a) leaving_[next[arcs_[a].from]++] = a;
    }

    /// The members in order; none if that takes too many visits.
    std::vector<buffer_id> members()
    {
        while (is_within_visits() && find_levels()) augment();
        std::vector<buffer_id> result;
        for (std::uint32_t i = 0; i != n_ && is_within_visits(); ++i)
            if (level_[i] != 0 && level_[n_ + i] == 0) result.push_back(order_[i]);
        return result;
    }

private:
    struct arc {
        std::uint32_t from, to;
        byte_count room;
    };

    std::uint32_t source() const { return 2 * n_; }
    std::uint32_t sink() const { return 2 * n_ + 1; }
    bool is_within_visits() const { return visits_ < max_antichain_visits; }
    /// Arc a ^ 1 is the reverse of arc a.
    void add(std::uint32_t from, std::uint32_t to, byte_count room)
    {
        arcs_.push_back({from, to, room});
        arcs_.push_back({to, from, 0});
    }

    /// Breadth-first numbers from the source, from 1 on; whether the sink is reached.
    bool find_levels()
    {
        level_.assign(std::size_t{2} * n_ + 2, 0);
        level_[source()] = 1;
        open_.assign(1, source());
        for (std::size_t i = 0; i != open_.size(); ++i)
            for (std::uint32_t k = first_[open_[i]]; k != first_[open_[i] + std::size_t{1}]; ++k, ++visits_) {
                arc const& a = arcs_[leaving_[k]];
                if (a.room == 0 || level_[a.to] != 0) continue;
                level_[a.to] = level_[open_[i]] + 1;
                open_.push_back(a.to);
            }
        return level_[sink()] != 0;
    }

    /// Moves bytes along paths of rising level until none is left.
    void augment()
    {
        next_ = first_;
        path_.clear();
        for (std::uint32_t x = source(); is_within_visits(); ++visits_) {
            if (x == sink()) {
                byte_count bytes = no_limit;
                for (std::uint32_t a : path_) bytes = smaller(bytes, arcs_[a].room);
                std::size_t kept = path_.size();
                for (std::size_t i = path_.size(); i-- != 0; ++visits_) {
                    arc& a = arcs_[path_[i]];
                    if (a.room != no_limit) a.room -= bytes;
                    if (arc& back = arcs_[path_[i] ^ 1]; back.room != no_limit) back.room += bytes;
                    if (a.room == 0) kept = i;
                }
                shorten(path_, kept);
                x = path_.empty() ? source() : arcs_[path_.back()].to;
                continue;
            }
            if (next_[x] == first_[x + std::size_t{1}]) {
                if (x == source()) return;
                x = arcs_[path_.back()].from;
                ++next_[x];
                path_.pop_back();
                continue;
            }
            std::uint32_t const a = leaving_[next_[x]];
            if (arcs_[a].room == 0 || level_[arcs_[a].to] != level_[x] + 1) {
                ++next_[x];
                continue;
            }
            path_.push_back(a);
            x = arcs_[a].to;
        }
    }

    std::vector<buffer_id> const& order_;
    std::uint32_t const n_;
    std::uint64_t visits_ = 0;
    std::vector<arc> arcs_;
    std::vector<std::uint32_t> first_, leaving_, next_; // first_: by node, and one more
    std::vector<std::uint32_t> level_, path_;
    std::vector<std::uint32_t> open_, latest_;
};

/// The counter of a thread at which most bytes of `members` are live.
SUBLET_DECL positioned_clocks::pool_peak
thread_peak(placement_problem const& problem, clock_rows const& clocks, std::vector<buffer_id> const& members)
{
    enum : unsigned { is_end, is_begin };
    positioned_clocks::pool_peak peak;
    std::vector<sort_key> events;
    for (std::uint32_t t = 0; t != clocks.threads; ++t) {
        events.clear();
        for (buffer_id b : members) {
            if (clocks.begin(b)[t] == clocks.end(b)[t]) continue;
            events.push_back({clocks.begin(b)[t], is_begin, b});
            events.push_back({clocks.end(b)[t], is_end, b});
        }
        sort_by_key(events);
        byte_count live = 0;
        for (sort_key const& e : events) {
            byte_count const size = problem.buffers[buffer_id{e.id}].size;
            live = e.tie == is_end ? live - size : checked_add(live, size);
            if (live > peak.bytes) peak = {live, t, static_cast<std::uint32_t>(e.key), false};
        }
    }
    return peak;
}

/// Buffers that conflict with each other.
struct conflicting_set {
    std::vector<buffer_id> members;
    std::vector<std::uint32_t> least_end, most_begin; // by thread

    void add(buffer_id b, clock_rows const& clocks)
    {
        least_end.resize(clocks.threads, ~std::uint32_t{0});
        most_begin.resize(clocks.threads, 0);
        for (std::size_t t = 0; t != clocks.threads; ++t) {
            least_end[t] = smaller(least_end[t], clocks.end(b)[t]);
            most_begin[t] = larger(most_begin[t], clocks.begin(b)[t]);
        }
        members.push_back(b);
    }
    bool accepts(buffer_id b, clock_rows const& clocks) const
    {
        if (clocks.is_below(least_end, clocks.begin(b)))
            for (buffer_id m : members)
                if (clocks.precedes(m, b)) return false;
        if (clocks.is_below(clocks.end(b), most_begin))
            for (buffer_id m : members)
                if (clocks.precedes(b, m)) return false;
        return true;
    }
};

SUBLET_DECL positioned_clocks positions_of_clocks(placement_problem const& problem)
{
    clock_rows const clocks(problem);
    positioned_clocks result{.problem = problem, .threads = problem.clocks.threads};
    table<buffer_id, placement_problem::buffer>& buffers = result.problem.buffers;
    result.problem.clocks = {};
    if (clocks.threads == 1) {
        for (buffer_id b = 0; b != buffers.size(); ++b)
            buffers[b].life = {clocks.begin(b)[0], clocks.end(b)[0]};
        return result;
    }
    for (placement_problem::buffer& b : buffers) b.life = {};
    std::vector<buffer_id> const order = order_by_begins(problem, clocks);
    std::size_t const n = order.size();

    // A class: buffers of equal begins, [first_of[c], first_of[c + 1]) of the order.
    std::vector<std::uint32_t> first_of; // by class
    table<buffer_id, position_id> class_of(buffers.size(), 0);
    for (std::uint32_t j = 0; j != n; ++j) {
        if (j == 0 || !clocks.is_below(clocks.begin(order[j]), clocks.begin(order[j - 1])))
            first_of.push_back(j);
        class_of[order[j]] = position_id::of(first_of.size() - 1);
    }
    std::size_t const classes = first_of.size();
    first_of.push_back(static_cast<std::uint32_t>(n));

    // The sets that are bounds are positions of the last class among their members.
    table<position_id, std::vector<conflicting_set>> bounds(classes);
    result.peaks.resize(pool_count(problem));
    table<pool_id, std::vector<buffer_id>> in_pool(result.peaks.size());
    for (buffer_id b : order) in_pool[buffers[b].pool].push_back(b);
    for (pool_id pool = 0; pool != in_pool.size(); ++pool) {
        std::vector<buffer_id> const& members = in_pool[pool];
        positioned_clocks::pool_peak& peak = result.peaks[pool] = thread_peak(problem, clocks, members);
        std::vector<buffer_id> heaviest;
        byte_count total = 0; // must fit 64 bits, for the flow
        for (buffer_id b : members) total = checked_add(total, buffers[b].size);
        if (members.size() <= max_antichain_buffers)
            heaviest = clock_antichain(problem, clocks, members).members();
        peak.has_antichain = !heaviest.empty();
        if (heaviest.empty())
            for (buffer_id b : members)
                if (clocks.begin(b)[peak.thread] <= peak.counter && peak.counter < clocks.end(b)[peak.thread])
                    heaviest.push_back(b);
        if (heaviest.empty()) continue;
        std::vector<conflicting_set>& sets = bounds[class_of[heaviest.back()]];
        sets.emplace_back();
        for (buffer_id b : heaviest) sets.back().add(b, clocks);
    }

    // By thread, the least counter of the begins from class c on: what ends below is over.
    std::vector<std::uint32_t> least((classes + 1) * clocks.threads, ~std::uint32_t{0});
    for (std::size_t c = classes; c-- != 0;)
        for (std::size_t t = 0; t != clocks.threads; ++t)
            least[c * clocks.threads + t] =
                smaller(least[(c + 1) * clocks.threads + t], clocks.begin(order[first_of[c]])[t]);

    auto expect_few = [](std::uint64_t entries) {
        SUBLET_EXPECTS(entries <= most_clock_entries,
                       "sublet: too many buffers with clocks conflict: their sets have more than % entries",
                       most_clock_entries);
    };
    std::uint64_t least_entries = n; // a class has a set with each buffer before it that it conflicts with
    result.begin = class_of;
    std::vector<std::uint32_t> first{0};
    std::vector<live_range> ranges;
    for (buffer_id b = 0; b != buffers.size(); ++b) {
        live_range conflicting{class_of[b], class_of[b] + 1};
        for (position_id c = conflicting.last; c < classes; ++c) {
            if (c == conflicting.last &&
                clocks.is_below(clocks.end(b), {&least[c * clocks.threads], clocks.threads}))
                break;
            if (clocks.precedes(b, order[first_of[c]])) continue;
            if (c != conflicting.last) ranges.push_back(std::exchange(conflicting, {c, c}));
            ++conflicting.last;
            ++least_entries;
        }
        expect_few(least_entries);
        ranges.push_back(conflicting);
        first.push_back(static_cast<std::uint32_t>(ranges.size()));
    }
    result.conflicts = {buffer_range_lists::source::from_liveness, static_cast<std::uint32_t>(classes),
                        std::move(first), std::move(ranges)};

    std::vector<buffer_id> alive;
    std::uint64_t entries = 0;
    for (std::size_t c = 0; c != classes; ++c) {
        std::span<buffer_id const> const incoming{order.data() + first_of[c], order.data() + first_of[c + 1]};
        std::span<std::uint32_t const> const later{least.data() + c * clocks.threads, clocks.threads};
        std::vector<conflicting_set>& sets = bounds[c];
        std::size_t const known = sets.size(); // these may already have members of any class up to c
        std::size_t kept = 0;
        auto has = [&](std::size_t s, buffer_id b) {
            std::vector<buffer_id> const& in = sets[s].members;
            return s < known && std::find(in.begin(), in.end(), b) != in.end();
        };
        for (std::size_t s = 0; s != known; ++s)
            for (buffer_id b : incoming)
                if (!has(s, b)) sets[s].add(b, clocks);
        auto add_set = [&] {
            sets.emplace_back();
            for (buffer_id b : incoming) sets.back().add(b, clocks);
        };
        for (buffer_id a : alive) {
            if (clocks.is_below(clocks.end(a), later)) continue;
            alive[kept++] = a;
            if (clocks.precedes(a, incoming[0])) continue;
            std::size_t s = 0;
            while (s != sets.size() && !sets[s].accepts(a, clocks)) ++s;
            if (s == sets.size()) add_set();
            if (!has(s, a)) sets[s].add(a, clocks);
        }
        shorten(alive, kept);
        alive.insert(alive.end(), incoming.begin(), incoming.end());
        if (sets.empty()) add_set();
        for (conflicting_set& s : sets) {
            entries += s.members.size();
            expect_few(entries);
            auto const position = position_id::of(result.at.size());
            for (buffer_id m : s.members) {
                live_range& life = buffers[m].life;
                if (life.last == 0) life.first = position;
                else if (life.last != position)
                    result.problem.gaps.push_back({m, {life.last, position}, 0, 0});
                life.last = position + 1;
            }
            result.at.push_back(std::move(s.members));
        }
        std::vector<conflicting_set>().swap(sets);
    }
    return result;
}

/// Placement by positions takes a visit for each piece: with very many, placement by conflicts is better.
inline constexpr std::size_t many_clock_gaps = 100'000;

SUBLET_DECL pack_options positioned_clocks::budgets(pack_options options) const
{
    if (threads != 1 && problem.gaps.size() > many_clock_gaps)
        options.visits /= 16, options.improve_visits /= 16;
    return options;
}

/// The begins of buffers, as place_concurrently() asks for them.
struct begin_rows {
    struct rows {
        table<buffer_id, position_id> const& at;
        std::span<position_id const> operator[](buffer_id b) const { return {at.data() + b, 1}; }
    };
    rows begins, ends;
    std::uint32_t positions = 0;

    std::size_t buffers() const { return begins.at.size(); }
    position_id first(buffer_id b) const { return begins.at[b]; }
};

SUBLET_DECL void positioned_clocks::lower(placement& placed, placement::objective objective,
                                          std::uint64_t visits,
                                          table<buffer_id, unsigned char> const& fixed) const
{
    if (threads == 1) return;
    placement_problem now{.buffers = problem.buffers, .pools = problem.pools};
    place_concurrently_options how{.fallback = placed.offset, .visits = visits};
    bool is_open = false;
    for (pool_id p = 0; p != placed.pools.size(); ++p) {
        placement::pool_result const& pool = placed.pools[p];
        bool const can_be_lower =
            pool.status == placement::outcome::feasible || pool.status == placement::outcome::limit;
        if (limits_of(problem, p).largest_block != no_limit) {
            how.bounds.push_back(no_limit); // no borders there
            continue;
        }
        byte_count const goal =
            objective == placement::objective::fit ? limits_of(problem, p).capacity : pool.lower_bound;
        how.bounds.push_back(can_be_lower ? goal : no_limit);
        is_open = is_open || can_be_lower;
        if (pool.proof.kind == placement::proof::reason::live_bytes)
            for (buffer_id b : at[pool.proof.position])
                if ((placed.pool_of.empty() ? problem.buffers[b].pool : placed.pool_of[b]) == p)
                    how.antichain.push_back(b);
    }
    if (!is_open) return;
    for (buffer_id b = 0; b != now.buffers.size(); ++b) {
        placement_problem::buffer& buffer = now.buffers[b];
        if (!placed.pool_of.empty()) buffer.pool = placed.pool_of[b];
        if (is_empty(buffer.life)) buffer.size = 0;
        if (!fixed.empty() && fixed[b] != 0) buffer.pinned = placed.offset[b];
    }
    placement const found =
        place_concurrently(now, begin_rows{{begin}, {begin}, conflicts.positions()}, conflicts, how);
    table<pool_id, unsigned char> is_lower;
    for (pool_id p = 0; p != placed.pools.size(); ++p) {
        placement::pool_result& pool = placed.pools[p];
        pool.packings += found.pools[p].packings;
        is_lower.push_back(how.bounds[p] != no_limit && found.pools[p].height < pool.height);
        if (is_lower[p] == 0) continue;
        byte_count const capacity = limits_of(problem, p).capacity;
        pool.height = found.pools[p].height;
        pool.status = status_of(pool.height, pool.lower_bound, capacity);
        if (objective == placement::objective::fit && pool.status == placement::outcome::feasible)
            pool.status = placement::outcome::optimal;
    }
    for (buffer_id b = 0; b != now.buffers.size(); ++b)
        if (is_lower[now.buffers[b].pool] != 0) placed.offset[b] = found.offset[b];
    set_overall_status(placed);
}

SUBLET_DECL void positioned_clocks::name_proofs(placement& placed,
                                                table<buffer_id, unsigned char> const& has_choice) const
{
    if (threads == 1) return;
    for (pool_id pool = 0; pool != placed.pools.size(); ++pool) {
        placement::pool_result& out = placed.pools[pool];
        out.peak_position = 0;
        if (out.proof.kind != placement::proof::reason::live_bytes) continue;
        position_id const position = std::exchange(out.proof.position, position_id{0});
        for (bool is_forced : {false, true}) {
            out.proof.buffers.clear();
            byte_count bytes = 0;
            for (buffer_id b : at[position]) {
                pool_id const where = placed.pool_of.empty() ? problem.buffers[b].pool : placed.pool_of[b];
                if (where != pool || (is_forced && !has_choice.empty() && has_choice[b] != 0)) continue;
                out.proof.buffers.push_back(b);
                bytes += problem.buffers[b].size;
            }
            if (bytes == out.proof.bytes) break;
        }
        out.proof.kind = placement::proof::reason::antichain;
        sort_ascending(out.proof.buffers);
        if (!placed.pool_of.empty() || peaks[pool].has_antichain || peaks[pool].bytes != out.proof.bytes)
            continue;
        out.proof = {placement::proof::reason::live_bytes,
                     out.proof.bytes,
                     peaks[pool].counter,
                     {},
                     peaks[pool].thread};
    }
}

SUBLET_DECL opened_pool open_pool(placement_problem const& problem, std::vector<buffer_id> const& members,
                                  pool_limits limits, placement::objective objective,
                                  table<buffer_id, byte_count>& offset, search_control& control,
                                  std::size_t left, std::size_t phases)
{
    opened_pool pool;
    pool.phases = phases;
    pool.parts = left * (phases + (limits.largest_block != no_limit));
    if (pool.parts != 0) control.begin(pool.parts);
    step_poll const poll(control);
    placement::pool_result& out = pool.result;
    placement_shapes& shapes = pool.shapes;
    shapes = shapes_of(problem, members, limits, poll);
    auto is_stacked = [&] {
        out = stack_members(problem, members, limits, objective, offset);
        return pool.is_done = out.height != no_limit;
    };
    if (poll.has_stopped()) {
        if (is_stacked()) return pool;
        shapes = shapes_of(problem, members, limits);
    }
    out.proof = contradiction(problem, shapes);
    if (out.proof.bytes == no_limit) {
        out.status = placement::outcome::infeasible;
        pool.is_done = true;
        return pool;
    }
    if (std::uint32_t const over = first_over_block(shapes, limits.largest_block); over != shapes.size()) {
        buffer_id const highest = best_part(
            shapes, over, [&](shape_part const& p) { return p.distance + problem.buffers[p.buffer].size; });
        out.proof = {placement::proof::reason::over_block, no_limit, 0, {highest}};
        out.status = placement::outcome::infeasible;
        pool.is_done = true;
        return pool;
    }
    pool.bound = lower_bound(shapes, poll);
    if (pool.bound.live_bytes.size() != shapes.positions.size()) { // stopped
        if (is_stacked()) return pool;
        pool.bound = lower_bound(shapes);
    }
    out.proof = proof_of(problem, shapes, pool.bound);
    out.lower_bound = pool.bound.bytes;
    if (shapes.size() != 0) out.peak_position = shapes.positions[pool.bound.peak_position];
    return pool;
}

SUBLET_DECL placement::pool_result close_pool(opened_pool& pool, pool_limits limits,
                                              placement::objective objective,
                                              table<buffer_id, byte_count>& offset, search_control& control,
                                              packing& best)
{
    SUBLET_EXPECTS(best.height != no_limit, "sublet: no packing of the buffers ends within 64 bits");
    bool const in_blocks = limits.largest_block != no_limit;
    if (pool.parts != 0 && in_blocks) control.begin(pool.parts - pool.phases);
    placement::pool_result& out = pool.result;
    if (best.height > limits.largest_block)
        out.blocks = split_into_blocks(pool.shapes, pool.bound, limits.largest_block, best, control);
    else if (in_blocks && best.height != 0) out.blocks = {{0, 0, best.height}};
    out.height = best.height;
    out.status = status_of(out.height, out.lower_bound, limits.capacity, objective);
    for (shape_part const& p : pool.shapes.parts) offset[p.buffer] = best.origin[p.shape] + p.distance;
    return std::move(out);
}

/// pack() without clocks.
SUBLET_DECL placement pack_by_positions(placement_problem const& problem, pack_options const& options,
                                        search_control& control)
{
    return pack_pools(
        problem, options, control, 1,
        [&](auto const& shapes, auto const& bound, byte_count capacity, placement::pool_result& out,
            std::size_t) { return pack_shapes(shapes, bound, capacity, options, control, out); });
}

SUBLET_DECL placement pack(placement_problem const& problem, pack_options const& options,
                           search_control& control)
{
    if (problem.clocks.threads != 0) {
        positioned_clocks const clocks = positions_of_clocks(problem);
        placement result = pack_by_positions(clocks.problem, clocks.budgets(options), control);
        clocks.lower(result, options.objective, options.visits);
        clocks.name_proofs(result);
        return result;
    }
    return pack_by_positions(problem, options, control);
}

SUBLET_DECL bool pack_intervals(table<buffer_id, placement_problem::buffer> const& given,
                                placement_conflicts const& conflicts, byte_count bound, std::uint64_t visits,
                                packing& best, std::uint32_t& tried)
{
    if (!conflicts.are_intervals()) return false;
    if (best.height <= bound) return true;
    table<buffer_id, placement_problem::buffer> buffers(given);
    byte_count room = byte_count{1} << 61; // for all buffers one above the other
    for (buffer_id b = 0; b != buffers.size(); ++b) {
        placement_problem::buffer& it = buffers[b];
        for (byte_count bytes : {it.size, it.alignment - 1, it.pinned == no_offset ? 0 : it.pinned}) {
            if (bytes > room) return false;
            room -= bytes;
        }
        it.pool = 0;
        it.life = conflicts.ranges[b].front();
    }
    deterministic_control control;
    placement const packed = pack_by_positions(
        {std::move(buffers)}, {.visits = visits / 5, .improve_visits = visits / 5, .nodes = visits / 2000},
        control);
    tried += packed.pools[0].packings;
    if (packed.pools[0].height < best.height) best = {packed.offset, packed.pools[0].height};
    return true;
}

} // namespace sublet::detail

// --- pool candidates -------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL pool_candidates candidates_of(placement_problem const& problem)
{
    std::size_t const n = problem.buffers.size();
    table<buffer_id, buffer_id> leader(n); // the lowest of the colocated buffers
    for (buffer_id b = 0; b != n; ++b) leader[b] = b;
    auto find = [&leader](buffer_id b) {
        while (leader[b] != b) b = leader[b] = leader[leader[b]];
        return b;
    };
    table<buffer_id, unsigned char> is_anchored(n, 0), has_choice(n, 0), has_chooser(n, 0);
    for (placement_problem::colocation const& c : problem.colocated) {
        SUBLET_EXPECTS(c.buffer < n && c.anchor < n,
                       "sublet: buffer % is colocated with buffer %, but there are only % buffers", c.buffer,
                       c.anchor, n);
        is_anchored[c.buffer] = 1;
        buffer_id const a = find(c.buffer), b = find(c.anchor);
        leader[larger(a, b)] = smaller(a, b);
    }
    for (placement_problem::choice const& c : problem.choices) {
        SUBLET_EXPECTS(c.buffer < n, "sublet: a choice names buffer %, but there are only % buffers",
                       c.buffer, n);
        has_choice[c.buffer] = 1;
    }
    for (buffer_id b = 0; b != n; ++b)
        if (is_anchored[b] == 0) has_chooser[find(b)] = 1;
    auto is_chooser = [&](buffer_id b) { return is_anchored[b] == 0 || has_chooser[find(b)] == 0; };

    std::vector<sort_key> cost_entries; // {storage and pool, chooser, cost's index}
    std::vector<byte_count> cost;
    table<buffer_id, std::uint32_t> choosers(n, 0); // of a leader
    auto add_cost = [&](buffer_id b, pool_id pool, byte_count pool_cost) {
        cost_entries.push_back(
            {byte_count{find(b)} << 32 | pool, b, static_cast<std::uint32_t>(cost.size())});
        cost.push_back(pool_cost);
    };
    for (buffer_id b = 0; b != n; ++b) {
        if (!is_chooser(b)) continue;
        ++choosers[find(b)];
        if (has_choice[b] == 0) add_cost(b, problem.buffers[b].pool, 0);
    }
    for (placement_problem::choice const& c : problem.choices)
        if (is_chooser(c.buffer)) add_cost(c.buffer, c.pool, c.cost);
    sort_by_key(cost_entries);

    pool_candidates result;
    std::vector<sort_key> common_pools; // {cost, , pool}
    std::size_t next = 0;
    for (buffer_id b = 0; b != n; ++b) {
        buffer_id const l = find(b);
        result.storage_of.push_back(l == b ? static_cast<std::uint32_t>(result.size())
                                           : result.storage_of[l]);
        if (l != b) continue;
        common_pools.clear();
        while (next != cost_entries.size() && cost_entries[next].key >> 32 == b) {
            std::uint64_t const storage_and_pool = cost_entries[next].key;
            std::uint32_t chooser_count = 0;
            byte_count sum = 0;
            while (next != cost_entries.size() && cost_entries[next].key == storage_and_pool) {
                std::uint64_t const id = cost_entries[next].tie;
                byte_count cheapest = cost[cost_entries[next].id];
                for (; next != cost_entries.size() && cost_entries[next].key == storage_and_pool &&
                       cost_entries[next].tie == id;
                     ++next)
                    cheapest = smaller(cheapest, cost[cost_entries[next].id]);
                sum = checked_add(sum, cheapest);
                ++chooser_count;
            }
            if (chooser_count == choosers[b])
                common_pools.push_back({sum, 0, pool_id::of(storage_and_pool)});
        }
        SUBLET_EXPECTS(!common_pools.empty(), "sublet: colocated buffers have no pool in common");
        sort_by_key(common_pools);
        for (sort_key const& a : common_pools) result.of.push_back({a.id, a.key});
        result.first.push_back(static_cast<std::uint32_t>(result.of.size()));
    }
    return result;
}

/// Whether colocated parts have an origin in a pool with these limits if nothing else is there.
SUBLET_DECL bool can_lie_alone(placement_problem const& problem, std::span<shape_part const> parts,
                               pool_limits const& limits)
{
    residue_class origins;
    byte_count size = 0, pinned = no_offset;
    for (shape_part const& p : parts) {
        placement_problem::buffer const& its = problem.buffers[p.buffer];
        byte_count const alignment = combine_alignment(its.alignment, limits.alignment);
        if (!restrict_to(origins, aligned_origins(p.distance, alignment))) return false;
        size = larger(size, checked_add(p.distance, its.size));
        if (its.pinned == no_offset) continue;
        if (its.pinned < p.distance) return false;
        byte_count const origin = its.pinned - p.distance;
        if (pinned != no_offset && pinned != origin) return false;
        pinned = origin;
    }
    byte_count const origin = pinned == no_offset ? origins.phase : pinned;
    byte_count const most = smaller(limits.capacity, limits.largest_block);
    return align_up(origin, origins) == origin && sum_fits(origin, size) && origin + size <= most;
}

SUBLET_DECL std::vector<buffer_id> all_buffers(placement_problem const& problem)
{
    std::vector<buffer_id> all(problem.buffers.size());
    for (buffer_id b = 0; b != all.size(); ++b) all[b] = b;
    return all;
}

SUBLET_DECL pool_candidates possible_pools(placement_problem const& problem, pool_candidates const& all,
                                           step_poll const& poll)
{
    colocated_groups const groups = group_colocated(problem, all_buffers(problem), poll);
    if (poll.has_stopped()) return all;
    constexpr std::uint32_t none = ~std::uint32_t{0};
    std::vector<std::uint32_t> group_of(all.size(), none); // by storage; none: it needs no bytes
    for (std::uint32_t g = 0; g + 1 != groups.first.size(); ++g)
        if (groups.first[g] != groups.first[g + 1])
            group_of[all.storage_of[groups.parts[groups.first[g]].buffer]] = g;
    pool_candidates possible;
    possible.storage_of = all.storage_of;
    for (std::uint32_t k = 0; k != all.size(); ++k) {
        std::uint32_t const g = group_of[k], before = possible.first.back();
        for (std::uint32_t c = 0; c != all.count(k); ++c) {
            auto const parts = [&] {
                return std::span(groups.parts.data() + groups.first[g],
                                 groups.parts.data() + groups.first[g + std::size_t{1}]);
            };
            if (g == none || can_lie_alone(problem, parts(), limits_of(problem, all.at(k, c).pool)))
                possible.of.push_back(all.at(k, c));
        }
        if (possible.of.size() == before) possible.of.push_back(all.at(k, 0));
        possible.first.push_back(static_cast<std::uint32_t>(possible.of.size()));
    }
    return possible;
}

// --- choose pools ----------------------------------------------------------------------------------------

/// Limit of trial packings of pools with one more buffer.
inline constexpr std::size_t max_trial_packings = 64;

SUBLET_DECL pool_assignment_state::pool_assignment_state(placement_problem const& together,
                                                         pool_candidates const& where, step_poll const& poll)
    : candidates(where)
{
    choice.assign(candidates.size(), 0);
    shapes = shapes_of(together, all_buffers(together), {}, poll);
    if (poll.has_stopped()) return;
    shape_of.assign(candidates.size(), none);
    storage_of.assign(shapes.size(), none);
    for (shape_part const& p : shapes.parts) {
        storage_of[p.shape] = candidates.storage_of[p.buffer];
        shape_of[storage_of[p.shape]] = p.shape;
    }
    for (pool_candidate const& c : candidates.of) {
        SUBLET_EXPECTS(c.pool < 65536,
                       "sublet: a choice names pool %, which is out of range (pools are numbered from 0)",
                       c.pool);
        while (capacity.size() <= c.pool) capacity.push_back(limits_of(together, pool_id::of(capacity.size())).capacity);
    }
    for (placement_shape const& s : shapes.shapes) has_pins = has_pins || s.pinned != no_offset;
    load.assign(capacity.size(), segment_tree(shapes.positions.size()));
    for (std::uint32_t s = 0; s != shapes.size(); ++s)
        for (shape_piece const& p : shapes.pieces_of(s))
            if (poll.stops(32)) return;
            else load[pool(storage_of[s])].add(p.when, p.end - p.begin);
}

SUBLET_DECL void pool_assignment_state::move(std::uint32_t k, std::uint32_t to)
{
    std::uint32_t const s = shape_of[k];
    pool_id const from = pool(k);
    choice[k] = to;
    if (s == none) return;
    for (shape_piece const& p : shapes.pieces_of(s)) {
        load[from].remove(p.when, p.end - p.begin);
        load[pool(k)].add(p.when, p.end - p.begin);
    }
}

SUBLET_DECL bool pool_assignment_state::is_overloaded(std::uint32_t k, pool_id where, bool including_it) const
{
    for (shape_piece const& p : shapes.pieces_of(shape_of[k])) {
        byte_count const more = including_it ? p.end - p.begin : 0, most = load[where].most(p.when);
        if (most > capacity[where] || more > capacity[where] - most) return true;
    }
    return false;
}

SUBLET_DECL std::uint64_t cost_ratio(byte_count extra_cost, double relief)
{
    return std::bit_cast<std::uint64_t>(static_cast<double>(extra_cost) / relief);
}

/// Moves storage to its next pool until no load exceeds a capacity or no candidate is left.
SUBLET_DECL void lower_loads(pool_assignment_state& all, step_poll const& poll)
{
    std::size_t const positions = all.shapes.positions.size();
    for (bool moved = true; moved;) {
        moved = false;
        for (pool_id pool = 0; pool != all.capacity.size(); ++pool) {
            if (all.capacity[pool] == no_limit) continue; // no load exceeds it
            table<position_id, std::uint32_t> overloaded{0}; // number of lower positions with excess load
            table<position_id, byte_count> excess{0};        // sum of the excess below
            for (position_id at = 0; at != positions; ++at) {
                if (poll.stops(16)) return;
                byte_count const bytes = all.load[pool].most({at, at + 1}), most = all.capacity[pool];
                overloaded.push_back(overloaded.back() + (bytes > most));
                excess.push_back(checked_add(excess.back(), bytes > most ? bytes - most : 0));
            }
            if (overloaded.back() == 0) continue;
            std::vector<sort_key> cheapest;
            for (std::uint32_t s = 0; s != all.shapes.size(); ++s) {
                std::uint32_t const k = all.storage_of[s];
                if (poll.stops(2 + all.shapes.pieces_of(s).size())) return;
                if (all.pool(k) != pool || !all.has_next_pool(k)) continue;
                double relief = 0; // over positions with excess, at most the excess
                for (shape_piece const& p : all.shapes.pieces_of(s)) {
                    auto const own = static_cast<double>(p.end - p.begin) *
                                     (overloaded[p.when.last] - overloaded[p.when.first]);
                    auto const total_excess = static_cast<double>(excess[p.when.last] - excess[p.when.first]);
                    relief += own < total_excess ? own : total_excess;
                }
                if (relief > 0)
                    cheapest.push_back(
                        {cost_ratio(all.extra_cost(k), relief), descending(all.shapes.shapes[s].size), k});
            }
            sort_by_key(cheapest);
            for (sort_key const& c : cheapest)
                if (poll.stops(32 * all.shapes.pieces_of(all.shape_of[c.id]).size())) return;
                else if (all.is_overloaded(c.id, pool, false)) {
                    all.move(c.id, all.choice[c.id] + 1);
                    moved = true;
                }
        }
    }
}

SUBLET_DECL placement::pool_result try_pool(placement_problem const& problem,
                                            pool_assignment_state const& all, pool_id pool,
                                            pack_options options, search_control& control,
                                            table<buffer_id, byte_count>& offset)
{
    std::vector<buffer_id> members;
    for (buffer_id b = 0; b != problem.buffers.size(); ++b)
        if (all.pool(all.candidates.storage_of[b]) == pool) members.push_back(b);
    options.objective = placement::objective::fit;
    options.visits /= 16, options.improve_visits /= 16, options.nodes /= 16;
    pool_limits const limits = limits_of(problem, pool);
    return pack_pool(
        problem, members, limits, options.objective, offset, control, 0, 1,
        [&](placement_shapes const& shapes, placement_bound const& bound, placement::pool_result& out,
            std::size_t) { return pack_shapes(shapes, bound, limits.capacity, options, control, out); });
}

SUBLET_DECL bool fit_capacities(placement_problem const& problem, pool_assignment_state& all,
                                pack_options const& options, search_control& control)
{
    std::size_t const pools = all.capacity.size();
    table<pool_id, unsigned char> is_packed(pools, 0);
    table<pool_id, unsigned> rounds(pools, 0);
    table<buffer_id, byte_count> offset(problem.buffers.size(), no_offset);
    bool fits = true;
    for (pool_id pool = 0; pool != pools;) {
        bool const has_limit = all.has_pins || all.capacity[pool] != no_limit ||
                               limits_of(problem, pool).largest_block != no_limit;
        if (control.stop(no_limit, 0, 0)) return false;
        if (is_packed[pool] != 0 || !has_limit) {
            ++pool;
            continue;
        }
        is_packed[pool] = 1;
        placement::pool_result const tried = try_pool(problem, all, pool, options, control, offset);
        if (tried.status <= placement::outcome::feasible) continue;
        bool const is_fault = tried.proof.bytes == no_limit;
        std::vector<unsigned char> is_in_core(all.choice.size(), 0);
        for (buffer_id b : tried.proof.buffers) is_in_core[all.candidates.storage_of[b]] = is_fault;
        std::vector<live_range> too_high;
        for (shape_part const& p : all.shapes.parts)
            if (all.pool(all.storage_of[p.shape]) == pool && !is_fault &&
                offset[p.buffer] + problem.buffers[p.buffer].size > all.capacity[pool])
                too_high.push_back(all.shapes.shapes[p.shape].life);
        std::vector<std::uint32_t> const below = covered_below(too_high, all.shapes.positions.size());
        std::vector<sort_key> cheapest;
        for (std::uint32_t s = 0; s != all.shapes.size(); ++s) {
            std::uint32_t const k = all.storage_of[s];
            live_range const life = all.shapes.shapes[s].life;
            bool const is_movable = is_fault ? is_in_core[k] != 0 : below[life.first] != below[life.last];
            if (all.pool(k) != pool || !all.has_next_pool(k) || !is_movable) continue;
            byte_count const size = all.shapes.shapes[s].size;
            cheapest.push_back(
                {cost_ratio(all.extra_cost(k), static_cast<double>(size)), descending(size), k});
        }
        sort_by_key(cheapest);
        if (cheapest.empty() || control.stop(no_limit, 0, 0)) {
            fits = false;
            continue;
        }
        // Doubles in each round, so that there are few rounds.
        byte_count bytes_to_move = is_fault ? 1 : tried.height - all.capacity[pool];
        bytes_to_move = bytes_to_move << rounds[pool] >> rounds[pool] == bytes_to_move
                            ? bytes_to_move << rounds[pool]
                            : no_limit;
        if (rounds[pool] < 40) ++rounds[pool];
        for (std::size_t i = 0; i != cheapest.size() && bytes_to_move != 0; ++i) {
            std::uint32_t const k = cheapest[i].id;
            all.move(k, all.choice[k] + 1);
            is_packed[all.pool(k)] = 0;
            bytes_to_move -= smaller(bytes_to_move, all.shapes.shapes[all.shape_of[k]].size);
        }
        is_packed[pool] = 0;
        pool = 0;
    }
    return fits;
}

SUBLET_DECL bool place_greedily(placement_problem const& problem, pool_assignment_state& all,
                                step_poll const& poll)
{
    std::vector<buffer_id> const members = all_buffers(problem);
    table<pool_id, placement_shapes> shapes; // alignments differ
    table<pool_id, placed_pieces> placed;
    for (pool_id pool = 0; pool != all.capacity.size(); ++pool) {
        shapes.push_back(shapes_of(problem, members, limits_of(problem, pool), poll));
        if (poll.has_stopped()) return false;
        placed.push_back(placed_pieces(shapes.back()));
        if (shapes.back().fault != shape_fault::none) return false;
    }
    std::vector<sort_key> order; // pinned ones first
    for (std::uint32_t s = 0; s != all.shapes.size(); ++s) {
        placement_shape const& shape = all.shapes.shapes[s];
        order.push_back({byte_count{shape.pinned == no_offset}, descending(shape.size), s});
    }
    sort_by_key(order);
    for (sort_key const& o : order) {
        std::uint32_t const k = all.storage_of[o.id];
        if (poll.stops(256)) return false;
        byte_count at = no_offset;
        for (std::uint32_t c = 0; c != all.candidates.count(k) && at == no_offset; ++c) {
            pool_id const pool = all.candidates.at(k, c).pool;
            placement_shape const& shape = shapes[pool].shapes[o.id];
            byte_count const capacity = smaller(all.capacity[pool], no_limit - 1);
            byte_count const pinned = shape.pinned;
            if (shape.size > capacity || (pinned != no_offset && pinned > capacity - shape.size)) continue;
            at = placed[pool].free_origin(shapes[pool], o.id, pinned == no_offset ? 0 : pinned,
                                          pinned == no_offset ? capacity - shape.size : pinned);
            if (at == no_offset) continue;
            placed[pool].insert(shapes[pool], o.id, at);
            all.move(k, c);
        }
        if (at == no_offset) return false;
    }
    return true;
}

/// Moves storage to cheaper pools that have room and for which `fits` holds, the greatest saving first.
template <class Fits>
void move_to_cheaper(pool_assignment_state& all, step_poll const& poll, Fits fits)
{
    std::vector<sort_key> displaced;
    for (std::uint32_t k = 0; k != all.choice.size(); ++k)
        if (all.saving(k) != 0) displaced.push_back({descending(all.saving(k)), 0, k});
    sort_by_key(displaced);
    for (sort_key const& a : displaced) {
        std::uint32_t const k = a.id, before = all.choice[k];
        if (poll.stops(64)) return;
        for (std::uint32_t c = 0; c != before; ++c) {
            pool_id const pool = all.candidates.at(k, c).pool;
            if (all.shape_of[k] != pool_assignment_state::none && all.is_overloaded(k, pool, true)) continue;
            all.move(k, c);
            if (fits(pool)) break;
            all.move(k, before);
        }
    }
}

SUBLET_DECL pool_assignment choose_pools(placement_problem const& problem, pack_options const& options,
                                         search_control& control)
{
    step_poll const poll(control);
    placement_problem together{problem.buffers, problem.pools, problem.gaps, problem.colocated};
    for (placement_problem::buffer& b : together.buffers) b.pool = 0;
    pool_candidates const allowed = candidates_of(problem);
    pool_assignment_state all(together, possible_pools(together, allowed, poll), poll);
    pool_assignment result;
    for (std::uint32_t k = 0; k != all.choice.size(); ++k)
        result.cost_bound = checked_add(result.cost_bound, allowed.at(k, 0).cost);
    if (all.shapes.fault != shape_fault::parts_clash && !poll.has_stopped()) { // then no choice helps
        lower_loads(all, poll);
        std::size_t attempts = 0;
        table<buffer_id, byte_count> offset(problem.buffers.size(), no_offset);
        bool is_packed = false;
        auto fits = [&](pool_id pool) {
            if (!is_packed || (all.capacity[pool] == no_limit && !all.has_pins)) return true;
            if (++attempts > max_trial_packings || control.stop(no_limit, 0, 0)) return false;
            return try_pool(together, all, pool, options, control, offset).status <=
                   placement::outcome::feasible;
        };
        move_to_cheaper(all, poll, fits);
        if (!fit_capacities(together, all, options, control)) {
            std::vector<std::uint32_t> const before = all.choice;
            if (!place_greedily(together, all, poll))
                for (std::uint32_t k = 0; k != all.choice.size(); ++k) all.move(k, before[k]);
        }
        is_packed = true;
        move_to_cheaper(all, poll, fits);
    }
    for (std::uint32_t k : all.candidates.storage_of) result.pool_of.push_back(all.pool(k));
    for (std::uint32_t k = 0; k != all.choice.size(); ++k)
        result.cost = checked_add(result.cost, all.now(k).cost);
    return result;
}

} // namespace sublet::detail

// --- pack symbolic ---------------------------------------------------------------------------------------

namespace sublet::detail {

/// Buffers stacked by improve_affine() in all its moves.
inline constexpr std::size_t max_restacked_buffers = 1'000'000;

SUBLET_DECL std::vector<byte_count> sampled_batches(byte_count most)
{
    byte_count middle = 1;
    while (middle < most / middle) middle *= 2;
    std::vector<byte_count> batches{1};
    for (byte_count batch : {middle, most})
        if (batch > batches.back()) batches.push_back(batch);
    return batches;
}

/// Packs the sizes of each sampled batch alone, ignoring capacities.
SUBLET_DECL std::vector<batch_sample> pack_samples(table<buffer_id, symbolic_plan::buffer> const& buffers,
                                                   byte_count most, pack_options const& options)
{
    std::vector<batch_sample> samples;
    for (byte_count batch : sampled_batches(most)) {
        placement_problem problem;
        for (symbolic_plan::buffer const& b : buffers)
            problem.buffers.push_back({b.life, b.size.at(batch), b.alignment, b.pool});
        samples.push_back({batch, pack(problem, options)});
    }
    return samples;
}

class symbolic_pool {
public:
    symbolic_pool(table<buffer_id, symbolic_plan::buffer> const& buffers, pool_id pool,
                  std::vector<batch_sample> const& samples, byte_count most)
        : buffers_(buffers), pool_(pool), samples_(samples), most_(most)
    {
        for (buffer_id b = 0; b != buffers.size(); ++b)
            if (buffers[b].pool == pool) (buffers[b].size.is_scaled() ? scaled_ : fixed_).push_back(b);
    }

    bool is_empty() const { return fixed_.empty() && scaled_.empty(); }

    void pack_apart()
    {
        for (batch_sample const& sample : samples_) {
            auto const below = order_of(fixed_, sample), above = order_of(scaled_, sample);
            auto lower = stack_affine(buffers_, below, most_);
            auto const upper = stack_affine(buffers_, above, most_, height_of(lower, below));
            for (buffer_id b : above) lower[b] = upper[b];
            offer(std::move(lower));
        }
    }

    void pack_together()
    {
        for (batch_sample const& sample : samples_) offer(stack_affine(buffers_, merged(sample), most_));
        if (is_done()) return;
        for (batch_sample const& sample : samples_) {
            auto const below = order_of(fixed_, sample), above = order_of(scaled_, sample);
            if (below.empty() || above.empty()) break;
            offer(stack_affine(buffers_, joined(below, above), most_));
            offer(stack_affine(buffers_, joined(above, below), most_));
        }
        bool const are_few = fixed_.size() + scaled_.size() <= max_quadratic_shapes;
        for (batch_sample const& sample : samples_) {
            if (is_done() || !are_few) break;
            offer(fit_affine(buffers_, merged(sample), most_));
            auto const by_size = order_by_size(sample.batch);
            offer(fit_affine(buffers_, by_size, most_));
        }
        if (!is_done()) improve();
    }

    void put(symbolic_packing& result) const
    {
        for (buffer_id b = 0; b != buffers_.size(); ++b)
            if (buffers_[b].pool == pool_) result.start[b] = best_[b];
        auto const all = joined(fixed_, scaled_);
        result.arena[pool_] = height_of(best_, all);
    }

private:
    using ids = std::vector<buffer_id>;

    static ids joined(ids first, ids const& then)
    {
        for (buffer_id b : then) first.push_back(b);
        return first;
    }
    template <class Key>
    static ids sorted(ids const& some, Key key)
    {
        std::vector<sort_key> items;
        for (buffer_id b : some) items.push_back({key(b), 0, b});
        sort_by_key(items);
        ids order;
        for (sort_key const& item : items) order.push_back(item.id);
        return order;
    }
    static ids order_of(ids const& some, batch_sample const& sample)
    {
        return sorted(some, [&](buffer_id b) { return sample.own.offset[b]; });
    }
    ids merged(batch_sample const& sample) const { return order_of(joined(fixed_, scaled_), sample); }
    ids order_by_size(byte_count batch) const
    {
        return sorted(joined(fixed_, scaled_),
                      [&](buffer_id b) { return descending(buffers_[b].size.at(batch)); });
    }

    /// A buffer that starts lower does so for every batch, so the order of starts for one batch places no
    /// buffer higher.
    void improve()
    {
        std::vector<batch_goal> goals;
        for (batch_sample const& sample : samples_)
            goals.push_back({sample.batch, sample.own.pools[pool_].height});
        byte_count const batch = samples_[samples_.size() / 2].batch;
        ids const all = joined(fixed_, scaled_);
        ids const order = sorted(all, [&](buffer_id b) { return best_[b].at(batch); });
        std::uint64_t const moves = smaller(64 * all.size(), max_restacked_buffers / all.size());
        offer(improve_affine(buffers_, order, goals, most_, moves).start);
    }

    affine_bytes height_of(table<buffer_id, affine_bytes> const& start, ids const& some) const
    {
        affine_bytes height;
        for (buffer_id id : some) {
            symbolic_plan::buffer b = buffers_[id];
            b.start = start[id];
            height = least_above(height, b.top(), most_);
        }
        return height;
    }

    void offer(table<buffer_id, affine_bytes> start)
    {
        double worst = 1;
        for (batch_sample const& sample : samples_) {
            byte_count height = 0;
            for (buffer_id id = 0; id != buffers_.size(); ++id) {
                symbolic_plan::buffer b = buffers_[id];
                if (b.pool != pool_) continue;
                b.start = start[id];
                height = larger(height, checked_add(b.offset_at(sample.batch), b.size.at(sample.batch)));
            }
            double const ratio =
                static_cast<double>(height) / static_cast<double>(sample.own.pools[pool_].height);
            if (ratio > worst) worst = ratio;
        }
        if (!best_.empty() && worst >= worst_) return;
        worst_ = worst;
        best_ = std::move(start);
    }
    bool is_done() const { return worst_ <= 1; }

    table<buffer_id, symbolic_plan::buffer> const& buffers_;
    pool_id pool_;
    std::vector<batch_sample> const& samples_;
    byte_count most_;
    ids fixed_, scaled_; // ascending
    table<buffer_id, affine_bytes> best_;
    double worst_ = 0; // of `best_`: the largest ratio to the height of a batch alone
};

} // namespace sublet::detail

namespace sublet {

namespace detail {

SUBLET_DECL symbolic_packing pack_symbolic(table<buffer_id, symbolic_plan::buffer> const& buffers,
                                           byte_count most, symbolic_options::mixing_rule mixing,
                                           pack_options const& options)
{
    symbolic_packing result;
    result.start.assign(buffers.size(), {});
    result.samples = detail::pack_samples(buffers, most, options);
    result.arena.assign(result.samples.back().own.pools.size(), {});
    for (pool_id p = 0; p != result.arena.size(); ++p) {
        detail::symbolic_pool pool(buffers, p, result.samples, most);
        if (pool.is_empty()) continue;
        if (mixing == symbolic_options::mixing_rule::apart) pool.pack_apart();
        else pool.pack_together();
        pool.put(result);
    }
    return result;
}

// --- stack slots -----------------------------------------------------------------------------------------

SUBLET_DECL placement stack_slots(placement_problem const& problem, sized_slot_plan const& slots,
                                  table<pool_id, byte_count> const& bounds)
{
    std::size_t const buffers = problem.buffers.size();
    SUBLET_EXPECTS(slots.slot_of.size() == buffers, "sublet: a table needs one entry for each buffer");
    auto limits_of = [&](pool_id pool) {
        return pool < problem.pools.size() ? problem.pools[pool] : pool_limits{};
    };
    table<slot_id, byte_count> alignment, begin(slots.slots, no_offset);
    for (pool_id pool : slots.slot_pool) alignment.push_back(limits_of(pool).alignment);
    for (buffer_id b = 0; b != buffers; ++b)
        if (slot_id const s = slots.slot_of[b]; s != no_slot)
            alignment[s] = detail::combine_alignment(alignment[s], problem.buffers[b].alignment);

    placement result;
    result.offset.assign(buffers, no_offset);
    result.pools = table<pool_id, placement::pool_result>(detail::pool_count(problem));
    std::vector<detail::sort_key> coarsest_first;
    for (slot_id s = 0; s != slots.slots; ++s)
        coarsest_first.push_back({detail::descending(alignment[s]), 0, s});
    sort_by_key(coarsest_first);
    for (detail::sort_key const& k : coarsest_first) {
        slot_id const s = k.id;
        byte_count& height = result.pools[slots.slot_pool[s]].height;
        begin[s] = align_up(height, alignment[s]);
        SUBLET_EXPECTS(begin[s] != no_offset && sum_fits(begin[s], slots.slot_bytes[s]),
                       "sublet: slots end beyond 64 bits");
        height = begin[s] + slots.slot_bytes[s];
    }
    for (buffer_id b = 0; b != buffers; ++b)
        if (slots.slot_of[b] != no_slot) result.offset[b] = begin[slots.slot_of[b]];
    for (pool_id pool = 0; pool != result.pools.size(); ++pool) {
        placement::pool_result& out = result.pools[pool];
        if (pool < bounds.size() && bounds[pool] != 0)
            out.proof = {placement::proof::reason::given, bounds[pool]};
        out.lower_bound = out.proof.bytes;
        out.status = detail::status_of(out.height, out.lower_bound, limits_of(pool).capacity);
        byte_count const largest = limits_of(pool).largest_block;
        if (largest != no_limit && out.height != 0 && out.height <= largest)
            out.blocks = {{pool, 0, out.height}};
    }
    detail::set_overall_status(result);
    return result;
}

} // namespace detail

} // namespace sublet
