// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_C_HPP
#define SUBLET_REPORTING_C_HPP

/// Writes a plan for every shape as C: a function from the sizes of the open dimensions to all offsets, for
/// programs that do without this library.
///
///     auto planned = sublet::plan_symbolic(program, any_shape);
///     sublet::write_c(file, planned.plan, {.prefix = "decoder"});
///
/// In C99 or C++11 `decoder_place(batch, length, size, offset, bytes)` then fills arrays of long long, with
/// `decoder_buffers` and `decoder_pools` elements; `decoder_values(batch, length, offset, at)` fills one of
/// `decoder_count` elements: where each value begins.

#include <sublet/core/formula_text.hpp>
#include <sublet/core/internal/text.hpp>
#include <sublet/core/symbolic_plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/reporting/names.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

/// What the functions are called.
struct c_options {
    char const* prefix = "plan";   ///< of all names: an identifier
    names_of<value_id> names = {}; ///< of values, for comments; default: their numbers
};

/// Writes `PREFIX_place(sizes of the dimensions ..., size, offset, bytes)` with the constants
/// `PREFIX_buffers` and `PREFIX_pools`; buffers are numbered as in the plan. It fills the bytes and the first
/// byte of each buffer, and the bytes of each pool, as symbolic_plan::place() does; it checks no range. And
/// `PREFIX_values(sizes of the dimensions ..., offset, at)` with the constant `PREFIX_count`, which fills the
/// first byte of each value of the program, as symbolic_plan::offset_of() does; -1: it has none.
///
/// Requires:   no size is by shape; the prefix is an identifier of C, and begins with a letter.
/// Complexity: O(output): a line for each buffer, each pair and each value.
/// Throws:     precondition_error where a requirement is broken; whatever the stream and the names throw.
template <detail::text_stream Stream>
Stream& write_c(Stream& out, symbolic_plan const& plan, c_options const& options = {})
{
    detail::plain_text<Stream> text{out};
    char const* const prefix = options.prefix;
    auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    bool is_prefix = prefix != nullptr && is_letter(*prefix); // keywords, too: something follows
    for (char const* c = prefix; is_prefix && *c != '\0'; ++c)
        is_prefix = is_letter(*c) || (*c >= '0' && *c <= '9') || *c == '_';
    SUBLET_EXPECTS(is_prefix, "sublet: a prefix is no identifier of C");
    auto formula = [&](sublet::formula const& f) {
        text << static_cast<char const*>(detail::formula_c(f, plan.dims).data());
    };
    text << "#ifndef SUBLET_FORMULAS\n#define SUBLET_FORMULAS\n"
            "static long long sublet_ceil_div(long long a, long long n) { return a / n + (a % n > 0); }\n"
            "static long long sublet_max(long long a, long long b) { return a < b ? b : a; }\n#endif\n\n"
            "enum { "
         << prefix << "_buffers = " << plan.buffers.size() << ", " << prefix
         << "_pools = " << plan.stack.pools << ", " << prefix << "_count = " << plan.buffer_of.size()
         << " };\n\n";
    auto begin_function = [&](char const* name) {
        text << "static inline void " << prefix << name;
        for (std::uint32_t d = 0; d != plan.dims.size(); ++d) {
            text << "long long ";
            formula(symbol(d));
            text << ", ";
        }
    };
    auto use_dimensions = [&] {
        for (std::uint32_t d = 0; d != plan.dims.size(); ++d) {
            text << "    (void)";
            formula(symbol(d));
            text << ";\n";
        }
    };
    std::vector<char> name;
    auto comment = [&](value_id v) {
        options.names.read(name, v);
        text << "/* ";
        for (char c : name)
            text << (c == '*' || c == '/' || c == '\\' || static_cast<unsigned char>(c) < ' ' ? '_' : c);
        text << " */";
    };
    begin_function("_place(");
    text << "long long *sublet_size, long long *sublet_offset, long long *sublet_bytes)\n{\n"
            "    long long sublet_begin;\n"
            "    (void)sublet_ceil_div, (void)sublet_max;\n";
    use_dimensions();
    for (std::size_t i = 0; i != plan.sizes.size(); ++i) {
        text << "    long long const sublet_s" << i << " = ";
        formula(plan.sizes[i]);
        text << ";\n";
    }
    for (pool_id p = 0; p != plan.stack.pools; ++p) text << "    sublet_bytes[" << p << "] = 0;\n";
    for (std::size_t i = 0; i != plan.stack.order.size(); ++i) {
        stacking::layer const& its = plan.stack.order[i];
        symbolic_plan::buffer const& b = plan.buffers[its.buffer];
        text << "    ";
        comment(b.root);
        text << "\n    sublet_size[" << its.buffer << "] = sublet_s" << b.size
             << ";\n    sublet_begin = 0;\n";
        for (buffer_id under : plan.stack.below_of(i))
            text << "    sublet_begin = sublet_max(sublet_begin, sublet_offset[" << under
                 << "] + sublet_size[" << under << "]);\n";
        if (its.alignment != 1)
            text << "    sublet_begin = " << its.alignment << "ll * sublet_ceil_div(sublet_begin, "
                 << its.alignment << "ll);\n";
        if (its.pinned != no_offset)
            text << "    sublet_begin = sublet_max(sublet_begin, " << its.pinned << "ll);\n";
        text << "    sublet_offset[" << its.buffer << "] = sublet_begin;\n    if (sublet_size[" << its.buffer
             << "] != 0) sublet_bytes[" << its.pool << "] = sublet_max(sublet_bytes[" << its.pool
             << "], sublet_begin + sublet_size[" << its.buffer << "]);\n";
    }
    text << "}\n\n";
    begin_function("_values(");
    text << "long long const *sublet_offset, long long *sublet_at)\n{\n"
            "    (void)sublet_offset, (void)sublet_at;\n";
    use_dimensions();
    for (value_id v = 0; v != plan.buffer_of.size(); ++v) {
        text << "    sublet_at[" << +v << "] = ";
        buffer_id const b = plan.buffer_of[v];
        if (b == no_buffer) {
            text << "-1; ";
        } else {
            text << "sublet_offset[" << b << ']';
            if (!plan.offset_in_root.empty() && plan.offset_in_root[v] != sublet::formula{}) {
                text << " + (";
                formula(plan.offset_in_root[v]);
                text << ')';
            }
            text << "; ";
        }
        comment(v);
        text << '\n';
    }
    text << "}\n";
    return out;
}

} // namespace sublet

#endif
