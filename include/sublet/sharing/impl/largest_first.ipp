// SPDX-License-Identifier: BSL-1.0
/// First fit by falling size. The slots that conflict with a buffer are the union of bit masks by
/// position, of as many slots as fit a cache; where there are more, those unused for long are not asked
/// again. A slot that costs much is avoided, if an alternating path relinks the chains at fewer bytes.

#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>

#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/sharing/detail/largest_first.hpp>

#include <bit>
#include <type_traits>
#include <utility>

// --- slot fit index --------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL occupant_masks::occupant_masks(concurrent_live_ranges const& lives,
                                           conflict_ranges const& conflicts, std::size_t words)
    : lives_(&lives), conflicts_(&conflicts), words_(words)
{
    // An extra position precedes all others: inputs begin there.
    std::size_t all = 0;
    for (std::size_t blocks = std::size_t{lives.positions} + 1;; blocks = (blocks + fanout - 1) / fanout) {
        level_.push_back(all);
        all += blocks;
        if (blocks == 1) break;
    }
    table_.resize(2 * all * words);
}

SUBLET_DECL std::size_t occupant_masks::bytes(std::uint32_t positions)
{
    return 19 * (std::size_t{positions} + 1);
}

SUBLET_DECL occupant_masks::mask occupant_masks::conflicting_slots(buffer_id b) const
{
    mask slots{};
    auto collect = [&](auto words) {
        auto add = [&](std::size_t from) {
            for (std::size_t i = 0; i != words; ++i) slots[i] |= table_[from + i];
        };
        visit(b, [&](std::size_t at) { add(forbidden(at)); }, [&](std::size_t at) { add(begun(at)); });
    };
    // Loops of known length, as far as they are frequent.
    if (words_ == 1) collect(std::integral_constant<std::size_t, 1>{});
    else if (words_ == most_words) collect(std::integral_constant<std::size_t, most_words>{});
    else collect(words_);
    return slots;
}

SUBLET_DECL void occupant_masks::insert(buffer_id b, std::uint32_t slot)
{
    std::uint64_t const bit = std::uint64_t{1} << slot % 64;
    visit(
        b, [&](std::size_t at) { table_[begun(at) + slot / 64] |= bit; },
        [&](std::size_t at) { table_[forbidden(at) + slot / 64] |= bit; });
}

SUBLET_DECL void occupant_masks::erase(buffer_id b, std::uint32_t slot)
{
    std::uint64_t const bit = std::uint64_t{1} << slot % 64;
    visit(
        b, [&](std::size_t at) { table_[begun(at) + slot / 64] &= ~bit; },
        [&](std::size_t at) { table_[forbidden(at) + slot / 64] &= ~bit; });
}

SUBLET_DECL slot_id slot_fit_index::find(buffer_id b)
{
    std::size_t g = 0;
    for (occupant_masks const& masks : masks_) {
        occupant_masks::mask const conflicting = masks.conflicting_slots(b);
        for (std::size_t word = 0; word != masks.words() && g != taken_.size(); ++word, ++g) {
            std::uint64_t const fitting = taken_[g] & ~conflicting[word];
            if (fitting != 0) return slot_at_[64 * g + static_cast<unsigned>(std::countr_zero(fitting))];
        }
    }
    return no_slot;
}

SUBLET_DECL void slot_fit_index::insert(buffer_id b, slot_id slot)
{
    if (place_of_.size() <= slot) place_of_.resize(std::size_t{slot} + 1, uncached);
    if (place_of_[slot] == evicted) return;
    bool const is_new = place_of_[slot] == uncached;
    if (is_new) place_of_[slot] = free_place(slot);
    std::uint32_t const at = place_of_[slot];
    mask_place const where = in_masks(at);
    masks_[where.masks].insert(b, where.slot);
    earlier_[b] = std::exchange(latest_[at], b);
    is_referenced_[at] = !is_new;
}

SUBLET_DECL slot_fit_index::mask_place slot_fit_index::in_masks(std::uint32_t at)
{
    static constexpr std::uint32_t most = 64 * occupant_masks::most_words;
    if (at < 64) return {0, at};
    return {1 + (at - 64) / most, (at - 64) % most};
}

