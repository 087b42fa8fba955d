// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_IMPL_SENTENCE_IPP
#define SUBLET_EXECUTION_IMPL_SENTENCE_IPP

#include <sublet/execution/sentence.hpp>
#include <sublet/impl/config.hpp>

namespace sublet::detail {

SUBLET_DECL sentence& sentence::operator<<(char const* more) noexcept
{
    for (; *more != '\0'; ++more) *this << *more;
    return *this;
}

} // namespace sublet::detail

#endif
