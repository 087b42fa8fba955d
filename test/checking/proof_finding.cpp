// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/check_placement.hpp>

#include <doctest/doctest.h>

#include <ostream>
#include <sstream>
#include <string>

namespace this_test {

namespace {

using namespace sublet;
using enum proof_finding::outcome;

std::string sentence(proof_finding const& f)
{
    std::ostringstream out;
    out << f;
    return out.str();
}

} // namespace

TEST_CASE("each finding has a sentence")
{
    proof_finding f{proved, placement::proof::reason::live_bytes, 2, 96, 80};
    CHECK(sentence(f) == "the proof of pool 2, of 96 bytes, holds");
    f.verdict = refuted;
    CHECK(sentence(f) == "the proof of pool 2, of 96 bytes, is wrong: 80 are alive there");
    f.kind = placement::proof::reason::top_of_pin;
    CHECK(sentence(f) == "the proof of pool 2, of 96 bytes, is wrong: its buffer may end at 80");
    f.kind = placement::proof::reason::exhausted;
    CHECK(sentence(f) == "the proof of pool 2, of 96 bytes, is wrong: its buffers can be stacked within 80");
    f.found = no_limit;
    CHECK(sentence(f) ==
          "the proof of pool 2, of 96 bytes, is wrong: its buffers can be threaded through each "
          "other, and that was not tried");
    f.found = 80;
    f.kind = placement::proof::reason::pins_clash;
    CHECK(sentence(f) == "the proof of pool 2, of 96 bytes, is wrong: there is no such contradiction");
    f.verdict = wrong_peak;
    CHECK(sentence(f) == "the proof of pool 2, of 96 bytes, gives another peak than position 80");
    f.verdict = not_checkable;
    CHECK(sentence(f) == "the proof of pool 2, of 96 bytes, is beyond what can be checked");
}

} // namespace this_test
