// SPDX-License-Identifier: BSL-1.0
#include "cfg_file.hpp"
#include "printed.hpp"

#include <sublet/graph/snapshot.hpp>

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

/// Counts down from its parameter: block 1 is the loop, with a phi of the parameter and of value 2.
std::string const countdown = "F countdown 3 4 1 3 5\n"
                              "B 0 1\n"
                              "I 3 0\n"
                              "B 1 1 2\n"
                              "H 1 0:0 1:2\n"
                              "I 2 1\n"
                              "I - 2 2\n"
                              "B 2\n"
                              "I - 3\n";

std::string error_of(std::string const& text)
{
    return thrown_by<std::runtime_error>([&] { (void)cfg_file::functions_in(text, "text"); });
}

} // namespace

TEST_CASE("a function of a file is a program: parameters and phis first, then one step per instruction")
{
    auto const functions = cfg_file::functions_in(countdown, "text");
    REQUIRE(functions.size() == 1);
    CHECK(functions[0].name == "countdown");
    snapshot const read(cfg_file::as_program<touch::access::use_early>{functions[0]});
    std::vector<std::vector<node_id>> const successors{{1}, {1, 2}, {}};
    snapshot const expected = flow(
        3, 4, [&](node_id n) -> auto& { return successors[n]; },
        [](node_id n, effect_sink& s) {
            if (n == 0) {
                s.def(0);
                s.next_step();
                s.use_early(0);
                s.def(3);
            } else if (n == 1) {
                s.use_at_end_of(0, 0);
                s.use_at_end_of(1, 2);
                s.def(1);
                s.next_step();
                s.use_early(1);
                s.def(2);
                s.next_step();
                s.use_early(2);
                s.use_early(2);
            } else {
                s.use_early(3);
            }
        });
    CHECK(read == expected);
    snapshot const held(cfg_file::as_program<touch::access::use>{functions[0]});
    CHECK(held.touches(1)[0] == touch{0, touch::access::use});
}

TEST_CASE("a text of functions may be empty, its blocks too, and constants are left out")
{
    CHECK(cfg_file::functions_in("", "text").empty());
    auto const functions = cfg_file::functions_in("F none 0 0 0 0 0\n"
                                                  "F f 2 2 2 1 1\nB 0 1\nB 1\nH 1 0:-\n",
                                                  "text");
    REQUIRE(functions.size() == 2);
    CHECK(functions[0].blocks() == 0);
    snapshot const read(cfg_file::as_program<touch::access::use>{functions[1]});
    CHECK(read.steps() == 2);
    CHECK(read.edge_uses().empty());
}

TEST_CASE("a function without counts of edges and instructions is accepted")
{
    auto const functions = cfg_file::functions_in("F f 2 1 0 0 0\nB 0 1\nI 0\nB 1\n", "text");
    CHECK(functions[0].successors.items() == 1);
}

