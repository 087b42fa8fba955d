// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_REPORTING_SVG_READING_HPP
#define SUBLET_TEST_REPORTING_SVG_READING_HPP

/// Helpers for SVG tests: plans made by hand, and pictures read back.

#include <sublet/reporting/svg.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reading {

/// A plan of buffers with roots 0, 1, 2 and so on, with arenas that just hold them.
inline sublet::memory_plan plan_of(std::vector<sublet::memory_plan::placed_buffer> buffers)
{
    sublet::memory_plan plan;
    plan.buffers = std::move(buffers);
    for (std::size_t i = 0; i != plan.buffers.size(); ++i) {
        auto& b = plan.buffers[i];
        b.root = sublet::value_id::of(i);
        if (plan.arena_bytes.size() <= b.pool) plan.arena_bytes.resize(b.pool + 1);
        if (b.offset != sublet::no_offset)
            plan.arena_bytes[b.pool] = std::max(plan.arena_bytes[b.pool], b.offset + b.size);
    }
    return plan;
}

inline sublet::memory_plan::placed_buffer placed(sublet::position_id first, sublet::position_id last,
                                                 sublet::byte_count size, sublet::byte_count offset,
                                                 sublet::pool_id pool = 0)
{
    return {.life = {first, last}, .size = size, .pool = pool, .offset = offset};
}

inline sublet::memory_plan five_buffers()
{
    return plan_of({placed(0, 2, 64, 0), placed(1, 3, 32, 64), placed(2, 5, 48, 0), placed(3, 6, 40, 64),
                    placed(5, 7, 64, 0)});
}

inline std::size_t count(std::string_view text, std::string_view part)
{
    std::size_t found = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++found;
    return found;
}

/// XML as this library writes it: elements that close in order, quoted attributes with different names, no
/// bare '&' or '<', no control characters, one root.
inline void check_well_formed(std::string_view text)
{
    std::vector<std::string_view> open;
    std::size_t roots = 0;
    auto const check_text = [&](std::string_view part, bool inside) {
        bool good = inside || part.find_first_not_of('\n') == part.npos;
        for (std::size_t i = 0; i != part.size(); ++i) {
            auto const rest = part.substr(i);
            good &= static_cast<unsigned char>(part[i]) >= 0x20 || part[i] == '\n';
            good &= part[i] != '&' || rest.starts_with("&lt;") || rest.starts_with("&gt;") ||
                    rest.starts_with("&amp;");
        }
        if (!good) FAIL_CHECK(part);
    };
    while (!text.empty()) {
        auto const at = std::min(text.find('<'), text.size());
        check_text(text.substr(0, at), !open.empty());
        text.remove_prefix(at);
        if (text.empty()) break;
        auto const end = text.find('>');
        REQUIRE(end != text.npos);
        auto tag = text.substr(1, end - 1);
        text.remove_prefix(end + 1);
        if (tag.starts_with('/')) {
            REQUIRE(!open.empty());
            REQUIRE(open.back() == tag.substr(1));
            open.pop_back();
            continue;
        }
        bool const closes = tag.ends_with('/');
        if (closes) tag.remove_suffix(1);
        auto const name = tag.substr(0, tag.find(' '));
        REQUIRE(!name.empty());
        tag.remove_prefix(name.size());
        std::vector<std::string_view> attributes;
        while (!tag.empty()) {
            REQUIRE(tag[0] == ' ');
            auto const equals = tag.find("=\"");
            REQUIRE(equals != tag.npos);
            auto const attribute = tag.substr(1, equals - 1);
            REQUIRE(std::find(attributes.begin(), attributes.end(), attribute) == attributes.end());
            attributes.push_back(attribute);
            auto const quote = tag.find('"', equals + 2);
            REQUIRE(quote != tag.npos);
            check_text(tag.substr(equals + 2, quote - equals - 2), true);
            tag.remove_prefix(quote + 1);
        }
        if (open.empty()) ++roots;
        if (!closes) open.push_back(name);
    }
    CHECK(open.empty());
    CHECK(roots == 1);
}

inline std::string svg(sublet::memory_plan const& plan, sublet::svg_options const& options = {})
{
    std::ostringstream out;
    CHECK(&sublet::write_svg(out, plan, options) == &out);
    check_well_formed(out.str());
    return out.str();
}

struct rectangle {
    double x, y, width, height;
};

inline double number_after(std::string_view text, std::string_view key)
{
    auto const at = text.find(key);
    REQUIRE(at != text.npos);
    std::size_t used = 0;
    std::string const rest(text.substr(at + key.size(), 24));
    double const number = std::stod(rest, &used);
    auto const point = rest.substr(0, used).find('.');
    if (point != rest.npos) CHECK(used - point <= 3); // two decimals
    return number;
}

inline std::vector<rectangle> rectangles(std::string_view text)
{
    std::vector<rectangle> result;
    for (auto at = text.find("<rect"); at != text.npos; at = text.find("<rect", at + 1)) {
        auto const rect = text.substr(at, text.find('>', at) - at);
        result.push_back({number_after(rect, " x=\""), number_after(rect, " y=\""),
                          number_after(rect, " width=\""), number_after(rect, " height=\"")});
    }
    return result;
}

} // namespace reading

#endif
