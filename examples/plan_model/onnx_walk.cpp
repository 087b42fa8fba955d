// SPDX-License-Identifier: BSL-1.0

// onnx_walk MODEL.onnx...: runs models with graphs inside by what ONNX says of If, Loop and Scan.
//
// It looks up names in the graphs of the file, and knows nothing of captures, bindings, and steps that the
// reader made of them: only where the plan puts each value. So it notices what walk_bodies.hpp cannot: a
// value that the reader forgets to read, to hand out, or to keep for the next iteration. Each result is a new
// pattern of bytes, and each operand must still have its pattern when a node reads it. Which branch runs, and
// how often a loop does, is random. Exit status 1 if a pattern is lost.

#include "infer_shapes.hpp"
#include "open_dimensions.hpp"
#include "plan_bodies.hpp"
#include "read_onnx.hpp"
#include "standard_operators.hpp"

#include <sublet/execution/digest.hpp>

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

using namespace plan_model;
using sublet::program_id;
using sublet::value_id;
using bytes = std::vector<std::byte>;

class walker {
public:
    walker(onnx::ModelProto const& model, inferred_shapes const& found, planned_bodies const& plan)
        : model_(model), standard_(model), found_(found), plan_(plan),
          arena_(static_cast<std::size_t>(plan.planned.report().arena_bytes))
    {
        program_id next = 1;
        for (program_id i = 0; i != plan.of.networks.size(); ++i) {
            first_body_.emplace_back();
            for (operation const& op : plan.of.networks[+i]->operations) {
                first_body_.back().push_back(next);
                next += static_cast<std::uint32_t>(op.bodies.size());
            }
            auto const& values = plan.of.networks[+i]->values;
            std::vector<bool> is_captured(values.size(), false);
            if (i != 0)
                for (auto const c : plan.of.tree.body(i).captures) is_captured[+c.inner] = true;
            ids_.emplace_back();
            for (value_id v = 0; v != values.size(); ++v)
                if (!is_captured[+v]) ids_.back().emplace(values[v].name, v);
        }
    }

    /// Throws: runtime_error if a pattern is lost.
    void run()
    {
        sublet::fill_noise(arena_, random_());
        graph_run main{model_.graph(), 0, 0, nullptr, {}};
        for (auto const& v : main.graph.input()) write(main, v.name(), pattern(main, v.name()));
        run_graph(main);
        for (auto const& v : main.graph.output()) (void)read(main, v.name(), "the end of the run");
    }

private:
    /// A graph that runs, and what its values hold.
    struct graph_run {
        onnx::GraphProto const& graph;
        program_id program;
        std::size_t lead; ///< operations before those of the nodes
        graph_run* outer;
        std::unordered_map<std::string, bytes> holds;
    };

    value_id id_of(graph_run const& in, std::string const& name) const { return ids_[+in.program].at(name); }
    std::size_t size_of(graph_run const& in, std::string const& name) const
    {
        auto const size = plan_.of.networks[+in.program]->values[id_of(in, name)].bytes;
        return size == sublet::no_size ? 0 : static_cast<std::size_t>(size);
    }

    /// The bytes of the arena that a value has; none of one outside.
    std::span<std::byte> place_of(graph_run const& in, std::string const& name)
    {
        auto const offset = plan_.planned.offset_of(in.program, id_of(in, name));
        if (offset == sublet::no_offset) return {};
        return std::span(arena_).subspan(static_cast<std::size_t>(offset), size_of(in, name));
    }

    bytes pattern(graph_run const& in, std::string const& name)
    {
        bytes made(size_of(in, name));
        sublet::fill_noise(made, random_());
        return made;
    }

    void write(graph_run& in, std::string const& name, bytes what)
    {
        std::span<std::byte> const place = place_of(in, name);
        std::copy_n(what.begin(), place.size(), place.begin());
        in.holds[name] = std::move(what);
    }

    /// What a value of this graph or of one around it holds.
    bytes const& read(graph_run& by, std::string const& name, std::string const& reader)
    {
        graph_run* in = &by;
        while (in != nullptr && in->holds.count(name) == 0) in = in->outer;
        if (in == nullptr)
            throw std::runtime_error(quoted(name) + " is not there when " + reader + " reads it");
        bytes const& what = in->holds.at(name);
        std::span<std::byte> const place = place_of(*in, name);
        if (!std::equal(place.begin(), place.end(), what.begin()))
            throw std::runtime_error(quoted(name) + " is not what it was when " + reader + " reads it");
        return what;
    }

