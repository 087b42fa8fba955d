// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_ERRORS_HPP
#define SUBLET_CORE_ERRORS_HPP

/// The library has three ways to fail. A wrong type is a concept error, a violated precondition throws one
/// sentence that names it, and a fact about the data is a returned error with a counterexample.
///
///     SUBLET_EXPECTS(!sizes.empty(), "sublet: there are no sizes");
///     SUBLET_EXPECTS(value < blobs, "sublet: value % is named, but there are only % values", value, blobs);

#include <sublet/core/internal/sentence_part.hpp>
#include <sublet/impl/config.hpp>

#include <exception>

namespace sublet {

/// The only exception type of the library's core. It owns its sentence, of at most 511 characters (a longer
/// one is cut and ends with "..."): throwing it allocates nothing more, and needs no `std::string`.
class precondition_error : public std::exception {
public:
    /// Copies the sentence.
    explicit precondition_error(char const* sentence) noexcept;
    char const* what() const noexcept override { return sentence_; }

private:
    char sentence_[512];
};

namespace detail {

/// Throws the sentence, each `%` in it replaced by one part; without exceptions prints it and aborts. The
/// choice is made where the library is compiled: in every file that includes it, or once for
/// sublet::compiled. If files of one program differ in exceptions, sanitizers or the like, use the latter:
/// the linker keeps only one of two differently compiled copies of an inline function.
[[noreturn]] void broken_precondition(char const* sentence);
[[noreturn]] void broken_precondition(char const* sentence, sentence_part a, sentence_part b = "",
                                      sentence_part c = "", sentence_part d = "");

} // namespace detail
} // namespace sublet

#define SUBLET_EXPECTS(condition, ...)                                                                       \
    ((condition) ? void(0) : ::sublet::detail::broken_precondition(__VA_ARGS__))

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/core/impl/errors.ipp>
#endif

#endif
