// SPDX-License-Identifier: BSL-1.0

/// Sets are binary trees over words of 64 bits that share equal subtrees, so that a union or an
/// intersection visits only where they differ. The dataflow goes over the nodes in reverse postorder until
/// nothing changes; a counterexample is found by a search backwards from the read.

#include <sublet/checking/detail/available_values.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

// --- shared sets -----------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL shared_sets::shared_sets(std::size_t n)
{
    while (std::uint64_t{64} << top_ < n) ++top_;
}

SUBLET_DECL bool shared_sets::has(set s, std::uint32_t i) const
{
    for (unsigned level = top_; level != 0 && s != 0; --level) s = child(s, (i >> (level + 5) & 1) != 0);
    return (nodes_[s] >> i % 64 & 1) != 0;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as a balanced tree
SUBLET_DECL std::uint32_t shared_sets::from(set s, unsigned level, std::uint64_t base, std::uint32_t i) const
{
    std::uint64_t const width = std::uint64_t{64} << level;
    if (s == 0 || base + width <= i) return none;
    if (level == 0) {
        std::uint64_t const bits = base < i ? nodes_[s] & ~std::uint64_t{0} << (i - base) : nodes_[s];
        return bits == 0
                   ? none
                   : static_cast<std::uint32_t>(base) + static_cast<std::uint32_t>(std::countr_zero(bits));
    }
    std::uint32_t const left = from(child(s, false), level - 1, base, i);
    return left != none ? left : from(child(s, true), level - 1, base + width / 2, i);
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as a balanced tree
SUBLET_DECL std::uint32_t shared_sets::before(set s, unsigned level, std::uint64_t base,
                                              std::uint32_t i) const
{
    if (s == 0 || i <= base) return none;
    if (level == 0) {
        std::uint64_t const bits =
            i - base < 64 ? nodes_[s] & ((std::uint64_t{1} << (i - base)) - 1) : nodes_[s];
        return bits == 0 ? none
                         : static_cast<std::uint32_t>(base) + 63 -
                               static_cast<std::uint32_t>(std::countl_zero(bits));
    }
    std::uint32_t const right = before(child(s, true), level - 1, base + (std::uint64_t{32} << level), i);
    return right != none ? right : before(child(s, false), level - 1, base, i);
}

SUBLET_DECL shared_sets::set shared_sets::made(std::uint64_t node, set reused)
{
    if (node == 0) return 0;
    if (reused >= kept_) {
        nodes_[reused] = node;
        return reused;
    }
    SUBLET_EXPECTS(nodes_.size() < none, "sublet: more subsets than 32-bit ids");
    nodes_.push_back(node);
    return static_cast<set>(nodes_.size() - 1);
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as a balanced tree
SUBLET_DECL shared_sets::set shared_sets::change(set s, unsigned level, std::uint64_t base,
                                                 number_range numbers, bool is_in)
{
    std::uint64_t const width = std::uint64_t{64} << level;
    if (numbers.last <= base || base + width <= numbers.first) return s;
    if (!is_in && (s == 0 || (numbers.first <= base && base + width <= numbers.last))) return 0;
    std::uint64_t node = nodes_[s];
    if (level == 0) {
        std::uint64_t bits = ~std::uint64_t{0};
        if (base < numbers.first) bits &= bits << (numbers.first - base);
        if (numbers.last - base < 64) bits &= (std::uint64_t{1} << (numbers.last - base)) - 1;
        node = is_in ? node | bits : node & ~bits;
    } else {
        std::uint64_t const left = change(child(s, false), level - 1, base, numbers, is_in);
        node =
            std::uint64_t{change(child(s, true), level - 1, base + width / 2, numbers, is_in)} << 32 | left;
    }
    return node == nodes_[s] ? s : made(node, s);
}

SUBLET_DECL shared_sets::set shared_sets::combined(std::vector<set> const& sets, bool is_union)
{
    stack_ = sets;
    return combined(0, top_, is_union);
}

/// Of those on the stack from `first` on, which it removes.
// NOLINTNEXTLINE(misc-no-recursion): as deep as a balanced tree
SUBLET_DECL shared_sets::set shared_sets::combined(std::size_t first, unsigned level, bool is_union)
{
    auto const others = stack_.begin() + static_cast<std::ptrdiff_t>(first) + 1; // the first one stays there
    std::sort(others, stack_.end());
    stack_.erase(std::unique(others, stack_.end()), stack_.end());
    std::size_t const end = stack_.size();
    bool is_one = true, has_empty = false;
    for (std::size_t i = first; i != end; ++i) {
        is_one = is_one && stack_[i] == stack_[first];
        has_empty = has_empty || stack_[i] == 0;
    }
    set found = stack_[first];
    if (!is_one && has_empty && !is_union) {
        found = 0;
    } else if (end - first == 2 && has_empty) {
        found = larger(stack_[first], stack_[first + 1]);
    } else if (!is_one) {
        std::uint64_t node = is_union ? 0 : ~std::uint64_t{0};
        if (level == 0) {
            for (std::size_t i = first; i != end; ++i)
                node = is_union ? node | nodes_[stack_[i]] : node & nodes_[stack_[i]];
        } else {
            std::uint64_t children[2];
            for (bool is_right : {false, true}) {
                for (std::size_t i = first; i != end; ++i)
                    if (!is_union || i == first || stack_[i] != 0)
                        stack_.push_back(child(stack_[i], is_right));
                children[is_right] = combined(end, level - 1, is_union);
            }
            node = children[1] << 32 | children[0];
        }
        std::size_t like = first;
        while (like != end && nodes_[stack_[like]] != node) ++like;
        found = like != end ? stack_[like] : made(node);
    }
    stack_.resize(first);
    return found;
}

// --- sets along paths ------------------------------------------------------------------------------------

SUBLET_DECL std::vector<node_id> order_along(along which, snapshot const& p)
{
    std::vector<node_id> order, path{0};
    table<node_id, std::size_t> followed(p.nodes(), 0); // edges, plus 1 for the node itself
    followed[0] = 1;
    while (!path.empty()) {
        node_id const n = path.back();
        if (followed[n] > p.successors(n).size()) {
            order.push_back(n);
            path.pop_back();
            continue;
        }
        node_id const next = p.successors(n)[followed[n]++ - 1];
        if (followed[next] == 0) path.push_back(next), followed[next] = 1;
    }
    if (which != along::some_path_backwards) std::reverse(order.begin(), order.end());
    return order;
}

} // namespace sublet::detail

// --- available sets --------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL placed_classes::placed_classes(plan_requirements const& required, memory_plan const& plan)
    : required_(&required), plan_(&plan)
{
    std::size_t const values = plan.buffer_of.size();
    std::vector<sort_key> by_place;
    for (value_id r = 0; r != values; ++r)
        if (required.root[r] == r && is_placed(r))
            by_place.push_back({place_of(plan, r).pool, place_of(plan, r).offset, r});
    sort_by_key(by_place);
    rank_ = table<value_id, std::uint32_t>(values, rank_set::none);
    for (sort_key const& k : by_place) {
        rank_[k.id] = static_cast<std::uint32_t>(root_.size());
        root_.push_back(k.id);
    }
    using values_by_rank = csr_rows<std::uint32_t, value_id>;
    values_by_rank const values_of = values_by_rank::gathered(root_.size(), [this, values](auto add) {
        for (value_id v = 0; v != values; ++v)
            if (is_placed(v)) add(rank_of(v), v);
    });
    number_ = table<value_id, std::uint32_t>(values, rank_set::none);
    for (std::uint32_t rank = 0; rank != root_.size(); ++rank) {
        first_.push_back(static_cast<std::uint32_t>(value_.size()));
        for (value_id v : values_of[rank]) {
            number_[v] = static_cast<std::uint32_t>(value_.size());
            value_.push_back(v);
        }
    }
    first_.push_back(static_cast<std::uint32_t>(value_.size()));
}

SUBLET_DECL counterexample placed_classes::clash(value_id value, value_id other, position_id position) const
{
    auto const [begin, end] = overlap(value, other);
    return {fault::clash, counterexample::overlap{.value = value,
                                                  .other = other,
                                                  .position = position,
                                                  .pool = place_of(*plan_, value).pool,
                                                  .begin = begin,
                                                  .end = end}};
}

SUBLET_DECL bool available_set::clobber(std::uint32_t number, value_id v)
{
    if (number == shared_sets::none || !all_->overlaps(all_->value_at(number), v)) return false;
    now_ = sets_.without(now_, all_->numbers_at(all_->rank_of(all_->value_at(number))));
    return true;
}

SUBLET_DECL void available_set::write(value_id v)
{
    number_range const own = all_->numbers_at(all_->rank_of(v));
    clobber(sets_.before(now_, own.first), v);
    while (clobber(sets_.from(now_, own.last), v)) {}
    add(v);
}

// --- available values ------------------------------------------------------------------------------------

SUBLET_DECL sets_along_paths find_available(snapshot const& p, placed_classes const& classes,
                                            std::vector<value_id> const& given, available_set& scratch)
{
    for (value_id v : given) scratch.add(v);
    auto const walk = [&](node_id n, shared_sets::set entry) {
        scratch.become(entry);
        for (touch t : p.touches(p.steps_of(n)))
            if (t.defines() && classes.is_placed(t.value)) scratch.write(t.value);
        return scratch.now();
    };
    return find_along_paths(along::all_paths, p, scratch.sets(), scratch.now(), walk);
}

// --- contested classes -----------------------------------------------------------------------------------

SUBLET_DECL std::vector<unsigned char> find_contested(snapshot const& p, placed_classes const& classes,
                                                      csr_rows<node_id, value_id> const& read_by_edges,
                                                      std::vector<value_id> const& outputs,
                                                      table<node_id, unsigned char> const& reads_outputs,
                                                      std::vector<value_id> const& given)
{
    auto const ranks = static_cast<std::uint32_t>(classes.size());
    shared_sets sets(ranks);
    shared_sets::set at_start = 0, at_end = 0;
    for (value_id v : given) at_start = sets.with(at_start, classes.rank_of(v));
    for (value_id v : outputs)
        if (classes.is_placed(v)) at_end = sets.with(at_end, classes.rank_of(v));
    sets.keep();
    auto const written =
        find_along_paths(along::some_path, p, sets, at_start, [&](node_id n, shared_sets::set now) {
            for (touch t : p.touches(p.steps_of(n)))
                if (t.defines() && classes.is_placed(t.value)) now = sets.with(now, classes.rank_of(t.value));
            return now;
        });
    // Backwards over a node; `see(set, value)` for each write, with what is needed after its step.
    auto walk_back = [&](node_id n, shared_sets::set now, auto see) {
        if (reads_outputs[n]) now = sets.united({now, at_end});
        for (value_id v : read_by_edges[n])
            if (classes.is_placed(v)) now = sets.with(now, classes.rank_of(v));
        for (step_id s = p.steps_of(n).last; s-- != p.steps_of(n).first;) {
            for (touch t : p.touches(s))
                if (t.defines() && classes.is_placed(t.value)) see(now, t.value);
            for (touch t : p.touches(s)) {
                if (!t.makes() || !classes.is_placed(t.value)) continue;
                number_range const its = classes.numbers_at(classes.rank_of(t.value));
                if (its.last - its.first == 1)
                    now = sets.without(now, {classes.rank_of(t.value), classes.rank_of(t.value) + 1});
            }
            for (touch t : p.touches(s))
                if (classes.is_placed(t.value) && (!t.defines() || t.makes_view()))
                    now = sets.with(now, classes.rank_of(t.value));
        }
        return now;
    };
    auto const needed =
        find_along_paths(along::some_path_backwards, p, sets, 0, [&](node_id n, shared_sets::set now) {
            return walk_back(n, now, [](shared_sets::set, value_id) {});
        });

    auto begin_of = [&](std::uint32_t rank) { return classes.place_at(rank); };
    auto end_of = [&](std::uint32_t rank) {
        pool_place place = classes.place_at(rank);
        place.offset += classes.bytes_at(rank);
        return place;
    };
    auto is_before = [](pool_place a, pool_place b) {
        return a.pool != b.pool ? a.pool < b.pool : a.offset < b.offset;
    };
    // By level and index of a subtree: the class in it that ends last.
    std::vector<std::vector<std::uint32_t>> last_end(sets.levels());
    for (unsigned level = 0; level != sets.levels(); ++level)
        for (std::uint32_t i = 0; (std::uint64_t{i} << level) * 64 < ranks; ++i) {
            std::uint32_t last = level == 0 ? 64 * i : last_end[level - 1][std::size_t{2} * i];
            auto add = [&](std::uint32_t rank) {
                if (is_before(end_of(last), end_of(rank))) last = rank;
            };
            for (std::uint32_t rank = 64 * i; level == 0 && rank < ranks && rank != 64 * (i + 1); ++rank)
                add(rank);
            if (level != 0 && 2 * i + 1 < last_end[level - 1].size()) add(last_end[level - 1][2 * i + 1]);
            last_end[level].push_back(last);
        }
    std::vector<unsigned char> is_contested(ranks, 0);
    for (node_id n = 0; n != p.nodes(); ++n) {
        if (!written.is_reached[n]) continue;
        static_cast<void>(walk_back(n, needed.entering[n], [&](shared_sets::set now, value_id v) {
            std::uint32_t const own = classes.rank_of(v);
            auto may_overlap = [&](unsigned level, std::uint32_t i) {
                return is_before(begin_of((i << level) * 64), end_of(own)) &&
                       is_before(begin_of(own), end_of(last_end[level][i]));
            };
            sets.each_common(now, written.leaving[n], may_overlap, [&](std::uint32_t rank) {
                if (rank != own && classes.overlaps(classes.root_at(rank), v)) is_contested[rank] = 1;
            });
        }));
        sets.release();
    }
    return is_contested;
}

// --- clobber path ----------------------------------------------------------------------------------------

SUBLET_DECL std::optional<counterexample> find_clobber_path(clobber_query const& query, value_id v, node_id n,
                                                            step_id before)
{
    struct path_state {
        node_id node;
        step_id before;
        value_id clobber; // `no_value`: not found yet
        step_id step;
    };
    snapshot const& p = query.program;
    placed_classes const& classes = query.classes;
    auto clobbers = [&](value_id other) {
        return classes.is_placed(other) && classes.rank_of(other) != classes.rank_of(v) &&
               classes.overlaps(other, v);
    };
    table<node_id, unsigned char> is_seen(p.nodes(), 0), is_seen_clobbered = is_seen;
    std::vector<path_state> open{{n, before, no_value, no_step}};
    while (!open.empty()) {
        path_state at = open.back();
        open.pop_back();
        bool is_written = false;
        for (step_id s = at.before; s != p.steps_of(at.node).first && !is_written;) {
            --s;
            for (touch t : p.touches(s)) is_written = is_written || (t.defines() && t.value == v);
            if (is_written || at.clobber != no_value) continue;
            for (touch t : p.touches(s))
                if (t.defines() && clobbers(t.value)) {
                    at.clobber = t.value;
                    at.step = s;
                }
        }
        bool const is_available = is_written || (at.node == 0 && is_given(query.required.role[v]));
        if (is_available && at.clobber != no_value)
            return classes.clash(v, at.clobber, query.required.position[at.step]);
        if (is_written) continue;
        if (value_id const other = query.entry_overlap[classes.rank_of(v)]; is_available && other != no_value)
            return classes.clash(v, other, query.required.position[p.steps_of(0).first]);
        for (node_id from : p.predecessors(at.node)) {
            table<node_id, unsigned char>& seen = at.clobber == no_value ? is_seen : is_seen_clobbered;
            if (!query.is_reached[from] || std::exchange(seen[from], 1)) continue;
            open.push_back({from, p.steps_of(from).last, at.clobber, at.step});
        }
    }
    return std::nullopt;
}

} // namespace sublet::detail