SUBLET_DECL std::uint32_t slot_fit_index::free_place(slot_id slot)
{
    auto at = static_cast<std::uint32_t>(slot_at_.size());
    if (at == capacity_) { // second-chance replacement: skip slots used since the last round
        for (; is_referenced_[evict_at_] != 0; evict_at_ = (evict_at_ + 1) % at)
            is_referenced_[evict_at_] = 0;
        at = std::exchange(evict_at_, (evict_at_ + 1) % at);
        mask_place const where = in_masks(at);
        for (buffer_id b = std::exchange(latest_[at], no_buffer); b != no_buffer; b = earlier_[b])
            masks_[where.masks].erase(b, where.slot);
        place_of_[std::exchange(slot_at_[at], slot)] = evicted;
        return at;
    }
    if (in_masks(at).masks == masks_.size()) {
        std::size_t const left = (capacity_ - at) / 64;
        masks_.emplace_back(*lives_, *conflicts_, at == 0 ? 1 : smaller(left, occupant_masks::most_words));
    }
    if (at % 64 == 0) taken_.push_back(0);
    taken_[at / 64] |= std::uint64_t{1} << at % 64;
    slot_at_.push_back(slot);
    latest_.push_back(no_buffer);
    is_referenced_.push_back(0);
    return at;
}

// --- relink chains ---------------------------------------------------------------------------------------

class relinker {
    using place = std::uint32_t;
    static constexpr place none = ~place{0};

public:
    relinker(reuse_ranges const& members, table<buffer_id, byte_count> const& sizes, sized_chains& chains)
        : members_(members), sizes_(sizes), chains_(chains), next_(members.size(), none),
          before_(members.size(), none), found_by_(members.size()), head_(chains.slot_bytes.size()),
          tail_(chains.slot_bytes.size(), none), stamp_(chains.slot_bytes.size())
    {
        remaining_.reset(members.size());
        for (place i = 0; i != members.size(); ++i) {
            slot_id const s = chains.slot_of[i];
            if (tail_[s] == none) head_[s] = i;
            else link(tail_[s], i);
            tail_[s] = i;
        }
    }

    bool improve(std::uint64_t& visits)
    {
        std::size_t const slots = tail_.size();
        std::vector<place> reached;
        for (std::size_t k = 0; k != slots; ++k) {
            reached.assign(1, tail_[k == 0 ? slots - 1 : k - 1]);
            for (std::size_t i = 0; i != reached.size(); ++i) {
                bool is_improved = false;
                std::uint64_t ranges = 0;
                members_.for_each_range(reached[i], [&](live_range r) {
                    ++ranges;
                    for (place c = remaining_.next_at(r.first); c < r.last && !is_improved;
                         c = remaining_.next_at(c + 1)) {
                        remaining_.remove(c);
                        ++visits;
                        found_by_[c] = reached[i];
                        if (before_[c] == none) is_improved = take_path_to(c, visits);
                        else reached.push_back(before_[c]);
                    }
                });
                visits += ranges / 8; // eight ranges take as long as a visit
                if (is_improved) return true;
            }
        }
        return false;
    }

private:
    void link(place u, place v)
    {
        next_[u] = v;
        before_[v] = u;
    }

    /// Relinks along the path to the head of a chain if that lowers the cost.
    bool take_path_to(place head, std::uint64_t& visits)
    {
        ++round_;
        byte_count old_bytes = 0, new_bytes = 0;
        affected_.clear();
        auto affect = [&](slot_id s) {
            if (stamp_[s] == round_) return;
            stamp_[s] = round_;
            affected_.push_back(s);
            old_bytes += chains_.slot_bytes[s];
        };
        old_next_.clear();
        affect(chains_.slot_of[head]);
        for (place c = head; c != none; c = old_next_.back()) {
            place const predecessor = found_by_[c];
            affect(chains_.slot_of[predecessor]);
            old_next_.push_back(next_[predecessor]);
            link(predecessor, c);
        }
        for (slot_id s : affected_) {
            if (before_[head_[s]] != none) continue;
            byte_count largest = 0;
            for (place i = head_[s]; i != none; i = next_[i], ++visits)
                largest = larger(largest, sizes_[members_[i]]);
            new_bytes += largest;
        }
        if (new_bytes < old_bytes) {
            renumber();
            return true;
        }
        place predecessor = found_by_[head];
        before_[head] = none;
        for (place old_next : old_next_) {
            next_[predecessor] = old_next;
            if (old_next == none) break;
            before_[old_next] = predecessor;
            predecessor = found_by_[old_next];
        }
        return false;
    }

