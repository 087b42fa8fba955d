// SPDX-License-Identifier: BSL-1.0
#include "net_def.hpp"

#include "../statements.hpp"

#include <algorithm>
#include <cstddef>
#include <istream>
#include <ostream>

namespace memonger {
namespace {

using statements::in_quotes;
using words = std::vector<std::string>;

constexpr std::size_t most_nested = 1000; // destructors of nets are recursive, and margins add up

void expect(bool holds, std::string const& what)
{
    if (!holds) throw net_error(what);
}

/// Whether a word can name a blob or an operator type in the text format.
bool is_name(std::string const& word)
{
    auto const has_meaning = [](char c) {
        return c == ' ' || c == '#' || c == '=' || statements::is_control(c);
    };
    return !word.empty() && word != "->" && word != "{" && word != "}" && word[0] != '@' && word[0] != '^' &&
           std::none_of(word.begin(), word.end(), has_meaning);
}

std::string name_in(std::string const& word)
{
    expect(is_name(word), in_quotes(word) + " is no name");
    return word;
}

/// `op TYPE INPUT ... -> OUTPUT ... @DEVICE ^CONTROL KEY=VALUE ...`, without the brace.
operator_def read_operator(words const& line)
{
    expect(line.size() > 1, "an operator has a type");
    operator_def op;
    op.type = name_in(line[1]);
    bool reads = true;
    for (std::size_t i = 2; i != line.size(); ++i) {
        std::string const& word = line[i];
        std::size_t const equals = word.find('=');
        if (word == "->") {
            expect(reads, "an operator has one '->'");
            reads = false;
        } else if (word[0] == '@') {
            expect(op.device.empty(), "an operator has one device");
            op.device = name_in(word.substr(1));
        } else if (word[0] == '^') {
            op.controls.push_back(name_in(word.substr(1)));
        } else if (equals != std::string::npos) {
            bool const is_new = op.arguments.emplace(word.substr(0, equals), word.substr(equals + 1)).second;
            expect(is_new, "argument " + in_quotes(word.substr(0, equals)) + " is given twice");
        } else {
            (reads ? op.inputs : op.outputs).push_back(name_in(word));
        }
    }
    return op;
}

/// A statement about the net itself.
void read_statement(net_def& net, words const& line)
{
    std::string const& what = line[0];
    if (what == "net") {
        expect(line.size() == 2 || line.size() == 3, "a net has a name, and may have a type");
        expect(net.name.empty(), "the net has a name already: " + in_quotes(net.name));
        net.name = name_in(line[1]);
        if (line.size() == 3) net.type = name_in(line[2]);
    } else if (what == "input" || what == "output") {
        for (std::size_t i = 1; i != line.size(); ++i)
            (what == "input" ? net.external_inputs : net.external_outputs).push_back(name_in(line[i]));
    } else if (what == "size") {
        expect(line.size() == 3, "a size is a blob and a number of bytes");
        auto const bytes = statements::number_in<std::uint64_t>(line[2]);
        expect(bytes.has_value(), in_quotes(line[2]) + " is no number of bytes");
        std::uint64_t& known = net.blobs[name_in(line[1])].bytes;
        expect(known == 0 || known == *bytes, "blob " + in_quotes(line[1]) + " has two sizes");
        known = *bytes;
    } else if (what == "view") {
        expect(line.size() == 3, "a view is a blob and another");
        std::string& known = net.blobs[name_in(line[1])].view_of;
        expect(known.empty() || known == line[2], "blob " + in_quotes(line[1]) + " is a view of two others");
        known = name_in(line[2]);
    } else if (what == "planned") {
        expect(line.size() == 1, "nothing follows 'planned'");
        net.is_planned = true;
    } else {
        throw net_error(in_quotes(what) + " is no statement");
    }
}

} // namespace

net_def read_net(std::istream& in)
{
    net_def root;
    struct open_net {
        net_def* net;
        std::size_t line; // of its opening
    };
    std::vector<open_net> open{{&root, 0}}; // the innermost is last
    statements::read_each<net_error>(in, [&](words line, std::size_t number) {
        auto open_step_net = [&] {
            expect(open.size() <= most_nested,
                   "nets are nested more than " + std::to_string(most_nested) + " deep");
            open.push_back({&open.back().net->operators.back().step_nets.emplace_back(), number});
        };
        if (line[0] == "op") {
            bool const nests = line.back() == "{";
            if (nests) line.pop_back();
            open.back().net->operators.push_back(read_operator(line));
            if (nests) open_step_net();
        } else if (line[0] == "}") {
            expect(open.size() != 1, "no net is open");
            expect(line.size() == 1 || (line.size() == 2 && line[1] == "{"), "only '{' follows '}'");
            open.pop_back();
            if (line.size() == 2) open_step_net(); // another one of the same operator
        } else {
            read_statement(*open.back().net, line);
        }
    });
    if (open.size() != 1)
        throw net_error("line " + std::to_string(open.back().line) + ": this net is not closed");
    return root;
}

namespace {

std::string const& printable(std::string const& name)
{
    expect(is_name(name), "name " + in_quotes(name) + " cannot be written as text");
    return name;
}

/// A net with its context, not yet printed.
struct unprinted {
    net_def const* net;
    std::size_t next_operator, next_step_net;
};

void print_head(std::ostream& out, net_def const& net, std::string const& margin)
{
    if (!net.name.empty())
        out << margin << "net " << printable(net.name) << ' ' << printable(net.type) << '\n';
    auto list = [&](char const* what, std::vector<std::string> const& names) {
        if (names.empty()) return;
        out << margin << what;
        for (auto const& name : names) out << ' ' << printable(name);
        out << '\n';
    };
    list("input", net.external_inputs);
    list("output", net.external_outputs);
    for (auto const& [name, blob] : net.blobs) {
        if (blob.bytes != 0) out << margin << "size " << printable(name) << ' ' << blob.bytes << '\n';
        if (!blob.view_of.empty())
            out << margin << "view " << printable(name) << ' ' << printable(blob.view_of) << '\n';
    }
    if (net.is_planned) out << margin << "planned\n";
}

void print_operator(std::ostream& out, operator_def const& op, std::string const& margin)
{
    out << margin << "op " << printable(op.type);
    for (auto const& name : op.inputs) out << ' ' << printable(name);
    out << " ->";
    for (auto const& name : op.outputs) out << ' ' << printable(name);
    if (!op.device.empty()) out << " @" << op.device;
    for (auto const& name : op.controls) out << " ^" << printable(name);
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
