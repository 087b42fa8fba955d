// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CONTRACT_HPP
#define SUBLET_CONTRACT_HPP

/// What happens when a caller breaks a promise that no compiler can check: one sentence that says which.
///
///     SUBLET_EXPECTS(alignment >= 1, "sublet: an alignment is at least 1");
///
/// This is the second of the library's three doors for failure. The first is a concept error (a wrong
/// type), the third is a returned value (a fact about the data, with a witness): neither throws.

#include <exception>

#if !defined(__cpp_exceptions)
#include <cstdio>
#include <cstdlib>
#endif

namespace sublet {

/// The one exception of the library's own. It carries a literal, so that throwing it allocates nothing
/// beyond the exception itself and including it does not pull in `std::string`.
class precondition_error : public std::exception {
public:
    explicit precondition_error(char const* sentence) noexcept : sentence_(sentence) {}
    char const* what() const noexcept override { return sentence_; }

private:
    char const* sentence_;
};

namespace detail {

/// Throw the sentence; without exceptions print it and abort.
[[noreturn]] inline void broken_precondition(char const* sentence)
{
#if defined(__cpp_exceptions)
    throw precondition_error(sentence);
#else
    std::fputs(sentence, stderr);
    std::fputc('\n', stderr);
    std::abort();
#endif
}

} // namespace detail
} // namespace sublet

#define SUBLET_EXPECTS(condition, sentence)                                                                  \
    ((condition) ? void(0) : ::sublet::detail::broken_precondition(sentence))

#endif
