// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_PROOF_FINDING_HPP
#define SUBLET_CHECKING_PROOF_FINDING_HPP

/// What a second look at a lower bound has shown.
///
///     the proof of pool 0, of 96 bytes, is wrong: 80 are alive there

#include <sublet/placement/result.hpp>
#include <sublet/units.hpp>

#include <cstdint>

namespace sublet {

enum class proof_verdict : std::uint8_t {
    proved,
    refuted,      ///< it is as `found` says
    wrong_peak,   ///< the first position with the most bytes alive is `found`, and another is given
    not_checkable ///< too many buffers, or somebody's word
};

struct proof_finding {
    proof_verdict verdict = proof_verdict::proved;
    proof_kind kind = proof_kind::nothing;
    pool_id pool = 0;
    byte_count bytes = 0; ///< below which nothing is, as the proof says
    byte_count found = 0; ///< what is alive at the position, where the buffer may end, how low they stack;
                          ///< `no_limit`: they need not be stacked
    friend bool operator==(proof_finding const&, proof_finding const&) = default;
};

/// A sentence, to any stream that takes text and integers.
template <class Stream>
    requires requires(Stream& out, byte_count number) { out << "text" << number; }
Stream& operator<<(Stream& out, proof_finding const& f)
{
    out << "the proof of pool " << f.pool << ", of " << f.bytes << " bytes, ";
    if (f.verdict == proof_verdict::proved) out << "holds";
    else if (f.verdict == proof_verdict::not_checkable) out << "is beyond what can be checked";
    else if (f.verdict == proof_verdict::wrong_peak) out << "gives another peak than position " << f.found;
    else if (f.kind == proof_kind::live_bytes) out << "is wrong: " << f.found << " are alive there";
    else if (f.kind == proof_kind::top_of_pin) out << "is wrong: its buffer may end at " << f.found;
    else if (f.kind == proof_kind::exhausted && f.found == no_limit)
        out << "is wrong: its buffers can be threaded through each other, and that was not tried";
    else if (f.kind == proof_kind::exhausted)
        out << "is wrong: its buffers can be stacked within " << f.found;
    else out << "is wrong: there is no such contradiction";
    return out;
}

} // namespace sublet

#endif
