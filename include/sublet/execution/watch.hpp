// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_WATCH_HPP
#define SUBLET_EXECUTION_WATCH_HPP

/// Catches a run in the act: dead bytes are painted, living ones compared with what their producer left.
///
///     address   0               64              128
///     bytes     [a a a a a a a a|FF FF FF FF FF |c c c c c ...     painted: read them and you get NaN
///     owner      a               (dead)          c                 who was the last to be put there?
///     digest     7c4e...                         91b0...           taken when written, compared when touched
///
/// The plan check says that a plan is wrong; this says that a run went wrong, whatever the reason: a plan
/// that nobody checked, a kernel that writes beyond its results, an effect that was not declared. Where
/// address sanitizing is on, dead bytes of an arena are poisoned instead, so that the very access is
/// reported; what a kernel does outside of all storage of values, only the sanitizer sees.

#include <sublet/analysis/buffers.hpp>
#include <sublet/execution/byte_owners.hpp>
#include <sublet/execution/digest.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/poison.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/execution/short_lock.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/execution/tape.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/keyed.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sublet {

namespace detail {

/// Steps may come in another order and at once, if it is told so: what it knows is then looked up and changed
/// by one at a time, and bytes are painted so, as neighbours may share what a sanitizer keeps about them.
/// Digests are taken beside each other: who touches a buffer keeps others from writing it, if the plan is
/// sound.
class run_watch {
public:
    using storage = value_storage;

    run_watch(run_tape const& tape, storage const& values, bool takes_digests, bool is_shared = false)
        : tape_(tape), values_(values), takes_digests_(takes_digests), is_shared_(is_shared)
    {
        left_ = tape.holds;
        digest_.assign(left_.size(), 0);
        producer_.assign(left_.size(), no_step);
        claimed_by_.assign(left_.size(), no_step);
        is_known_.assign(left_.size(), 0);
        list_written();
        std::vector<std::vector<keyed>> borders(values.arenas().size());
        for (std::size_t i = 0; values.has_arena() && i != left_.size(); ++i) {
            auto const b = static_cast<buffer_id>(i);
            if (!is_ours(b)) continue;
            borders[its(b).pool].push_back({offset(b), 0, b});
            borders[its(b).pool].push_back({offset(b) + its(b).size, 0, b});
        }
        for (std::size_t pool = 0; pool != borders.size(); ++pool)
            owners_.emplace_back(std::move(borders[pool]), values.arenas()[pool].size);
        for (std::size_t i = 0; i != left_.size(); ++i) {
            auto const b = static_cast<buffer_id>(i);
            if (!is_given(its(b).role)) continue;
            if (is_ours(b)) claim(b, no_step);
            know(b, no_step);
        }
        if (is_shared) // whoever comes first may lie where those were: the first step does not read them
            for (buffer_id b : tape.given_up) is_known_[b] = 0;
        for (std::size_t pool = 0; pool != owners_.size(); ++pool)
            discard_unowned(pool, 0, values.arenas()[pool].size, no_buffer);
    }

    /// Before the kernel, when the storage of its results is there.
    void before(step_id at)
    {
        step_id const step = tape_.step_at[at];
        for (buffer_id b : tape_.touched[at]) compare(b, step, [](buffer_id) { return true; });
        holding const only(lock());
        for (buffer_id b : tape_.touched[at]) {
            if (tape_.first_write[b] != at || is_given(its(b).role)) continue;
            if (!is_ours(b)) continue;
            if (values_.has_arena()) claim(b, step);
            else if (!is_in_place(b, at)) paint(values_.bytes_of(b));
        }
        // If two that it writes share bytes, whoever is needed later will be missed: it has to be the one
        // beneath.
        for (csr_rows const* rows : {&tape_.defs, &tape_.scratch})
            for (value_id v : (*rows)[at]) {
                buffer_id const b = tape_.table.buffer_of[v];
                if (left_[b] == 1 && is_ours(b)) claim(b, step);
            }
    }

