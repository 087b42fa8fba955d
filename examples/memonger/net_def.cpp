// SPDX-License-Identifier: BSL-1.0
#include "net_def.hpp"

#include <istream>
#include <ostream>
#include <sstream>

namespace memonger {

net_def read_net(std::istream& in)
{
    net_def root;
    std::vector<net_def*> open{&root}; // the innermost is last
    std::size_t number = 0;
    auto refuse = [&number](std::string const& what) {
        throw net_error("line " + std::to_string(number) + ": " + what);
    };
    for (std::string line; std::getline(in, line);) {
        ++number;
        std::istringstream words(line.substr(0, line.find('#')));
        std::string what, word;
        if (!(words >> what)) continue;
        net_def& net = *open.back();
        if (what == "net") {
            if (!(words >> net.name)) refuse("a net has a name");
            words >> net.type;
        } else if (what == "input" || what == "output") {
            while (words >> word)
                (what == "input" ? net.external_inputs : net.external_outputs).push_back(word);
        } else if (what == "size") {
            std::uint64_t bytes = 0;
            if (!(words >> word >> bytes)) refuse("a size is a blob and a number of bytes");
            net.blobs[word].bytes = bytes;
        } else if (what == "view") {
            std::string of;
            if (!(words >> word >> of)) refuse("a view is a blob and another");
            net.blobs[word].view_of = of;
        } else if (what == "planned") {
            net.is_planned = true;
        } else if (what == "op") {
            operator_def op;
            if (!(words >> op.type)) refuse("an operator has a type");
            bool reads = true, nests = false;
            while (words >> word) {
                if (word == "->") reads = false;
                else if (word == "{") nests = true;
                else if (word[0] == '@') op.device = word.substr(1);
                else if (word[0] == '^') op.controls.push_back(word.substr(1));
                else if (word.find('=') != std::string::npos)
                    op.arguments[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
                else (reads ? op.inputs : op.outputs).push_back(word);
            }
            net.operators.push_back(op);
            if (nests) open.push_back(&net.operators.back().step_nets.emplace_back());
        } else if (what == "}") {
            if (open.size() == 1) refuse("no net is open");
            open.pop_back();
            if (words >> word && word == "{") // another one of the same operator
                open.push_back(&open.back()->operators.back().step_nets.emplace_back());
        } else {
            refuse("'" + what + "' is no statement");
        }
    }
    if (open.size() != 1) refuse("a net is not closed");
    return root;
}

namespace {

/// A net with what stands around it, still to be printed.
struct unprinted {
    net_def const* net;
    std::size_t next_operator, next_step_net;
};

void print_head(std::ostream& out, net_def const& net, std::string const& margin)
{
    out << margin << "net " << net.name << ' ' << net.type << '\n';
    auto list = [&](char const* what, std::vector<std::string> const& names) {
        if (names.empty()) return;
        out << margin << what;
        for (auto const& name : names) out << ' ' << name;
        out << '\n';
    };
    list("input", net.external_inputs);
    list("output", net.external_outputs);
    for (auto const& [name, blob] : net.blobs) {
        if (blob.bytes != 0) out << margin << "size " << name << ' ' << blob.bytes << '\n';
        if (!blob.view_of.empty()) out << margin << "view " << name << ' ' << blob.view_of << '\n';
    }
    if (net.is_planned) out << margin << "planned\n";
}

void print_operator(std::ostream& out, operator_def const& op, std::string const& margin)
{
    out << margin << "op " << op.type;
    for (auto const& name : op.inputs) out << ' ' << name;
    out << " ->";
    for (auto const& name : op.outputs) out << ' ' << name;
    if (!op.device.empty()) out << " @" << op.device;
    for (auto const& name : op.controls) out << " ^" << name;
    for (auto const& [key, value] : op.arguments) out << ' ' << key << '=' << value;
    out << (op.step_nets.empty() ? "\n" : " {\n");
}

} // namespace

void print_net(std::ostream& out, net_def const& net)
{
    std::vector<unprinted> open{{&net, 0, 0}};
    print_head(out, net, "");
    while (!open.empty()) {
        unprinted& now = open.back();
        std::string const margin(2 * (open.size() - 1), ' ');
        if (now.next_operator == now.net->operators.size()) {
            open.pop_back();
            continue;
        }
        operator_def const& op = now.net->operators[now.next_operator];
        if (now.next_step_net == 0) print_operator(out, op, margin);
        else out << margin << (now.next_step_net == op.step_nets.size() ? "}\n" : "} {\n");
        if (now.next_step_net == op.step_nets.size()) {
            ++now.next_operator;
            now.next_step_net = 0;
            continue;
        }
        net_def const& nested = op.step_nets[now.next_step_net++];
        print_head(out, nested, margin + "  ");
        open.push_back({&nested, 0, 0});
    }
}

} // namespace memonger
