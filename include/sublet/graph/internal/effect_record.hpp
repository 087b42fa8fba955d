// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_INTERNAL_EFFECT_RECORD_HPP
#define SUBLET_GRAPH_INTERNAL_EFFECT_RECORD_HPP

/// What effect sinks write to: the touches of all steps in one vector, in which each step is closed before
/// the next begins: definitions are put last, and touches that mean one access are joined.

#include <sublet/core/units.hpp>
#include <sublet/graph/touch.hpp>

#include <cstdint>
#include <vector>

namespace sublet::detail {

/// The storage behind effect sinks. Steps are numbered across all nodes.
struct effect_record {
    std::vector<touch> touches;
    std::vector<std::uint32_t> step_begin; // into touches, and the end; empty if there is no step
    std::vector<edge_use> edge_uses;
    std::vector<overwrite> overwrites;
    std::vector<said_view> said_views;
    std::vector<value_id> commuting; // values with writes that may run in any order
    enum : unsigned char { // each_step_fact() lists them
        recomputable = 1,
        only_views = 2,
        recomputes_results = 4,
        end_of_said = 8
    };
    std::vector<unsigned char> said; // by step, up to the last one that says something: a set of these
    bool has_writes = false;         // some touch changes a value in place
    bool has_views = false;          // some touch makes a view
    bool allocates = false;          // some touch makes a value without contents
    bool defines = false;            // of the last step, until it is closed
    bool writes = false;
    bool reads = false;
    bool views = false;
    bool reads_after_def = false;

    /// `is_copied`: a read of a view that the step makes is not joined with it: it is of another program, in
    /// which both may have one name.
    void add(touch one, bool is_copied = false)
    {
        if (one.defines()) defines = true;
        else reads_after_def |= defines;
        writes |= one.writes() && !one.makes();
        reads |= !is_copied && one.kind <= touch::access::use_early;
        views |= !is_copied && one.makes_view();
        has_views |= one.makes_view();
        allocates |= one.kind == touch::access::allocate;
        touches.push_back(one);
    }
    /// Of the last step.
    void say(unsigned char what)
    {
        said.resize(step_begin.size(), 0);
        said.back() |= what;
    }
    /// Closes the last step, if there is one, and begins the next.
    void next_step();
    void close_step();

    friend bool operator==(effect_record const&, effect_record const&) = default;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/graph/impl/effect_record.ipp>
#endif

#endif