    /// After the kernel, before any storage is given back.
    void after(step_id at)
    {
        auto const written = written_[at];
        auto is_written = [written](buffer_id b) {
            return std::binary_search(written.begin(), written.end(), b);
        };
        for (buffer_id b : tape_.touched[at])
            if (!is_written(b)) compare_read(b, at);
        for (buffer_id b : written) know(b, tape_.step_at[at]);
        holding const only(lock());
        for (buffer_id b : tape_.touched[at])
            if (--left_[b] == 0 && is_ours(b)) discard(b, at);
    }

    /// After the last step: what is the caller's now, and what has been all the time.
    void finish()
    {
        std::vector<keyed> lent; // {where it begins, where it ends, buffer}
        for (buffer_id b = 0; b != left_.size(); ++b) {
            std::span<std::byte const> const bytes = values_.bytes_of(b);
            if (is_ours(b) ? !has_role(its(b).role, value_role::output) : bytes.empty()) continue;
            auto const begin = reinterpret_cast<std::uintptr_t>(bytes.data());
            if (is_ours(b)) compare(b, no_step, [](buffer_id) { return true; });
            else lent.push_back({begin, begin + bytes.size(), b});
        }
        sort_keyed(lent);
        std::uint64_t covered = 0;
        for (std::size_t i = 0; i != lent.size(); ++i) { // bytes that are bound twice may well have changed
            bool const is_shared =
                lent[i].key < covered || (i + 1 != lent.size() && lent[i + 1].key < lent[i].tie);
            covered = std::max(covered, lent[i].tie);
            if (!is_shared) compare(lent[i].who, no_step, [](buffer_id) { return true; });
        }
    }

private:
    buffer const& its(buffer_id b) const { return tape_.table.buffers[b]; }
    bool is_ours(buffer_id b) const { return its(b).is_planned(); }
    byte_count offset(buffer_id b) const
    {
        return static_cast<byte_count>(values_.where(b) - values_.arenas()[its(b).pool].bytes);
    }

    /// b was handed over, or its bytes were; or the caller bound the same for both.
    bool is_in_place(buffer_id b, step_id at) const
    {
        auto const rows = tape_.yields_at(at);
        return std::any_of(rows.begin(), rows.end(), [&](yielded y) {
            bool const is_pair = y.to != no_buffer && (y.from == b || y.to == b);
            return is_pair && values_.where(y.from) == values_.where(y.to);
        });
    }

    void claim(buffer_id b, step_id step)
    {
        if (!values_.has_arena()) return;
        byte_count const begin = offset(b);
        owners_[its(b).pool].claim(begin, begin + its(b).size, b);
        claimed_by_[b] = step;
        make_usable(values_.bytes_of(b));
    }

    /// From now on b is what it is now.
    void know(buffer_id b, step_id producer)
    {
        std::uint64_t const now = takes_digests_ ? digest(values_.bytes_of(b)) : 0;
        holding const only(lock());
        producer_[b] = producer;
        is_known_[b] = 1;
        digest_[b] = now;
    }

    /// Of those who have moved in over b, the first that counts; `no_buffer`: none.
    template <class Counts>
    buffer_id over(buffer_id b, Counts counts) const
    {
        buffer_id found = no_buffer;
        if (!values_.has_arena() || !is_ours(b)) return found;
        byte_count const begin = offset(b);
        owners_[its(b).pool].each(begin, begin + its(b).size, [&](byte_count, byte_count, buffer_id owner) {
            if (found == no_buffer && owner != b && counts(owner)) found = owner;
        });
        return found;
    }

