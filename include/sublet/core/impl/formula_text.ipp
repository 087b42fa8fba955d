// SPDX-License-Identifier: BSL-1.0

/// One writer for both languages, which differ in powers, suffixes, quotients and maxima.

#include <sublet/core/formula_text.hpp>
#include <sublet/core/internal/text.hpp>
#include <sublet/impl/config.hpp>

namespace sublet::detail {

SUBLET_COLD_DECL bool is_equal_text(char const* a, char const* b)
{
    while (*a != '\0' && *a == *b) ++a, ++b;
    return *a == *b;
}

/// A name that a variable of C and C++ may have, and that is none of those that are made: d0, d1 ...
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
    static constexpr char const* reserved[] = {
        "alignas",    "alignof",        "and",       "asm",      "auto",     "bool",
        "break",      "case",           "catch",     "char",     "class",    "compl",
        "concept",    "const",          "constexpr", "continue", "default",  "delete",
        "do",         "double",         "else",      "enum",     "explicit", "export",
        "extern",     "false",          "float",     "for",      "friend",   "goto",
        "if",         "inline",         "int",       "long",     "mutable",  "namespace",
        "new",        "noexcept",       "not",       "nullptr",  "operator", "or",
        "private",    "protected",      "public",    "register", "requires", "restrict",
        "return",     "short",          "signed",    "sizeof",   "static",   "struct",
        "switch",     "template",       "this",      "throw",    "true",     "try",
        "typedef",    "typeid",         "typename",  "typeof",   "union",    "unsigned",
        "using",      "virtual",        "void",      "volatile", "while",    "xor",
        "sublet_max", "sublet_ceil_div"};
    for (char const* word : reserved)
        if (is_equal_text(name, word)) return false;
    return !is_made;
}

struct formula_writer {
    std::span<dimension const> dims;
    bool is_c;
    plain_text<appended_text> out;

    void name(std::uint32_t d)
    {
        bool is_used = d < dims.size() && dims[d].name != nullptr && dims[d].name[0] != '\0';
        if (is_used && is_c) {
            is_used = is_c_name(dims[d].name);
            for (std::size_t i = 0; is_used && i != dims.size(); ++i)
                is_used = i == d || dims[i].name == nullptr || !is_equal_text(dims[i].name, dims[d].name);
        }
        if (is_used) out << dims[d].name;
        else out << 'd' << d;
    }

    void number(std::int64_t n)
    {
        out << n;
        if (is_c) out << "ll";
    }

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
