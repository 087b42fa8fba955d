// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IMPL_SLEEPERS_IPP
#define SUBLET_SHARING_IMPL_SLEEPERS_IPP

#include <sublet/impl/config.hpp>
#include <sublet/sharing/sleepers.hpp>

#include <bit>

namespace sublet::detail {

SUBLET_DECL sleepers::sleepers(std::size_t tokens, std::size_t buffers)
    : first_(tokens, no_buffer), next_(buffers, no_buffer)
{
    std::size_t words = 0;
    do {
        tokens = tokens / 64 + 1;
        begin_[levels_++] = words;
        words += tokens;
    } while (tokens != 1);
    words_ = std::vector<std::uint64_t>(words, 0);
}

SUBLET_DECL void sleepers::sleep(buffer_id b, std::uint32_t token)
{
    next_[b] = first_[token];
    first_[token] = b;
    for (unsigned level = 0; level != levels_; ++level, token /= 64) word(level, token / 64) |= bit(token);
}

SUBLET_DECL std::uint32_t sleepers::from(std::uint32_t token) const
{
    for (unsigned level = 0; level != levels_; ++level) {
        std::size_t const w = begin_[level] + token / 64;
        if (w >= (level + 1 == levels_ ? words_.size() : begin_[level + 1])) break;
        std::uint64_t const above = words_[w] >> token % 64 << token % 64;
        if (above != 0) {
            token = token / 64 * 64 + lowest(above);
            while (level-- != 0) token = token * 64 + lowest(words_[begin_[level] + token]);
            return token;
        }
        token = token / 64 + 1;
    }
    return ~std::uint32_t{0};
}

SUBLET_DECL std::uint64_t sleepers::bit(std::uint32_t token) { return std::uint64_t{1} << token % 64; }

SUBLET_DECL std::uint32_t sleepers::lowest(std::uint64_t w)
{
    return static_cast<std::uint32_t>(std::countr_zero(w));
}

} // namespace sublet::detail

#endif
