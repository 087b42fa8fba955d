// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ADAPT_DETAIL_JSON_PLAN_READER_HPP
#define SUBLET_ADAPT_DETAIL_JSON_PLAN_READER_HPP

/// Makes a plan of the tokens of a JSON document, and finds its first fault with line and column.
///
///     followed_text       characters for nlohmann's parser, which notes how far it has read
///     json_field          the members that an item of each list has, and their types
///     json_plan_reader    a state of three depths (plan, list, item) that every token moves on; then what
///                         concerns several items: ids that name one, sums, order, duplicates
///
/// The parser calls it token by token, so nothing but the plan is kept: O(text) time and memory.

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sublet::detail {

/// Reads characters for the parser and records how far it has read.
struct followed_text {
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = char const*;
    using reference = char const&;

    char const* at = nullptr;
    char const** furthest = nullptr;

    char const& operator*() const { return *at; }
    followed_text& operator++()
    {
        *furthest = ++at;
        return *this;
    }
    followed_text operator++(int)
    {
        followed_text const before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(followed_text const& a, followed_text const& b) { return a.at == b.at; }
    friend bool operator!=(followed_text const& a, followed_text const& b) { return a.at != b.at; }
};

/// A member of an item of a list.
struct json_field {
    enum class kind : std::uint8_t { id, bytes, text };
    std::string_view name;
    json_field::kind what;
    bool may_be_null = false;
    bool is_optional = false;
};
inline constexpr json_field json_pool_fields[] = {{"arena_bytes", json_field::kind::bytes}};
inline constexpr json_field json_block_fields[] = {
    {"pool", json_field::kind::id}, {"begin", json_field::kind::bytes}, {"size", json_field::kind::bytes}};
inline constexpr json_field json_buffer_fields[] = {
    {"root", json_field::kind::id},      {"name", json_field::kind::text, false, true},
    {"pool", json_field::kind::id},      {"offset", json_field::kind::bytes, true},
    {"size", json_field::kind::bytes},   {"alignment", json_field::kind::bytes},
    {"first", json_field::kind::id},     {"last", json_field::kind::id},
    {"over", json_field::kind::id, true}};
inline constexpr json_field json_value_fields[] = {{"name", json_field::kind::text, false, true},
                                                   {"buffer", json_field::kind::id, true},
                                                   {"begin", json_field::kind::bytes, false, true}};
inline constexpr json_field json_handoff_fields[] = {{"from", json_field::kind::id},
                                                     {"to", json_field::kind::id}};

inline constexpr json_field json_empty_fields[] = {
    {"value", json_field::kind::id}, {"pool", json_field::kind::id}, {"offset", json_field::kind::bytes}};

/// The tokens of a document become a plan; a function that returns false ends the parsing. `Result` is
/// `json_plan`.
template <class Result>
class json_plan_reader {
public:
    json_plan_reader(std::string_view text, Result& result)
        : text_(text), result_(result), read_to_(text.data())
    {
    }

    /// Throws: std::bad_alloc.
    void read()
    {
        followed_text const first{text_.data(), &read_to_}, last{text_.data() + text_.size(), &read_to_};
        result_.unreadable = {.sentence = "this is not JSON"};
        if (nlohmann::json::sax_parse(first, last, this) && check()) {
            result_.plan = std::move(plan_);
            result_.unreadable.reset();
        } else {
            result_.names.clear();
        }
    }

    // --- called by the parser -----------------------------------------------------------------------------

    bool null()
    {
        begin_token(false);
        if (depth_ != 3 || field_ == none || !fields()[field_].may_be_null) return fail_type();
        return keep(~std::uint64_t{0});
    }
    bool boolean(bool)
    {
        begin_token(false);
        return fail_type();
    }
    bool number_integer(std::int64_t)
    {
        begin_token(true);
        return fail_type();
    }
    bool number_float(double, std::string const&)
    {
        begin_token(true);
        return fail_type();
    }
    bool number_unsigned(std::uint64_t number)
    {
        begin_token(true);
        if (depth_ == 1 && section_ == section::version)
            return number == 1 || fail("the version of the schema is " + std::to_string(number) +
                                       ", and only version 1 can be read");
        if (depth_ == 2 && (section_ == section::order || section_ == section::unsized)) {
            if (number >= no_node) return fail_type();
            if (section_ == section::order) plan_.order.push_back(node_id::of(number));
            else plan_.unsized.push_back(value_id::of(number));
            return true;
        }
        if (depth_ != 3 || field_ == none || fields()[field_].what != kind::id) return fail_type();
        return number < no_node ? keep(number) : fail_type();
    }
    bool string(std::string& text)
    {
        begin_token(false);
        if (depth_ == 1 && section_ == section::reading) {
            constexpr std::string_view readings[] = {"sequential", "concurrent", "control_flow"};
            auto const* const found = std::find(std::begin(readings), std::end(readings), text);
            plan_.valid_for = static_cast<program_reading>(found - readings);
            return found != std::end(readings) || fail_type();
        }
        if (depth_ != 3 || field_ == none) return fail_type();
        if (fields()[field_].what == kind::text) {
            name_.swap(text);
            return keep(0);
        }
        if (fields()[field_].what != kind::bytes) return fail_type();
        std::uint64_t bytes = 0;
        bool const has_zeros = text.size() > 1 && text[0] == '0';
        for (char const c : text) {
            if (c < '0' || c > '9') return fail_type();
            auto const digit = static_cast<std::uint64_t>(c - '0');
            if (bytes > (no_size - 1 - digit) / 10) return fail_type();
            bytes = 10 * bytes + digit;
        }
        return text.empty() || has_zeros ? fail_type() : keep(bytes);
    }
    bool binary(nlohmann::json::binary_t&) { return false; } // of other formats than JSON
    bool start_object(std::size_t)
    {
        begin_token(false);
        if (depth_ == 0) {
            depth_ = 1;
            return true;
        }
        if (depth_ != 2 || fields().empty()) return fail_type();
        depth_ = 3;
        field_ = none;
        has_ = {};
        name_.clear();
        item_at_ = token_;
        return true;
    }
    bool key(std::string& name)
    {
        begin_token(false);
        if (depth_ == 1) {
            auto const* const found = std::find(std::begin(members), std::end(members), name);
            if (found == std::end(members)) return fail("a plan has no member " + quoted(name));
            auto const index = static_cast<std::size_t>(found - members);
            section_ = static_cast<section>(index);
            return !std::exchange(has_member_[index], true) || fail_twice(name);
        }
        auto const its = fields();
        auto const found =
            std::find_if(its.begin(), its.end(), [&](json_field const& f) { return f.name == name; });
        if (found == its.end())
            return fail("an item of " + quoted(member()) + " has no member " + quoted(name));
        field_ = static_cast<std::size_t>(found - its.begin());
        return !has_[field_] || fail_twice(name);
    }
    bool end_object()
    {
        begin_token(false);
        if (depth_ == 1) {
            depth_ = 0;
            for (std::size_t m = 0; m != std::size(members); ++m)
                if (!has_member_[m] && m != static_cast<std::size_t>(section::empty))
                    return fail("the member " + quoted(members[m]) + " is missing");
            return true;
        }
        for (std::size_t f = 0; f != fields().size(); ++f)
            if (!has_[f] && !fields()[f].is_optional)
                return fail("the member " + quoted(fields()[f].name) + " is missing");
        depth_ = 2;
        return add_item();
    }
    bool start_array(std::size_t)
    {
        begin_token(false);
        if (depth_ != 1 || section_ == section::version || section_ == section::reading) return fail_type();
        depth_ = 2;
        list_at_[static_cast<std::size_t>(section_)] = token_;
        return true;
    }
    bool end_array()
    {
        begin_token(false);
        depth_ = 1;
        return true;
    }
    template <class Exception>
    bool parse_error(std::size_t, std::string const&, Exception const& why)
    {
        bool const is_over =
            std::string_view(why.what()).find("unexpected end of input") != std::string_view::npos;
        token_ = static_cast<std::size_t>(read_to_ - text_.data());
        if (token_ != 0 && !is_over) --token_;
        return fail(is_over ? "the text ends too early" : "this is not JSON");
    }

private:
    using kind = json_field::kind;
    enum class section : std::uint8_t {
        version,
        reading,
        order,
        pools,
        blocks,
        buffers,
        values,
        handoffs,
        unsized,
        empty
    };
    static constexpr std::string_view members[] = {"sublet_plan", "valid_for", "order",  "pools",
                                                   "blocks",      "buffers",   "values", "handoffs",
                                                   "unsized",     "empty"};
    static constexpr std::size_t none = ~std::size_t{0};
    static constexpr std::size_t most_fields = std::size(json_buffer_fields);

    /// Of the items of the list that is read; empty if they are no objects.
    std::span<json_field const> fields() const
    {
        switch (section_) {
        case section::pools: return json_pool_fields;
        case section::blocks: return json_block_fields;
        case section::buffers: return json_buffer_fields;
        case section::values: return json_value_fields;
        case section::handoffs: return json_handoff_fields;
        case section::empty: return json_empty_fields;
        default: return {};
        }
    }
    std::string_view member() const { return members[static_cast<std::size_t>(section_)]; }

    static std::string quoted(std::string_view text)
    {
        std::string shown(text.substr(0, 40));
        for (char& c : shown)
            if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) c = '?';
        return "'" + shown + (text.size() > 40 ? "...'" : "'");
    }

    // --- positions ----------------------------------------------------------------------------------------

    /// The parser has read one character beyond a number, unless the text ends there.
    bool is_unread() const { return read_to_ != text_.data() && !is_in_number(read_to_[-1]); }
    static bool is_in_number(char c)
    {
        return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
    }

    /// Finds where the token begins that has just been read.
    void begin_token(bool is_number)
    {
        token_ = token_end_;
        while (token_ < text_.size() && std::string_view(" \t\r\n,:").find(text_[token_]) != text_.npos)
            ++token_;
        token_end_ = static_cast<std::size_t>(read_to_ - text_.data());
        if (is_number && is_unread()) --token_end_;
    }

    bool fail(std::string sentence) { return fail_at(token_, std::move(sentence)); }
    bool fail_at(std::size_t at, std::string sentence)
    {
        std::string_view const before = text_.substr(0, at);
        result_.unreadable = {
            .sentence = std::move(sentence),
            .line = 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')),
            .column = before.size() - (before.rfind('\n') + 1) + 1}; // npos + 1 is 0
        return false;
    }
    bool fail_twice(std::string const& name)
    {
        return fail("the member " + quoted(name) + " is there twice");
    }

    /// Says what should stand here.
    bool fail_type()
    {
        constexpr char const* id = " is a number from 0 to 4294967294";
        if (depth_ == 0) return fail("a plan is an object");
        if (depth_ == 1) {
            if (section_ == section::version) return fail(quoted(member()) + " is the number 1");
            if (section_ == section::reading)
                return fail(quoted(member()) + " is \"sequential\", \"concurrent\" or \"control_flow\"");
            return fail(quoted(member()) + " is a list");
        }
        if (depth_ == 2 || field_ == none)
            return fail("an item of " + quoted(member()) + (fields().empty() ? id : " is an object"));
        json_field const& its = fields()[field_];
        return fail(quoted(its.name) +
                    (its.what == kind::text ? " is a string"
                     : its.what == kind::id
                         ? id
                         : " is a string of digits, from \"0\" to \"18446744073709551614\"") +
                    (its.may_be_null ? ", or null" : ""));
    }

    bool keep(std::uint64_t number)
    {
        number_[field_] = number;
        has_[field_] = true;
        return true;
    }

    // --- items --------------------------------------------------------------------------------------------

    std::uint32_t id(std::size_t field) const { return static_cast<std::uint32_t>(number_[field]); }

    /// The object that has just ended.
    bool add_item()
    {
        std::string const sum = " exceed 64 bits together";
        switch (section_) {
        case section::pools: plan_.arena_bytes.push_back(number_[0]); return true;
        case section::blocks:
            if (!sum_fits(number_[1], number_[2])) return fail_at(item_at_, "'begin' and 'size'" + sum);
            plan_.blocks.push_back({id(0), number_[1], number_[2]});
            block_at_.push_back(item_at_);
            return true;
        case section::buffers: {
            memory_plan::placed_buffer const b{id(0), {id(6), id(7)}, number_[4], number_[5],
                                               id(2), number_[3],     id(8)};
            if (b.alignment == 0) return fail_at(item_at_, "'alignment' is at least 1");
            if (b.life.last < b.life.first) return fail_at(item_at_, "'last' is before 'first'");
            if (b.offset != no_offset && !sum_fits(b.offset, b.size))
                return fail_at(item_at_, "'offset' and 'size'" + sum);
            plan_.buffers.push_back(b);
            buffer_at_.push_back(item_at_);
            return true;
        }
        case section::values:
            if (plan_.buffer_of.size() == no_value) return fail_at(item_at_, "there are too many values");
            if (!plan_.buffer_of.empty() && has_[2] != !plan_.offset_in_root.empty())
                return fail_at(item_at_, "'begin' is in all values or in none");
            plan_.buffer_of.push_back(id(1));
            if (has_[2]) plan_.offset_in_root.push_back(number_[2]);
            result_.names.push_back(std::move(name_));
            value_at_.push_back(item_at_);
            return true;
        case section::empty:
            if (!plan_.empty.empty() && id(0) <= plan_.empty.back().value)
                return fail_at(item_at_, "values of 0 bytes are not ascending, or one is there twice");
            plan_.empty.push_back({id(0), id(1), number_[2]});
            empty_at_.push_back(item_at_);
            return true;
        default:
            if (id(0) == id(1)) return fail_at(item_at_, "a hand-off is between two steps");
            plan_.handoffs.push_back({id(0), id(1)});
            return true;
        }
    }

    // --- what concerns several items ----------------------------------------------------------------------

    bool check()
    {
        std::size_t const pools = plan_.arena_bytes.size(), buffers = plan_.buffers.size(),
                          values = plan_.buffer_of.size();
        auto lacks = [](char const* what, std::uint32_t id, std::size_t count) {
            return std::string("there is no ") + what + ' ' + std::to_string(id) + ", but " +
                   std::to_string(count);
        };
        for (std::size_t i = 0; i != plan_.blocks.size(); ++i) {
            memory_plan::block const& b = plan_.blocks[i];
            if (b.pool >= pools) return fail_at(block_at_[i], lacks("pool", b.pool, pools));
            if (i == 0) continue;
            memory_plan::block const& before = plan_.blocks[i - 1];
            if (b.pool < before.pool || (b.pool == before.pool && b.begin < before.begin + before.size))
                return fail_at(block_at_[i], "blocks are not ascending, or overlap");
        }
        for (buffer_id i = 0; i != buffers; ++i) {
            memory_plan::placed_buffer const& b = plan_.buffers[i];
            if (b.pool >= pools) return fail_at(buffer_at_[i], lacks("pool", b.pool, pools));
            if (values != 0 && b.root >= values)
                return fail_at(buffer_at_[i], lacks("value", b.root, values));
            if (b.over != no_buffer && b.over >= buffers)
                return fail_at(buffer_at_[i], lacks("buffer", b.over, buffers));
            if (b.over == i) return fail_at(buffer_at_[i], "a buffer is written over itself");
            if (i != 0 && b.root <= plan_.buffers[i - 1].root)
                return fail_at(buffer_at_[i], "roots of buffers are not ascending, or one is there twice");
        }
        for (value_id v = 0; v != values; ++v) {
            buffer_id const b = plan_.buffer_of[v];
            if (b == no_buffer) continue;
            if (b >= buffers) return fail_at(value_at_[v], lacks("buffer", b, buffers));
            if (plan_.offset_in_root.empty() || plan_.buffers[b].offset == no_offset) continue;
            if (!sum_fits(plan_.buffers[b].offset, plan_.offset_in_root[v]))
                return fail_at(value_at_[v], "'begin' and the offset of its buffer exceed 64 bits together");
        }
        for (std::size_t i = 0; i != plan_.empty.size(); ++i) {
            value_id const v = plan_.empty[i].value;
            if (v >= values) return fail_at(empty_at_[i], lacks("value", v, values));
            if (plan_.buffer_of[v] != no_buffer)
                return fail_at(empty_at_[i], "value " + std::to_string(v) + " has a buffer, and no bytes");
        }
        for (value_id const v : plan_.unsized)
            if (values != 0 && v >= values) return fail_list(section::unsized, lacks("value", v, values));
        std::size_t const nodes = plan_.order.size();
        for (node_id const n : plan_.order)
            if (n >= nodes) return fail_list(section::order, lacks("node", n, nodes));
        if (auto const twice = first_duplicate(plan_.order))
            return fail_list(section::order, "node " + std::to_string(*twice) + " is there twice");
        if (auto const twice = first_duplicate(plan_.unsized))
            return fail_list(section::unsized, "value " + std::to_string(*twice) + " is there twice");
        return true;
    }
    bool fail_list(section which, std::string sentence)
    {
        return fail_at(list_at_[static_cast<std::size_t>(which)], std::move(sentence));
    }
    template <class Id>
    static std::optional<Id> first_duplicate(std::vector<Id> ids)
    {
        std::sort(ids.begin(), ids.end());
        auto const found = std::adjacent_find(ids.begin(), ids.end());
        return found == ids.end() ? std::nullopt : std::optional(*found);
    }

    std::string_view text_;
    Result& result_;
    memory_plan plan_;
    char const* read_to_;                   // by the parser
    std::size_t token_ = 0, token_end_ = 0; // in the text
    unsigned depth_ = 0;                    // 1: in the plan, 2: in a list, 3: in an item
    section section_ = section::version;    // from depth 1 on
    std::size_t field_ = none;              // at depth 3
    std::array<bool, std::size(members)> has_member_ = {};
    std::array<std::size_t, std::size(members)> list_at_ = {};
    std::array<std::uint64_t, most_fields> number_ = {}; // of the item, by field
    std::array<bool, most_fields> has_ = {};
    std::string name_;
    std::size_t item_at_ = 0;
    std::vector<std::size_t> block_at_, empty_at_; // where each begins, as in the next two
    table<buffer_id, std::size_t> buffer_at_;
    table<value_id, std::size_t> value_at_;
};

} // namespace sublet::detail

#endif
