// SPDX-License-Identifier: BSL-1.0
#include "program.hpp"
#include "transpiler.hpp"

#include "called_program.hpp"
#include "printed.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace transpiler;

program_desc program_of(std::string const& text)
{
    std::istringstream in(text);
    return read_program(in);
}

std::string text_of(program_desc const& program)
{
    std::ostringstream out;
    print_program(out, program);
    return out.str();
}

std::string error_message(std::string const& text)
{
    return thrown_by<program_error>([&] { (void)program_of(text); }, "none");
}

called_program const called{"transpiler", run_program};

} // namespace

TEST_CASE("an invalid text is refused in one sentence with its line")
{
    struct bad_input {
        std::string text, sentence;
    };
    for (bad_input const& d : {
             bad_input{"", "has no statement"},
             {"# nothing\n\r\n", "has no statement"},
             {"optimized\n", "has no block"},
             {"optimized already\n", "line 1: nothing follows 'optimized'"},
             {"var x float32 1\n", "line 1: a block comes first"},
             {"PK\x03\n", "line 1: 'PK?' is no statement"},
             {"block\n", "line 1: a block has a parent, and may have a forward block: forward=NUMBER"},
             {"block 0\n", "line 1: the first block has the parent -1"},
             {"block x=-1\n", "line 1: 'x=-1' is no number of a block"},
             {"block -1\nblock -1\n", "line 2: a block has a parent before it"},
             {"block -1\nblock 1\n", "line 2: a block has a parent before it"},
             {"block -1\nblock 99999999999\n", "line 2: '99999999999' is no number of a block"},
             {"block -1\nblock 0 backward=1\n", "line 2: 'backward=1' is not forward=NUMBER"},
             {"block -1\nblock 0 forward=1\n", "line 2: a forward block precedes its gradient block"},
             {"block -1\nblock 0 forward=0\n",
              "line 2: a forward block is a sibling, or lies in the forward block of the parent"},
             {"block -1\nvar x\n", "line 2: a variable has a name and a type"},
             {"block -1\nvar host float32\n", "line 2: 'host' is no name"},
             {"block -1\nvar x float32 4x\n", "line 2: '4x' is no dimension"},
             {"block -1\nvar x float32 9223372036854775808\n",
              "line 2: '9223372036854775808' is no dimension"},
             {"block -1\nvar x float32 -2\n",
              "line 2: variable 'x' has the dimension -2: only the first may be unknown, -1"},
             {"block -1\nvar x float32 4 -1\n",
              "line 2: variable 'x' has the dimension -1: only the first may be unknown, -1"},
             {"block -1\nvar x float31 4\n",
              "line 2: variable 'x' has a shape, and a type of no known size: 'float31'"},
             {"block -1\nvar x float32 4611686018427387904\n",
              "line 2: variable 'x' takes more bytes than 64 bits can count"},
             {"block -1\nvar x float32 4\nvar x float32 4\nvar x float32 5\n",
              "line 4: variable 'x' is declared in two ways"},
             {"block -1\nop\n", "line 2: an operator has a type"},
             {"block -1\nop a b -> c -> d\n", "line 2: an operator has one '->'"},
             {"block -1\nop a block=x\n", "line 2: 'x' is no number of a block"},
             {"block -1\nop a block=0\n", "line 2: no operator holds block 0"},
             {"block -1\nop a block=1 block=1\nblock 0\n", "line 2: an operator holds one block"},
             {"block -1\n\nop a block=1\n", "line 3: operator a holds a block with another parent"},
             {"block -1\nop a block=1\nblock 0\nop b block=2\nblock 0\n",
              "line 4: operator b holds a block with another parent"},
             {"block -1\nop a block=1\nop b block=1\nblock 0\n",
              "line 3: operator b holds a block that another operator holds"},
             {"block -1\nblock 0\nop c block=2\nblock 1\n", "line 2: no operator holds this block, 1"},
         })
        CHECK(error_message(d.text) == d.sentence);
}

TEST_CASE("a tensor with a dimension of 0 has no bytes, however large the others are")
{
    CHECK(bytes_of({.shape = {-1, 1L << 62, 1L << 62, 0}}) == 0);
    CHECK(bytes_of({.shape = {-1, 784}, .type = "int16"}) == 1568);
}

TEST_CASE("lines may end with CR LF, and printed text can be read again")
{
    std::string const text = "block -1\nvar x bool -1 3\nop a -> x\nop while x -> block=1\nop g -> block=2\n"
                             "block 0\nop p x ->\nblock 0 forward=1\nop q -> host\n";
    CHECK(text_of(program_of(text)) == text);
    std::string dos;
    for (char c : text) dos += c == '\n' ? "\r\n" : std::string(1, c);
    CHECK(text_of(program_of(dos)) == text);
}

