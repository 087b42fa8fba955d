// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_UNITS_IPP
#define SUBLET_IMPL_UNITS_IPP

#include <sublet/impl/config.hpp>
#include <sublet/units.hpp>

#if !defined(__cpp_exceptions)
#include <cstdio>
#include <cstdlib>
#endif

namespace sublet::detail {

[[noreturn]] SUBLET_DECL void broken_precondition(char const* sentence)
{
#if defined(__cpp_exceptions)
    throw precondition_error(sentence);
#else
    std::fputs(sentence, stderr);
    std::fputc('\n', stderr);
    std::abort();
#endif
}

} // namespace sublet::detail

#endif
