// SPDX-License-Identifier: BSL-1.0
#include "memonger.hpp"
#include "program.hpp"

#include "called_program.hpp"
#include "printed.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace memonger;

net_def net_of(std::string const& text)
{
    std::istringstream in(text);
    return read_net(in);
}

std::string text_of(net_def const& net)
{
    std::ostringstream out;
    print_net(out, net);
    return out.str();
}

/// The error message of the reader or of a call for a text; "none" without an error.
template <class Call>
std::string error_message(std::string const& text, Call call)
{
    return thrown_by<net_error>(
        [&] {
            net_def net = net_of(text);
            call(net);
        },
        "none");
}
std::string error_message(std::string const& text)
{
    return error_message(text, [](net_def&) {});
}

std::string nested(std::size_t depth)
{
    std::string text = "net outermost dag\n";
    for (std::size_t i = 0; i != depth; ++i) text += "op Recurrent x -> {\n";
    for (std::size_t i = 0; i != depth; ++i) text += "}\n";
    return text;
}

called_program const called{"memonger", run_program};

} // namespace

TEST_CASE("an invalid text is refused in one sentence with its line")
{
    struct bad_input {
        std::string text, sentence;
    };
    std::string const nul("op A\0 -> b", 10);
    for (bad_input const& d : {
             bad_input{"", "has no statement"},
             {" \n# nothing\n\r\n", "has no statement"},
             {"net a\n}\n", "line 2: no net is open"},
             {"net a\nop A -> b {\nop B b {\n}\n", "line 2: this net is not closed"},
             {"op A -> b { c\n", "line 1: '{' is no name"},
             {"op A -> b {\n} }\n", "line 2: only '{' follows '}'"},
             {"op A b -> c -> d\n", "line 1: an operator has one '->'"},
             {"op\n", "line 1: an operator has a type"},
             {"op -> b\n", "line 1: '->' is no name"},
             {nul, "line 1: 'A?' is no name"},
             {"op A -> b @gpu:0 @gpu:1\n", "line 1: an operator has one device"},
             {"op A -> b @\n", "line 1: '' is no name"},
             {"op A -> b ^\n", "line 1: '' is no name"},
             {"op A -> b k=1 k=2\n", "line 1: argument 'k' is given twice"},
             {"\x7f"
              "ELF\x01\n",
              "line 1: '?ELF?' is no statement"},
             {std::string(100, 'x') + "\n", "line 1: '" + std::string(80, 'x') + "...' is no statement"},
             {"net\n", "line 1: a net has a name, and may have a type"},
             {"net a dag b\n", "line 1: a net has a name, and may have a type"},
             {"net a\nnet b\n", "line 2: the net has a name already: 'a'"},
             {"size a\n", "line 1: a size is a blob and a number of bytes"},
             {"size a 1 2\n", "line 1: a size is a blob and a number of bytes"},
             {"size a -1\n", "line 1: '-1' is no number of bytes"},
             {"size a 4kB\n", "line 1: '4kB' is no number of bytes"},
             {"size a 18446744073709551616\n", "line 1: '18446744073709551616' is no number of bytes"},
             {"size a=b 1\n", "line 1: 'a=b' is no name"},
             {"size ^a 1\n", "line 1: '^a' is no name"},
             {"size a 1\nsize a 1\nsize a 2\n", "line 3: blob 'a' has two sizes"},
             {"view a\n", "line 1: a view is a blob and another"},
             {"view a b\nview a c\n", "line 2: blob 'a' is a view of two others"},
             {"planned already\n", "line 1: nothing follows 'planned'"},
             {nested(1001), "line 1002: nets are nested more than 1000 deep"},
         })
        CHECK(error_message(d.text) == d.sentence);
}

TEST_CASE("lines may end with CR LF, and the last line end is optional")
{
    CHECK(text_of(net_of("net a simple\r\nop A -> b\r\nop B b ->")) ==
          "net a simple\nop A -> b\nop B b ->\n");
}

TEST_CASE("the deepest net that can be read is planned, printed, and read again")
{
    net_def net = net_of(nested(1000));
    std::string const text = text_of(net);
    CHECK(text_of(net_of(text)) == text);
    CHECK(optimize_inference_for_dag(net, {}).shared_blobs == 0);
    CHECK(release_blobs_when_used(net, {}) == 0); // x is external
}

TEST_CASE("a name that the text format cannot hold is not printed")
{
    net_def net = net_of("op A -> b\n");
    net.operators[0].outputs[0] = "b c";
    CHECK_THROWS_WITH_AS(text_of(net), "name 'b c' cannot be written as text", net_error);
}

