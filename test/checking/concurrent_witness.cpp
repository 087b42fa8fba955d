// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/witness.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <sstream>
#include <string>

namespace this_test {

namespace {

using namespace sublet;

std::string sentence(concurrent_witness const& w)
{
    std::ostringstream text;
    text << w;
    return text.str();
}

concurrent_witness clash()
{
    concurrent_witness w{{.what = fault::clash, .value = 3, .other = 5, .begin = 0, .end = 64, .pool = 1}};
    w.needed_at = 9;
    w.written_at = 7;
    return w;
}

} // namespace

TEST_CASE("a clash reads as a sentence with both steps, both values and the bytes")
{
    concurrent_witness w = clash();
    CHECK(sentence(w) == "step 7 need not wait for step 9, and writes value 5 over bytes [0, 64) of pool 1, "
                         "where value 3 lies, which step 9 touches");
    w.needed_at = 7;
    CHECK(sentence(w) == "step 7 writes value 5 over bytes [0, 64) of pool 1, where value 3 lies, which the "
                         "step itself touches");
    w.needed_at = no_step;
    CHECK(sentence(w) == "step 7 writes value 5 over bytes [0, 64) of pool 1, where value 3 lies, an output");
    w.written_at = no_step;
    CHECK(sentence(w) == "values 3 and 5 are both there from the start and share bytes [0, 64) of pool 1");
}

TEST_CASE("any other fault reads as it does where steps run one after the other")
{
    witness const plain{.what = fault::misaligned, .value = 3, .begin = 4, .needed = 8};
    std::ostringstream text;
    text << plain;
    CHECK(sentence(concurrent_witness{plain}) == text.str());
}

TEST_CASE("a witness is what is left of it for whoever asks for no schedule")
{
    std::optional<concurrent_witness> const found = clash();
    std::optional<witness> const plain = found;
    CHECK(plain == witness{.what = fault::clash, .value = 3, .other = 5, .begin = 0, .end = 64, .pool = 1});
    concurrent_witness other = clash();
    other.schedule = {1, 0};
    CHECK(other != *found);
}

} // namespace this_test