    void run_graph(graph_run& in)
    {
        for (auto const& t : in.graph.initializer())
            if (in.holds.count(t.name()) == 0) write(in, t.name(), pattern(in, t.name()));
        for (auto const& t : in.graph.sparse_initializer())
            write(in, t.values().name(), pattern(in, t.values().name()));
        for (int n = 0; n != in.graph.node_size(); ++n) {
            auto const& node = in.graph.node(n);
            std::size_t const at = static_cast<std::size_t>(n) + in.lead;
            operation const& op = plan_.of.networks[+in.program]->operations[at];
            if (op.bodies.empty()) run_node(in, node, op);
            else if (node.op_type() == "If") run_if(in, node, op, first_body_[+in.program][at]);
            else run_loop(in, node, op, first_body_[+in.program][at]);
        }
    }

    /// A view holds what the value holds of which it is one.
    void run_node(graph_run& in, onnx::NodeProto const& node, operation const& op)
    {
        for (auto const& name : node.input())
            if (!name.empty()) (void)read(in, name, op.label);
        network const& net = *plan_.of.networks[+in.program];
        for (auto const& name : node.output()) {
            if (name.empty()) continue;
            value_id const v = id_of(in, name);
            if (!net.is_view(v)) write(in, name, pattern(in, name));
            else {
                bytes base = read(in, net.values[net.values[v].alias_of].name, op.label);
                base.resize(size_of(in, name));
                in.holds[name] = std::move(base);
            }
        }
    }

    /// The bytes themselves, or a pattern if the value has another size.
    bytes fitted(graph_run const& in, std::string const& name, bytes what)
    {
        return what.size() == size_of(in, name) ? std::move(what) : pattern(in, name);
    }

    void run_if(graph_run& in, onnx::NodeProto const& node, operation const& op, program_id first)
    {
        (void)read(in, node.input(0), op.label);
        auto const known = found_.taken.find(&node);
        bool const takes_then = known != found_.taken.end() ? known->second : random_() % 2 == 0;
        program_id const program =
            first + static_cast<std::uint32_t>(known == found_.taken.end() && !takes_then ? 1 : 0);
        graph_run branch{
            attribute(node, takes_then ? "then_branch" : "else_branch")->g(), program, 0, &in, {}};
        run_graph(branch);
        std::vector<bytes> given;
        for (int i = 0; i != node.output_size(); ++i)
            if (!node.output(i).empty())
                given.push_back(read(branch, branch.graph.output(i).name(), "the end of " + op.label));
        auto next = given.begin();
        for (auto const& name : node.output())
            if (!name.empty()) write(in, name, fitted(in, name, std::move(*next++)));
    }

