// SPDX-License-Identifier: BSL-1.0
// Register assignment for three-address code in SSA form, described by four member functions. It needs as few
// registers as values are live at once; the calling convention fixes two of them; each phi gets the register
// of its operands, so leaving SSA form takes no move. Prints the code with its values and with registers.

#include <sublet/sublet.hpp>

#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

enum value : unsigned { n, sum0, i0, sum, i, more, square, sum1, i1, values_in_all, none = ~0u };
char const* const name_of[] = {"n", "sum0", "i0", "sum", "i", "more", "square", "sum1", "i1"};

struct instruction {
    value result;
    std::string code; // each % stands for an operand
    std::vector<value> operands = {};
};
struct block {
    std::string label;
    std::vector<int> predecessors = {}, successors = {};
    std::vector<instruction> phis = {}; // operands in the order of the predecessors
    std::vector<instruction> code = {};
};

struct function {
    std::vector<block> blocks;

    // The members that the program concept requires.
    std::size_t nodes() const { return blocks.size(); }
    std::size_t values() const { return values_in_all; }
    auto const& successors(sublet::node_id b) const { return blocks[b].successors; }
    static constexpr auto edges() { return sublet::edge_meaning::control_flow; }
    void effects(sublet::node_id b, sublet::effect_sink& step) const
    {
        for (auto const& phi : blocks[b].phis) { // one step: all phis read before one is written
            step.def(phi.result);
            for (std::size_t k = 0; k != phi.operands.size(); ++k) {
                step.use_at_end_of(blocks[b].predecessors[k], phi.operands[k]);
                step.may_overwrite(phi.operands[k], phi.result); // an affinity: one register for both
            }
        }
        for (auto const& next : blocks[b].code) {
            step.next_step();
            for (auto operand : next.operands) step.use_early(operand); // read before the result is written
            step.def(next.result);
        }
    }
};
static_assert(sublet::program<function>);

int main()
{
    enum { start, loop, body, done };
    function const sum_of_squares{
        {{.label = "start", .successors = {loop}, .code = {{n, "parameter"}, {sum0, "0"}, {i0, "0"}}},
         {.label = "loop",
          .predecessors = {start, body},
          .successors = {body, done},
          .phis = {{sum, "phi(%, %)", {sum0, sum1}}, {i, "phi(%, %)", {i0, i1}}},
          .code = {{more, "% < %", {i, n}}, {none, "if % goto body", {more}}}},
         {.label = "body",
          .predecessors = {loop},
          .successors = {loop},
          .code = {{square, "% * %", {i, i}}, {sum1, "% + %", {sum, square}}, {i1, "% + 1", {i}}}},
         {.label = "done", .predecessors = {loop}, .code = {{none, "return %", {sum}}}}}};

    auto const live = sublet::liveness(sum_of_squares);
    std::vector<sublet::slot_id> fixed(values_in_all, sublet::no_slot);
    fixed[sum] = 0; // the caller reads the result here
    fixed[n] = 1;   // and passes the parameter here
    auto const coloring = sublet::color(sum_of_squares, fixed);
    auto const valid = sublet::check_slots(sum_of_squares, coloring.plan);

    auto name = [](value v) { return std::string(name_of[v]); };
    auto register_of = [&](value v) { return std::string{'r', char('0' + coloring.plan.slot_of[v])}; };
    auto text = [](instruction const& of, auto called) {
        std::string written = of.result == none ? "" : called(of.result) + " = ";
        auto operand = of.operands.begin();
        for (char c : of.code) written += c == '%' ? called(*operand++) : std::string{c};
        return written;
    };
    for (sublet::node_id b = 0; b != sum_of_squares.nodes(); ++b) {
        block const& current = sum_of_squares.blocks[b];
        std::cout << std::left << std::setw(28) << current.label << "alive:";
        for (auto v : live.live_in(b)) std::cout << ' ' << name_of[v];
        std::cout << '\n';
        for (auto const* list : {&current.phis, &current.code})
            for (auto const& next : *list)
                std::cout << "    " << std::setw(24) << text(next, name) << text(next, register_of) << '\n';
    }
    std::cout << coloring.plan.slots << " registers, " << coloring.max_live << " values alive at once, "
              << (valid ? "proved" : "refuted") << '\n';
}
