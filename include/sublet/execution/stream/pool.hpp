// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STREAM_POOL_HPP
#define SUBLET_EXECUTION_STREAM_POOL_HPP

/// Memory that is taken and given back in the order of streams, while their work is still to be done.
///
///     stream 0   p = allocate   work on p   deallocate p   record e
///     stream 1                                             wait e     q = allocate     q may be p
///     stream 2                                                        r = allocate     r may not
///
/// Bytes that stream a gave back may go to a at once, and to b as soon as what b does next comes after it: by
/// an event of a, or of c that had waited for a. So each free block keeps the moment at which it was given
/// back, and not the stream that had it last: a block that goes through many hands asks each time for what
/// really has to be over.
///
/// Blocks are cut from chunks of the source, the smallest that will do, of those the one given back last;
/// neighbours grow together again when one moment covers both. Chunks stay until `trim()`.

#include <sublet/execution/memory.hpp>
#include <sublet/execution/stream/queues.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

struct stream_pool_use {
    byte_count used = 0, used_high = 0;         ///< by blocks that were not given back
    byte_count reserved = 0, reserved_high = 0; ///< taken from the source
    std::size_t blocks = 0;                     ///< that were not given back
    std::uint64_t reused = 0;                   ///< blocks that had been somebody's before
};

/// Requires: streams are those of one `stream_queues`, which is given to each call.
class stream_pool {
public:
    explicit stream_pool(memory_source source = {}, byte_count limit = no_limit) : source_(source, limit) {}
    stream_pool(stream_pool const&) = delete;
    stream_pool& operator=(stream_pool const&) = delete;
    ~stream_pool();

    /// Complexity: O(blocks).
    /// Throws:     what the source throws, out_of_budget; after all that is queued was done to get room.
    [[nodiscard]] std::byte* allocate(byte_count bytes, byte_count alignment, std::uint32_t stream,
                                      stream_queues& queues);

    /// Throws: precondition_error for what is not taken, or not with this size.
    void expect_taken(std::byte const* data, byte_count bytes) const;

    /// Throws: as expect_taken().
    void deallocate(std::byte* data, byte_count bytes, std::uint32_t stream, stream_queues const& queues);

    /// Chunks of which nothing is taken or in use go back to the source.
    void trim(stream_queues const& queues);

    [[nodiscard]] stream_pool_use const& use() const noexcept { return use_; }

private:
    struct block {
        std::byte* begin = nullptr;
        byte_count size = 0;
        std::byte* chunk = nullptr; // where the chunk begins of which it is cut
        bool is_free = true;
        bool was_used = false;
        stream_moment given_back{};
        std::uint64_t number = 0; // of all that were given back
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

    /// The first block that does not begin below `data`.
    std::size_t position_of(std::byte const* data) const;

    std::size_t best_fit(byte_count bytes, byte_count alignment, std::uint32_t stream,
                         stream_queues const& queues) const;

    /// A new block at the end of the search; none if room was made among those that there are.
    std::size_t add_chunk(byte_count bytes, byte_count alignment, stream_queues& queues);

    std::byte* take(std::size_t at, byte_count bytes, byte_count alignment);

    /// The block keeps its first bytes; what is left is one of its own, given back when it was.
    void cut(std::size_t at, byte_count bytes);

    /// With the one behind it, if both are free and one of the two moments says enough.
    void grow_together(std::size_t at, stream_queues const& queues);

    counted_memory source_;
    std::vector<block> blocks_{}; // by address
    std::vector<chunk> chunks_{};
    stream_pool_use use_{};
    std::uint64_t given_back_ = 0;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/stream/impl/pool.ipp>
#endif

#endif
