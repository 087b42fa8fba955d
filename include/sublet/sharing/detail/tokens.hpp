// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_DETAIL_TOKENS_HPP
#define SUBLET_SHARING_DETAIL_TOKENS_HPP

/// Slots valid under every schedule in one pass, by tokens that travel along the edges of a graph
/// (Caffe2's memonger), and the rule by which a buffer chooses among free slots. A heuristic for graphs of
/// any size.

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/core/internal/callables.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/sharing/detail/token_sets.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

// --- slot choice -----------------------------------------------------------------------------------------

/// Chooses a free slot for each buffer, in the order of begins.
///
///     free slots of the pool            most_shared           s1   had the most occupants
///       s0   64 bytes   2 occupants     best_fit              s2   16 bytes away, s0 is 24
///       s1   16 bytes   4 occupants     smallest_sufficient   s0   the only one with 40 bytes
///       s2   24 bytes   1 occupant      grow_largest          s0
///     wanted: 40 bytes
///
/// Under a partial order a free slot is not free for every buffer: some buffers that begin now come after its
/// last occupant, others do not. A test decides. Besides "no" it returns the position from which on the
/// answer may change; until then the slot is blocked, in a list of that position, and is not tested again.
///
/// Sources: most_shared is the choice of Caffe2's memonger (`memonger.cc`, Facebook 2016) without shapes,
/// caffe2_sized the one with shapes.

namespace sublet::detail {

struct slot_request {
    buffer_id buffer = no_buffer;
    byte_count size = 0; ///< 0: it needs no slot
    pool_id pool = 0;
    position_id begins = 0;
    position_id free_from =
        no_position;             ///< first begin at which another may follow; `no_position`: after unblock()
    bool may_reuse = true;       ///< false: it gets a slot of its own
};

class slot_chooser {
public:
    explicit slot_chooser(std::size_t buffers, slot_choice choice = slot_choice::grow_largest);

    /// The slot of `r.buffer`: a free one by the rule of choice, or a new one. `may_follow(u)` is the
    /// position from which on a buffer that begins there may follow u, the last occupant of a slot:
    /// `r.begins` or lower for "yes", higher for "not before", `no_position` for "not before `unblock(u)`".
    ///
    /// Requires:   `r.begins` does not descend from call to call. `may_follow` and `r.free_from` may be too
    ///             low, which costs another test, but not too high, which costs a slot.
    /// Ensures:    `may_follow` has allowed the last occupant of a slot that is not new. A slot is as large
    ///             as its largest occupant.
    /// Complexity: O((1 + tests) log of the free slots), with caffe2_sized O((1 + tests) x free slots); and
    ///             O(positions) for all calls together.
    /// Throws:     precondition_error for a size that is `no_size` or a pool that is no id.
    template <class MayFollow>
        requires std::same_as<std::invoke_result_t<MayFollow&, buffer_id>, position_id>
    slot_id assign(slot_request const& r, MayFollow may_follow)
    {
        SUBLET_EXPECTS(r.size != no_size, "sublet: a buffer of unknown size cannot share a slot");
        SUBLET_EXPECTS(r.pool != no_pool, "sublet: a pool id is out of range");
        if (r.size == 0) return no_slot;
        unblock_until(r.begins);
        auto is_free = [&](slot_id s) {
            position_id const from = may_follow(slots_[s].occupant);
            if (from > r.begins) block(s, from);
            return from <= r.begins;
        };
        if (r.may_reuse && choice_ == slot_choice::caffe2_sized) // this rule compares tested slots only
            for (auto at = first_of(r.pool); at != first_of(r.pool + 1);)
                at = is_free(at->slot) ? ++at : candidates_.erase(at);
        slot_id chosen = no_slot;
        while (r.may_reuse && chosen == no_slot) {
            auto const at = preferred(r);
            if (at == candidates_.end()) break;
            slot_id const s = at->slot;
            candidates_.erase(at);
            if (is_free(s)) chosen = s;
        }
        if (chosen == no_slot) {
            chosen = plan_.slots++;
            plan_.slot_bytes.push_back(r.size);
            plan_.slot_pool.push_back(r.pool);
            slots_.push_back({.first_size = r.size});
        }
        plan_.slot_of[r.buffer] = chosen;
        plan_.slot_bytes[chosen] = larger(plan_.slot_bytes[chosen], r.size);
        open_slot& slot = slots_[chosen];
        slot.occupant = r.buffer;
        slot.candidate_since = 0;
        ++slot.occupants;
        block(chosen, larger(r.free_from, position_id{r.begins + 1}));
        return chosen;
    }

    /// Other buffers may follow u now. Its slot is blocked until `no_position`, and u is its last occupant.
    void unblock(buffer_id u) { unblock_slot(plan_.slot_of[u], last_begin_ + 1); }
    /// The same for buffers that begin at `from` or later, which is above the begin of the last request.
    void unblock(buffer_id u, position_id from) { block(plan_.slot_of[u], from); }

    /// The plan of all requests; other buffers have no slot.
    /// Throws:     precondition_error if all slots together exceed 64 bits.
    [[nodiscard]] sized_slot_plan finish() &&;

private:
    struct open_slot {
        buffer_id occupant = no_buffer; // the last one
        slot_id next_blocked = no_slot; // blocked until the same position
        std::uint32_t occupants = 0;
        position_id candidate_since = 0; // position since which the slot is a candidate; 0: not yet
        byte_count first_size = 0;
    };
    struct free_slot {
        pool_id pool;
        std::uint64_t rank; // key of the choice
        slot_id slot;
        friend bool operator<(free_slot const& a, free_slot const& b)
        {
            if (a.pool != b.pool) return a.pool < b.pool;
            return a.rank != b.rank ? a.rank < b.rank : a.slot < b.slot;
        }
    };

