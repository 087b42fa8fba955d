// SPDX-License-Identifier: BSL-1.0

/// One writer for both languages, which differ in powers, suffixes, quotients and maxima.

#include <sublet/core/formula_text.hpp>
#include <sublet/core/internal/text.hpp>
#include <sublet/impl/config.hpp>

namespace sublet::detail {

SUBLET_COLD_DECL bool begins_with(char const* text, char const* with)
{
    while (*with != '\0' && *text == *with) ++text, ++with;
    return *with == '\0';
}

/// A name that a variable of C and C++ may have, and that is none of those that are made: d0, d1 ...
/// sublet_max, SUBLET_FORMULAS ...
SUBLET_COLD_DECL bool is_c_name(char const* name)
{
    auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    if (!is_letter(*name)) return false; // those with _ at the begin are not for users
    bool is_made = *name == 'd' && name[1] != '\0';
    for (char const* c = name + 1; *c != '\0'; ++c) {
        if (!is_letter(*c) && !is_digit(*c) && *c != '_') return false;
        is_made = is_made && is_digit(*c);
    }
    static constexpr char const* reserved = // keywords, and macros of compilers
        "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t "
        "char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr "
        "constinit continue decltype default delete do double dynamic_cast else enum explicit export "
        "extern false float for friend goto if inline int linux long mutable namespace new noexcept not "
        "not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires "
        "restrict return short signed sizeof static static_assert static_cast struct switch template "
        "this thread_local throw true try typedef typeid typename typeof typeof_unqual union unix "
        "unsigned using virtual void volatile wchar_t while xor xor_eq ";
    for (char const* word = reserved; *word != '\0'; ++word) { // each ends with a space
        char const* c = name;
        while (*c != '\0' && *c == *word) ++c, ++word;
        if (*c == '\0' && *word == ' ') return false;
        while (*word != ' ') ++word;
    }
    return !is_made && !begins_with(name, "sublet_") && !begins_with(name, "SUBLET_");
}

struct formula_writer {
    std::span<dimension const> dims;
    bool is_c;
    plain_text<appended_text> out;

    void name(std::uint32_t d)
    {
        bool is_used = d < dims.size() && !dims[d].name.empty();
        if (is_used && is_c) {
            is_used = is_c_name(dims[d].name.c_str());
            for (std::size_t i = 0; is_used && i != dims.size(); ++i)
                is_used = i == d || dims[i].name != dims[d].name;
        }
        if (is_used) out << dims[d].name.c_str();
        else out << 'd' << d;
    }

    void number(std::int64_t n)
    {
        out << n;
        if (is_c) out << "ll";
    }

    // NOLINTNEXTLINE(misc-no-recursion): at most most_depth deep
    void factor(word_list its)
    {
        if (is_symbol(its)) return name(static_cast<std::uint32_t>(its[0]));
        if (is_quotient(its)) {
            polynomial_view const dividend = dividend_of(its);
            word_list rest = dividend.terms;
            (void)next_term(rest);
            bool const is_sum = dividend.constant != 0 || !rest.empty();
            out << (is_c ? "sublet_ceil_div(" : is_sum ? "ceil((" : "ceil(");
            sum(dividend);
            out << (is_c ? ", " : is_sum ? ")/" : "/");
            number(its[2]);
            out << ')';
            return;
        }
        word_list rest = operands_of(its);
        out << (is_c ? "sublet_max(" : "max(");
        unsigned closing = 1;
        for (;;) {
            sum(next_operand(rest));
            if (rest.empty()) break;
            out << ", ";
            word_list after = rest;
            (void)next_operand(after);
            if (!is_c || after.empty()) continue;
            out << "sublet_max(";
            ++closing;
        }
        for (; closing != 0; --closing) out << ')';
    }

    // NOLINTNEXTLINE(misc-no-recursion): at most most_depth deep
    void key(word_list its)
    {
        bool is_first = true;
        while (!its.empty()) {
            word_list const one = next_factor(its);
            unsigned power = 1;
            if (!is_first) out << '*';
            is_first = false;
            factor(one);
            for (word_list rest = its; !is_c && !rest.empty() && compare_words(one, next_factor(rest)) == 0;
                 ++power)
                its = rest;
            if (power != 1) out << '^' << power;
        }
    }

    // NOLINTNEXTLINE(misc-no-recursion): at most most_depth deep
    void sum(polynomial_view f)
    {
        bool is_first = f.constant == 0 && !f.terms.empty();
        if (!is_first) number(f.constant);
        while (!f.terms.empty()) {
            term_view const term = next_term(f.terms);
            bool const is_negative = term.coefficient < 0;
            std::int64_t const size = is_negative ? -term.coefficient : term.coefficient;
            out << (is_first ? (is_negative ? "-" : "") : is_negative ? " - " : " + ");
            is_first = false;
            if (size != 1) {
                number(size);
                out << '*';
            }
            key(term.key);
        }
    }
};

SUBLET_COLD_DECL std::vector<char> text_of_formula(formula const& f, std::span<dimension const> dims)
{
    std::vector<char> text;
    appended_text to{text};
    formula_writer writer{dims, false, {to}};
    if (!f.is_known()) to << '?';
    else if (f.is_by_shape()) to << "by shape";
    else writer.sum(formula_parts::of(f));
    text.push_back('\0');
    return text;
}

SUBLET_COLD_DECL std::vector<char> formula_c(formula const& f, std::span<dimension const> dims)
{
    std::vector<char> text;
    appended_text to{text};
    formula_writer writer{dims, true, {to}};
    writer.sum(formula_parts::of(f));
    text.push_back('\0');
    return text;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL formula_text with_names(formula const& f, std::span<dimension const> dims)
{
    return {detail::text_of_formula(f, dims)};
}

} // namespace sublet
