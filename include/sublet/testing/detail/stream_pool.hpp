// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TESTING_DETAIL_STREAM_POOL_HPP
#define SUBLET_TESTING_DETAIL_STREAM_POOL_HPP

/// A stream-ordered memory pool: allocates and frees while the work that uses the bytes is still queued.
///
///     stream 0   p = allocate   work on p   deallocate p   record e
///     stream 1                                             wait e     q = allocate     q may be p
///     stream 2                                                        r = allocate     r may not
///
/// Bytes freed in stream a may be reused in a at once, and in b as soon as the next command of b happens
/// after the free, by an event of a or of a stream that waited for a. So each free block keeps the stream
/// point at which it was freed. Blocks are split from chunks of the source: best fit, ties to the block freed
/// last. Free neighbours coalesce when one point happens after the other. Chunks are kept until `trim()`.

#include <sublet/core/units.hpp>
#include <sublet/execution/internal/counted_memory.hpp>
#include <sublet/execution/memory_source.hpp>
#include <sublet/testing/detail/stream_queues.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

struct stream_pool_use {
    byte_count used = 0, used_high = 0;         ///< by live blocks
    byte_count reserved = 0, reserved_high = 0; ///< allocated from the source
    std::size_t blocks = 0;                     ///< live blocks
    std::uint64_t reused = 0;                   ///< allocations from bytes that were used before
};

/// Requires: all calls get the same `stream_queues`.
class stream_pool {
public:
    explicit stream_pool(memory_source source = {}, byte_count limit = no_limit) : source_(source, limit) {}
    stream_pool(stream_pool const&) = delete;
    stream_pool& operator=(stream_pool const&) = delete;
    ~stream_pool();

    /// As stream_device requires it; from upstream, unless released bytes can be used in the stream.
    ///
    /// Complexity: O(blocks).
    /// Throws:     errors of the source, memory_limit_exceeded; executes all queued work before it does.
    [[nodiscard]] std::byte* allocate(byte_count bytes, byte_count alignment, std::uint32_t stream,
                                      stream_queues& queues);

    /// Throws: precondition_error for bytes that are not allocated, or not with this size.
    void expect_taken(std::byte const* data, byte_count bytes) const;

    /// Throws: as expect_taken().
    void deallocate(std::byte* data, byte_count bytes, std::uint32_t stream, stream_queues const& queues);

    /// Returns chunks without live or pending blocks to the source.
    void trim(stream_queues const& queues);

    [[nodiscard]] stream_pool_use const& use() const noexcept { return use_; }

private:
    struct block {
        std::byte* begin = nullptr;
        byte_count size = 0;
        std::byte* chunk = nullptr; // begin of its chunk
        bool is_free = true;
        bool was_used = false;
        stream_point freed_at{};
        std::uint64_t number = 0; // in the order of frees
    };
    struct chunk {
        std::byte* begin;
        byte_count size, alignment;
    };

    static byte_count address(std::byte const* data);
    static byte_count gap_before(block const& b, byte_count alignment)
    {
        return align_up(address(b.begin), alignment) - address(b.begin);
    }

    std::size_t position_of(std::byte const* data) const;

    std::size_t best_fit(byte_count bytes, byte_count alignment, std::uint32_t stream,
                         stream_queues const& queues) const;

    /// Adds a chunk when no block fits; none if executing queued work made one fit.
    std::size_t add_chunk(byte_count bytes, byte_count alignment, stream_queues& queues);

    std::byte* take(std::size_t at, byte_count bytes, byte_count alignment);

    /// Splits a block after its first bytes; both parts keep the point of its free.
    void split(std::size_t at, byte_count bytes);

    /// Merges a block with the next one, if both are free and one point happens after the other.
    void coalesce(std::size_t at, stream_queues const& queues);

    counted_memory source_;
    std::vector<block> blocks_{}; // by address
    std::vector<chunk> chunks_{};
    stream_pool_use use_{};
    std::uint64_t free_count_ = 0;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/testing/impl/stream_pool.ipp>
#endif

#endif
