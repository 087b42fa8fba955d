// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_CLOBBER_CHECKER_HPP
#define SUBLET_EXECUTION_DETAIL_CLOBBER_CHECKER_HPP

/// Finds values overwritten during a run: dead bytes are painted, live ones compared with their digest.
///
///     address   0               64              128
///     bytes     [a a a a a a a a|FF FF FF FF FF |c c c c c ...     painted: a float read here is a NaN
///     owner      a               (dead)          c                 the buffer that was placed here last
///     digest     7c4e...                         91b0...           taken when written, compared when touched
///
/// Reports what no check of the plan can find: an unchecked plan, a kernel that writes beyond its results, an
/// undeclared effect. With AddressSanitizer, dead bytes of an arena are poisoned instead, so that the access
/// itself is reported; accesses outside of all storage of values are found by the sanitizer only.

#include <sublet/core/units.hpp>
#include <sublet/execution/detail/adaptive_mutex.hpp>
#include <sublet/execution/detail/value_storage.hpp>
#include <sublet/execution/digest.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/internal/lowered_program.hpp>
#include <sublet/structures/internal/byte_owners.hpp>

#include <cstdint>
#include <span>

namespace sublet::detail {

/// With `is_shared`, steps may run in another order and concurrently: a lock guards the state of the checker
/// and all painting, as neighbouring bytes may share a unit of the sanitizer. Digests are taken outside of
/// the lock: in a sound plan a buffer is not written while another step accesses it. A step that only makes a
/// view does not: its buffers are not compared then, and are dead after the last step that accesses them.
class clobber_checker {
public:
    using storage = value_storage;

    clobber_checker(lowered_program const& lowered, storage const& values, bool takes_digests,
                    bool is_shared = false);

    /// Before the kernel, after the storage of its results is allocated.
    void before(position_id at);

    /// After the kernel, before any storage is released.
    void after(position_id at);

    /// After the last step: checks outputs and the caller's storage.
    void finish();

private:
    buffer const& its(buffer_id b) const { return lowered_.table.buffers[b]; }
    bool is_planned(buffer_id b) const { return its(b).is_planned(); }
    byte_count offset(buffer_id b) const
    {
        return static_cast<byte_count>(values_.where(b) - values_.arenas()[its(b).pool].bytes);
    }

    /// The buffers to compare before and after a step, which are dead after the last of these.
    std::span<buffer_id const> compared(position_id at) const
    {
        return is_shared_ ? lowered_.accessed[at] : lowered_.touched[at];
    }

    /// b is in an in-place pair of this step, and both buffers of it have the same address.
    bool is_in_place(buffer_id b, position_id at) const;

    void claim(buffer_id b, step_id step);

    /// Records the producer and the digest of b.
    void track(buffer_id b, step_id producer);

    /// The first other owner of bytes of b for which `matches` holds, or `no_buffer`.
    template <class Predicate>
    buffer_id overlapping_owner(buffer_id b, Predicate matches) const
    {
        buffer_id found = no_buffer;
        if (!values_.has_arena() || !is_planned(b)) return found;
        byte_count const begin = offset(b);
        owners_[its(b).pool].each(begin, begin + its(b).size, [&](byte_count, byte_count, buffer_id owner) {
            if (found == no_buffer && owner != b && matches(owner)) found = owner;
        });
        return found;
    }

    /// After a step: compares an operand that it did not write, unless an in-place result may overlap it.
    void compare_read(buffer_id b, position_id at) const;
    bool is_last(buffer_id b) const
    {
        scoped_lock const guard(lock());
        return remaining_[b] == 1;
    }
    template <class MayReuse>
    bool is_reused_only_by(buffer_id b, MayReuse may_reuse) const
    {
        scoped_lock const guard(lock());
        return overlapping_owner(b, [](buffer_id) { return true; }) != no_buffer &&
               overlapping_owner(b, [&](buffer_id occupant) { return !may_reuse(occupant); }) == no_buffer;
    }

    /// Throws clobbered_value if an owner that `matches` overlaps b, or if the digest of b has changed.
    template <class Predicate>
    void compare(buffer_id b, step_id reader, Predicate matches) const
    {
        if (!takes_digests_) return;
        clobbered_value::finding what{.value = its(b).root, .reader = reader};
        std::uint64_t expected = 0;
        {
            scoped_lock const guard(lock());
            if (!is_tracked_[b]) return;
            what.producer = producer_[b];
            expected = digest_[b];
            if (buffer_id const culprit = overlapping_owner(b, matches); culprit != no_buffer) {
                what.culprit = its(culprit).root;
                what.culprit_step = is_tracked_[culprit] ? producer_[culprit] : placed_by_[culprit];
            }
        }
        if (what.culprit != no_value || digest(values_.bytes_of(b)) != expected) throw clobbered_value(what);
    }

    void discard(buffer_id b, position_id at);

    /// Poisons the segments of a range that `owner` still owns.
    void discard_unowned(pool_id pool, byte_count begin, byte_count end, buffer_id owner) const;

    /// Fills `written_`: by position, the buffers that its step writes, ascending, without duplicates.
    void list_written();

    adaptive_mutex* lock() const { return is_shared_ ? &lock_ : nullptr; }

    lowered_program const& lowered_;
    storage const& values_;
    bool takes_digests_;
    bool is_shared_;
    mutable adaptive_mutex lock_;
    table<pool_id, byte_owners> owners_;
    table<buffer_id, std::uint32_t> remaining_; // steps to come that compare it, and one if it stays
    table<buffer_id, std::uint64_t> digest_;
    table<buffer_id, step_id> producer_;  // the last step to write it
    table<buffer_id, step_id> placed_by_; // the last step to place it
    table<buffer_id, unsigned char> is_tracked_;
    csr_rows<position_id, buffer_id> written_;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/clobber_checker.ipp>
#endif

#endif
