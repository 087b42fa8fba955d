// SPDX-License-Identifier: BSL-1.0

/// One pass over the values for each kind of fault, in the order in which faults are reported. A rank_set
/// finds neighbours by the highest or lowest bit of a word, going up until there is one and down again.

#include <sublet/checking/internal/places.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>

#include <bit>
#include <utility>
#include <vector>

// --- rank set --------------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL rank_set::rank_set(std::size_t n)
{
    std::size_t words = 0;
    do {
        n = n / 64 + 1;
        begin_[levels_++] = words;
        words += n;
    } while (n != 1);
    words_ = std::vector<std::uint64_t>(words, 0);
}

SUBLET_DECL void rank_set::insert(std::uint32_t r)
{
    for (unsigned level = 0; level != levels_; ++level, r /= 64) {
        std::uint64_t& here = word(level, r / 64);
        bool const is_known_above = here != 0;
        here |= bit(r);
        if (is_known_above) return;
    }
}

SUBLET_DECL void rank_set::erase(std::uint32_t r)
{
    for (unsigned level = 0; level != levels_; ++level, r /= 64)
        if ((word(level, r / 64) &= ~bit(r)) != 0) return;
}

SUBLET_DECL std::uint32_t rank_set::below(std::uint32_t r) const
{
    for (unsigned level = 0; level != levels_; ++level, r /= 64) {
        std::uint64_t const on_this_side = words_[begin_[level] + r / 64] & (bit(r) - 1);
        if (on_this_side == 0) continue;
        r = r / 64 * 64 + highest(on_this_side);
        while (level-- != 0) r = r * 64 + highest(words_[begin_[level] + r]);
        return r;
    }
    return none;
}

SUBLET_DECL std::uint32_t rank_set::above(std::uint32_t r) const
{
    for (unsigned level = 0; level != levels_; ++level, r /= 64) {
        std::uint64_t const on_this_side = words_[begin_[level] + r / 64] & ~(bit(r) | (bit(r) - 1));
        if (on_this_side == 0) continue;
        r = r / 64 * 64 + lowest(on_this_side);
        while (level-- != 0) r = r * 64 + lowest(words_[begin_[level] + r]);
        return r;
    }
    return none;
}

SUBLET_DECL std::uint64_t rank_set::bit(std::uint32_t r) { return std::uint64_t{1} << r % 64; }

SUBLET_DECL std::uint32_t rank_set::highest(std::uint64_t w)
{
    return 63 - static_cast<std::uint32_t>(std::countl_zero(w));
}

SUBLET_DECL std::uint32_t rank_set::lowest(std::uint64_t w)
{
    return static_cast<std::uint32_t>(std::countr_zero(w));
}

// --- check places ----------------------------------------------------------------------------------------

SUBLET_DECL bool is_complete(memory_plan const& plan, std::size_t values)
{
    if (plan.buffer_of.size() != values) return false;
    if (!plan.offset_in_root.empty() && plan.offset_in_root.size() != values) return false;
    for (buffer_id b : plan.buffer_of)
        if (b != no_buffer && b >= plan.buffers.size()) return false;
    return true;
}

SUBLET_DECL std::optional<counterexample> larger_than_root(plan_requirements const& required)
{
    for (value_id v = 0; v != required.root.size(); ++v) {
        value_id const r = required.root[v];
        byte_count const said = required.bytes[v], root = required.bytes[r];
        byte_count const view = said == no_size ? 0 : said; // the rest of the root, if there is any
        if (v == r || root == no_size) continue;
        byte_count const begin = required.offset_in_root[v];
        if (begin > root || view > root - begin)
            return counterexample{fault::oversized_view,
                                  counterexample::view{.value = v,
                                                       .other = r,
                                                       .end = sum_fits(begin, view) ? begin + view : begin,
                                                       .needed = root}};
    }
    return std::nullopt;
}