    /// By falling size, then by first begin.
    void renumber()
    {
        std::vector<sort_key> order;
        for (place i = 0; i != members_.size(); ++i) {
            bool const is_first = before_[i] == none;
            slot_id const s = is_first ? slot_id::of(order.size()) : chains_.slot_of[before_[i]];
            if (is_first) order.push_back({no_size, 0, s});
            chains_.slot_of[i] = s;
            order[s].key = smaller(order[s].key, descending(sizes_[members_[i]]));
        }
        sort_by_key(order);
        table<slot_id, slot_id> number(order.size());
        chains_.slot_bytes.clear();
        for (sort_key const& slot : order) {
            number[slot_id{slot.id}] = slot_id::of(chains_.slot_bytes.size());
            chains_.slot_bytes.push_back(descending(slot.key));
        }
        for (slot_id& s : chains_.slot_of) s = number[s];
    }

    reuse_ranges const& members_;
    table<buffer_id, byte_count> const& sizes_;
    sized_chains& chains_;
    std::vector<place> next_, before_; // in its chain, by place
    std::vector<place> found_by_;      // by place: its predecessor on the path
    table<slot_id, place> head_, tail_;
    remaining_indices remaining_;
    table<slot_id, std::uint32_t> stamp_; // the last path that touched it
    std::uint32_t round_ = 0;
    std::vector<slot_id> affected_;
    std::vector<place> old_next_; // successors on the path before relinking
};

SUBLET_DECL bool relink_chains(reuse_ranges const& members, table<buffer_id, byte_count> const& sizes,
                               sized_chains& chains, std::uint64_t& visits)
{
    visits += members.size();
    return relinker(members, sizes, chains).improve(visits);
}

// --- largest first ---------------------------------------------------------------------------------------

/// First fit of one pool's buffers in a given order.
class first_fit_slots {
public:
    first_fit_slots(concurrent_live_ranges const& lives, conflict_ranges const& conflicts,
                    table<buffer_id, byte_count> const& size, std::uint64_t& visits)
        : lives_(lives), conflicts_(conflicts), size_(size), visits_(visits), fit_index_(lives, conflicts)
    {
    }

    sized_chains fill(std::vector<buffer_id> const& ordered)
    {
        chains_.slot_of.reserve(ordered.size());
        for (buffer_id b : ordered) {
            slot_id const found = fit_index_.find(b);
            chains_.slot_of.push_back(found != no_slot ? found
                                                       : slot_id::of(chains_.slot_bytes.size()));
            if (found == no_slot) {
                chains_.slot_bytes.push_back(size_[b]);
                if (is_relinked(ordered)) continue;
            }
            fit_index_.insert(b, chains_.slot_of.back());
        }
        return std::move(chains_);
    }

private:
    /// Whether relinking the buffers so far has saved the newest slot or other bytes.
    bool is_relinked(std::vector<buffer_id> const& ordered)
    {
        // Not worth it for the many tiny slots of training or of constants.
        byte_count const cost = chains_.slot_bytes.back();
        bytes_ = checked_add(bytes_, cost);
        if (visits_ < ordered.size() || cost < bytes_ / 1024) return false;
        if (by_begin_.empty()) {
            for (std::uint32_t i = 0; i != ordered.size(); ++i)
                by_begin_.push_back({reuse_ranges::begin_key(lives_, ordered[i]), ordered[i], i});
            sort_by_key(by_begin_);
        }
        std::vector<buffer_id> members;
        sized_chains chains{{}, chains_.slot_bytes};
        for (sort_key const& k : by_begin_)
            if (k.id < chains_.slot_of.size()) {
                members.push_back(ordered[k.id]);
                chains.slot_of.push_back(chains_.slot_of[k.id]);
            }
        std::uint64_t visits = ordered.size();
        bool const is_better =
            relink_chains(reuse_ranges(lives_, conflicts_, std::move(members)), size_, chains, visits);
        visits_ -= smaller(visits, visits_);
        if (!is_better) return false;
        chains_.slot_bytes = std::move(chains.slot_bytes);
        bytes_ = 0;
        for (byte_count slot : chains_.slot_bytes) bytes_ += slot;
        std::size_t next = 0;
        for (sort_key const& k : by_begin_)
            if (k.id < chains_.slot_of.size()) chains_.slot_of[k.id] = chains.slot_of[next++];
        std::vector<sort_key> by_slot;
        for (std::uint32_t i = 0; i != chains_.slot_of.size(); ++i)
            by_slot.push_back({chains_.slot_of[i], 0, i});
        sort_by_key(by_slot);
        fit_index_ = slot_fit_index(lives_, conflicts_);
        for (sort_key const& k : by_slot) fit_index_.insert(ordered[k.id], slot_id::of(k.key));
        return true;
    }

