// SPDX-License-Identifier: BSL-1.0

/// Sentences of violated preconditions, made in a buffer on the stack: the exception owns a copy of a fixed
/// length, so that throwing it allocates no text. Without exceptions the sentence is printed and the program
/// ends.

#include <sublet/core/errors.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#if !defined(__cpp_exceptions)
#include <cstdio>
#include <cstdlib>
#endif

namespace sublet {

SUBLET_DECL precondition_error::precondition_error(char const* sentence) noexcept
{
    std::size_t length = 0;
    for (; sentence[length] != '\0' && length + 1 != sizeof sentence_; ++length)
        sentence_[length] = sentence[length];
    sentence_[length] = '\0';
    if (sentence[length] != '\0')
        for (std::size_t i = length - 3; i != length; ++i) sentence_[i] = '.';
}

} // namespace sublet

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

[[noreturn]] SUBLET_DECL void broken_precondition(char const* sentence, sentence_part a, sentence_part b,
                                                  sentence_part c, sentence_part d)
{
    sentence_part const parts[] = {a, b, c, d};
    char text[1024];
    std::size_t length = 0, next = 0;
    auto append = [&](char const* piece) {
        while (*piece != '\0' && length + 1 != sizeof text) text[length++] = *piece++;
    };
    for (; *sentence != '\0'; ++sentence) {
        if (*sentence != '%' || next == 4) {
            char const one[] = {*sentence, '\0'};
            append(one);
            continue;
        }
        sentence_part const part = parts[next++];
        if (part.text != nullptr) append(part.text);
        if (part.text != nullptr && (part.text[0] != '-' || part.text[1] != '\0')) continue;
        char digits[21];
        char* first = digits + 20;
        *first = '\0';
        std::uint64_t rest = part.number;
        do *--first = static_cast<char>('0' + rest % 10);
        while ((rest /= 10) != 0);
        append(first);
    }
    text[length] = '\0';
    broken_precondition(text);
}

} // namespace sublet::detail
