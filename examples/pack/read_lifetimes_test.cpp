// SPDX-License-Identifier: BSL-1.0
#include "read_lifetimes.hpp"

#include "printed.hpp"
#include "random_source.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace pack;
using sublet::byte_count;
using sublet::live_range;
using sublet::no_offset;

/// The error message for a text; "none" without an error.
std::string error_message(std::string const& text)
{
    return thrown_by<input_error>([&] { (void)parse_lifetimes(text); }, "none");
}

std::string written(lifetimes const& table, std::vector<byte_count> const& offset)
{
    std::ostringstream out;
    write_lifetimes(out, table, offset);
    return out.str();
}

} // namespace

TEST_CASE("four columns suffice, in any order and under any of their names")
{
    for (char const* id : {"id", "buffer", "buffer_id"})
        for (char const* lower : {"lower", "begin", "start"}) {
            auto const table =
                parse_lifetimes(std::string("size,") + lower + ",upper," + id + "\n7,1,4,x\n9,0,1,y");
            REQUIRE(table.problem.buffers.size() == 2);
            CHECK(table.problem.buffers[0].life == live_range{1, 4});
            CHECK(table.problem.buffers[0].size == 7);
            CHECK(table.problem.buffers[0].alignment == 1);
            CHECK(table.problem.buffers[0].pinned == no_offset);
            CHECK(table.problem.buffers[0].preferred == no_offset);
            CHECK(table.problem.buffers[1].life == live_range{0, 1});
            CHECK(table.problem.gaps.empty());
            CHECK(table.id_of(0) == "x");
            CHECK(table.id_of(1) == "y");
        }
}

TEST_CASE("a column called end is inclusive, and so are gaps then; windows stay half-open")
{
    auto const table = parse_lifetimes("id,start,end,size,gaps\na,1,9,8,2-3 5-5@1:7\n");
    CHECK(table.problem.buffers[0].life == live_range{1, 10});
    REQUIRE(table.problem.gaps.size() == 2);
    CHECK(table.problem.gaps[0].when == live_range{2, 4});
    CHECK(table.problem.gaps[1].when == live_range{5, 6});
    CHECK(table.problem.gaps[1].begin == 1);
    CHECK(table.problem.gaps[1].end == 7);
}

TEST_CASE("gaps are half-open if lifetimes are; a window is live, and empty gaps are ignored")
{
    auto const table =
        parse_lifetimes("gaps,id,lower,upper,size\n 7-8@0:8   2-4 4-4 ,a,1,9,8\n,b,0,1,1\n0-1@3:3,c,0,2,4\n");
    REQUIRE(table.problem.gaps.size() == 3);
    CHECK(table.problem.gaps[0].buffer == 0);
    CHECK(table.problem.gaps[0].when == live_range{2, 4});
    CHECK(table.problem.gaps[0].begin == 0);
    CHECK(table.problem.gaps[0].end == 0);
    CHECK(table.problem.gaps[1].when == live_range{7, 8});
    CHECK(table.problem.gaps[1].end == 8);
    CHECK(table.problem.gaps[2].buffer == 2);
}

TEST_CASE("alignments, pins and hints may be empty, and a hint below 0 is none")
{
    auto const table = parse_lifetimes("id,lower,upper,size,alignment,offset,hint\na,0,1,8,16,32,48\nb,0,1,8,"
                                       ",,\nc,0,1,8,1,0,-1\nd,0,1,8,1,,0\n");
    auto const& b = table.problem.buffers;
    CHECK(b[0].alignment == 16);
    CHECK(b[0].pinned == 32);
    CHECK(b[0].preferred == 48);
    CHECK(b[1].alignment == 1);
    CHECK(b[1].pinned == no_offset);
    CHECK(b[1].preferred == no_offset);
    CHECK(b[2].pinned == 0);
    CHECK(b[2].preferred == no_offset);
    CHECK(b[3].preferred == 0);
}

