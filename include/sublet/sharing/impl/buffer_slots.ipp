// SPDX-License-Identifier: BSL-1.0

/// Tokens need the graph; both algorithms with chains need the conflicts of it only, which are found once.
/// The matching knows neither bytes nor pools of slots: they are summed up here.

#include <sublet/impl/config.hpp>
#include <sublet/sharing/detail/chains.hpp>
#include <sublet/sharing/detail/tokens.hpp>
#include <sublet/sharing/internal/buffer_slots.hpp>

#include <utility>

namespace sublet::detail {

SUBLET_DECL shared_buffers share_slots(dependence_graph const& g, concurrent_live_ranges const& lives,
                                       per_value<byte_count, buffer_id> const& sizes,
                                       buffer_slot_options const& options)
{
    if (options.strategy != slot_strategy::tokens)
        return share_slots(lives, find_conflict_ranges(g, lives), sizes, options);
    token_plan found = share_by_tokens(g, lives, [&](buffer_id b) { return sizes[b]; },
                                       {.choice = options.choice,
                                        .pool = options.pool,
                                        .eligible = options.eligible,
                                        .most_ranges = options.most_ranges});
    std::uint64_t const undecided = found.undecided;
    return {std::move(found), undecided, {}};
}

SUBLET_DECL shared_buffers share_slots(concurrent_live_ranges const& lives, conflict_ranges const& conflicts,
                                       per_value<byte_count, buffer_id> const& sizes,
                                       buffer_slot_options const& options)
{
    SUBLET_EXPECTS(options.strategy != slot_strategy::tokens,
                   "sublet: sharing by tokens needs the dependence graph");
    if (options.strategy == slot_strategy::chains) {
        chain_plan found = share_in_chains(lives, conflicts, [&](buffer_id b) { return sizes[b]; },
                                           {.choice = options.choice,
                                            .pool = options.pool,
                                            .eligible = options.eligible,
                                            .visits = options.visits});
        return {std::move(found), conflicts.undecided, {}};
    }
    chain_cover cover =
        fewest_slots(lives, conflicts, {.bytes = sizes, .pool = options.pool, .eligible = options.eligible});
    shared_buffers result;
    static_cast<slot_plan&>(result) = std::move(cover.plan);
    result.undecided = conflicts.undecided;
    result.antichain = std::move(cover.antichain);
    result.slot_bytes.assign(result.slots, 0);
    result.slot_pool.assign(result.slots, 0);
    for (buffer_id b = 0; b != lives.buffers(); ++b) {
        slot_id const s = result.slot_of[b];
        if (s == no_slot) continue;
        SUBLET_EXPECTS(sizes[b] != no_size, "sublet: buffer %, of unknown size, cannot share a slot", b);
        result.slot_bytes[s] = larger(result.slot_bytes[s], sizes[b]);
        result.slot_pool[s] = options.pool[b];
    }
    for (byte_count bytes : result.slot_bytes) result.total_bytes = checked_add(result.total_bytes, bytes);
    return result;
}

} // namespace sublet::detail