SUBLET_DECL std::optional<counterexample> unlike_root(plan_requirements const& required,
                                                      plan_options const& options)
{
    std::size_t const values = required.root.size();
    for (value_id v = 0; v != values; ++v) {
        value_id const r = required.root[v];
        if (v == r) continue;
        auto says = [v, r](char const* name, byte_count its, byte_count of_root) {
            return counterexample{
                fault::unlike_root,
                counterexample::view{.value = v, .other = r, .end = its, .needed = of_root, .fact = name}};
        };
        byte_count const begin = required.offset_in_root[v], alignment = required.alignment[v];
        if (alignment != required.alignment[r] && begin % alignment != 0)
            return says("alignment", alignment, begin);
        if (pool_id const pool = required.pool[v]; pool != 0 && pool != required.pool[r])
            return says("pool", pool, required.pool[r]);
        if (std::uint32_t const kind = required.kind[v]; kind != 0 && kind != required.kind[r])
            return says("kind", kind, required.kind[r]);
        bool const is_external = has_role(required.role[v], value_role::external);
        if (is_external && !has_role(required.role[r], value_role::external)) return says("role", 0, 0);
        if (!required.eligible[v] && required.eligible[r]) return says("eligible", 0, 1);
    }
    for (plan_options::pool_choice const& c : options.pool_choices)
        if (c.value < values && required.root[c.value] != c.value)
            return counterexample{fault::unlike_root, counterexample::view{.value = c.value,
                                                                           .other = required.root[c.value],
                                                                           .end = c.pool,
                                                                           .fact = "pool_choices"}};
    return std::nullopt;
}

/// A value of storage of 0 bytes without a place, or with another than its own; or a place of another value.
SUBLET_DECL std::optional<counterexample> misplaced_empty_value(plan_requirements const& required,
                                                                memory_plan const& plan)
{
    std::size_t next = 0; // in plan.empty
    for (value_id v = 0; v != required.root.size(); ++v) {
        value_id const r = required.root[v];
        bool const is_empty_value = required.is_empty_storage(r);
        bool const has_place = next != plan.empty.size() && plan.empty[next].value == v;
        if (is_empty_value != has_place)
            return counterexample{has_place ? fault::needless : fault::unplaced,
                                  counterexample::place{.value = v}};
        if (!has_place) continue;
        memory_plan::empty_value const at = plan.empty[next++];
        byte_count const offset = required.pinned[r] == no_offset ? 0 : required.pinned[r];
        if (at.pool != required.pool[r])
            return counterexample{fault::wrong_pool,
                                  counterexample::place{.value = v, .pool = required.pool[r]}};
        for (byte_count needed : {offset, required.pinned[v]})
            if (needed != at.offset && needed != no_offset)
                return counterexample{
                    fault::off_pin,
                    counterexample::place{.value = v, .pool = at.pool, .begin = at.offset, .needed = needed}};
    }
    if (next == plan.empty.size()) return std::nullopt;
    return counterexample{fault::needless, counterexample::place{.value = plan.empty[next].value}};
}

SUBLET_DECL std::optional<counterexample> wrong_storage(plan_requirements const& required,
                                                        memory_plan const& plan)
{
    for (value_id v = 0; v != plan.buffer_of.size(); ++v) {
        bool const has_buffer = plan.buffer_of[v] != no_buffer;
        if (!required.is_planned(required.root[v])) {
            if (has_buffer) return counterexample{fault::needless, counterexample::place{.value = v}};
        } else if (!has_buffer || place_of(plan, v).offset == no_offset) {
            return counterexample{fault::unplaced, counterexample::place{.value = v}};
        }
    }
    return misplaced_empty_value(required, plan);
}

