// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_SUMMARY_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_SUMMARY_HPP

/// Prints a plan and its runs, as lines or as one JSON object with the same keys, but for the line `memory`,
/// which is a sentence about `per_value_bytes` and `arena_bytes`.

#include "run_modes.hpp"
#include "run_network.hpp"
#include "timed_plan.hpp"
#include "walk_bodies.hpp"

#include <sublet/core/units.hpp>
#include <sublet/ordering/node_order.hpp>

#include <cstddef>
#include <cstdio>
#include <iterator>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace plan_model {

struct summary {
    std::string model = {};
    std::size_t operations = 0;
    std::size_t values = 0;                 ///< results of operations
    std::size_t left_out = 0;               ///< of these, without a size
    std::size_t buffers = 0;                ///< planned buffers, of more than 0 bytes
    sublet::byte_count per_value_bytes = 0; ///< of one allocation a value, as without a plan
    sublet::byte_count naive_bytes = 0;     ///< of one allocation a buffer
    sublet::byte_count lower_bound_bytes = 0;
    sublet::byte_count arena_bytes = 0;
    double planning_ms = 0;
    bool verified = false;
    std::size_t slots = 0; ///< fewest allocations that hold the buffers in turn, without an arena

    /// Facts about graphs inside operations, if they are planned with the network.
    struct bodies_facts {
        std::size_t graphs = 0, copies = 0, bindings = 0; ///< copies that remain, of all for bindings
        std::optional<walk_result> walks = {};            ///< if requested
    };
    std::optional<bodies_facts> bodies = {};

    std::string order = {};                         ///< the requested kind of order, if any
    std::optional<sublet::node_order> ordered = {}; ///< facts about that order

    std::optional<concurrent_facts> concurrent = {}; ///< if requested
    bool is_cut_short = false; ///< the work budget ended the search; overhead_percent bounds the loss
    std::size_t handoffs = 0;
    bool with_handoffs = false;
    std::vector<std::pair<sublet::byte_count, std::size_t>> waits = {}; ///< if requested: by bytes
    std::optional<mode_comparison> run = {}; ///< if requested

    bool is_good() const
    {
        return verified && (!run || run->is_identical()) &&
               (!bodies || !bodies->walks || bodies->walks->is_identical());
    }
    double overhead_percent() const
    {
        if (lower_bound_bytes == 0) return 0;
        return 100 * (static_cast<double>(arena_bytes) / static_cast<double>(lower_bound_bytes) - 1);
    }
};

inline std::string with_decimals(double number, int decimals)
{
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", decimals, number);
    return text;
}

/// As "6.89 MiB"; below 1 KiB as "192 B".
inline std::string in_units(sublet::byte_count bytes)
{
    if (bytes < 1024) return std::to_string(bytes) + " B";
    static constexpr char const* units[] = {" KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    double number = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    while (number >= 1023.995 && unit + 1 != std::size(units))
        number /= 1024, ++unit; // what rounds to 1024.00
    return with_decimals(number, 2) + units[unit];
}

inline std::string json_string(std::string const& text)
{
    std::string quoted = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        if (static_cast<unsigned char>(c) < 32) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
            quoted += escape;
        } else {
            quoted += c;
        }
    }
    return quoted + '"';
}

/// Lines `key: text`, or the members of one JSON object, which the caller ends.
struct keyed_output {
    std::ostream& out;
    bool as_json;
    char const* before = "{";

    /// `text` is a number, or words().
    void operator()(std::string const& key, std::string const& text)
    {
        if (as_json) out << before << '"' << key << "\": " << text;
        else out << key << ": " << text << '\n';
        before = ", ";
    }
    std::string words(std::string const& text) const { return as_json ? json_string(text) : text; }
};

inline void print(std::ostream& out, summary const& s, bool as_json)
{
    keyed_output line{out, as_json};
    auto words = [&](std::string const& text) { return line.words(text); };
    line("model", words(s.model));
    if (as_json) line("per_value_bytes", std::to_string(s.per_value_bytes));
    else
        line("memory", in_units(s.arena_bytes) + " instead of " + in_units(s.per_value_bytes) +
                           " with one allocation a value" +
                           (s.left_out == 0 ? "" : ", " + std::to_string(s.left_out) + " results left out"));
    line("operations", std::to_string(s.operations));
    line("values", std::to_string(s.values));
    if (s.left_out != 0) line("left_out", std::to_string(s.left_out));
    line("buffers", std::to_string(s.buffers));
    line("naive_bytes", std::to_string(s.naive_bytes));
    line("lower_bound_bytes", std::to_string(s.lower_bound_bytes));
    line("arena_bytes", std::to_string(s.arena_bytes));
    line("overhead_percent", with_decimals(s.overhead_percent(), 2));
    line("planning_ms", with_decimals(s.planning_ms, 3));
    line("verified", words(s.verified ? "yes" : "no"));
    if (!s.bodies) line("slots", std::to_string(s.slots));
    else {
        line("graphs_inside", std::to_string(s.bodies->graphs));
        line("copies", std::to_string(s.bodies->copies));
        line("bindings", std::to_string(s.bodies->bindings));
        if (auto const& walks = s.bodies->walks) {
            line("run", words(walks->is_identical() ? "identical" : "DIFFERENT"));
            line("walks", std::to_string(walks->walks));
            line("steps", std::to_string(walks->steps));
        }
    }
    if (s.ordered) {
        line("order", words(s.order));
        line("given_peak_bytes", std::to_string(s.ordered->given_peak));
        line("peak_bytes", std::to_string(s.ordered->peak));
        line("order_is_best", words(s.ordered->is_optimal() ? "yes" : "not known"));
    }
    if (s.concurrent) {
        line("semantics", words("concurrent"));
        if (!s.with_handoffs) line("bound", words(s.concurrent->is_bound_exact ? "exact" : "not exact"));
        line("search", words(s.is_cut_short ? "ended by its budget" : "complete"));
        line("handoffs", std::to_string(s.handoffs));
        if (s.with_handoffs) {
            line("arena_bytes_without", std::to_string(s.concurrent->bytes_without));
            line("critical_path_without", std::to_string(s.concurrent->critical_path));
            line("critical_path", std::to_string(s.concurrent->critical_path_with));
        }
        if (!s.waits.empty()) { // [[bytes, hand-offs], ...]
            std::string text;
            for (auto const& [bytes, handoffs] : s.waits)
                text += (text.empty() ? "" : ", ") +
                        (as_json ? "[" + std::to_string(bytes) + ", " + std::to_string(handoffs) + "]"
                                 : std::to_string(handoffs) + " in " + std::to_string(bytes));
            line("waits_against_bytes", as_json ? "[" + text + "]" : text);
        }
    }
    if (s.run) {
        std::string const nothing = as_json ? "null" : "not run";
        line("run", !s.run->is_run() ? nothing : words(s.run->is_identical() ? "identical" : "DIFFERENT"));
        auto each_mode = [&](std::string const& key, auto mode_run::*figure) {
            auto mode = [&](char const* name, std::optional<mode_run> const& mode_result) {
                line(key + name, mode_result ? std::to_string((*mode_result).*figure) : nothing);
            };
            mode("_no_plan", s.run->no_plan);
            mode("_recycle", s.run->recycle);
            mode("_arena", s.run->arena);
        };
        each_mode("peak_bytes", &mode_run::peak_bytes);
        each_mode("allocations", &mode_run::allocations);
    }
    if (as_json) out << "}\n";
}

} // namespace plan_model

#endif
