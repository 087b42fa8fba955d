// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/analysis/internal/unclear.hpp>
#include <sublet/checking/internal/places.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <optional>
#include <utility>

// --- lowered program -------------------------------------------------------------------------------------

namespace sublet::detail {

class program_lowering {
public:
    program_lowering(snapshot const& program, lowered_program& lowered, bool in_place)
        : program_(program), lowered_(lowered), in_place_(in_place),
          written_view_in_(program.has_views() ? program.values() : 0, no_step)
    {
        table<step_id, position_id> position_of(lowered.step_at.size());
        for (position_id at = 0; at != lowered.positions(); ++at) position_of[lowered.step_at[at]] = at;
        for (edge_use u : program.edge_uses())
            end_uses_.push_back({position_of[program.steps_of(u.pred).last - 1],
                                 std::uint64_t{is_empty_view(u.value)}, lowered.table.buffer_of[u.value]});

        table<buffer_id, unsigned char> is_needed(lowered.table.buffers.size(), 0);
        for (sort_key const& u : end_uses_) is_needed[u.id] = 1;
        for (step_id s : lowered.step_at)
            for (touch t : program.touches(s)) is_needed[lowered.table.buffer_of[t.value]] = 1;
        for (buffer_id b = 0; b != is_needed.size(); ++b)
            if (!is_needed[b] && has_role(lowered.table.buffers[b].role, value_role::input)) {
                end_uses_.push_back({0, 1, b});
                lowered.unused_inputs.push_back(b);
            }
        sort_by_key(end_uses_);
    }

    void write(table<value_id, unsigned char> const& is_scratch)
    {
        std::size_t const buffers = lowered_.table.buffers.size();
        lowered_.ref_counts.assign(buffers, 0);
        lowered_.first_write.assign(buffers, no_position);
        lowered_.is_updated.assign(buffers, 0);
        accesses_.assign(buffers, {});
        for (edge_use u : program_.edge_uses())
            SUBLET_EXPECTS(!is_scratch[u.value],
                           "sublet: scratch may not be read by a step, but value % is, at the end of node %",
                           u.value, u.pred);
        for (position_id at = 0; at != lowered_.positions(); ++at) write_step(at, is_scratch);
        for (buffer_id b = 0; b != buffers; ++b)
            lowered_.ref_counts[b] += has_role(lowered_.table.buffers[b].role, value_role::output);
        for (value_id v = 0; v != is_scratch.size(); ++v)
            SUBLET_EXPECTS(
                !is_scratch[v] || lowered_.ref_counts[lowered_.table.buffer_of[v]] <= 1,
                "sublet: scratch may be touched by one step only, and may not be an output: value %", v);
    }

private:
    /// How the current step touches a buffer.
    struct step_access {
        position_id at = no_position;
        value_id sole_read = no_value; // the only value of it that is read; no_value: other touches
        bool is_early = true;          // every touch is an early use
        bool has_bytes = false;        // some touch may read or write
    };