    using candidate = std::set<free_slot>::const_iterator;

    candidate first_of(pool_id pool) const { return candidates_.lower_bound({pool, 0, 0}); }

    /// The candidate in the pool to test next; the end of all if there is none.
    candidate preferred(slot_request const& r) const;

    candidate as_in_caffe2(candidate first, candidate end, byte_count size) const;

    void block(slot_id s, position_id until);
    void unblock_until(position_id position);
    void unblock_slot(slot_id s, position_id at);

    slot_choice choice_;
    sized_slot_plan plan_;
    table<slot_id, open_slot> slots_;
    std::set<free_slot> candidates_;
    table<position_id, slot_id> blocked_; // the first slot blocked until then
    position_id unblocked_until_ = 0;     // positions below this have been unblocked
    position_id last_begin_ = 0;          // begin of the last request
};

// --- tokens ----------------------------------------------------------------------------------------------

/// A slot is free for a buffer if all steps that touch its last occupant come before the step that defines
/// the buffer: that step holds a token of each of them (picture: sharing/share_slots.hpp). So one set of
/// slots serves all branches and all sources, and a slot freed in one branch is reused by another as soon as
/// the two have met. A slot that fails the test is blocked until the missing token arrives at a step; slots
/// of branches that never meet again are not tested again.
///
/// Source: Caffe2's memonger (`memonger.cc`, Facebook 2016). Differences: a buffer is free after its last
/// touch, not its last read; the order of sources does not matter; edges without data count; no recursion.

struct token_options {
    slot_choice choice = slot_choice::grow_largest;
    per_value<pool_id, buffer_id> pool = pool_id{0}; ///< only buffers of one pool share
    per_value<bool, buffer_id> eligible = true;      ///< false keeps a slot of its own
    std::size_t most_ranges = ~std::size_t{0}; ///< token ranges that a step passes on; the oldest are dropped
};

struct token_plan : sized_slot_plan {
    /// Answers left open: token ranges dropped, and slots given up after many failed tests since then. 0:
    /// every slot that was free was known to be free.
    std::uint64_t undecided = 0;
};

/// Gives every buffer a slot, in the order of begins; `sizes` are by buffer.
///
/// Requires, Ensures and Complexity are those of share_slots() by tokens (internal/buffer_slots.hpp).
/// Throws:     precondition_error for a size that is negative or `no_size`, a pool id that is none, or if all
///             slots together exceed 64 bits.
template <size_function Sizes>
[[nodiscard]] token_plan share_by_tokens(dependence_graph const& g, concurrent_live_ranges const& lives,
                                         Sizes sizes, token_options const& options = {})
{
    SUBLET_EXPECTS(g.positions() == lives.positions, "sublet: these are lives of another graph");
    std::size_t const buffers = lives.buffers();
    auto const pool_of = options.pool.tabulate(buffers);
    auto const eligible = options.eligible.tabulate(buffers);
    auto const beginning =
        csr_rows<position_id, buffer_id>::gathered(std::size_t{lives.positions} + 1, [&](auto add) {
            for (buffer_id b = 0; b != buffers; ++b) add(lives.first(b), b);
        });

    token_sets tokens(g, options.most_ranges);
    slot_chooser slots(buffers, options.choice);
    token_waitlist waitlist(g.positions(), buffers);
    auto block = [&](buffer_id u, position_id end) { waitlist.block(u, tokens.token_of(end)); };
    auto unblock = [&](std::uint32_t first, std::uint32_t last) {
        waitlist.unblock(first, last, [&slots](buffer_id u) { slots.unblock(u); });
    };
    table<buffer_id, unsigned char> tests_left(buffers, 64); // failed tests left, after tokens were dropped
    token_plan plan;
    for (position_id at = 0; at != beginning.rows(); ++at) {
        if (beginning[at].empty()) continue;
        if (at != lives.positions) {
            tokens.advance_to(at);
            // Not with this position's own token: unblocked buffers must have ended before it.
            std::uint32_t const own = tokens.token_of(at);
            for (token_range r : tokens.tokens()) {
                bool const has_own = r.first <= own && own < r.last;
                unblock(r.first, has_own ? own : r.last);
                if (has_own) unblock(own + 1, r.last);
            }
        }
        auto may_follow = [&](buffer_id u) -> position_id {
            for (position_id end : lives.ends[u]) {
                if (tokens.before(end, at)) continue;
                if (tokens.dropped_ranges() == 0 || tests_left[u]-- != 0) block(u, end);
                else ++plan.undecided;
                return no_position;
            }
            return at;
        };
        for (buffer_id b : beginning[at]) {
            auto const ends = lives.ends[b];
            bool const is_reusable = eligible[b] && !lives.is_kept(b);
            slot_request const request{.buffer = b,
                                       .size = to_byte_count(call_user(sizes, b)),
                                       .pool = pool_of[b],
                                       .begins = at,
                                       .free_from = is_reusable && ends.empty() ? at : no_position,
                                       .may_reuse = eligible[b] && lives.begins[b].size() == 1};
            if (slots.assign(request, may_follow) != no_slot && is_reusable && !ends.empty())
                block(b, ends.back());
        }
    }
    static_cast<sized_slot_plan&>(plan) = std::move(slots).finish();
    plan.undecided += tokens.dropped_ranges();
    return plan;
}

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/tokens.ipp>
#endif

#endif