TEST_CASE("a damaged file is reported in one sentence with its line")
{
    struct damage {
        char const* text;
        char const* sentence;
    };
    for (damage const& d : {
             damage{"B 0\n", "line 1: a function (F) must come first"},
             {"F f 1 1 0 0 0\nI 0\n", "line 2: a block (B) must come first"},
             {"F f 1 1 0 0\n", "line 1: the line ends too early"},
             {"F f 1 1 2 0 0\n", "line 1: there are more parameters than values"},
             {"F f 1 1 0 0 x\n", "line 1: 'x' is not a number of instructions"},
             {"\x7f"
              "ELF\n",
              "line 1: '?ELF' is no record (F, B, H, I)"},
             {"F f 1 16777217 0 0 0\n", "line 1: there are more values than 16777216"},
             {"F f 1 4294967296 0 0 0\n", "line 1: '4294967296' is not a number of values"},
             {"F f 2 1 0 0 0\nB 1\n", "line 2: block 0 must come next"},
             {"F f 1 1 0 0 0\nB 0\nB 1\n", "line 3: the function has more blocks than it says"},
             {"F f 1 1 0 0 0\nB 0 1\n", "line 2: there is no block 1"},
             {"F f 1 1 0 0 0\nB 0\nI 1\n", "line 3: there is no value 1"},
             {"F f 1 1 0 0 0\nB 0\nI 0  0\n", "line 3: the line ends too early"},
             {"F f 1 1 0 0 0\nB 0\nI -1\n", "line 3: '-1' is not a value"},
             {"F f 1 1 0 0 0\nB 0\nQ 0\n", "line 3: 'Q' is no record (F, B, H, I)"},
             {"F f 1 1 0 0 0\nB 0 0\nI 0\nH 0 0:0\n", "line 4: a phi follows an instruction"},
             {"F f 1 1 0 0 0\nB 0 0\nH - 0:0\n", "line 3: a phi defines nothing"},
             {"F f 1 1 0 0 0\nB 0 0\nH 0 0\n", "line 3: '0' is not pred:value"},
             {"F f 1 1 0 0 0\nB 0 0\nH 0 1:0\n", "line 3: there is no block 1"},
             {"F f 1 1 0 0 0\nB 0\nH 0 0:0\n", "line 4: in the function before, block 0 has a phi operand "
                                               "from block 0, which does not lead there"},
             {"F f 2 1 0 0 0\nB 0\n",
              "line 3: blocks, edges, instructions of the function before are 1 0 0 and not 2 0 0"},
             {"F f 1 1 0 0 2\nB 0\nI 0\n",
              "line 4: blocks, edges, instructions of the function before are 1 0 1 and not 1 0 2"},
             {"F f 1 1 0 0 0\nB 0\nI 0", "line 3: the line is cut off"},
         }) {
        CAPTURE(d.text);
        CHECK(error_of(d.text) == "text: " + std::string(d.sentence));
    }
}

TEST_CASE("a missing file is reported with its name")
{
    CHECK_THROWS_WITH_AS((void)cfg_file::functions_of("no/such.txt"), "no/such.txt: cannot be opened",
                         std::runtime_error);
    CHECK_THROWS_WITH_AS((void)cfg_file::functions_of("."), ".: is a directory", std::runtime_error);
}

TEST_CASE("a file may be plain or packed, and a truncated packed file is reported with its line")
{
    auto const folder = std::filesystem::temp_directory_path() /
                        ("sublet_cfg_file_" + std::to_string(std::random_device{}()));
    std::filesystem::create_directories(folder);
    std::string const plain = (folder / "countdown.txt").string();
    std::ofstream(plain, std::ios::binary) << countdown;
    CHECK(cfg_file::functions_of(plain).size() == 1);
    std::string const empty = (folder / "empty.txt").string();
    std::ofstream(empty, std::ios::binary).flush();
    CHECK_THROWS_WITH_AS((void)cfg_file::functions_of(empty), (empty + ": has no function").c_str(),
                         std::runtime_error);

    std::string const packed = plain + ".gz";
#ifdef SUBLET_HAS_ZLIB
    std::string many; // random enough that truncation hits the packed data
    for (unsigned i = 0; i != 20'000; ++i) many += "F f" + std::to_string(i * 2654435761u) + " 0 0 0 0 0\n";
    gzFile const out = gzopen(packed.c_str(), "wb");
    REQUIRE(gzwrite(out, many.data(), static_cast<unsigned>(many.size())) == static_cast<int>(many.size()));
    REQUIRE(gzclose(out) == Z_OK);
    CHECK(cfg_file::functions_of(packed).size() == 20'000);

    std::filesystem::resize_file(packed, std::filesystem::file_size(packed) / 2);
    try {
        (void)cfg_file::functions_of(packed);
        FAIL("a truncated packed file was read");
    } catch (std::runtime_error const& e) {
        std::string const sentence = e.what();
        CAPTURE(sentence);
        std::string const before = packed + ": line ";
        REQUIRE(sentence.starts_with(before));
        auto const line = std::stoul(sentence.substr(before.size()));
        CHECK(line > 1);
        CHECK(line < 20'000);
        CHECK(sentence.ends_with(": the packed data is damaged from here on"));
    }
#else
    CHECK_THROWS_WITH_AS((void)cfg_file::functions_of(packed),
                         (packed + ": is packed, and this is built without zlib").c_str(),
                         std::runtime_error);
#endif
    std::filesystem::remove_all(folder);
}

} // namespace this_test