TEST_CASE("a table may have quotes, spaces, CR LF, a byte order mark, empty lines at the end and a missing "
          "last line end")
{
    auto const table = parse_lifetimes("\xEF\xBB\xBFid,lower, upper ,size,note\r\n"
                                       "\"a, \"\"b\"\"\nc\",0, 3 ,\"8\",\r\nd\"e,\t1,2\t,4,x\r\n\r\n\n");
    REQUIRE(table.rows.size() == 2);
    CHECK(table.id_of(0) == "a, \"b\"\nc");
    CHECK(table.problem.buffers[0].life == live_range{0, 3});
    CHECK(table.problem.buffers[0].size == 8);
    CHECK(table.id_of(1) == "d\"e");
    CHECK(table.unused == std::vector<std::string>{"note"});
    CHECK(parse_lifetimes("id,lower,upper,size\n").rows.empty());
    CHECK(parse_lifetimes("id,lower,upper,size").rows.empty());
    CHECK(parse_lifetimes("id,lower,upper,size\n,0,1,1").id_of(0).empty());
}

TEST_CASE("a table is written unchanged, with an offset in each row")
{
    auto const plain = parse_lifetimes("x,id,lower,upper,size\n\"p\nq\",a, 0,3,8\n,b,0,3,0\n");
    CHECK(written(plain, {16, no_offset}) ==
          "x,id,lower,upper,size,offset\n\"p\nq\",a, 0,3,8,16\n,b,0,3,0,0\n");
    auto const pinned =
        parse_lifetimes("id,lower,offset,upper,size\r\na,0,,3,8\r\nb,0,24,0,8\r\nc,0,\"8\",3,8");
    CHECK(written(pinned, {16, no_offset, 8}) ==
          "id,lower,offset,upper,size\r\na,0,16,3,8\r\nb,0,24,0,8\r\nc,0,8,3,8\r\n");
}

