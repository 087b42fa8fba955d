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
#include <sublet/execution/short_lock.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/execution/tape.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
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

    run_watch(run_tape const& tape, storage const& values, bool takes_digests, bool is_shared = false);

    /// Before the kernel, when the storage of its results is there.
    void before(step_id at);

    /// After the kernel, before any storage is given back.
    void after(step_id at);

    /// After the last step: what is the caller's now, and what has been all the time.
    void finish();

private:
    buffer const& its(buffer_id b) const { return tape_.table.buffers[b]; }
    bool is_ours(buffer_id b) const { return its(b).is_planned(); }
    byte_count offset(buffer_id b) const
    {
        return static_cast<byte_count>(values_.where(b) - values_.arenas()[its(b).pool].bytes);
    }

    /// b was handed over, or its bytes were; or the caller bound the same for both.
    bool is_in_place(buffer_id b, step_id at) const;

    void claim(buffer_id b, step_id step);

    /// From now on b is what it is now.
    void know(buffer_id b, step_id producer);

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
    void compare_read(buffer_id b, step_id at) const;
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
    void discard(buffer_id b, step_id at);

    /// The stretches of an arena that still are `owner`'s.
    void discard_unowned(std::size_t pool, byte_count begin, byte_count end, buffer_id owner) const;

    /// By position: the buffers that its step writes, ascending, each once, however many views of it there
    /// are.
    void list_written();

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

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/watch.ipp>
#endif

#endif