    void write_step(position_id at, table<value_id, unsigned char> const& is_scratch)
    {
        step_id const step = lowered_.step_at[at];
        for (touch t : program_.touches(step)) {
            bool const defines = t.defines(), may_write = defines || t.writes();
            buffer_id const b = lowered_.table.buffer_of[t.value];
            SUBLET_EXPECTS(!is_scratch[t.value] || defines,
                           "sublet: scratch may not be read by a step, but value % is, by step %", t.value,
                           step);
            // Of a view that the step writes and reads, the write is listed first: it is one result.
            if (t.kind == touch::access::write_view) written_view_in_[t.value] = step;
            bool const is_again = t.kind == touch::access::read_view && written_view_in_[t.value] == step;
            if (!is_again)
                (is_scratch[t.value] ? lowered_.scratch
                 : may_write         ? lowered_.defs
                                     : lowered_.uses)
                    .append(t.value);
            if (t.views_what_is_there() && !is_again) lowered_.views.append(t.value);
            if (t.writes() && !t.makes()) {
                lowered_.is_updated[b] = 1;
                lowered_.updates.append(t.value);
            }
            touch_buffer(b, at, may_write ? no_value : t.value, t.kind == touch::access::use_early,
                         t.kind != touch::access::view && !is_empty_view(t.value));
            if (t.writes() && lowered_.first_write[b] == no_position) lowered_.first_write[b] = at;
        }
        for (; next_end_use_ != end_uses_.size() && end_uses_[next_end_use_].key == at; ++next_end_use_)
            touch_buffer(end_uses_[next_end_use_].id, at, no_value, false, end_uses_[next_end_use_].tie == 0);

        for (buffer_id b : touched_) { // in a single order an input is live in [0, 1) at least
            bool const is_input = has_role(lowered_.table.buffers[b].role, value_role::input);
            bool const stays_live = at == 0 && is_input && !lowered_.is_any_schedule;
            if (accesses_[b].is_early && !stays_live) lowered_.reuses.push_back({b, no_buffer});
        }
        for (overwrite pair : program_.overwrites(step)) {
            buffer_id const from = lowered_.table.buffer_of[pair.in], to = lowered_.table.buffer_of[pair.out];
            auto const& begin = lowered_.table.offset_in_root;
            bool const is_read = accesses_[from].at == at && accesses_[from].sole_read == pair.in &&
                                 (begin.empty() || begin[pair.in] == begin[pair.out]);
            bool writes_only_it = true;
            for (touch t : program_.touches(step))
                writes_only_it = writes_only_it && (!t.writes() || t.value == pair.out ||
                                                    lowered_.table.buffer_of[t.value] != to);
            if (in_place_ && is_read && writes_only_it && lowered_.first_write[to] == at)
                lowered_.reuses.push_back({from, to});
        }
        lowered_.reuses_begin.push_back(static_cast<std::uint32_t>(lowered_.reuses.size()));
        for (buffer_id b : touched_) {
            lowered_.touched.append(b);
            if (accesses_[b].has_bytes) lowered_.accessed.append(b);
            ++lowered_.ref_counts[b];
        }
        touched_.clear();
        for (auto* rows :
             {&lowered_.uses, &lowered_.defs, &lowered_.views, &lowered_.updates, &lowered_.scratch})
            rows->close_row();
        lowered_.touched.close_row();
        lowered_.accessed.close_row();
    }

    /// A view of no bytes: its users access none.
    bool is_empty_view(value_id v) const
    {
        buffer const& its = lowered_.table.buffers[lowered_.table.buffer_of[v]];
        return lowered_.bytes[v] == 0 && its.size != 0;
    }
    void touch_buffer(buffer_id b, position_id at, value_id read, bool is_early, bool has_bytes)
    {
        if (accesses_[b].at != at) {
            accesses_[b] = {at, read, is_early, has_bytes};
            touched_.push_back(b);
            return;
        }
        accesses_[b].has_bytes = accesses_[b].has_bytes || has_bytes;
        if (accesses_[b].sole_read != read) accesses_[b].sole_read = no_value;
        accesses_[b].is_early = accesses_[b].is_early && is_early;
    }

    snapshot const& program_;
    lowered_program& lowered_;
    bool in_place_;
    std::vector<sort_key> end_uses_; // {position, 1: accesses no byte, buffer}: used at its end
    std::size_t next_end_use_ = 0;   // index of the next entry of end_uses_
    table<buffer_id, step_access> accesses_;
    std::vector<buffer_id> touched_;
    table<value_id, step_id> written_view_in_; // the last step that makes it and writes through it
};

/// Lowers the steps in a given order, which is not checked; `lives` are the live ranges in it.
SUBLET_DECL lowered_program lower_in_order(snapshot const& program, plan_options const& options,
                                           per_value<bool> const& scratch, live_ranges const& lives,
                                           table<position_id, step_id> steps, bool is_any_schedule)
{
    lowered_program lowered;
    lowered.step_at = std::move(steps);
    lowered.table = gather_buffers(lives, options);
    if (value_id const v = lowered.table.oversized_view; v != no_value) {
        buffer const& its = lowered.table.buffers[lowered.table.buffer_of[v]];
        throw unsound_plan({fault::oversized_view, counterexample::view{.value = v,
                                                                        .other = its.root,
                                                                        .end = lowered.table.oversized_bytes,
                                                                        .needed = its.size}});
    }
    lowered.pools = options.pools.size();
    for (buffer& b : lowered.table.buffers) {
        if (b.pool < options.pools.size())
            b.alignment = combine_alignment(b.alignment, options.pools[b.pool].alignment);
        SUBLET_EXPECTS(!b.is_planned() || b.pool < 65536,
                       "sublet: value % names pool %, which is out of range (pools are numbered from 0)",
                       b.root, b.pool);
        if (b.is_planned()) lowered.pools = std::max(lowered.pools, std::size_t{b.pool} + 1);
    }
    if (auto const unclear = find_unclear(program, options)) throw unsound_plan(*unclear);
    lowered.bytes = options.bytes.tabulate(program.values());
    for (value_id v = 0; v != lowered.bytes.size(); ++v)
        lowered.bytes[v] = std::min(lowered.bytes[v], lowered.table.buffers[lowered.table.buffer_of[v]].size);
    lowered.is_any_schedule = is_any_schedule;
    program_lowering writer(program, lowered, options.in_place);
    writer.write(scratch.tabulate(program.values()));
    return lowered;
}

} // namespace sublet::detail