SUBLET_DECL std::optional<counterexample> misplaced(plan_requirements const& required,
                                                    memory_plan const& plan, plan_options const& options)
{
    std::vector<sort_key> choices; // ascending {value, pool}
    std::size_t const values = plan.buffer_of.size();
    table<value_id, unsigned char> has_choice(options.pool_choices.empty() ? 0 : values, 0);
    for (plan_options::pool_choice const& c : options.pool_choices) {
        SUBLET_EXPECTS(c.value < values, "sublet: a choice names value %, but there are only % values",
                       c.value, values);
        has_choice[c.value] = 1;
        choices.push_back({c.value, c.pool, 0});
    }
    sort_by_key(choices);
    auto may_be_in = [&](value_id v, pool_id pool) {
        if (has_choice.empty() || has_choice[v] == 0) return pool == required.pool[v];
        return is_listed(choices, sort_key{v, pool, 0});
    };
    for (value_id v = 0; v != plan.buffer_of.size(); ++v) {
        value_id const r = required.root[v];
        if (!required.is_planned(r)) continue;
        auto const [pool, offset] = place_of(plan, v);
        auto refuse = [v, begin = offset, in = pool](fault what, byte_count needed, byte_count end = 0) {
            return counterexample{
                what,
                counterexample::place{.value = v, .pool = in, .begin = begin, .end = end, .needed = needed}};
        };

        if (v != r) {
            auto const [root_pool, root_begin] = place_of(plan, r);
            byte_count const needed = root_begin + required.offset_in_root[v];
            if (pool != root_pool || offset != needed) {
                return counterexample{
                    fault::misplaced_view,
                    counterexample::view{
                        .value = v, .other = r, .pool = pool, .begin = offset, .needed = needed}};
            }
        }
        if (!may_be_in(r, pool)) {
            bool const chose = !has_choice.empty() && has_choice[r] != 0;
            return counterexample{fault::wrong_pool,
                                  counterexample::place{.value = v,
                                                        .pool = chose ? pool : required.pool[r],
                                                        .begin = offset,
                                                        .needed = chose ? 1u : 0u}};
        }
        // A multiple of each alignment is a multiple of their lcm, which might exceed 64 bits.
        byte_count const of_pool = pool < options.pools.size() ? options.pools[pool].alignment : 1;
        byte_count const of_value = required.alignment[v];
        bool const is_asked = required.offset_in_root[v] % of_value == 0; // else it is said of the root
        if (is_asked && offset % of_value != 0) return refuse(fault::misaligned, of_value);
        bool const begins_there = required.offset_in_root[v] == 0; // where its root begins
        if (begins_there && offset % of_pool != 0) return refuse(fault::misaligned, of_pool);
        byte_count const pin = required.pinned[v];
        if (pin != no_offset && pin != offset) return refuse(fault::off_pin, pin);
        if (pool >= plan.arena_bytes.size()) return counterexample{fault::foreign_plan};
        if (!begins_there) continue; // within its root
        byte_count const end = sum_fits(offset, required.bytes[r]) ? offset + required.bytes[r] : no_offset;
        if (end == no_offset || end > plan.arena_bytes[pool]) {
            return refuse(fault::outside_arena, plan.arena_bytes[pool], end);
        }
    }
    return std::nullopt;
}

