// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_DETAIL_PLAN_JSON_HPP
#define SUBLET_REPORTING_DETAIL_PLAN_JSON_HPP

/// Writes the members of a plan as one JSON document, in the order of the schema (reporting/json.hpp): one
/// function writes every list, and each list says how it writes an item. O(output); nothing is kept but
/// the name at hand.

#include <sublet/core/internal/text.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/reporting/internal/printable_text.hpp>
#include <sublet/reporting/names.hpp>

#include <cstddef>
#include <vector>

namespace sublet::detail {

/// Writes the parts of a plan. Items of a list have a line each, except plain ids.
template <class Stream>
class plan_json {
public:
    plan_json(Stream& out, names_of<value_id> const& names) : text_{out}, names_(names) {}

    void write(memory_plan const& plan)
    {
        constexpr char const* readings[] = {"sequential", "concurrent", "control_flow"};
        text_ << "{\n \"sublet_plan\": 1,\n \"valid_for\": \"" << readings[static_cast<int>(plan.valid_for)]
              << "\",\n";
        write_ids("order", plan.order);
        text_ << ",\n";
        write_list("pools", plan.arena_bytes,
                   [&](byte_count bytes) { write_bytes_member("{\"arena_bytes\": ", bytes); });
        write_list("blocks", plan.blocks, [&](memory_plan::block const& b) {
            text_ << "{\"pool\": " << b.pool;
            write_bytes_member(", \"begin\": ", b.begin);
            write_bytes_member(", \"size\": ", b.size);
        });
        write_list("buffers", plan.buffers, [&](memory_plan::placed_buffer const& b) { write_buffer(b); });
        value_id v = 0;
        write_list("values", plan.buffer_of, [&](buffer_id b) {
            text_ << "{\"name\": ";
            write_name(v);
            text_ << ", \"buffer\": ";
            write_id(b);
            if (!plan.offset_in_root.empty()) write_bytes_member(", \"begin\": ", plan.offset_in_root[v]);
            ++v;
        });
        write_list("handoffs", plan.handoffs,
                   [&](handoff h) { text_ << "{\"from\": " << h.from << ", \"to\": " << h.to; });
        if (!plan.empty.empty())
            write_list("empty", plan.empty, [&](memory_plan::empty_value const& e) {
                text_ << "{\"value\": " << e.value << ", \"pool\": " << e.pool;
                write_bytes_member(", \"offset\": ", e.offset);
            });
        write_ids("unsized", plan.unsized);
        text_ << "\n}\n";
    }

private:
    template <class List, class Item>
    void write_list(char const* member, List const& list, Item write_item)
    {
        text_ << " \"" << member << "\": [";
        char const* before = "\n  ";
        for (auto const& item : list) {
            text_ << before;
            write_item(item);
            text_ << '}';
            before = ",\n  ";
        }
        text_ << (list.empty() ? "],\n" : "\n ],\n");
    }
    template <class Id>
    void write_ids(char const* member, std::vector<Id> const& ids)
    {
        text_ << " \"" << member << "\": [";
        for (std::size_t i = 0; i != ids.size(); ++i) text_ << (i == 0 ? "" : ", ") << ids[i];
        text_ << ']';
    }
    void write_buffer(memory_plan::placed_buffer const& b)
    {
        text_ << "{\"root\": " << b.root << ", \"name\": ";
        write_name(b.root);
        text_ << ", \"pool\": " << b.pool;
        if (b.offset == no_offset) text_ << ", \"offset\": null";
        else write_bytes_member(", \"offset\": ", b.offset);
        write_bytes_member(", \"size\": ", b.size);
        write_bytes_member(", \"alignment\": ", b.alignment);
        text_ << ", \"first\": " << b.life.first << ", \"last\": " << b.life.last << ", \"over\": ";
        write_id(b.over);
    }
    void write_bytes_member(char const* member, byte_count bytes) { text_ << member << '"' << bytes << '"'; }
    void write_id(buffer_id b)
    {
        if (b == no_buffer) text_ << "null";
        else text_ << b;
    }
    void write_name(value_id v)
    {
        names_.read(name_, v);
        escape_json(name_);
        text_ << '"';
        for (char c : name_) text_ << c;
        text_ << '"';
    }

    plain_text<Stream> text_;
    names_of<value_id> const& names_;
    std::vector<char> name_;
};

} // namespace sublet::detail

#endif
