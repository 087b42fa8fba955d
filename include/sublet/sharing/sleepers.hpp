// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_SLEEPERS_HPP
#define SUBLET_SHARING_SLEEPERS_HPP

/// Buffers that wait for tokens, each for one, and are woken when a range comes with it.
///
///     somebody waits in these 64 words?       ... 1 0 1
///     somebody waits for this token?          ... 0000 0010  0000 0000  1001 0000
///     who?                                                         b4, b7 ──┘  └── b1
///
/// Ranges are long and those who wait are few. Above the bits for tokens there is one for each word of them
/// that is not empty, and so on up to a single word; so what lies between two that are waited for is skipped.

#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

class sleepers {
public:
    sleepers(std::size_t tokens, std::size_t buffers);

    /// Requires:   b sleeps for no token.
    /// Complexity: O(log tokens) to the base of 64.
    void sleep(buffer_id b, std::uint32_t token);

    /// Calls `up(b)` for all b that sleep for a token from `first` on and below `last`; they sleep no longer.
    ///
    /// Complexity: O((1 + tokens that are waited for) log tokens) to the base of 64, and the calls.
    template <class Up>
    void wake(std::uint32_t first, std::uint32_t last, Up up)
    {
        for (std::uint32_t token = from(first); token < last; token = from(token + 1)) {
            for (buffer_id b = first_[token]; b != no_buffer; b = next_[b]) up(b);
            first_[token] = no_buffer;
            std::uint32_t at = token;
            for (unsigned level = 0; level != levels_; ++level, at /= 64)
                if ((word(level, at / 64) &= ~bit(at)) != 0) break;
        }
    }

private:
    /// The lowest token from `token` on that somebody waits for; a very high number if there is none.
    std::uint32_t from(std::uint32_t token) const;
    static std::uint64_t bit(std::uint32_t token);
    static std::uint32_t lowest(std::uint64_t w);
    std::uint64_t& word(unsigned level, std::uint32_t index) { return words_[begin_[level] + index]; }

    std::vector<buffer_id> first_, next_; // by token, and by buffer: of those that wait for one token, a list
    std::vector<std::uint64_t> words_;    // level by level
    std::size_t begin_[6] = {};           // 64^6 exceeds 2^32
    unsigned levels_ = 0;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/sleepers.ipp>
#endif

#endif