/// The first fault of a pool with a largest block: blocks that are too large, overlap or leave the arena; a
/// buffer that is in none. A plan without blocks has one, the arena.
SUBLET_DECL std::optional<counterexample>
misplaced_in_blocks(plan_requirements const& required, memory_plan const& plan, plan_options const& options)
{
    for (pool_id pool = 0; pool != options.pools.size() && pool != plan.arena_bytes.size(); ++pool) {
        byte_count const largest = options.pools[pool].largest_block, arena = plan.arena_bytes[pool];
        std::vector<memory_plan::block> own;
        for (memory_plan::block const& b : plan.blocks)
            if (b.pool == pool) own.push_back(b);
        if (largest == no_limit && own.empty()) continue;
        if (own.empty()) own.push_back({pool, 0, arena});
        byte_count end = 0;
        for (memory_plan::block const& b : own) {
            if (b.size > largest)
                return counterexample{fault::over_block,
                                      counterexample::place{.pool = pool, .end = b.size, .needed = largest}};
            if (b.begin < end || !sum_fits(b.begin, b.size) || b.begin + b.size > arena)
                return counterexample{fault::foreign_plan};
            end = b.begin + b.size;
        }
        for (value_id v = 0; v != plan.buffer_of.size(); ++v) {
            bool const is_root = required.root[v] == v; // views lie within
            if (!is_root || !required.is_planned(v) || place_of(plan, v).pool != pool) continue;
            byte_count const from = place_of(plan, v).offset, to = from + required.bytes[v];
            std::size_t const after =
                partition_point(own.size(), [&](std::size_t i) { return own[i].begin > from; });
            if (after == 0 || own[after - 1].begin + own[after - 1].size < to)
                return counterexample{
                    fault::crosses_block,
                    counterexample::place{.value = v, .pool = pool, .begin = from, .end = to}};
        }
    }
    return std::nullopt;
}

/// The first class in a reserved range, or closer to one than the guard.
SUBLET_DECL std::optional<counterexample> reserved_place(plan_requirements const& required,
                                                         memory_plan const& plan, plan_options const& options)
{
    bool is_any = false;
    for (pool_limits const& pool : options.pools) is_any = is_any || !pool.reserved.empty();
    for (value_id v = 0; is_any && v != plan.buffer_of.size(); ++v) {
        if (required.root[v] != v || !required.is_planned(v)) continue; // views lie within
        auto const [pool, offset] = place_of(plan, v);
        if (pool >= options.pools.size()) continue;
        byte_count const guard = options.pools[pool].guard;
        for (auto const& range : options.pools[pool].reserved) {
            if (range.first >= range.second) continue;
            bool const is_above = offset >= range.second && offset - range.second >= guard;
            byte_count const end = offset + required.bytes[v];
            if (is_above || (end <= range.first && range.first - end >= guard)) continue;
            return counterexample{
                fault::in_reserved,
                counterexample::place{
                    .value = v, .pool = pool, .begin = range.first, .end = range.second, .needed = offset}};
        }
    }
    return std::nullopt;
}

SUBLET_DECL std::optional<counterexample> check_places(plan_requirements const& required,
                                                       memory_plan const& plan, plan_options const& options)
{
    if (auto fact = larger_than_root(required)) return fact;
    if (auto fact = unlike_root(required, options)) return fact;
    if (auto fact = wrong_storage(required, plan)) return fact;
    if (auto fact = misplaced(required, plan, options)) return fact;
    if (auto fact = reserved_place(required, plan, options)) return fact;
    for (pool_id pool = 0; pool != plan.arena_bytes.size() && pool != options.pools.size(); ++pool) {
        byte_count const has = plan.arena_bytes[pool], capacity = options.pools[pool].capacity;
        if (has > capacity)
            return counterexample{fault::over_capacity,
                                  counterexample::place{.pool = pool, .end = has, .needed = capacity}};
    }
    return misplaced_in_blocks(required, plan, options);
}

// --- carried ---------------------------------------------------------------------------------------------

