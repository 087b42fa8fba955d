// SPDX-License-Identifier: BSL-1.0

/// stream_pool: blocks in one list by address, free or live. Best fit is a scan; a block is split after its
/// first bytes, and merged with free neighbours of which one was freed after the other.

#include <sublet/impl/config.hpp>
#include <sublet/testing/detail/stream_pool.hpp>

#include <algorithm>

namespace sublet::detail {

SUBLET_DECL stream_pool::~stream_pool()
{
    for (chunk const& c : chunks_) source_.deallocate(c.begin, c.size, c.alignment);
}

SUBLET_DECL std::byte* stream_pool::allocate(byte_count bytes, byte_count alignment, std::uint32_t stream,
                                             stream_queues& queues)
{
    if (bytes == 0) return nullptr;
    std::size_t found = best_fit(bytes, alignment, stream, queues);
    if (found == blocks_.size()) found = add_chunk(bytes, alignment, queues);
    if (found == blocks_.size()) found = best_fit(bytes, alignment, stream, queues); // all work is done now
    return take(found, bytes, alignment);
}

SUBLET_DECL void stream_pool::expect_taken(std::byte const* data, byte_count bytes) const
{
    std::size_t const at = position_of(data);
    bool const is_there = at != blocks_.size() && blocks_[at].begin == data && !blocks_[at].is_free;
    SUBLET_EXPECTS(is_there || bytes == 0, "sublet: deallocated bytes are not allocated");
    SUBLET_EXPECTS(bytes == 0 || blocks_[at].size == bytes,
                   "sublet: deallocated bytes have another size than was allocated");
}

SUBLET_DECL void stream_pool::deallocate(std::byte* data, byte_count bytes, std::uint32_t stream,
                                         stream_queues const& queues)
{
    expect_taken(data, bytes);
    if (bytes == 0) return;
    std::size_t const at = position_of(data);
    blocks_[at].is_free = true;
    blocks_[at].was_used = true;
    blocks_[at].freed_at = queues.now(stream);
    blocks_[at].number = ++free_count_;
    use_.used -= bytes;
    --use_.blocks;
    if (at + 1 != blocks_.size()) coalesce(at, queues);
    if (at != 0) coalesce(at - 1, queues);
}

SUBLET_DECL void stream_pool::trim(stream_queues const& queues)
{
    for (std::size_t at = blocks_.size(); at-- > 1;) coalesce(at - 1, queues);
    for (std::size_t i = chunks_.size(); i-- != 0;) {
        chunk const c = chunks_[i];
        std::size_t const at = position_of(c.begin);
        block const& b = blocks_[at];
        if (!b.is_free || b.size != c.size || !queues.is_reached(b.freed_at)) continue;
        blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(at));
        chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(i));
        source_.deallocate(c.begin, c.size, c.alignment);
    }
    use_.reserved = source_.use().bytes.live;
}

SUBLET_DECL byte_count stream_pool::address(std::byte const* data)
{
    return reinterpret_cast<std::uintptr_t>(data);
}

SUBLET_DECL std::size_t stream_pool::position_of(std::byte const* data) const
{
    auto const is_below = [](block const& b, byte_count at) { return address(b.begin) < at; };
    auto const found = std::lower_bound(blocks_.begin(), blocks_.end(), address(data), is_below);
    return static_cast<std::size_t>(found - blocks_.begin());
}

SUBLET_DECL std::size_t stream_pool::best_fit(byte_count bytes, byte_count alignment, std::uint32_t stream,
                                              stream_queues const& queues) const
{
    std::size_t best = blocks_.size();
    for (std::size_t i = 0; i != blocks_.size(); ++i) {
        block const& b = blocks_[i];
        if (!b.is_free || b.size < bytes || gap_before(b, alignment) > b.size - bytes) continue;
        if (!queues.comes_after(stream, b.freed_at)) continue;
        bool const is_better = best == blocks_.size() || b.size < blocks_[best].size ||
                               (b.size == blocks_[best].size && b.number > blocks_[best].number);
        if (is_better) best = i;
    }
    return best;
}

SUBLET_DECL std::size_t stream_pool::add_chunk(byte_count bytes, byte_count alignment, stream_queues& queues)
{
    blocks_.reserve(blocks_.size() + 3); // room for two splits: nothing below may throw
    chunks_.reserve(chunks_.size() + 1);
    alignment = std::max<byte_count>(alignment, alignof(std::max_align_t));
    void* fresh = nullptr;
    try {
        fresh = source_.allocate(bytes, alignment);
    } catch (...) {
        queues.drain();
        for (std::size_t at = blocks_.size(); at-- > 1;) coalesce(at - 1, queues);
        if (best_fit(bytes, alignment, 0, queues) != blocks_.size()) return blocks_.size();
        trim(queues);
        fresh = source_.allocate(bytes, alignment);
    }
    auto* const begin = static_cast<std::byte*>(fresh);
    chunks_.push_back({begin, bytes, alignment});
    use_.reserved = source_.use().bytes.live;
    use_.reserved_high = std::max(use_.reserved_high, use_.reserved);
    std::size_t const at = position_of(begin);
    blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(at),
                   block{.begin = begin, .size = bytes, .chunk = begin});
    return at;
}

SUBLET_DECL std::byte* stream_pool::take(std::size_t at, byte_count bytes, byte_count alignment)
{
    blocks_.reserve(blocks_.size() + 2);
    if (byte_count const gap = gap_before(blocks_[at], alignment); gap != 0) split(at++, gap);
    if (blocks_[at].size != bytes) split(at, bytes);
    blocks_[at].is_free = false;
    use_.reused += blocks_[at].was_used;
    use_.used += bytes;
    use_.used_high = std::max(use_.used_high, use_.used);
    ++use_.blocks;
    return blocks_[at].begin;
}

SUBLET_DECL void stream_pool::split(std::size_t at, byte_count bytes)
{
    block rest = blocks_[at];
    rest.begin += bytes;
    rest.size -= bytes;
    blocks_[at].size = bytes;
    blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(at) + 1, rest);
}

SUBLET_DECL void stream_pool::coalesce(std::size_t at, stream_queues const& queues)
{
    block &a = blocks_[at], &b = blocks_[at + 1];
    if (!a.is_free || !b.is_free || a.chunk != b.chunk) return;
    bool const is_same = a.freed_at.stream == b.freed_at.stream;
    bool const a_is_later = is_same ? a.freed_at.done >= b.freed_at.done : queues.is_reached(b.freed_at);
    if (!a_is_later && !is_same && !queues.is_reached(a.freed_at)) return;
    if (!a_is_later) a.freed_at = b.freed_at;
    a.number = std::max(a.number, b.number);
    a.was_used = a.was_used || b.was_used;
    a.size += b.size;
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(at) + 1);
}

} // namespace sublet::detail