TEST_CASE("every call refuses an invalid view and names it")
{
    struct bad_input {
        std::string text, sentence;
    };
    for (bad_input const& d : {
             bad_input{"view a a\nop A -> a\n", "blob 'a' is a view of itself"},
             {"view c a\nview a b\nview b a\nop A -> c\n", "blob 'a' is a view of itself"},
             {"size a 8\nsize b 16\nview b a\nop A -> a\nop B a -> b\n",
              "blob 'b' is a view of 'a' and is larger: 16 bytes, not at most 8"},
             {"size a 8\nsize c 16\nview b a\nview c b\nop A -> a\nop B a -> b\nop C b -> c\n",
              "blob 'c' is a view of 'a' and is larger: 16 bytes, not at most 8"},
             {"view b a\nop B -> b\nop A -> a\n", "blob 'b' is a view of 'a', which is not defined yet"},
             {"view b a\nop B b -> a\n", "blob 'b' is a view of 'a', which is not defined yet"},
         }) {
        CAPTURE(d.text);
        CHECK(error_message(d.text, [](net_def& net) { optimize_inference_fast(net, {}); }) == d.sentence);
        CHECK(error_message(d.text, [](net_def& net) { optimize_inference_for_dag(net, {}); }) == d.sentence);
        CHECK(error_message(d.text, [](net_def& net) { compute_assignments(net, {}); }) == d.sentence);
        CHECK(error_message(d.text, [](net_def& net) { release_blobs_when_used(net, {}); }) == d.sentence);
    }
}

TEST_CASE("a blob of unknown size that is written again while a view of it is read keeps its storage")
{
    net_def net = net_of("net a\nsize w 100\nview w e\nop A -> e\nop V e -> w\nop C -> e\nop T w ->\n");
    CHECK(optimize_inference_fast(net, {}).shared_blobs == 0);
    CHECK(net.operators[2].outputs[0] == "e");
}

TEST_CASE("a view of a blob that only views name is external")
{
    std::string const text = "size w 8\nsize x 8\nview w caller\nop A -> w\nop B w -> x\nop C x ->\n";
    net_def net = net_of(text);
    CHECK(optimize_inference_fast(net, {}).shared_blobs == 0);
    net_def again = net_of(text);
    CHECK(release_blobs_when_used(again, {}) == 1); // x
}

TEST_CASE("a view that is defined twice keeps its storage: a text can declare only one base")
{
    net_def net =
        net_of("size e 8\nsize f 8\nsize g 8\nsize w 8\nview w e\n"
               "op A -> e\nop V e -> w\nop B w -> f\nop A f -> e\nop V e -> w\nop B w -> g\nop C g ->\n");
    CHECK(optimize_inference_fast(net, {}).shared_blobs == 1); // f and g
    CHECK(net.operators[0].outputs[0] == "e");
    CHECK(net.operators[3].outputs[0] == "e");
    CHECK(net.blobs.at("w").view_of == "e");
}

TEST_CASE("a blob that is written on several devices keeps its storage")
{
    net_def net = net_of("size a 8\nsize b 8\nop A -> a\nop B a -> b\nop A -> a @gpu:0\nop B a b ->\n");
    CHECK(optimize_inference_fast(net, {}).shared_blobs == 0);
}

TEST_CASE("a control input waits for the same operator after the blob has two names")
{
    net_def net = net_of("net a dag\nsize a 8\nsize b 8\nsize c 8\nsize d 8\n"
                         "op P -> a\nop Q a -> b\nop P -> a\nop R a -> c\nop S b ^a -> d\nop T c d ->\n");
    (void)optimize_inference_for_dag(net, {});
    REQUIRE(net.operators[0].outputs[0] != net.operators[2].outputs[0]);
    CHECK(net.operators[4].controls[0] == net.operators[2].outputs[0]);
}

TEST_CASE("sizes that 64 bits cannot add up are refused")
{
    CHECK(error_message("size a 18446744073709551614\nsize b 2\nop A -> a\nop B -> b\nop C a b ->\n",
                        [](net_def& net) { optimize_inference_fast(net, {}); }) ==
          "its blobs take more bytes than 64 bits can count");
}

TEST_CASE("a net with more interferences than memory is refused")
{
    std::string text = "net a\n", all = "op Concat";
    for (int i = 0; i != 7000; ++i) {
        std::string const blob = "b" + std::to_string(i);
        text += "op Fill -> " + blob + "\n";
        all += " " + blob;
    }
    CHECK(error_message(text + all + " ->\n", [](net_def& net) { compute_assignments(net, {}); }) ==
          "24496500 pairs of its blobs interfere, and at most 20000000 can be coloured");
}

TEST_CASE("invalid arguments are refused in one sentence, and --help succeeds")
{
    called.check_help();
    called.check({
        {{}, "no call is given (see --help)"},
        {{"optimize_inference_fast"}, "no file is given (see --help)"},
        {{"optimise", "a.net"}, "there is no call 'optimise' (see --help)"},
        {{"optimize_inference_fast", "a.net", "--lgo"},
         "unknown option '--lgo', did you mean '--log'? (see --help)"},
        {{"optimize_inference_fast", "a.net", "b.net"}, "more than one file: 'a.net' and 'b.net'"},
        {{"optimize_inference_fast", "no/such.net"}, "no/such.net: cannot be read"},
        {{"optimize_inference_fast", "."}, ".: is a directory"},
    });
}