    /// When the step is done, what it has read and not written, unless it was allowed to write over it.
    void compare_read(buffer_id b, step_id at) const
    {
        step_id const reader = tape_.step_at[at];
        if (!is_last(b)) return compare(b, reader, [](buffer_id) { return true; });
        bool const has_block = !values_.has_arena() || !is_ours(b); // which its heir may have now
        auto const rows = tape_.yields_at(at);
        auto yields_to = [b, rows](buffer_id heir) {
            return std::any_of(rows.begin(), rows.end(),
                               [&](yielded y) { return y.from == b && y.to == heir; });
        };
        if (yields_to(no_buffer) || (has_block && is_in_place(b, at))) return;
        if (is_lain_over(b, yields_to)) return;
        compare(b, reader, [&](buffer_id heir) { return !yields_to(heir); });
    }
    /// Only the step that is being looked at still touches b.
    bool is_last(buffer_id b) const
    {
        holding const only(lock());
        return left_[b] == 1;
    }
    /// By heirs and nobody else.
    template <class YieldsTo>
    bool is_lain_over(buffer_id b, YieldsTo yields_to) const
    {
        holding const only(lock());
        return over(b, [](buffer_id) { return true; }) != no_buffer &&
               over(b, [&](buffer_id heir) { return !yields_to(heir); }) == no_buffer;
    }

    /// Nobody who counts has moved in over b, and its bytes are what its producer left.
    template <class Counts>
    void compare(buffer_id b, step_id reader, Counts counts) const
    {
        if (!takes_digests_) return;
        clobbering what{.value = its(b).root, .reader = reader};
        std::uint64_t left_there = 0;
        {
            holding const only(lock());
            if (!is_known_[b]) return;
            what.producer = producer_[b];
            left_there = digest_[b];
            if (buffer_id const culprit = over(b, counts); culprit != no_buffer) {
                what.culprit = its(culprit).root;
                what.culprit_step = is_known_[culprit] ? producer_[culprit] : claimed_by_[culprit];
            }
        }
        if (what.culprit != no_value || digest(values_.bytes_of(b)) != left_there)
            throw clobbered_value(what);
    }

    /// Nobody needs b any more.
    void discard(buffer_id b, step_id at)
    {
        if (values_.has_arena()) {
            byte_count const begin = offset(b);
            discard_unowned(its(b).pool, begin, begin + its(b).size, b);
        } else if (!is_in_place(b, at)) {
            paint(values_.bytes_of(b));
        }
    }

    /// The stretches of an arena that still are `owner`'s.
    void discard_unowned(std::size_t pool, byte_count begin, byte_count end, buffer_id owner) const
    {
        std::byte* const arena = values_.arenas()[pool].bytes;
        owners_[pool].each(begin, end, [&](byte_count first, byte_count last, buffer_id who) {
            if (who == owner) make_dead(std::span(arena + first, static_cast<std::size_t>(last - first)));
        });
    }

    /// By position: the buffers that its step writes, ascending, each once, however many views of it there
    /// are.
    void list_written()
    {
        std::vector<buffer_id> all;
        for (step_id at = 0; at != tape_.positions(); ++at) {
            all.clear();
            for (csr_rows const* rows : {&tape_.defs, &tape_.scratch})
                for (value_id v : (*rows)[at]) all.push_back(tape_.table.buffer_of[v]);
            std::sort(all.begin(), all.end());
            all.erase(std::unique(all.begin(), all.end()), all.end());
            for (buffer_id b : all) written_.append(b);
            written_.close_row();
        }
    }

    short_lock* lock() const { return is_shared_ ? &lock_ : nullptr; }

    run_tape const& tape_;
    storage const& values_;
    bool takes_digests_;
    bool is_shared_;
    mutable short_lock lock_;
    std::vector<byte_owners> owners_;   // by pool
    std::vector<std::uint32_t> left_;   // by buffer: touches to come
    std::vector<std::uint64_t> digest_; // by buffer
    std::vector<step_id> producer_;     // by buffer: the last step to write it
    std::vector<step_id> claimed_by_;   // by buffer: the last step to move it in
    std::vector<unsigned char> is_known_;
    csr_rows written_;
};

} // namespace detail
} // namespace sublet

#endif