namespace sublet {

namespace detail {

SUBLET_DECL lowered_program lower_program(snapshot const& program, plan_options const& options,
                                          per_value<bool> const& scratch)
{
    live_ranges const lives = lifetimes(program, lifetimes_of(options));
    if (!lives) throw unsound_plan(lives.error());
    return detail::lower_in_order(program, options, scratch, lives, steps_in_order(program, options.order),
                                  false);
}

SUBLET_DECL lowered_program lower_program(snapshot const& program, plan_options const& options,
                                          per_value<bool> const& scratch,
                                          table<position_id, step_id> steps)
{
    if (steps.size() != program.steps()) broken_order(steps, program.steps(), "step");
    auto const role = options.role.tabulate(program.values());
    live_ranges lives{
        {}, table<value_id, live_range>(program.values()), static_cast<std::uint32_t>(steps.size())};
    auto touched = [&lives](value_id v, position_id at) { lives.of[v] = hull(lives.of[v], {at, at + 1}); };
    table<step_id, position_id> position_of(steps.size(), no_position);
    for (position_id at = 0; at != steps.size(); ++at) {
        if (steps[at] >= steps.size() || position_of[steps[at]] != no_position)
            broken_order(steps, program.steps(), "step");
        position_of[steps[at]] = at;
        for (touch t : program.touches(steps[at])) touched(t.value, at);
    }
    for (edge_use u : program.edge_uses()) touched(u.value, position_of[program.steps_of(u.pred).last - 1]);
    for (value_id v = 0; v != program.values(); ++v) {
        if (has_role(role[v], value_role::input)) touched(v, 0);
        if (has_role(role[v], value_role::output) && !steps.empty()) touched(v, lives.positions - 1);
    }
    return detail::lower_in_order(program, options, scratch, lives, std::move(steps), true);
}

SUBLET_DECL plan_options options_of_plan(snapshot const& program, plan_options options,
                                         memory_plan const& plan)
{
    if (!is_complete(plan, program.values())) throw unsound_plan({fault::foreign_plan});
    table<value_id, pool_id> pool = options.pool.tabulate(program.values(), "pool");
    for (value_id v = 0; v != pool.size(); ++v)
        if (plan.buffer_of[v] != no_buffer) pool[v] = plan.buffers[plan.buffer_of[v]].pool;
    options.pool = std::move(pool);
    options.in_place = true;
    if (plan.valid_for != program_reading::concurrent) options.order = plan.order;
    return options;
}

} // namespace detail

// --- digest ----------------------------------------------------------------------------------------------

SUBLET_DECL std::uint64_t digest(std::span<std::byte const> bytes) noexcept
{
    std::uint64_t sum = bytes.size(), k = 0;
    std::size_t at = 0;
    for (; bytes.size() - at >= 8; at += 8) {
        std::uint64_t word;
        std::memcpy(&word, bytes.data() + at, 8);
        sum += detail::mix(word ^ detail::mix(++k));
    }
    if (at != bytes.size()) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, bytes.size() - at);
        sum += detail::mix(word ^ detail::mix(++k));
    }
    return sum;
}

SUBLET_DECL void fill_noise(std::span<std::byte> bytes, std::uint64_t seed) noexcept
{
    std::uint64_t const key = detail::mix(seed);
    std::uint64_t k = 0;
    std::size_t at = 0;
    for (; bytes.size() - at >= 8; at += 8) {
        std::uint64_t const word = detail::mix(key ^ detail::mix(k++));
        std::memcpy(bytes.data() + at, &word, 8);
    }
    std::uint64_t const word = detail::mix(key ^ detail::mix(k));
    if (at != bytes.size()) std::memcpy(bytes.data() + at, &word, bytes.size() - at);
}

} // namespace sublet

// --- poison ----------------------------------------------------------------------------------------------

#if defined(__SANITIZE_ADDRESS__)
#define SUBLET_UNDER_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SUBLET_UNDER_ASAN
#endif
#endif

#if defined(SUBLET_UNDER_ASAN)
extern "C" void __asan_poison_memory_region(void const volatile*, std::size_t);
extern "C" void __asan_unpoison_memory_region(void const volatile*, std::size_t);
#endif