    /// Loop, and Scan with elements instead of a condition.
    void run_loop(graph_run& in, onnx::NodeProto const& node, operation const& op, program_id program)
    {
        bool const is_scan = node.op_type() == "Scan";
        int const skipped = is_scan ? (standard_.opset() < 9 ? 1 : 0) : 2;
        int const scanned = is_scan ? static_cast<int>(attribute(node, "num_scan_inputs")->i()) : 0;
        int const carried = node.input_size() - skipped - scanned;
        int const own = is_scan ? 0 : 1, begin = is_scan ? 0 : 2; // the condition; that and the iteration
        auto const& graph = attribute(node, "body")->g();
        for (int i = 0; i != skipped; ++i)
            if (!node.input(i).empty()) (void)read(in, node.input(i), op.label);
        std::vector<bytes> state;
        for (int i = 0; i != carried; ++i)
            state.push_back(node.input(i + skipped).empty() ? bytes()
                                                            : read(in, node.input(i + skipped), op.label));
        auto result = [&](int i) { return i < node.output_size() ? node.output(i) : std::string(); };
        for (int i = carried; i < node.output_size(); ++i) // filled piece by piece
            if (!result(i).empty()) write(in, result(i), pattern(in, result(i)));

        graph_run body{graph, program, is_scan ? std::size_t{1} : std::size_t{0}, &in, {}};
        auto take_state = [&] {
            for (int i = 0; i != carried; ++i) {
                std::string const& name = graph.input(i + begin).name();
                state[static_cast<std::size_t>(i)] = fitted(body, name, state[static_cast<std::size_t>(i)]);
                write(body, name, state[static_cast<std::size_t>(i)]);
            }
        };
        std::vector<bytes> const initial = state;
        std::size_t const trips = random_() % 4;
        for (std::size_t trip = 0; trip != trips; ++trip) {
            if (trip == 0) take_state();
            for (int i = 0; i != begin; ++i)
                write(body, graph.input(i).name(), pattern(body, graph.input(i).name()));
            for (int i = 0; i != scanned; ++i) {
                (void)read(in, node.input(i + skipped + carried), op.label);
                std::string const& element = graph.input(i + carried).name();
                write(body, element, pattern(body, element));
            }
            std::unordered_map<std::string, bytes> inputs; // the results of the iteration before are gone
            for (auto const& v : graph.input()) inputs[v.name()] = std::move(body.holds[v.name()]);
            body.holds = std::move(inputs);
            run_graph(body);
            std::vector<bytes> given;
            for (auto const& v : graph.output())
                given.push_back(read(body, v.name(), "the end of " + op.label));
            for (int i = carried; i < node.output_size(); ++i)
                if (!result(i).empty())
                    add_piece(in, result(i), given[static_cast<std::size_t>(i + own)], trip, op);
            for (int i = 0; i != carried; ++i)
                state[static_cast<std::size_t>(i)] = given[static_cast<std::size_t>(i + own)];
            take_state();
        }
        auto const& kept = trips == 0 ? initial : state;
        auto const& bindings = plan_.of.tree.body(program).bindings;
        for (bool const is_first : {true, false}) // the plan copies bound results first
            for (int i = 0; i < std::min(carried, node.output_size()); ++i) {
                std::string const& name = node.output(i);
                if (name.empty()) continue;
                bool const is_bound = std::any_of(bindings.begin(), bindings.end(),
                                                  [&](auto b) { return b.result == id_of(in, name); });
                if (is_bound == is_first)
                    write(in, name, fitted(in, name, kept[static_cast<std::size_t>(i)]));
            }
    }

    /// What earlier iterations gave is still there.
    void add_piece(graph_run& in, std::string const& name, bytes const& piece, std::size_t trip,
                   operation const& op)
    {
        bytes all = read(in, name, op.label);
        if (piece.empty() || all.size() / piece.size() <= trip) return;
        std::copy(piece.begin(), piece.end(), all.begin() + static_cast<std::ptrdiff_t>(trip * piece.size()));
        write(in, name, std::move(all));
    }

    onnx::ModelProto const& model_;
    standard_operators standard_;
    inferred_shapes const& found_;
    planned_bodies const& plan_;
    std::mt19937 random_{1};
    bytes arena_;
    std::vector<std::vector<program_id>> first_body_;            // by program and operation
    std::vector<std::unordered_map<std::string, value_id>> ids_; // of what each graph defines
};

void walk(std::string const& file, std::vector<given_dimension> const& sizes)
{
    onnx::ModelProto model = parse_onnx(file);
    (void)set_open_dimensions(file, model, sizes);
    inferred_shapes const found = infer_shapes(model, false);
    network const net = read_onnx(file, model,
                                  {.pairs = in_place_pairs::operators,
                                   .unsized = unsized_results::left_out,
                                   .reads_bodies = true,
                                   .taken = &found.taken});
    for (bool const in_place : {true, false}) {
        plan_settings settings;
        settings.in_place = in_place;
        planned_bodies const plan = plan_with_bodies(net, settings);
        if (!plan.planned) throw std::runtime_error("has no plan");
        walker walks(model, found, plan);
        for (int i = 0; i != 64; ++i) walks.run();
    }
}

} // namespace

int main(int count, char** words)
{
    constexpr char usage[] = "usage: plan_model_onnx_walk [NAME=N ...] MODEL.onnx ...\n";
    bool const asks_for_help = count == 2 && std::string(words[1]) == "--help";
    if (count < 2 || asks_for_help)
        return std::fputs(usage, asks_for_help ? stdout : stderr), asks_for_help ? 0 : 2;
    std::vector<given_dimension> sizes;
    std::vector<std::string> files;
    for (int i = 1; i < count; ++i) {
        std::string const word = words[i];
        if (auto const at = word.rfind('='); at != std::string::npos)
            sizes.push_back({word.substr(0, at), std::stoll(word.substr(at + 1))});
        else files.push_back(word);
    }
    int status = 0;
    for (std::string const& file : files) try {
            walk(file, sizes);
        } catch (std::exception const& e) {
            std::fprintf(stderr, "%s: %s\n", file.c_str(), e.what());
            status = 1;
        }
    return status;
}
