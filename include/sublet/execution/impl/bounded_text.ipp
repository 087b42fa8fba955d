// SPDX-License-Identifier: BSL-1.0

/// bounded_text: character by character. The sentence of a cause is read by throwing it once more.

#include <sublet/execution/detail/bounded_text.hpp>
#include <sublet/impl/config.hpp>

#include <exception>

namespace sublet::detail {

SUBLET_DECL bounded_text& bounded_text::operator<<(char const* more) noexcept
{
    for (; *more != '\0'; ++more) *this << *more;
    return *this;
}

SUBLET_DECL void write_cause(bounded_text& out, std::exception_ptr const& cause)
{
    if (!cause) return;
    try {
        std::rethrow_exception(cause);
    } catch (std::exception const& e) {
        out << ": " << e.what();
    } catch (...) {
        out << ": something that is no std::exception";
    }
}

} // namespace sublet::detail
