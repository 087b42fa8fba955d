// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_SLOT_CHOICE_HPP
#define SUBLET_SHARING_SLOT_CHOICE_HPP

/// Which free slot a buffer takes, where buffers come in the order of their begins.
///
///     free slots of the pool          most_shared           s1   whose bytes more buffers have had already
///       s0   64 bytes   2 tenants     best_fit              s2   16 bytes away, s0 is 24
///       s1   16 bytes   4 tenants     smallest_sufficient   s0   the only one with 40 bytes
///       s2   24 bytes   1 tenant      grow_largest          s0
///     wanted: 40 bytes
///
/// A slot that looks free need not be free for everyone: under a partial order, some who begin now come after
/// its last tenant and others do not. That is found out by a test, and a slot that fails it would be
/// tested again by nearly everyone who comes. But who tests knows more than "no": from which position on the
/// answer may change. Until then the slot sleeps, in a list of that position, where it costs nothing.
///
/// Sources: most_shared is the choice of Caffe2's memonger (`memonger.cc`, Facebook 2016) without shapes,
/// caffe2_sized the one with shapes.

#include <sublet/contract.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <set>
#include <type_traits>
#include <vector>

namespace sublet {

/// Of the slots of its pool that are free for a buffer, it takes (ties: the lowest) ...
enum class slot_choice : std::uint8_t {
    most_shared,         ///< the one with the most tenants so far, whatever its size
    best_fit,            ///< the one whose size differs least, the larger of two; too small, it grows
    smallest_sufficient, ///< the smallest that is large enough; none: a new one, so that no slot ever grows
    grow_largest,        ///< the smallest that is large enough; none: the largest, which grows
    /// For comparison with Caffe2 only: the first to fall free that is large enough, of equally large ones
    /// the last; none: the largest, the last of these. All as if slots were as large as their first tenant.
    caffe2_sized
};

/// What a buffer asks for.
struct slot_request {
    buffer_id who = no_buffer;
    byte_count size = 0; ///< 0: it needs no slot
    pool_id pool = 0;
    step_id begins = 0;
    step_id over = no_step; ///< who begins before this cannot follow it; `no_step`: nobody until it is woken
    bool follows = true;    ///< false: it takes no slot that somebody has had
};

/// Gives slots to buffers, one after the other.
class slot_chooser {
public:
    /// For buffers with ids below `buffers`.
    explicit slot_chooser(std::size_t buffers, slot_choice how = slot_choice::grow_largest);

    /// The slot of `r.who`: one that is free for it, by the rule of choice, or a new one.
    ///
    /// `may_follow(u)` says from which position on a buffer that begins there may follow u, the last tenant
    /// of a slot: `r.begins` or lower for "this one may", higher for "none before that may", `no_step` for
    /// "none until `wake(u)`".
    ///
    /// Requires:   `r.begins` does not descend from call to call. `may_follow` and `r.over` may say too low a
    ///             position, which costs another test, but not too high a one, which costs a slot.
    /// Ensures:    the last tenant of a slot that is not new has been asked, and has said yes. A slot is as
    ///             large as its largest tenant.
    /// Complexity: O((1 + tests) log of the free slots), with caffe2_sized O((1 + tests) x free slots); and
    ///             O(positions) for all calls together.
    /// Throws:     precondition_error for a size that is `no_size` or a pool that is no id.
    template <class MayFollow>
        requires std::same_as<std::invoke_result_t<MayFollow&, buffer_id>, step_id>
    slot_id take(slot_request const& r, MayFollow may_follow)
    {
        SUBLET_EXPECTS(r.size != no_size, "sublet: a buffer of unknown size cannot share a slot");
        SUBLET_EXPECTS(r.pool != no_value, "sublet: a pool id is out of range");
        if (r.size == 0) return no_slot;
        wake_until(r.begins);
        auto is_free = [&](slot_id s) {
            step_id const from = may_follow(slots_[s].tenant);
            if (from > r.begins) sleep(s, from);
            return from <= r.begins;
        };
        if (r.follows &&
            how_ == slot_choice::caffe2_sized) // whose rule is about those that are free for sure
            for (auto at = first_of(r.pool); at != first_of(r.pool + 1);)
                at = is_free(at->slot) ? ++at : awake_.erase(at);
        slot_id mine = no_slot;
        while (r.follows && mine == no_slot) {
            auto const at = preferred(r);
            if (at == awake_.end()) break;
            slot_id const s = at->slot;
            awake_.erase(at);
            if (is_free(s)) mine = s;
        }
        if (mine == no_slot) {
            mine = plan_.slots++;
            plan_.slot_bytes.push_back(r.size);
            plan_.slot_pool.push_back(r.pool);
            slots_.push_back({.first_size = r.size});
        }
        plan_.slot_of[r.who] = mine;
        plan_.slot_bytes[mine] = larger(plan_.slot_bytes[mine], r.size);
        open_slot& slot = slots_[mine];
        slot.tenant = r.who;
        slot.first_awake = 0;
        ++slot.tenants;
        sleep(mine, larger(r.over, r.begins + 1));
        return mine;
    }

    /// Somebody may follow u now. Its slot has been put to sleep until `no_step`, and u is its last tenant.
    void wake(buffer_id u) { wake_slot(plan_.slot_of[u], now_ + 1); }
    /// The same, of those who begin at `from` or later, which is above where the last request begins.
    void wake(buffer_id u, step_id from) { sleep(plan_.slot_of[u], from); }

    /// The plan of all that have asked; the others have no slot.
    ///
    /// Throws: precondition_error if all slots together exceed 64 bits.
    [[nodiscard]] sized_slot_plan finish() &&;

private:
    struct open_slot {
        buffer_id tenant = no_buffer;  // the last one
        slot_id next_asleep = no_slot; // until the same position
        std::uint32_t tenants = 0;
        step_id first_awake = 0; // since that tenant came; 0: not yet
        byte_count first_size = 0;
    };
    struct free_slot {
        pool_id pool;
        std::uint64_t rank; // what the choice goes by
        slot_id slot;
        friend bool operator<(free_slot const& a, free_slot const& b)
        {
            if (a.pool != b.pool) return a.pool < b.pool;
            return a.rank != b.rank ? a.rank < b.rank : a.slot < b.slot;
        }
    };

    using place = std::set<free_slot>::const_iterator;

    place first_of(pool_id pool) const { return awake_.lower_bound({pool, 0, 0}); }

    /// Of the slots awake in the pool the one to try next; the end of all if there is none.
    place preferred(slot_request const& r) const;

    place as_in_caffe2(place first, place end, byte_count size) const;

    void sleep(slot_id s, step_id until);
    void wake_until(step_id position);
    void wake_slot(slot_id s, step_id at);

    slot_choice how_;
    sized_slot_plan plan_;
    std::vector<open_slot> slots_;
    std::set<free_slot> awake_;
    std::vector<slot_id> asleep_; // by position: the first of those that sleep until then
    std::size_t woken_ = 0;       // those that sleep until a position below this have been woken
    step_id now_ = 0;             // where the last request begins
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/slot_choice.ipp>
#endif

#endif
