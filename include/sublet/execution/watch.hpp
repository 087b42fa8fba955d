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

/// How closely a run is watched; each level does what those before it do.
enum class check_level : std::uint8_t {
    off,   ///< the plan is trusted
    plan,  ///< the plan is proved before it is run
    paint, ///< dead bytes are painted with ones, the NaN of every floating type (or poisoned)
    digest ///< a value that changes between two touches is found, and who did it
};

namespace detail {

template <std::same_as<run_tape> Tape>
class run_watch {
public:
    using storage = value_storage<Tape>;

    run_watch(Tape const& tape, storage const& values, bool takes_digests)
        : tape_(tape), values_(values), takes_digests_(takes_digests)
    {
        left_ = tape.holds;
        digest_.assign(left_.size(), 0);
        producer_.assign(left_.size(), no_step);
        is_known_.assign(left_.size(), 0);
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
            if (is_ours(b)) claim(b);
            know(b, no_step);
        }
        for (std::size_t pool = 0; pool != owners_.size(); ++pool)
            discard_unowned(pool, 0, values.arenas()[pool].size, no_buffer);
    }

    /// Before the kernel, when the storage of its results is there.
    void before(step_id at)
    {
        for (buffer_id b : tape_.touched[at]) compare(b, tape_.step_at[at]);
        for (buffer_id b : tape_.touched[at]) {
            if (tape_.first_write[b] != at || is_given(its(b).role)) continue;
            if (!is_ours(b)) continue;
            if (values_.has_arena()) claim(b);
            else if (!is_in_place(b, at)) paint(values_.bytes_of(b));
        }
        // If two that it writes share bytes, whoever is needed later will be missed: it is to be found
        // beneath.
        for (csr_rows const* rows : {&tape_.defs, &tape_.scratch})
            for (value_id v : (*rows)[at]) {
                buffer_id const b = tape_.table.buffer_of[v];
                if (left_[b] == 1 && is_ours(b)) claim(b);
            }
    }

    /// After the kernel, before any storage is given back.
    void after(step_id at)
    {
        step_id const step = tape_.step_at[at];
        for (buffer_id b : tape_.touched[at]) --left_[b];
        written_.assign(tape_.defs[at].begin(), tape_.defs[at].end());
        written_.insert(written_.end(), tape_.scratch[at].begin(), tape_.scratch[at].end());
        for (value_id& v : written_) v = tape_.table.buffer_of[v];
        std::sort(written_.begin(), written_.end());
        written_.erase(std::unique(written_.begin(), written_.end()), written_.end()); // views of one buffer
        for (buffer_id b : tape_.touched[at])
            if (!std::binary_search(written_.begin(), written_.end(), b)) compare_read(b, at);
        for (buffer_id b : written_) know(b, step);
        for (buffer_id b : tape_.touched[at])
            if (left_[b] == 0 && is_ours(b)) discard(b, at);
    }

    /// After the last step: what is the caller's now.
    void finish()
    {
        for (std::size_t b = 0; b != left_.size(); ++b)
            if (has_role(its(static_cast<buffer_id>(b)).role, value_role::output))
                compare(static_cast<buffer_id>(b), no_step);
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

    void claim(buffer_id b)
    {
        if (!values_.has_arena()) return;
        byte_count const begin = offset(b);
        owners_[its(b).pool].claim(begin, begin + its(b).size, b);
        make_usable(values_.bytes_of(b));
    }

    /// From now on b is what it is now.
    void know(buffer_id b, step_id producer)
    {
        producer_[b] = producer;
        is_known_[b] = 1;
        if (takes_digests_) digest_[b] = digest(values_.bytes_of(b));
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
    buffer_id over(buffer_id b) const
    {
        return over(b, [](buffer_id) { return true; });
    }

    void compare(buffer_id b, step_id reader) const
    {
        if (takes_digests_ && is_known_[b]) compare(b, reader, over(b));
    }
    /// When the step is done, what it has read and not written, unless it was allowed to write over it.
    void compare_read(buffer_id b, step_id at) const
    {
        if (!takes_digests_ || !is_known_[b]) return;
        buffer_id intruder = over(b);
        if (left_[b] == 0) {
            bool const has_block = !values_.has_arena() || !is_ours(b); // which its heir may have now
            auto const rows = tape_.yields_at(at);
            auto yields_to = [&](buffer_id heir) {
                return std::any_of(rows.begin(), rows.end(),
                                   [&](yielded y) { return y.from == b && y.to == heir; });
            };
            if (yields_to(no_buffer) || (has_block && is_in_place(b, at))) return;
            if (intruder != no_buffer) {
                intruder = over(b, [&](buffer_id heir) { return !yields_to(heir); });
                if (intruder == no_buffer) return;
            }
        }
        compare(b, tape_.step_at[at], intruder);
    }
    void compare(buffer_id b, step_id reader, buffer_id culprit) const
    {
        if (culprit == no_buffer && digest(values_.bytes_of(b)) == digest_[b]) return;
        clobbering what{.value = its(b).root, .producer = producer_[b], .reader = reader};
        if (culprit != no_buffer) {
            what.culprit = its(culprit).root;
            what.culprit_step = is_known_[culprit] ? producer_[culprit] : reader; // it is about to be written
        }
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

    Tape const& tape_;
    storage const& values_;
    bool takes_digests_;
    std::vector<byte_owners<buffer_id>> owners_; // by pool
    std::vector<std::uint32_t> left_;            // by buffer: touches to come
    std::vector<std::uint64_t> digest_;          // by buffer
    std::vector<step_id> producer_;              // by buffer: the last step to write it
    std::vector<unsigned char> is_known_;
    std::vector<buffer_id> written_;
};

} // namespace detail
} // namespace sublet

#endif
