// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/detail/available_values.hpp>
#include <sublet/detail/sorting.hpp>
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

SUBLET_DECL std::uint32_t shared_sets::from(set s, unsigned level, std::uint64_t base, std::uint32_t i) const
{
    std::uint64_t const width = std::uint64_t{64} << level;
    if (s == 0 || base + width <= i) return none;
    if (level == 0) {
        std::uint64_t const bits = base < i ? nodes_[s] & ~std::uint64_t{0} << (i - base) : nodes_[s];
        return bits == 0 ? none : static_cast<std::uint32_t>(base) + static_cast<std::uint32_t>(std::countr_zero(bits));
    }
    std::uint32_t const left = from(child(s, false), level - 1, base, i);
    return left != none ? left : from(child(s, true), level - 1, base + width / 2, i);
}

SUBLET_DECL std::uint32_t shared_sets::before(set s, unsigned level, std::uint64_t base, std::uint32_t i) const
{
    if (s == 0 || i <= base) return none;
    if (level == 0) {
        std::uint64_t const bits =
            i - base < 64 ? nodes_[s] & ((std::uint64_t{1} << (i - base)) - 1) : nodes_[s];
        return bits == 0 ? none : static_cast<std::uint32_t>(base) + 63 - static_cast<std::uint32_t>(std::countl_zero(bits));
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

SUBLET_DECL shared_sets::set shared_sets::change(set s, unsigned level, std::uint64_t base, live_range numbers,
                                                 bool is_in)
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
        node = std::uint64_t{change(child(s, true), level - 1, base + width / 2, numbers, is_in)} << 32 | left;
    }
    return node == nodes_[s] ? s : made(node, s);
}

SUBLET_DECL shared_sets::set shared_sets::common(std::vector<set> const& sets)
{
    common_ = sets;
    return common(0, top_);
}

/// Of those on the stack from `first` on, which it removes.
SUBLET_DECL shared_sets::set shared_sets::common(std::size_t first, unsigned level)
{
    auto const begin = common_.begin() + static_cast<std::ptrdiff_t>(first);
    std::sort(begin + 1, common_.end()); // the first one stays there
    common_.erase(std::unique(begin + 1, common_.end()), common_.end());
    std::size_t const end = common_.size();
    set const preferred = common_[first];
    bool is_one = true;
    set found = preferred;
    for (std::size_t i = first; i != end; ++i) {
        is_one = is_one && common_[i] == preferred;
        if (common_[i] == 0) found = 0;
    }
    if (!is_one && found != 0) {
        std::uint64_t node = ~std::uint64_t{0};
        if (level == 0) {
            for (std::size_t i = first; i != end; ++i) node &= nodes_[common_[i]];
        } else {
            std::uint64_t children[2];
            for (bool is_right : {false, true}) {
                for (std::size_t i = first; i != end; ++i) common_.push_back(child(common_[i], is_right));
                children[is_right] = common(end, level - 1);
            }
            node = children[1] << 32 | children[0];
        }
        std::size_t like = first;
        while (like != end && nodes_[common_[like]] != node) ++like;
        found = like != end ? common_[like] : made(node);
    }
    common_.resize(first);
    return found;
}

// --- sets on all paths -----------------------------------------------------------------------------------

SUBLET_DECL std::vector<node_id> forward_order(snapshot const& p)
{
    std::vector<node_id> order, path{0};
    std::vector<std::size_t> followed(p.nodes(), 0); // edges, plus 1 for the node itself
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
    std::reverse(order.begin(), order.end());
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
    rank_ = std::vector<std::uint32_t>(values, rank_set::none);
    for (sort_key const& k : by_place) {
        rank_[k.id] = static_cast<std::uint32_t>(root_.size());
        root_.push_back(k.id);
    }
    csr_rows const values_of = csr_rows::gathered(root_.size(), [this, values](auto add) {
        for (value_id v = 0; v != values; ++v)
            if (is_placed(v)) add(rank_of(v), v);
    });
    number_ = std::vector<std::uint32_t>(values, rank_set::none);
    for (std::uint32_t rank = 0; rank != root_.size(); ++rank) {
        first_.push_back(static_cast<std::uint32_t>(value_.size()));
        for (value_id v : values_of[rank]) {
            number_[v] = static_cast<std::uint32_t>(value_.size());
            value_.push_back(v);
        }
    }
    first_.push_back(static_cast<std::uint32_t>(value_.size()));
}

SUBLET_DECL witness placed_classes::clash(value_id value, value_id other, step_id position) const
{
    auto const [begin, end] = overlap(value, other);
    return {.what = fault::clash,
            .value = value,
            .other = other,
            .position = position,
            .begin = begin,
            .end = end,
            .pool = place_of(*plan_, value).pool};
}

SUBLET_DECL bool available_set::clobber(std::uint32_t number, value_id v)
{
    if (number == shared_sets::none || !all_->overlaps(all_->value_at(number), v)) return false;
    now_ = sets_.without(now_, all_->numbers_at(all_->rank_of(all_->value_at(number))));
    return true;
}

SUBLET_DECL void available_set::write(value_id v)
{
    live_range const own = all_->numbers_at(all_->rank_of(v));
    clobber(sets_.before(now_, own.first), v);
    while (clobber(sets_.from(now_, own.last), v)) {}
    add(v);
}

// --- available values ------------------------------------------------------------------------------------

SUBLET_DECL sets_on_all_paths find_available(snapshot const& p, placed_classes const& classes,
                                             std::vector<value_id> const& given, available_set& scratch)
{
    for (value_id v : given) scratch.add(v);
    return find_on_all_paths(p, scratch.sets(), scratch.now(), [&](node_id n, shared_sets::set entry) {
        scratch.become(entry);
        for (touch t : p.touches(p.steps_of(n)))
            if (t.defines() && classes.is_placed(t.value)) scratch.write(t.value);
        return scratch.now();
    });
}

// --- clobber path ----------------------------------------------------------------------------------------

SUBLET_DECL std::optional<witness> find_clobber_path(clobber_query const& query, value_id v, node_id n,
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
    std::vector<unsigned char> is_seen(p.nodes(), 0), is_seen_clobbered = is_seen;
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
            std::vector<unsigned char>& seen = at.clobber == no_value ? is_seen : is_seen_clobbered;
            if (!query.is_reached[from] || std::exchange(seen[from], 1)) continue;
            open.push_back({from, p.steps_of(from).last, at.clobber, at.step});
        }
    }
    return std::nullopt;
}

} // namespace sublet::detail