TEST_CASE("an error names line and column")
{
    std::string const header = "id,lower,upper,size,alignment,gaps,offset,hint\n";
    auto row = [&](std::string const& text) { return error_message(header + "a,0,9,8,,,,\n" + text + '\n'); };
    CHECK(error_message("") == "it is empty");
    CHECK(error_message("\n") == "line 1: there is no column 'id'");
    CHECK(error_message("id,lower,upper\n") == "line 1: there is no column 'size'");
    CHECK(error_message("id,size,upper\n") == "line 1: there is no column 'lower'");
    CHECK(error_message("ID,lower,upper,size\n") == "line 1: there is no column 'id'");
    CHECK(error_message("id,lower,upper,size,upper") ==
          "line 1, column 'upper': another column has the same meaning");
    CHECK(error_message("id,lower,upper,size,end") ==
          "line 1, column 'end': another column has the same meaning");
    CHECK(error_message("id,lower,upper,size,,") == "line 1, column '': another column has the same meaning");
    CHECK(row("b,1,2") == "line 3: 3 fields, and the header has 8");
    CHECK(row("b,1,2,8,,,,,") == "line 3: 9 fields, and the header has 8");
    CHECK(row("\nb,1,2,8,,,,") == "line 4: a row after an empty line");
    CHECK(row("b,-1,2,8,,,,") == "line 3, column 'lower': '-1' is negative");
    CHECK(row("b,1,-99999999999999999999,8,,,,") ==
          "line 3, column 'upper': '-99999999999999999999' is negative");
    CHECK(row("b,1,,8,,,,") == "line 3, column 'upper': it is empty");
    CHECK(row("b,1,2,8k,,,,") == "line 3, column 'size': '8k' is not a whole number");
    CHECK(row("b,1,2,8.0,,,,") == "line 3, column 'size': '8.0' is not a whole number");
    CHECK(row("b,1,2,0x8,,,,") == "line 3, column 'size': '0x8' is not a whole number");
    CHECK(row("b,1,2,-,,,,") == "line 3, column 'size': '-' is not a whole number");
    CHECK(row("b,3,2,8,,,,") == "line 3, column 'upper': '2' ends before it begins");
    CHECK(row("b,3,4294967295,8,,,,") == "line 3, column 'upper': '4294967295' is more than 4294967294");
    CHECK(row("b,3,4294967294,8,,,,") == "none");
    CHECK(row("b,1,2,99999999999999999999,,,,") ==
          "line 3, column 'size': '99999999999999999999' is more than 4611686018427387903");
    CHECK(row("b,1,2,8,0,,,") == "line 3, column 'alignment': an alignment is at least 1");
    CHECK(row("b,1,2,8,,,-4,") == "line 3, column 'offset': '-4' is negative");
    CHECK(row("b,1,2,8,,,4611686018427387896,") ==
          "line 3, column 'offset': '4611686018427387896' is more than 4611686018427387895");
    CHECK(row("b,1,2,8,,,,-x") == "line 3, column 'hint': 'x' is not a whole number");
    CHECK(row("b,1,9,8,,3,,") == "line 3, column 'gaps': '3' is no gap a-b");
    CHECK(row("b,1,9,8,,3-,,") == "line 3, column 'gaps': '3-' lacks a number");
    CHECK(row("b,1,9,8,,-3-4,,") == "line 3, column 'gaps': '-3' is negative");
    CHECK(row("b,1,9,8,,1-2-3,,") == "line 3, column 'gaps': '2-3' is not a whole number");
    CHECK(row("b,1,9,8,,5-4,,") == "line 3, column 'gaps': '5-4' ends before it begins");
    CHECK(row("b,1,9,8,,3-4@5,,") == "line 3, column 'gaps': '5' is no window a:b");
    CHECK(row("b,1,9,8,,3-4@,,") == "line 3, column 'gaps': '' is no window a:b");
    CHECK(row("b,1,9,8,,3-4@0:9,,") == "line 3, column 'gaps': '9' is more than 8");
    CHECK(row("b,1,9,8,,3-4@5:4,,") ==
          "line 3, column 'gaps': '3-4@5:4' has a window that ends before it begins");
    CHECK(row("b,1,9,8,,5-7 2-6,,") == "line 3, column 'gaps': two gaps meet at position 5");
    CHECK(row("b,1,9,8,,5-7 2-5,,") == "none");
    CHECK(row("\"b,1,9,8,,,,") == "line 3: a quote is never closed");
    CHECK(row("\"b\nc\"d,1,9,8,,,,") == "line 4: something follows a closed quote");
    CHECK(row("\"b\nc\",1,9,8,,,,\nd,2,1,8,,,,") == "line 5, column 'upper': '1' ends before it begins");
    CHECK(error_message("id,start,end,size\na,0,4294967294,1\n") ==
          "line 2, column 'end': '4294967294' is more than 4294967293");
    CHECK(error_message("id,start,end,size,gaps\na,0,9,1,3-4294967294\n") ==
          "line 2, column 'gaps': '4294967294' is more than 4294967293");
    CHECK(error_message("id,lower,upper,size\na,0,9," + std::string(1000, 'x') + '\n') ==
          "line 2, column 'size': '" + std::string(40, 'x') + "...' is not a whole number");
    CHECK(error_message("id,start,end,size\na,3,1,1\n") == "line 2, column 'end': '1' ends before it begins");
    CHECK(error_message("id,start,end,size\na,3,2,1\n") == "none"); // an empty lifetime
    CHECK(error_message(std::string("id,lower,upper,size\na,0,1\0,1\n", 27)) ==
          "line 2, column 'upper': '1?' is not a whole number");
}

