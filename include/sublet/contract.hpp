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
///
/// Which of the two is decided where the library is compiled: in every file that includes it, or once for
/// sublet::compiled. Files of one program that differ in exceptions, sanitizers or the like have to use the
/// latter: inline functions compiled in two ways are one function to the linker, which keeps either.
[[noreturn]] void broken_precondition(char const* sentence);

} // namespace detail
} // namespace sublet

#define SUBLET_EXPECTS(condition, sentence)                                                                  \
    ((condition) ? void(0) : ::sublet::detail::broken_precondition(sentence))

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/impl/contract.ipp>
#endif

#endif