namespace sublet::detail {

SUBLET_DECL void paint(std::span<std::byte> bytes)
{
    if (!bytes.empty()) std::memset(bytes.data(), 0xFF, bytes.size());
}

SUBLET_DECL void poison_bytes([[maybe_unused]] std::span<std::byte> bytes)
{
#if defined(SUBLET_UNDER_ASAN)
    __asan_poison_memory_region(bytes.data(), bytes.size());
#else
    paint(bytes);
#endif
}

SUBLET_DECL void unpoison_bytes([[maybe_unused]] std::span<std::byte> bytes)
{
#if defined(SUBLET_UNDER_ASAN)
    __asan_unpoison_memory_region(bytes.data(), bytes.size());
#endif
}

} // namespace sublet::detail

#undef SUBLET_UNDER_ASAN

// --- storage ---------------------------------------------------------------------------------------------

namespace sublet {

SUBLET_DECL arena::arena(memory_plan p) : plan(std::move(p)) {}

} // namespace sublet

namespace sublet::detail {

SUBLET_DECL void expect_placed(lowered_program const& lowered, memory_plan const& plan)
{
    auto fail = [](counterexample const& why) { throw unsound_plan(why); };
    if (!is_complete(plan, lowered.table.buffer_of.size())) fail({fault::foreign_plan});
    for (buffer const& b : lowered.table.buffers) {
        if (!b.is_planned()) continue;
        if (plan.buffer_of[b.root] == no_buffer)
            fail({fault::unplaced, counterexample::place{.value = b.root}});
        auto const [pool, at] = place_of(plan, b.root);
        if (pool != b.pool || pool >= plan.arena_bytes.size()) fail({fault::foreign_plan});
        byte_count const has = plan.arena_bytes[pool];
        if (at > has || b.size > has - at)
            fail({fault::outside_arena,
                  counterexample::place{.value = b.root,
                                        .pool = b.pool,
                                        .begin = at,
                                        .end = sum_fits(at, b.size) ? at + b.size : no_offset,
                                        .needed = has}});
        if (at % b.alignment != 0)
            fail(
                {fault::misaligned,
                 counterexample::place{.value = b.root, .pool = b.pool, .begin = at, .needed = b.alignment}});
    }
}

SUBLET_DECL std::span<std::byte> part_of(lowered_program const& lowered, value_id v,
                                         std::span<std::byte> whole)
{
    auto const& offsets = lowered.table.offset_in_root;
    byte_count const begin = offsets.empty() ? 0 : smaller(offsets[v], byte_count{whole.size()});
    return whole.subspan(to_size(begin), to_size(smaller(lowered.bytes[v], whole.size() - begin)));
}

SUBLET_DECL table<pool_id, byte_count> arena_alignments(lowered_program const& lowered,
                                                       memory_plan const& plan)
{
    table<pool_id, byte_count> alignment(plan.arena_bytes.size(), 1);
    for (buffer const& b : lowered.table.buffers)
        if (b.is_planned()) alignment[b.pool] = std::max(alignment[b.pool], b.alignment);
    return alignment;
}

SUBLET_DECL std::byte* arena_blocks::address_for(pool_id pool, byte_count bytes,
                                                 byte_count alignment) const
{
    SUBLET_EXPECTS(pool < most_.size() && bytes <= most_[pool],
                   "sublet: % bytes of pool % are needed in a growing arena that was made for another plan",
                   bytes, pool);
    std::byte* const first = addresses_[pool];
    SUBLET_EXPECTS(
        reinterpret_cast<std::uintptr_t>(first) % alignment == 0,
        "sublet: a growing arena is not aligned to %, but pool % needs it: plan with that alignment",
        alignment, pool);
    return first;
}

SUBLET_DECL void arena_blocks::use_for(std::uint64_t user, std::span<byte_count const> bytes)
{
    user_ = 0;
    pool_id pool = 0;
    try { // what one pool gives back may be what another needs
        for (pool = 0; pool != bytes.size(); ++pool)
            if (bytes[pool] != 0 && bytes[pool] <= bytes_[pool]) resize_(*this, pool, bytes[pool]);
        for (pool = 0; pool != bytes.size(); ++pool)
            if (bytes[pool] != 0 && bytes[pool] > bytes_[pool]) resize_(*this, pool, bytes[pool]);
    } catch (...) {
        throw allocation_error(no_step, bytes[pool], std::current_exception());
    }
    user_ = user;
}

SUBLET_DECL value_storage::~value_storage()
{
    for (std::size_t b = 0; shared_ == nullptr && b != blocks_.size(); ++b) give_back(blocks_[b]);
}

SUBLET_DECL std::span<std::byte> value_storage::bytes_of(buffer_id b) const
{
    return {where_[b], where_[b] == nullptr ? 0 : static_cast<std::size_t>(capacity_[b])};
}

SUBLET_DECL std::span<std::byte> value_storage::value_bytes(lowered_program const& lowered, value_id v) const
{
    return part_of(lowered, v, bytes_of(lowered.table.buffer_of[v]));
}

SUBLET_DECL void value_storage::begin(lowered_program const& lowered)
{
    if (has_arena_) return;
    for (buffer_id b = 0; b != where_.size(); ++b)
        if (!has_role(lowered.table.buffers[b].role, value_role::input)) release(lowered, b);
    if (is_recycling_) remaining_ = lowered.ref_counts;
}

SUBLET_DECL void value_storage::before(lowered_program const& lowered, position_id at)
{
    if (has_arena_) return;
    if (is_recycling_)
        for (operand_reuse const& y : lowered.reuses_at(at)) transfer_block(lowered, y);
    for (buffer_id b : lowered.touched[at]) {
        buffer const& its = lowered.table.buffers[b];
        if (where_[b] == nullptr && its.is_planned()) allocate(its, b, lowered.step_at[at]);
    }
}

SUBLET_DECL void value_storage::after(lowered_program const& lowered, position_id at)
{
    if (!is_recycling_) return;
    for (buffer_id b : lowered.touched[at])
        if (is_last(b)) release(lowered, b);
}

SUBLET_DECL void value_storage::end(lowered_program const& lowered)
{
    if (has_arena_) return;
    for (buffer_id b = 0; b != where_.size(); ++b)
        if (!has_role(lowered.table.buffers[b].role, value_role::output)) release(lowered, b);
}

SUBLET_DECL void value_storage::release_all(lowered_program const& lowered)
{
    for (buffer_id b = 0; b != where_.size(); ++b) release(lowered, b);
}

SUBLET_DECL bool value_storage::is_last(buffer_id b)
{
    if (!is_shared_) return --remaining_[b] == 0;
    return std::atomic_ref(remaining_[b]).fetch_sub(1, std::memory_order_acq_rel) == 1;
}

SUBLET_DECL std::uint32_t value_storage::remaining_touches(buffer_id b)
{
    return is_shared_ ? std::atomic_ref(remaining_[b]).load(std::memory_order_acquire) : remaining_[b];
}

SUBLET_DECL value_storage::block value_storage::take(byte_count size, byte_count alignment, step_id step)
{
    try {
        return {static_cast<std::byte*>(memory_.allocate(size, alignment)), size, alignment};
    } catch (...) {
        throw allocation_error(step, size, std::current_exception());
    }
}

SUBLET_DECL void value_storage::give_back(block& b)
{
    if (b.bytes == nullptr) return;
    unpoison_bytes(std::span(b.bytes, to_size(b.size)));
    memory_.deallocate(b.bytes, b.size, b.alignment);
    b = {};
}

SUBLET_DECL void value_storage::transfer_block(lowered_program const& lowered, operand_reuse y)
{
    if (!lowered.is_same_size(y) || remaining_touches(y.from) != 1 || where_[y.to] != nullptr) return;
    block& old = blocks_[y.from];
    if (old.bytes == nullptr || old.alignment < lowered.table.buffers[y.to].alignment) return;
    where_[y.to] = old.bytes; // where_[from] stays: the step reads it
    blocks_[y.to] = std::exchange(old, {});
}

SUBLET_DECL void value_storage::place(lowered_program const& lowered, memory_plan const& plan,
                                      arena_blocks* shared)
{
    expect_placed(lowered, plan);
    table<pool_id, byte_count> const alignment = arena_alignments(lowered, plan);
    has_arena_ = true;
    if (shared != nullptr) {
        arena_bytes_ = plan.arena_bytes;
        user_ = shared->add_user();
        shared_ = shared;
    }
    for (pool_id pool = 0; pool != plan.arena_bytes.size(); ++pool) {
        blocks_.emplace_back();
        byte_count const size = plan.arena_bytes[pool];
        if (size == 0) continue;
        if (shared == nullptr) blocks_.back() = take(size, alignment[pool], no_step);
        else blocks_.back() = {shared->address_for(pool, size, alignment[pool]), size, alignment[pool]};
    }
    for (buffer_id b = 0; b != where_.size(); ++b) {
        buffer const& its = lowered.table.buffers[b];
        if (its.is_planned()) where_[b] = blocks_[its.pool].bytes + plan.offset_of(its.root);
    }
}

} // namespace sublet::detail