TEST_CASE("lifetimes of several threads are clocks, and the first row says of how many")
{
    auto const table = parse_lifetimes("id,lower,upper,size,gaps\na,0:0:3, 2:1 : 3 ,8,\nb,1:1:1,1:1:1,4,\n");
    CHECK(table.problem.clocks.threads == 3);
    CHECK(table.problem.clocks.begin == std::vector<std::uint32_t>{0, 0, 3, 1, 1, 1});
    CHECK(table.problem.clocks.end == std::vector<std::uint32_t>{2, 1, 3, 1, 1, 1});
    CHECK(parse_lifetimes("id,start,end,size\na,0:0,2:1,8\n").problem.clocks.end ==
          std::vector<std::uint32_t>{3, 2});
    auto row = [](std::string const& text) {
        return error_message("id,lower,upper,size,gaps\na,0:0,2:1,8,\n" + text + '\n');
    };
    CHECK(row("b,0,2:1,8,") == "line 3, column 'lower': '0' has 1 counter and not 2, as the first row");
    CHECK(row("b,0:0:0,2:1,8,") ==
          "line 3, column 'lower': '0:0:0' has 3 counters and not 2, as the first row");
    CHECK(row("b,0:0,2,8,") == "line 3, column 'upper': '2' has 1 counter and not 2, as the first row");
    CHECK(row("b,0:x,2:1,8,") == "line 3, column 'lower': 'x' is not a whole number");
    CHECK(row("b,0:,2:1,8,") == "line 3, column 'lower': '0:' lacks a number");
    CHECK(row("b,0:0,:1,8,") == "line 3, column 'upper': ':1' lacks a number");
    CHECK(row("b,0:-1,2:1,8,") == "line 3, column 'lower': '-1' is negative");
    CHECK(row("b,0:4294967295,2:1,8,") == "line 3, column 'lower': '4294967295' is more than 4294967294");
    CHECK(row("b,0:2,2:1,8,") == "line 3, column 'upper': '2:1' ends before it begins");
    CHECK(row("b,0:0,2:1,8,1-2") == "line 3, column 'gaps': a lifetime of several threads has no gaps");
    CHECK(error_message("id,lower,upper,size\na,0:0,2,8\n") ==
          "line 2, column 'upper': '2' has 1 counter and not 2, as where it begins");
    CHECK(error_message("id,lower,upper,size\na,0,2,8\nb,0:1,2:3,8\n") ==
          "line 3, column 'lower': '0:1' has 2 counters and not 1, as the first row");
}

TEST_CASE("a damaged table is read or refused, and its output can be read again")
{
    std::string const whole = "id,lower,end,size,alignment,gaps,offset,hint\r\n"
                              "a,0,9,8,16,2-3@0:4 5-6,,-1\n\"b, \"\"c\"\"\",3,12,40,,,64,\nd,4,4,7,3,,,9\n";
    constexpr std::string_view pieces[] = {",",    "\"",
                                           "\n",   "\r\n",
                                           "-",    "@",
                                           ":",    " ",
                                           "9",    "1844674407370955",
                                           "end",  std::string_view("\0", 1),
                                           "\xFF", ""};
    std::size_t read = 0, refused = 0;
    for (unsigned seed = 0; seed != 20'000; ++seed) {
        CAPTURE(seed);
        random_source d{std::mt19937(seed)};
        std::string text = whole;
        for (std::uint32_t changes = 1 + d.below(3); changes != 0; --changes) {
            std::size_t const at = d.below(static_cast<std::uint32_t>(text.size() + 1));
            std::size_t const length = d.below(4) == 0 ? d.below(12) : d.below(2);
            text.replace(at, length, pieces[d.below(std::size(pieces))]);
        }
        try {
            lifetimes const table = parse_lifetimes(text);
            ++read;
            lifetimes const again =
                parse_lifetimes(written(table, std::vector<byte_count>(table.rows.size(), no_offset)));
            REQUIRE(again.rows.size() == table.rows.size());
            REQUIRE(again.problem.gaps.size() == table.problem.gaps.size());
            for (sublet::buffer_id b = 0; b != table.rows.size(); ++b) {
                CHECK(again.id_of(b) == table.id_of(b));
                CHECK(again.problem.buffers[b].life == table.problem.buffers[b].life);
                CHECK(again.problem.buffers[b].size == table.problem.buffers[b].size);
                CHECK(again.problem.buffers[b].pinned != no_offset);
            }
        } catch (input_error const& e) {
            ++refused;
            CHECK(std::string_view(e.what()).starts_with("line "));
        }
    }
    CHECK(read > 1000);
    CHECK(refused > 1000);
}
