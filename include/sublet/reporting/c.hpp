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
/// `decoder_buffers` and `decoder_pools` elements.

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
/// `PREFIX_buffers` and `PREFIX_pools`; buffers are numbered as in the plan, and views begin in them where
/// the plan's offset_in_root says. It fills the bytes and the first byte of each buffer, and the bytes
/// of each pool, as symbolic_plan::place() does; it checks no range.
///
/// Requires:   no size is by shape.
/// Complexity: O(output): a line for each buffer and each pair.
/// Throws:     precondition_error where a requirement is broken; whatever the stream and the names throw.
template <detail::text_stream Stream>
Stream& write_c(Stream& out, symbolic_plan const& plan, c_options const& options = {})
{
    detail::plain_text<Stream> text{out};
    char const* const prefix = options.prefix;
    auto formula = [&](sublet::formula const& f) {
        text << static_cast<char const*>(detail::formula_c(f, plan.dims).data());
    };
    text << "#ifndef SUBLET_FORMULAS\n#define SUBLET_FORMULAS\n"
            "static long long sublet_ceil_div(long long a, long long n) { return a / n + (a % n > 0); }\n"
            "static long long sublet_max(long long a, long long b) { return a < b ? b : a; }\n#endif\n\n"
            "enum { "
         << prefix << "_buffers = " << plan.buffers.size() << ", " << prefix
         << "_pools = " << plan.stack.pools << " };\n\nstatic void " << prefix << "_place(";
    for (std::uint32_t d = 0; d != plan.dims.size(); ++d) {
        text << "long long ";
        formula(symbol(d));
        text << ", ";
    }
    text << "long long *sublet_size, long long *sublet_offset, long long *sublet_bytes)\n{\n"
            "    long long sublet_begin;\n"
            "    (void)sublet_ceil_div, (void)sublet_max;\n";
    for (std::uint32_t d = 0; d != plan.dims.size(); ++d) {
        text << "    (void)";
        formula(symbol(d));
        text << ";\n";
    }
    for (std::size_t i = 0; i != plan.sizes.size(); ++i) {
        text << "    long long const sublet_s" << i << " = ";
        formula(plan.sizes[i]);
        text << ";\n";
    }
    for (pool_id p = 0; p != plan.stack.pools; ++p) text << "    sublet_bytes[" << p << "] = 0;\n";
    std::vector<char> name;
    for (std::size_t i = 0; i != plan.stack.order.size(); ++i) {
        stacking::layer const& its = plan.stack.order[i];
        symbolic_plan::buffer const& b = plan.buffers[its.buffer];
        options.names.read(name, b.root);
        text << "    /* ";
        for (char c : name) text << (c == '*' || c == '/' || c == '\\' || c < ' ' ? '_' : c);
        text << " */\n    sublet_size[" << its.buffer << "] = sublet_s" << b.size
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
    text << "}\n";
    return out;
}

} // namespace sublet

#endif