SUBLET_DECL std::optional<counterexample> hold_carried(plan_requirements& required, memory_plan const& plan,
                                                       plan_options const& options, position_id positions)
{
    std::size_t const values = required.root.size();
    if (options.carried.empty()) return std::nullopt;
    table<value_id, value_id> before(values, no_value), after(values, no_value); // one round
    for (plan_options::carry const& c : options.carried) {
        for (value_id v : {c.from, c.to})
            SUBLET_EXPECTS(required.root[v] == v && (required.is_planned(v) || required.is_empty_storage(v)),
                           "sublet: value % is carried, and is a view, or no plan has storage for it", v);
        SUBLET_EXPECTS(
            required.bytes[c.from] == required.bytes[c.to] && required.pool[c.from] == required.pool[c.to] &&
                required.kind[c.from] == required.kind[c.to],
            "sublet: value % is carried into value %, which has another size, pool or kind", c.from, c.to);
        SUBLET_EXPECTS(after[c.from] == no_value && before[c.to] == no_value,
                       "sublet: value % is carried into value %, and one of them is carried twice", c.from,
                       c.to);
        after[c.from] = c.to;
        before[c.to] = c.from;
    }
    std::vector<std::vector<value_id>> groups;        // that change places
    table<value_id, std::size_t> group_of(values, 0); // of a root: its number from 1, or 0
    table<value_id, unsigned char> is_met(values, 0);
    for (value_id v = 0; v != values; ++v) {
        if (is_met[v] != 0 || (after[v] == no_value && before[v] == no_value)) continue;
        std::vector<value_id> group{v};
        is_met[v] = 1;
        bool has_first = after[v] == v; // carried into itself
        for (std::size_t i = 0; i != group.size(); ++i) {
            has_first = has_first || before[group[i]] == no_value;
            for (value_id next : {before[group[i]], after[group[i]]})
                if (next != no_value && std::exchange(is_met[next], 1) == 0) group.push_back(next);
        }
        SUBLET_EXPECTS(has_first, "sublet: value % is carried in a cycle of several", v);
        if (required.bytes[v] == 0 || group.size() == 1) continue;
        if (group.size() == 2 && place_of(plan, group[0]) == place_of(plan, group[1])) continue;
        groups.push_back(std::move(group));
        for (value_id u : groups.back()) {
            group_of[u] = groups.size();
            required.life[u] = {0, positions};
            required.class_role.set(u, required.class_role[u] | value_role::input | value_role::output);
        }
    }
    for (value_id v = 0; v != values && !groups.empty(); ++v) {
        if (group_of[required.root[v]] == 0) continue;
        for (value_id u : groups[group_of[required.root[v]] - 1]) {
            byte_count const at = place_of(plan, u).offset + required.offset_in_root[v];
            if (at % required.alignment[v] != 0)
                return counterexample{
                    fault::misaligned,
                    counterexample::place{
                        .value = v, .pool = required.pool[u], .begin = at, .needed = required.alignment[v]}};
        }
    }
    return std::nullopt;
}

// --- check neighbours ------------------------------------------------------------------------------------

SUBLET_DECL void expect_pages(plan_options const& options, char const* checker)
{
    for (pool_id pool = 0; pool != options.pools.size(); ++pool) {
        SUBLET_EXPECTS(options.pools[pool].page != 0, "sublet: the pages of pool % have 0 bytes", pool);
        SUBLET_EXPECTS(checker == nullptr || options.pools[pool].page == 1,
                       "sublet: pool % has pages, and %() checks none", pool, checker);
    }
}

SUBLET_DECL std::optional<counterexample> shared_page(plan_requirements const& required,
                                                      memory_plan const& plan, plan_options const& options)
{
    std::vector<value_id> roots;
    bool has_pages = false;
    for (pool_limits const& pool : options.pools) has_pages = has_pages || pool.page > 1;
    for (value_id v = 0; v != required.root.size() && has_pages; ++v)
        if (required.root[v] == v && required.is_planned(v))
            if (pool_id const pool = place_of(plan, v).pool;
                pool < options.pools.size() && options.pools[pool].page > 1)
                roots.push_back(v);
    for (value_id a : roots)
        for (value_id b : roots) {
            auto const [pool, begin] = place_of(plan, a);
            auto const [other_pool, other_begin] = place_of(plan, b);
            bool const is_pair = a < b && pool == other_pool && required.kind[a] != required.kind[b];
            if (!is_pair || !overlaps(required.life[a], required.life[b])) continue;
            byte_count const page = options.pools[pool].page;
            byte_count const first = larger(begin / page, other_begin / page);
            byte_count const last =
                smaller((begin + required.bytes[a] - 1) / page, (other_begin + required.bytes[b] - 1) / page);
            if (first > last) continue;
            return counterexample{
                fault::shared_page,
                counterexample::overlap{.value = a,
                                        .other = b,
                                        .position = larger(required.life[a].first, required.life[b].first),
                                        .pool = pool,
                                        .begin = first * page,
                                        .end = (first + 1) * page}};
        }
    return std::nullopt;
}

