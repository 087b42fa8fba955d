// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_SVG_KINDS_HPP
#define SUBLET_REPORTING_SVG_KINDS_HPP

/// What kind of producer fills the memory? Each kind has a colour, the legend says which.
///
///     buffer   kind   size   life      byte-steps
///       0      Conv    64    [0, 4)       256       A  Conv  80 %
///       1      Relu    16    [1, 3)        32       B  Relu  20 %
///       2      Relu    16    [3, 5)        32
///
/// A byte that is held for a step is a byte-step, the area of a rectangle in the picture: a kind's share of
/// them says how much of the picture has its colour. More colours than a reader can keep apart tell nothing,
/// so what is rare shares a grey.

#include <sublet/keyed.hpp>
#include <sublet/live_range.hpp>
#include <sublet/plan.hpp>
#include <sublet/reporting/names.hpp>
#include <sublet/reporting/svg_canvas.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sublet::detail {

/// The kinds of some buffers, the one with most byte-steps first.
struct buffer_kinds {
    struct kind {
        std::size_t first, last, characters; ///< of its name, in `text`
        std::uint64_t byte_steps;
    };
    std::vector<char> text;
    std::vector<kind> kinds;
    std::vector<std::uint32_t> kind_of; ///< by buffer
    std::uint64_t byte_steps = 0;       ///< of all

    std::string_view name_of(std::size_t k) const
    {
        return {text.data() + kinds[k].first, kinds[k].last - kinds[k].first};
    }
};

/// Ask for the kind of each buffer's root and rank the kinds.
///
/// Ensures:    the names are printable (see names.hpp), and kinds whose names print alike are one. Those of
///             equally many byte-steps stand in the order of their first buffers. Should the byte-steps
///             exceed 64 bits, then sizes are counted in the smallest power of two with which they do not.
/// Complexity: O(n log n) comparisons of names, n = buffers; `kind_of` is called once for each.
/// Throws:     whatever `kind_of` throws; std::bad_alloc.
template <name_function Kinds>
[[nodiscard]] buffer_kinds kinds_of(std::vector<placed_buffer const*> const& buffers, Kinds& kind_of)
{
    buffer_kinds result;
    result.kind_of.resize(buffers.size());
    std::vector<buffer_kinds::kind> asked; // by buffer
    std::vector<std::uint32_t> by_name, first_of;
    std::vector<char> name;
    for (std::uint32_t i = 0; i != buffers.size(); ++i) {
        read_name(name, kind_of, buffers[i]->root);
        std::size_t const characters = keep_printable(name), first = result.text.size();
        for (char c : name) result.text.push_back(c);
        asked.push_back({first, result.text.size(), characters, 0});
        by_name.push_back(i);
    }
    auto const name_at = [&](std::uint32_t i) {
        return std::string_view(result.text.data() + asked[i].first, asked[i].last - asked[i].first);
    };
    sort_by(by_name, [&](std::uint32_t a, std::uint32_t b) {
        int const order = name_at(a).compare(name_at(b));
        return order != 0 ? order < 0 : a < b;
    });
    for (std::uint32_t i : by_name) {
        if (first_of.empty() || name_at(first_of.back()) != name_at(i)) first_of.push_back(i);
        result.kind_of[i] = first_of.back();
    }

    auto const counted = [&](unsigned shift) {
        result.byte_steps = 0;
        for (std::uint32_t i : first_of) asked[i].byte_steps = 0;
        for (std::uint32_t i = 0; i != buffers.size(); ++i) {
            std::uint64_t const size = buffers[i]->size >> shift, life = length(buffers[i]->life);
            if (life != 0 && size > (~std::uint64_t{0} - result.byte_steps) / life) return false;
            result.byte_steps += size * life;
            asked[result.kind_of[i]].byte_steps += size * life;
        }
        return true;
    };
    for (unsigned shift = 0; !counted(shift);) ++shift;

    std::vector<keyed> ranked;
    for (std::uint32_t i : first_of) ranked.push_back({falling(asked[i].byte_steps), i, i});
    sort_keyed(ranked);
    std::vector<std::uint32_t>& rank = by_name; // by first buffer
    for (keyed const& k : ranked) {
        rank[k.who] = static_cast<std::uint32_t>(result.kinds.size());
        result.kinds.push_back(asked[k.who]);
    }
    for (std::uint32_t& k : result.kind_of) k = rank[k];
    return result;
}

/// How many kinds have a colour of their own; the others stand together at the end.
inline constexpr std::size_t svg_colors = 11;

/// The kinds in rows and columns below the plots.
struct svg_legend {
    static constexpr std::uint64_t row = 1800, swatch = 1600, head = 2200, longest = 24; // letters of a kind
    std::size_t entries;
    std::uint64_t columns, cell; // cell: from one entry to the next
    std::uint64_t height() const
    {
        return entries == 0 ? 0 : head + (entries + columns - 1) / columns * row + 600;
    }
};

svg_legend legend_of(buffer_kinds const& all, std::uint64_t width);

template <class Stream>
void draw_legend(svg_canvas<Stream>& canvas, svg_legend legend, buffer_kinds const& all, std::uint64_t top)
{
    using px = hundredths;
    if (legend.entries == 0) return;
    std::uint64_t rest = all.byte_steps;
    canvas.text("b", canvas.left, top + 600) << "kind and its share of bytes × positions</text>\n";
    for (std::size_t k = 0; k != legend.entries; ++k) {
        std::uint64_t const x = canvas.left + k % legend.columns * legend.cell;
        std::uint64_t const y = top + legend.head + k / legend.columns * legend.row;
        bool const own = k != svg_colors;
        canvas.out << "<path class=\"" << static_cast<char>(own ? 'A' + k : 'O') << "\" d=\"M" << px{x} << ' '
                   << px{y} << "h10v10h-10z\"/>";
        canvas.text("k", x + legend.swatch, y + 900);
        if (!own) {
            std::size_t const others = all.kinds.size() - svg_colors;
            canvas.out << others << (others == 1 ? " other kind" : " other kinds");
        } else if (all.kinds[k].characters > legend.longest) {
            write_escaped(canvas.out, all.name_of(k), 0, legend.longest - 1);
            canvas.out << "…";
        } else {
            if (all.kinds[k].characters == 0) canvas.out << "unnamed";
            write_escaped(canvas.out, all.name_of(k));
        }
        std::uint64_t const steps = own ? all.kinds[k].byte_steps : rest;
        rest -= steps;
        std::uint64_t const whole = larger<std::uint64_t>(all.byte_steps, 1);
        std::uint64_t const tenths = (portion(2000, steps, whole) + 1) / 2; // rounded, of a percent
        canvas.out << " <tspan class=\"b\">" << (tenths == 0 && steps != 0 ? "&lt;" : "")
                   << px{larger<std::uint64_t>(10 * tenths, steps == 0 ? 0 : 10)} << " %</tspan></text>\n";
    }
}

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/reporting/impl/svg_kinds.ipp>
#endif

#endif
