// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_DETAIL_DOT_WRITER_HPP
#define SUBLET_REPORTING_DETAIL_DOT_WRITER_HPP

/// Writes the nodes and edges of a Graphviz file: a box for each step, an ellipse for what is given, edges
/// of values and of order, the legend; and the colour of a slot, a hue a golden section away from that of
/// the slot before it, computed in integers so that it is the same on every machine.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/internal/text.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/reporting/internal/printable_text.hpp>
#include <sublet/reporting/names.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

/// A 24-bit colour for a slot: light enough for black text, or dark enough for a line on white.
constexpr std::uint32_t slot_color(slot_id slot, bool dark)
{
    if (slot == no_slot) return dark ? 0x8b9098 : 0xffffff;
    std::uint32_t const angle = (slot * 0x9e3779b9u + 0x90000000u) >> 16; // of 65536; slot 0 is blue
    std::uint32_t const hue = angle * 1536 >> 16; // along six edges of the colour cube
    std::uint32_t const value = dark ? 180 : slot % 3 == 2 ? 215 : 250;
    std::uint32_t const saturation = dark ? 190 : slot % 3 == 1 ? 115 : 85; // of 256
    std::uint32_t color = 0;
    for (std::uint32_t channel : {5u, 3u, 1u}) {
        std::uint32_t const at = (channel * 256 + hue) % 1536;
        std::uint32_t const up = at < 256 ? at : at < 768 ? 256 : at < 1024 ? 1024 - at : 0;
        color = color << 8 | (value - (value * saturation * up >> 16));
    }
    return color;
}

/// The lines of the file: it refers to the slots and the names.
template <class Stream>
class dot_writer {
public:
    dot_writer(Stream& out, table<value_id, slot_id> const& slot_of, names_of<value_id> const& names,
               names_of<step_id> const& steps)
        : out_{out}, slot_of_(slot_of), names_(names), steps_(steps)
    {
    }

    void write_step(step_id s, std::vector<value_id> const& defs)
    {
        std::vector<sort_key> slots;
        for (value_id v : defs) slots.push_back({slot_of_[v], 0, 0});
        sort_unique(slots);

        out_ << 's' << s << " [label=\"";
        if (!steps_.is_given()) out_ << "step ";
        write_name(steps_, s);
        if (!defs.empty()) {
            out_ << "\", tooltip=\"defines ";
            for (value_id v : defs) {
                if (v != defs.front()) out_ << ", ";
                write_value(v);
            }
            out_ << "\", fillcolor=\"";
            for (sort_key const& slot : slots) {
                if (&slot != &slots.front()) out_ << ':';
                write_color(slot_id::of(slot.key), false);
            }
            if (slots.size() != 1) out_ << "\", style=\"striped";
        }
        out_ << "\"]\n";
    }

    void write_given(value_id v)
    {
        out_ << 'v' << v << " [label=\"";
        write_name_of_value(v);
        out_ << "\", shape=ellipse, tooltip=\"given: ";
        write_value(v);
        out_ << "\", fillcolor=\"";
        write_color(slot_of_[v], false);
        out_ << "\"]\n";
    }

    /// `from`: the step that defines v; `no_step`: v is an input.
    void write_edge(value_id v, step_id from, step_id to, bool is_named, char const* style)
    {
        if (from == no_step) out_ << 'v' << v;
        else out_ << 's' << from;
        out_ << " -> s" << to << " [color=\"";
        write_color(slot_of_[v], true);
        out_ << "\", tooltip=\"";
        write_value(v);
        if (is_named) {
            out_ << "\", label=\" "; // a space from the line
            write_name_of_value(v);
        }
        out_ << '"' << style;
        if (from != no_step && from >= to) out_ << ", constraint=false"; // back, in a loop
        out_ << "]\n";
    }

    void write_order_edge(step_id from, step_id to)
    {
        out_ << 's' << from << " -> s" << to << " [style=dashed, color=gray60";
        if (from >= to) out_ << ", constraint=false";
        out_ << "]\n";
    }

    void write_legend()
    {
        std::vector<sort_key> slots;
        for (slot_id slot : slot_of_)
            if (slot != no_slot) slots.push_back({slot, 0, 0});
        if (slots.empty()) return;
        sort_unique(slots);
        out_ << "subgraph cluster_slots {\nlabel=slots\n";
        for (sort_key const& slot : slots) {
            out_ << 'k' << slot.key << " [label=" << slot.key << ", width=0.4, fillcolor=\"";
            write_color(slot_id::of(slot.key), false);
            out_ << "\"]\n";
        }
        for (std::size_t i = 1; i != slots.size(); ++i)
            out_ << 'k' << slots[i - 1].key << " -> k" << slots[i].key << " [style=invis]\n";
        out_ << "}\n";
    }

    void write_text(std::vector<char>& text)
    {
        escape_dot(text);
        for (char c : text) out_ << c;
    }

private:
    template <class Id>
    void write_name(names_of<Id> const& names, Id of)
    {
        names.read(name_, of);
        write_text(name_);
    }

    void write_name_of_value(value_id v)
    {
        if (!names_.is_given()) out_ << "value ";
        write_name(names_, v);
    }

    void write_value(value_id v)
    {
        write_name_of_value(v);
        if (slot_of_[v] == no_slot) out_ << " (no slot)";
        else out_ << " (slot " << slot_of_[v] << ')';
    }

    void write_color(slot_id slot, bool dark)
    {
        std::uint32_t const color = slot_color(slot, dark);
        out_ << '#';
        for (unsigned shift = 24; shift != 0; shift -= 4)
            out_ << "0123456789abcdef"[color >> (shift - 4) & 15];
    }

    plain_text<Stream> out_;
    table<value_id, slot_id> const& slot_of_;
    names_of<value_id> const& names_;
    names_of<step_id> const& steps_;
    std::vector<char> name_;
};

} // namespace sublet::detail

#endif