SUBLET_DECL std::optional<counterexample> shared_bank(plan_requirements const& required,
                                                      memory_plan const& plan, plan_options const& options)
{
    table<value_id, unsigned char> is_carried(options.carried.empty() ? 0 : required.root.size(), 0);
    for (plan_options::carry const& c : options.carried) is_carried[c.from] = is_carried[c.to] = 1;
    for (auto const& pair : options.apart) {
        value_id const one = required.root[pair.first], two = required.root[pair.second];
        value_id const a = smaller(one, two), b = larger(one, two);
        SUBLET_EXPECTS(a != b, "sublet: values % and % are kept apart, and are parts of one storage",
                       pair.first, pair.second);
        for (value_id v : {a, b}) {
            SUBLET_EXPECTS(is_empty(required.life[v]) || required.is_planned(v) ||
                               required.is_empty_storage(v),
                           "sublet: value % is kept apart from another, and no plan has storage for it", v);
            SUBLET_EXPECTS(is_carried.empty() || is_carried[v] == 0,
                           "sublet: value % is kept apart from another, and carried into the next round", v);
        }
        if (!required.is_planned(a) || !required.is_planned(b)) continue;
        auto const [pool, begin] = place_of(plan, a);
        auto const [other_pool, other_begin] = place_of(plan, b);
        if (pool != other_pool || !overlaps(required.life[a], required.life[b])) continue;
        byte_count const bank = pool < options.pools.size() ? options.pools[pool].bank : 1;
        SUBLET_EXPECTS(bank != 0, "sublet: the banks of pool % have 0 bytes", pool);
        byte_count const from = larger(begin / bank, other_begin / bank);
        byte_count const to =
            smaller((begin + required.bytes[a] - 1) / bank, (other_begin + required.bytes[b] - 1) / bank);
        if (from > to) continue;
        return counterexample{
            fault::shared_bank,
            counterexample::overlap{.value = a,
                                    .other = b,
                                    .position = larger(required.life[a].first, required.life[b].first),
                                    .pool = pool,
                                    .begin = from * bank,
                                    .end = (from + 1) * bank}};
    }
    return std::nullopt;
}

SUBLET_DECL bool has_guard(plan_options const& options)
{
    for (pool_limits const& pool : options.pools)
        if (pool.guard != 0) return true;
    return false;
}

SUBLET_DECL plan_requirements with_guards(plan_requirements required, memory_plan const& plan,
                                          plan_options const& options)
{
    for (value_id v = 0; v != required.root.size(); ++v) {
        if (required.root[v] != v || !required.is_planned(v)) continue;
        pool_id const pool = place_of(plan, v).pool;
        if (pool < options.pools.size())
            required.bytes[v] = checked_add(required.bytes[v], options.pools[pool].guard);
    }
    return required;
}

SUBLET_DECL counterexample too_close(counterexample fact, plan_requirements const& required,
                                     memory_plan const& plan)
{
    auto const* const both = fact.as<counterexample::overlap>();
    if (both == nullptr) return fact;
    counterexample::overlap its = *both;
    common_bytes const apart = overlap(required, plan, required.root[its.value], required.root[its.other]);
    its.begin = apart.end; // of the lower one
    its.end = apart.begin;
    fact.what = fault::too_close;
    fact.of = its;
    return fact;
}

} // namespace sublet::detail