    concurrent_live_ranges const& lives_;
    conflict_ranges const& conflicts_;
    table<buffer_id, byte_count> const& size_;
    std::uint64_t& visits_; // work budget left
    byte_count bytes_ = 0;  // of all slots
    slot_fit_index fit_index_;
    sized_chains chains_; // slot_of in the given order
    std::vector<sort_key> by_begin_;
};

SUBLET_DECL sized_slot_plan share_largest_first(concurrent_live_ranges const& lives,
                                                conflict_ranges const& conflicts,
                                                table<buffer_id, byte_count> const& size,
                                                largest_first_options const& options)
{
    std::size_t const buffers = lives.buffers();
    SUBLET_EXPECTS(size.size() == buffers, "sublet: the table of sizes has % entries for % buffers",
                   size.size(), buffers);
    auto const pool_of = options.pool.tabulate(buffers);
    auto const eligible = options.eligible.tabulate(buffers);
    std::vector<sort_key> order;
    for (buffer_id b = 0; b != buffers; ++b) {
        SUBLET_EXPECTS(pool_of[b] != no_pool, "sublet: buffer % names pool %, which is out of range", b,
                       pool_of[b]);
        SUBLET_EXPECTS(size[b] != no_size, "sublet: buffer %, of unknown size, cannot share a slot", b);
        if (size[b] != 0 && eligible[b])
            order.push_back({descending(size[b]), reuse_ranges::begin_key(lives, b), b});
    }
    sort_by_key(order);
    bool is_by_pool = true;
    for (std::size_t i = 0; i != order.size(); ++i) {
        order[i] = {pool_of[buffer_id{order[i].id}], i, order[i].id};
        is_by_pool = is_by_pool && (i == 0 || order[i - 1].key <= order[i].key);
    }
    if (!is_by_pool) sort_by_key(order);

    sized_slot_plan plan;
    plan.slot_of.assign(buffers, no_slot);
    auto add_slot = [&plan](byte_count cost, pool_id pool) {
        plan.slot_bytes.push_back(cost);
        plan.slot_pool.push_back(pool);
        plan.total_bytes = checked_add(plan.total_bytes, cost);
        return plan.slots++;
    };
    std::uint64_t visits = options.visits;
    std::vector<buffer_id> ordered;
    for (std::size_t i = 0; i != order.size(); ++i) {
        ordered.push_back(order[i].id);
        if (i + 1 != order.size() && order[i + 1].key == order[i].key) continue;
        sized_chains const chains = first_fit_slots(lives, conflicts, size, visits).fill(ordered);
        for (std::size_t k = 0; k != ordered.size(); ++k)
            plan.slot_of[ordered[k]] = plan.slots + chains.slot_of[k];
        for (byte_count cost : chains.slot_bytes) add_slot(cost, pool_of[buffer_id{order[i].id}]);
        ordered.clear();
    }
    for (buffer_id b = 0; b != buffers; ++b)
        if (size[b] != 0 && !eligible[b]) plan.slot_of[b] = add_slot(size[b], pool_of[b]);
    return plan;
}

} // namespace sublet::detail
