// SPDX-License-Identifier: BSL-1.0
#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/affine_placement.hpp>
#include <sublet/placement/detail/best_packing.hpp>
#include <sublet/placement/detail/improve.hpp>
#include <sublet/placement/detail/infeasible_core.hpp>
#include <sublet/placement/detail/portfolio.hpp>
#include <sublet/placement/pack.hpp>

// --- pack ------------------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL pool_members members_by_pool(placement_problem const& problem)
{
    pool_members result;
    result.first.assign(pool_count(problem) + 1, 0);
    for (placement_problem::buffer const& b : problem.buffers) ++result.first[b.pool + 1];
    for (std::size_t p = 1; p < result.first.size(); ++p) result.first[p] += result.first[p - 1];
    std::vector<std::uint32_t> next(result.first);
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
    return proof;
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

SUBLET_DECL packing pack_shapes(placement_shapes const& shapes, placement_bound const& bound,
                                byte_count capacity, pack_options const& options, search_control& control,
                                placement::pool_result& out)
{
    packing best = first_packing(shapes, bound);
    ++out.packings;
    placement_bound goal = bound; // a height that ends the search
    auto is_done = [&] {
        if (out.lower_bound > capacity) goal.bytes = no_limit;
        else if (options.objective == placement::objective::fit) goal.bytes = capacity;
        else goal.bytes = out.lower_bound;
        // Called even if the goal is reached: a progress listener may be attached.
        return control.stop(best.height, out.lower_bound, out.nodes) || best.height <= goal.bytes;
    };
    std::size_t const n = shapes.size();
    // One more order pays for any number of shapes; it takes about a hundred visits for each.
    std::uint64_t const visits = n <= visits_scale_above || options.visits > no_limit / n
                                     ? options.visits
                                     : options.visits / visits_scale_above * n;
    bool const is_small = n <= max_searched_shapes;
    byte_count least_stacking = 0;
    auto search = [&](std::uint64_t nodes) {
        best =
            search_exactly(shapes, capacity, options, nodes, std::move(best), control, out, least_stacking);
    };
    if (is_small && !is_done())
        search(smaller(options.nodes, byte_count{smaller(64 * n, short_search_nodes)}));
    if (!is_done()) best = best_packing(shapes, goal, visits, std::move(best), out.packings);
    if (!is_done()) {
        pool_control for_pool(control, best.height, out);
        best = improve(shapes, goal, std::move(best),
                       {.visits = is_small ? smaller(options.improve_visits, pack_options{}.improve_visits)
                                           : options.improve_visits,
                        .seed = options.seed},
                       for_pool, out.packings);
    }
    bool const may_be_lower = least_stacking <= capacity && least_stacking < best.height;
    if (is_small && !is_done() && may_be_lower && out.nodes < options.nodes)
        search(options.nodes - out.nodes);
    return best;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL placement pack(placement_problem const& problem, pack_options const& options,
                           detail::search_control& control)
{
    return detail::pack_pools(
        problem, options, control,
        [&](auto const& shapes, auto const& bound, byte_count capacity, placement::pool_result& out) {
            return detail::pack_shapes(shapes, bound, capacity, options, control, out);
        });
}

} // namespace sublet

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
SUBLET_DECL std::vector<batch_sample> pack_samples(std::vector<symbolic_plan::buffer> const& buffers,
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
    symbolic_pool(std::vector<symbolic_plan::buffer> const& buffers, pool_id pool,
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

    affine_bytes height_of(std::vector<affine_bytes> const& start, ids const& some) const
    {
        affine_bytes height;
        for (buffer_id id : some) {
            symbolic_plan::buffer b = buffers_[id];
            b.start = start[id];
            height = least_above(height, b.top(), most_);
        }
        return height;
    }

    void offer(std::vector<affine_bytes> start)
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

    std::vector<symbolic_plan::buffer> const& buffers_;
    pool_id pool_;
    std::vector<batch_sample> const& samples_;
    byte_count most_;
    ids fixed_, scaled_; // ascending
    std::vector<affine_bytes> best_;
    double worst_ = 0; // of `best_`: the largest ratio to the height of a batch alone
};

} // namespace sublet::detail

namespace sublet {

namespace detail {

SUBLET_DECL symbolic_packing pack_symbolic(std::vector<symbolic_plan::buffer> const& buffers, byte_count most,
                                           symbolic_options::mixing_rule mixing, pack_options const& options)
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
                                  std::vector<byte_count> const& bounds)
{
    std::size_t const buffers = problem.buffers.size();
    SUBLET_EXPECTS(slots.slot_of.size() == buffers, "sublet: a table needs one entry for each buffer");
    auto limits_of = [&](std::size_t pool) {
        return pool < problem.pools.size() ? problem.pools[pool] : pool_limits{};
    };
    std::vector<byte_count> alignment, begin(slots.slots, no_offset); // by slot
    for (pool_id pool : slots.slot_pool) alignment.push_back(limits_of(pool).alignment);
    for (std::size_t b = 0; b != buffers; ++b)
        if (slot_id const s = slots.slot_of[b]; s != no_slot)
            alignment[s] = detail::combine_alignment(alignment[s], problem.buffers[b].alignment);

    placement result;
    result.offset.assign(buffers, no_offset);
    result.pools = std::vector<placement::pool_result>(detail::pool_count(problem));
    std::vector<detail::sort_key> coarsest_first;
    for (slot_id s = 0; s != slots.slots; ++s)
        coarsest_first.push_back({detail::descending(alignment[s]), 0, s});
    sort_by_key(coarsest_first);
    for (detail::sort_key const& k : coarsest_first) {
        byte_count& height = result.pools[slots.slot_pool[k.id]].height;
        begin[k.id] = align_up(height, alignment[k.id]);
        SUBLET_EXPECTS(begin[k.id] != no_offset && sum_fits(begin[k.id], slots.slot_bytes[k.id]),
                       "sublet: slots end beyond 64 bits");
        height = begin[k.id] + slots.slot_bytes[k.id];
    }
    for (std::size_t b = 0; b != buffers; ++b)
        if (slots.slot_of[b] != no_slot) result.offset[b] = begin[slots.slot_of[b]];
    for (std::size_t pool = 0; pool != result.pools.size(); ++pool) {
        placement::pool_result& out = result.pools[pool];
        if (pool < bounds.size() && bounds[pool] != 0)
            out.proof = {placement::proof::reason::given, bounds[pool]};
        out.lower_bound = out.proof.bytes;
        out.status = detail::status_of(out.height, out.lower_bound, limits_of(pool).capacity);
    }
    detail::set_overall_status(result);
    return result;
}

} // namespace detail

} // namespace sublet