TEST_CASE("a variable of a nested block is not visible in the outer blocks")
{
    // `t` of block 0 may share, whatever other variables of that name the nested blocks have.
    program_desc program = program_of("block -1\nvar t float32 4\nvar u float32 4\nvar v float32 4\n"
                                      "op a -> t\nop b t -> u\nop c u -> v\nop d v ->\nop while -> block=1\n"
                                      "block 0\nvar t float32 4\nop e -> t\nop while -> block=2\n"
                                      "block 1\nop f t ->\n");
    CHECK(memory_optimize(program).reused == 1); // v takes the storage of t
}

TEST_CASE("a variable that is read before its block writes it keeps its storage")
{
    program_desc program =
        program_of("block -1\nop while -> block=1\nblock 0\nvar x float32 4\nvar y float32 4\n"
                   "var z float32 4\nop a x -> y\nop b y -> x\nop c x -> z\nop d z ->\n");
    CHECK(memory_optimize(program).reused == 1); // z takes the storage of y; x is carried by the loop
    CHECK(program.blocks[1].ops[0].inputs[0] == "x");
}

TEST_CASE("deep and wide programs are planned, block by block")
{
    std::string deep, wide = "block -1\n", within;
    for (int b = 0; b != 2000; ++b) {
        std::string const body = "var x float32 4\nvar y float32 4\nvar z float32 4\n"
                                 "op a -> x\nop b x -> y\nop c y -> z\nop d z ->\n";
        deep += "block " + std::to_string(b - 1) + "\n" + body;
        if (b != 1999) deep += "op while -> block=" + std::to_string(b + 1) + "\n";
        if (b == 0) continue;
        wide += "op conditional_block -> block=" + std::to_string(b) + "\n";
        within += "block 0\n" + body;
    }
    struct each {
        std::string text;
        std::size_t blocks;
    };
    for (each const& p : {each{deep, 2000}, {wide + within, 1999}}) {
        program_desc optimized = program_of(p.text), released = optimized;
        CHECK(memory_optimize(optimized).reused == p.blocks);
        CHECK(release_memory(released) == 3 * p.blocks);
        CHECK(std::count_if(released.blocks[1].ops.begin(), released.blocks[1].ops.end(),
                            [](auto const& op) { return op.type == "delete_var"; }) == 3);
    }
}

TEST_CASE("sizes that 64 bits cannot add up are refused")
{
    program_desc program =
        program_of("block -1\nvar x int8 9223372036854775807\nvar y int8 9223372036854775807\n"
                   "var z int8 2\nop a -> x\nop b -> y\nop c -> z\nop d x y z ->\n");
    CHECK_THROWS_WITH_AS(memory_optimize(program), "its variables take more bytes than 64 bits can count",
                         program_error);
}

TEST_CASE("a program is refused if too many blocks capture its variables")
{
    std::string text, reads;
    for (int b = 0; b != 1500; ++b) {
        std::string const name = "x" + std::to_string(b);
        text += "block " + std::to_string(b - 1) + "\nvar " + name + " float32 4\nop a -> " + name + "\n";
        reads += " " + name;
        if (b != 1499) text += "op while -> block=" + std::to_string(b + 1) + "\n";
    }
    program_desc program = program_of(text + "op b" + reads + " ->\n");
    CHECK_THROWS_WITH_AS(release_memory(program),
                         "its variables are captured by more than 1000000 blocks in total", program_error);
}

TEST_CASE("a program printed after its log can be read again")
{
    auto const file = std::filesystem::temp_directory_path() /
                      ("sublet_transpiler_" + std::to_string(std::random_device{}()) + ".prog");
    std::string const text = "block -1\nvar x int8 4\nvar y int8 4\nvar z int8 4\n"
                             "op a -> x\nop b x -> y\nop c y -> z\nop d z ->\n";
    std::ofstream(file) << text;
    std::string const name = file.string();
    auto const done = called.call({"memory_optimize", name.c_str(), "--log", "--print"});
    CHECK(done.status == 0);
    CHECK(done.out.starts_with("#   z: 4 B takes slot 0 from x, saves 4 B\n# 1 variables reuse storage"));
    CHECK(program_of(done.out).is_optimized);
    std::filesystem::remove(file);
}

TEST_CASE("invalid arguments are refused in one sentence, and --help succeeds")
{
    called.check_help();
    called.check({
        {{}, "no call is given (see --help)"},
        {{"release_memory"}, "no file is given (see --help)"},
        {{"optimize", "a.prog"}, "there is no call 'optimize' (see --help)"},
        {{"memory_optimize", "--lgo", "a.prog"},
         "unknown option '--lgo', did you mean '--log'? (see --help)"},
        {{"memory_optimize", "a.prog", "--level", "7"}, "option --level is 0 or 1, not '7'"},
        {{"memory_optimize", "a.prog", "--level"}, "option --level needs an operand (see --help)"},
        {{"release_memory", "a.prog", "--log"}, "option --log is about memory_optimize (see --help)"},
        {{"release_memory", "a.prog", "b.prog"}, "more than one file: 'a.prog' and 'b.prog'"},
        {{"release_memory", "no/such.prog"}, "no/such.prog: cannot be read"},
        {{"release_memory", "."}, ".: is a directory"},
    });
}
