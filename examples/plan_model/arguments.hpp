// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_ARGUMENTS_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_ARGUMENTS_HPP

#include "network.hpp"

#include <sublet/units.hpp>

#include <charconv>
#include <string>

namespace plan_model {

inline constexpr char usage[] =
    "usage: plan_model MODEL.onnx [--order FILE] [--align N] [--in-place on|off]\n"
    "                  [--svg FILE] [--dot FILE] [--csv FILE] [--why-peak FILE] [--json] [--quiet]\n"
    "\n"
    "Plans where the values of a neural network lie in memory, proves the plan, and prints what it needs.\n"
    "\n"
    "  --order FILE       run the nodes in this order: one node index a line, counted from 0\n"
    "  --align N          every buffer begins at a multiple of N bytes (1)\n"
    "  --in-place on|off  let results be written over operands where the model allows it (on)\n"
    "  --svg FILE         draw the plan: time from left to right, addresses upwards\n"
    "  --dot FILE         draw the network for Graphviz: results of one colour can share an allocation\n"
    "  --csv FILE         write the plan: one row a buffer, id,lower,upper,size,offset\n"
    "  --why-peak FILE    write who is alive where most bytes are, for whom, and the peak without it\n"
    "  --json             print one JSON object instead of lines\n"
    "  --quiet            print nothing but errors\n"
    "\n"
    "Exit status: 0; 1 if the plan could not be verified; 2 for bad input or usage.\n";

struct arguments {
    std::string model;
    std::string order, svg, dot, csv, why_peak; ///< files; empty: not asked for
    sublet::byte_count alignment = 1;
    bool in_place = true;
    bool json = false;
    bool quiet = false;
    bool help = false;
};

/// Throws: input_error.
inline arguments read_arguments(int count, char const* const* words)
{
    arguments asked;
    bool has_model = false;
    for (int i = 1; i < count; ++i) {
        std::string const word = words[i];
        auto operand = [&] {
            if (++i == count || words[i][0] == '\0')
                throw input_error("option " + word + " needs an operand (see --help)");
            return std::string(words[i]);
        };
        if (word == "--help" || word == "-h") asked.help = true;
        else if (word == "--order") asked.order = operand();
        else if (word == "--svg") asked.svg = operand();
        else if (word == "--dot") asked.dot = operand();
        else if (word == "--csv") asked.csv = operand();
        else if (word == "--why-peak") asked.why_peak = operand();
        else if (word == "--json") asked.json = true;
        else if (word == "--quiet") asked.quiet = true;
        else if (word == "--in-place") {
            std::string const choice = operand();
            if (choice != "on" && choice != "off")
                throw input_error("option --in-place is on or off, not " + quoted(choice));
            asked.in_place = choice == "on";
        } else if (word == "--align") {
            std::string const number = operand();
            auto const [end, error] =
                std::from_chars(number.data(), number.data() + number.size(), asked.alignment);
            if (error != std::errc{} || end != number.data() + number.size() || asked.alignment == 0)
                throw input_error("option --align is a number of bytes from 1 on, not " + quoted(number));
        } else if (word.size() > 1 && word[0] == '-') {
            throw input_error("unknown option " + quoted(word) + " (see --help)");
        } else if (has_model) {
            throw input_error("more than one model: " + quoted(asked.model) + " and " + quoted(word));
        } else {
            asked.model = word;
            has_model = true;
        }
    }
    if (!has_model && !asked.help) throw input_error("no model is given (see --help)");
    return asked;
}

} // namespace plan_model

#endif
