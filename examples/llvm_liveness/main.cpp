// SPDX-License-Identifier: BSL-1.0
// Reads a file of LLVM IR and prints, for each function, the values live at the begin of each block, how many
// are live at once, in how many slots they fit, and how many phi operands share the slot of their phi. The
// analysis walks llvm::Function directly, without a translation.

#include "../command_line.hpp"

#include <sublet/sublet.hpp>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ModuleSlotTracker.h>
#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// The blocks reachable from the entry, the entry first. ADL finds functions in the namespace of a type; the
// namespace of llvm::Function belongs to LLVM, so this type wraps it.
struct control_flow {
    llvm::ReversePostOrderTraversal<llvm::Function const*> blocks;

    using vertex = llvm::BasicBlock const*;
    friend auto vertices(control_flow const& g) { return std::pair(g.blocks.begin(), g.blocks.end()); }
    friend auto out_edges(vertex block, control_flow const&)
    {
        return std::pair(llvm::succ_begin(block), llvm::succ_end(block));
    }
    friend vertex target(vertex successor, control_flow const&) { return successor; }
};
static_assert(sublet::graph<control_flow>);

// Dense numbers of values: arguments, and results that are not void.
struct numbered_values {
    std::vector<llvm::Value const*> of;
    llvm::DenseMap<llvm::Value const*, std::size_t> numbers;

    void add(llvm::Value const& v)
    {
        if (v.getType()->isVoidTy()) return;
        numbers[&v] = of.size();
        of.push_back(&v);
    }
    sublet::value_id operator[](llvm::Value const* v) const // constants and labels have none
    {
        auto const found = numbers.find(v);
        return found == numbers.end() ? sublet::no_value : sublet::value_id(found->second);
    }
};

void print_liveness(llvm::Function const& function, llvm::ModuleSlotTracker& names)
{
    control_flow const graph{&function};
    sublet::vertex_numbering const blocks(graph);
    numbered_values values;
    for (auto const& argument : function.args()) values.add(argument);
    for (auto const* block : graph.blocks)
        for (auto const& instruction : *block) values.add(instruction);

    // The phis of a block are its first step, all at once: all are read before one is written. A phi prefers
    // the slot of its operand. An instruction reads its operands before it writes its result.
    auto effects = [&](llvm::BasicBlock const* block, auto& step) {
        if (block == &function.getEntryBlock())
            for (auto const& argument : function.args()) step.def(values[&argument]);
        for (auto const& instruction : *block) {
            auto const result = values[&instruction];
            if (auto const* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) {
                for (unsigned i = 0; i != phi->getNumIncomingValues(); ++i) {
                    if (blocks.number_of(phi->getIncomingBlock(i)) == sublet::no_node) continue;
                    step.use_at_end_of(phi->getIncomingBlock(i), values[phi->getIncomingValue(i)]);
                    step.may_overwrite(values[phi->getIncomingValue(i)], result);
                }
            } else {
                step.next_step();
                for (auto const& operand : instruction.operands()) step.use_early(values[operand]);
            }
            step.def(result);
        }
    };
    auto const program = sublet::flow(graph, blocks, values.of.size(), effects);
    auto const live = sublet::liveness(program);
    auto const coloring = sublet::color(program, live);
    auto const valid = sublet::check_slots(program, coloring.plan);

    auto& out = llvm::outs();
    out << '@' << function.getName() << ": " << values.of.size() << " values, at most " << coloring.max_live
        << " at once, fit in " << coloring.plan.slots << " slots; " << coloring.affinities_kept << " of "
        << program.overwrites().size() << " phi operands need no move\n";
    if (!coloring) out << "  no plan: " << coloring.error() << '\n';
    else if (!valid) out << "  refuted: " << valid.error() << '\n';
    names.incorporateFunction(function);
    for (sublet::node_id n = 0; n != program.nodes(); ++n) {
        blocks[n]->printAsOperand(out << "  ", false, names);
        out << (live.live_in_count(n) == 0 ? "" : ":");
        for (auto v : live.live_in(n)) values.of[v]->printAsOperand(out << ' ', false, names);
        out << '\n';
    }
    if (blocks.size() != function.size())
        out << "  never reached: " << function.size() - blocks.size() << " of the blocks\n";
}

constexpr char usage[] = "usage: llvm_liveness FILE.ll [--function NAME]\n"
                         "\n"
                         "Prints which values are alive where each block of each function begins.\n"
                         "\n"
                         "  --function NAME  only this function\n"
                         "  --version        print the name and the version\n"
                         "\n"
                         "Exit status: 0; 2 for bad input or usage.\n";

struct arguments {
    std::string file, function; // empty: every function
    bool help = false, version = false;
};

// A mistake is thrown as a sentence.
arguments read_arguments(int count, char** words)
{
    using mistake = std::invalid_argument;
    arguments args;
    for (command_line::reader<mistake> reader(count, words, usage); reader.next();) {
        std::string const& word = reader.name();
        if (word == "--help" || word == "-h") args.help = true;
        else if (word == "--version") args.version = true;
        else if (word == "--function") args.function = reader.operand();
        else if (reader.is_option()) throw mistake("unknown option '" + word + "'" + reader.hint());
        else if (args.file.empty()) args.file = word;
        else throw mistake("more than one file: '" + args.file + "' and '" + word + "'");
    }
    if (args.file.empty() && !args.help && !args.version) throw mistake("no file is given (see --help)");
    return args;
}

int main(int count, char** words)
{
    auto refuse = [](auto const&... sentence) {
        llvm::errs() << "llvm_liveness: ";
        (llvm::errs() << ... << sentence) << '\n';
        return 2;
    };
    // LLVM's own stream would end the program differently if standard output is lost.
    auto done = [&](int status) {
        llvm::outs().flush();
        if (!llvm::outs().has_error()) return status;
        llvm::outs().clear_error();
        return refuse("standard output cannot be written");
    };
    arguments args;
    try {
        args = read_arguments(count, words);
    } catch (std::invalid_argument const& e) {
        return refuse(e.what());
    }
    if (args.help || args.version) {
        llvm::outs() << (args.help ? usage : command_line::version_of("llvm_liveness"));
        return done(0);
    }
    std::string const& file = args.file;
    std::string const& only = args.function;

    llvm::LLVMContext context;
    llvm::SMDiagnostic error;
    auto const module = llvm::parseIRFile(file, error, context);
    if (!module && error.getLineNo() < 1) return refuse(file, ": ", error.getMessage());
    if (!module) return refuse(file, ", line ", error.getLineNo(), ": ", error.getMessage());
    if (llvm::verifyModule(*module)) return refuse(file, ": is not valid IR (opt -passes=verify tells why)");

    llvm::ModuleSlotTracker names(module.get());
    bool is_found = false;
    for (auto const& function : *module) {
        if (function.isDeclaration() || (!only.empty() && function.getName() != only)) continue;
        print_liveness(function, names);
        is_found = true;
    }
    if (is_found) return done(0);
    return refuse(file, ": defines no function", only.empty() ? "" : " ", only);
}
