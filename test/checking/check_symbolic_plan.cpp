// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/check_symbolic_plan.hpp>

#include "affine_bytes.hpp"
#include "operations.hpp"
#include "printed.hpp"
#include "random_shapes.hpp"

#include <sublet/checking/check_plan.hpp>
#include <sublet/plan_symbolic.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

//   0: def a, def b     1: def c, use a, use b
snapshot const join = op_list(3, {{}, {0, 1}}, {{0, 1}, {2}});

/// c on b on a, of these sizes.
symbolic_plan stacked(std::vector<formula> const& sizes, std::vector<dimension> const& dims)
{
    symbolic_options const options{.bytes = sizes, .dims = dims, .check = false};
    symbolic_plan plan{.dims = dims,
                       .buffers = {{0, {0, 2}, 0}, {1, {0, 2}, 1}, {2, {1, 2}, 2}},
                       .buffer_of = {0, 1, 2},
                       .sizes = sizes,
                       .stack = {.order = {{.buffer = 0, .first_below = 0},
                                           {.buffer = 1, .first_below = 0},
                                           {.buffer = 2, .first_below = 1}},
                                 .below = {0, 1},
                                 .pools = 1},
                       .most_bytes = {no_limit}};
    return plan;
}

std::string fault_of(symbolic_plan const& plan, symbolic_options const& options)
{
    verdict const valid = check_plan(join, plan, options);
    return valid ? std::string() : printed(valid.error());
}

} // namespace

TEST_CASE("a stacking in which the live buffers form a chain is valid for every shape")
{
    std::vector<formula> const sizes{8 * symbol(0), 16, 4 + 4 * symbol(0) * symbol(1)};
    symbolic_options const options{.bytes = sizes, .dims = {{"N", 1, 9}, {"M", 0, 70, 7}}};
    CHECK(fault_of(stacked(sizes, options.dims), options) == "");
}

TEST_CASE("a pair that is missing is found, with a shape for which the buffers overlap")
{
    std::vector<formula> const sizes{8 * symbol(0), 16, 4 * symbol(0)};
    symbolic_options const options{.bytes = sizes, .dims = batches(9)};
    symbolic_plan plan = stacked(sizes, options.dims);
    plan.stack.below = {0, 0}; // c is on a, and not on b
    CHECK(fault_of(plan, options) ==
          "for the shape (1): values 1 and 2 are both alive at position 1 and share bytes [8, 12) of pool 0");
    // c has bytes between the ends of the range only.
    formula const n = symbol(0);
    std::vector<formula> apart{8 * n, 16, (n - 1) * (9 - n)};
    symbolic_options between{.bytes = apart, .dims = batches(9)};
    plan = stacked(apart, between.dims);
    plan.stack.below = {0, 0};
    CHECK(
        fault_of(plan, between) ==
        "for the shape (5): values 1 and 2 are both alive at position 1 and share bytes [40, 56) of pool 0");
    apart[2] *= (n - 5) * (n - 5); // nor in the middle
    between.bytes = apart;
    plan = stacked(apart, between.dims);
    plan.stack.below = {0, 0};
    CHECK(fault_of(plan, between) ==
          "it is not proved for every shape: values 1 and 2 are both alive at position "
          "1, and nothing keeps them apart in pool 0");
    plan.stack.below = {0, 1};
    CHECK(fault_of(plan, between) == "");
}

TEST_CASE("a plan of another program or of other dimensions, and what is no stacking, is refused")
{
    std::vector<formula> const sizes{8 * symbol(0), 16, 4};
    symbolic_options const options{.bytes = sizes, .dims = batches(9)};
    auto is_foreign = [&](auto change) {
        symbolic_plan plan = stacked(sizes, options.dims);
        change(plan);
        verdict const valid = check_plan(join, plan, options);
        return !valid && valid.error().what == fault::foreign_plan;
    };
    CHECK(!is_foreign([](auto&) {}));
    CHECK(is_foreign([](auto& p) { p.dims = batches(8); }));
    CHECK(is_foreign([](auto& p) { p.dims[0].least = 2; }));
    CHECK(is_foreign([](auto& p) { p.dims[0].stride = 2; }));
    CHECK(is_foreign([](auto& p) { p.dims.clear(); }));
    CHECK(is_foreign([](auto& p) { p.buffer_of.pop_back(); }));
    CHECK(is_foreign([](auto& p) { p.buffer_of[0] = 3; }));
    CHECK(is_foreign([](auto& p) { p.offset_in_root = {0}; }));
    CHECK(is_foreign([](auto& p) { p.buffers[1].size = 3; }));
    CHECK(is_foreign([](auto& p) { p.buffers[1].alignment = 0; }));
    CHECK(is_foreign([](auto& p) { p.buffers[1].pool = 1; }));
    CHECK(is_foreign([](auto& p) { p.sizes[1] = formula::unknown(); }));
    CHECK(is_foreign([](auto& p) { p.sizes[1] = formula::by_shape(); }));
    CHECK(is_foreign([](auto& p) { p.most_bytes.clear(); }));
    CHECK(is_foreign([](auto& p) { p.stack.order.pop_back(); }));
    CHECK(is_foreign([](auto& p) { p.stack.order[2].buffer = 0; }));
    CHECK(is_foreign([](auto& p) { p.stack.order[2].buffer = 3; }));
    CHECK(is_foreign([](auto& p) { p.stack.order[1].alignment = 8; }));
    CHECK(is_foreign([](auto& p) { p.stack.order[1].pool = 1; }));
    CHECK(is_foreign([](auto& p) { p.stack.order[1].pinned = 8; }));
    CHECK(is_foreign([](auto& p) { p.stack.order[1].over = 0; }));
    CHECK(is_foreign([](auto& p) { p.stack.order[1].first_below = 2; }));
    CHECK(is_foreign([](auto& p) { p.stack.order[0].first_below = 1; }));
    CHECK(is_foreign([](auto& p) { p.stack.order[2].first_below = 3; }));
    CHECK(is_foreign([](auto& p) { p.stack.below[0] = 1; }));
    CHECK(is_foreign([](auto& p) { p.stack.below[1] = 7; }));
    CHECK(check_plan(snapshot{}, symbolic_plan{}, {.bytes = 0}));
}

TEST_CASE("the sizes of buffers, the bytes of pools and alignments are those that the options require")
{
    std::vector<formula> const sizes{8 * symbol(0), 16, 4 * symbol(0)};
    symbolic_options options{.bytes = sizes, .dims = batches(9)};
    symbolic_plan plan = stacked(sizes, options.dims);
    plan.sizes[0] = larger_of(8 * symbol(0), 40 - 4 * symbol(0)); // larger than needed for a small N
    CHECK(check_plan(join, plan, options).error().what == fault::outside_arena);
    plan.sizes[0] = 8 * symbol(0) - (symbol(0) - 1) * (9 - symbol(0)); // right at both ends
    CHECK(fault_of(plan, options).substr(0, 34) == "it is not proved for every shape: ");
    plan = stacked(sizes, options.dims);
    plan.most_bytes = {72 + 16 + 35};
    CHECK(check_plan(join, plan, options).error().what == fault::outside_arena);
    plan.most_bytes = {72 + 16 + 36};
    CHECK(fault_of(plan, options) == "");
    options.pools = {{.capacity = 123}};
    CHECK(fault_of(plan, options) ==
          "for the shape (9): the arena of pool 0 needs 124 bytes and its capacity is 123");
    options.pools = {{.alignment = 8}};
    CHECK(check_plan(join, plan, options).error().what ==
          fault::misaligned); // it is one, and not by its alignment
    CHECK(check_plan(join, plan, options).error().at_shape == shape{});
}

TEST_CASE("a capacity and a pin hold for the largest size of each buffer, between the ends of the range, too")
{
    formula const hill = (symbol(0) - 1) * (9 - symbol(0)); // 0, 7, 12, 15, 16, 15, 12, 7, 0
    std::vector<formula> const sizes{hill, 16, 4};
    symbolic_options options{.bytes = sizes, .dims = batches(9), .pools = {{.capacity = 35}}};
    symbolic_plan plan = stacked(sizes, options.dims);
    CHECK(fault_of(plan, options) ==
          "it is not proved for every shape: the arena of pool 0 needs 36 bytes and its capacity is 35");
    options.pools = {{.capacity = 36}};
    CHECK(fault_of(plan, options) == "");
    options.pinned = [](value_id v) { return v == 1 ? byte_count{15} : no_offset; };
    plan.buffers[1].pinned = plan.stack.order[1].pinned = 15;
    CHECK(check_plan(join, plan, options).error().what == fault::off_pin);
    options.pinned = [](value_id v) { return v == 1 ? byte_count{16} : no_offset; };
    plan.buffers[1].pinned = plan.stack.order[1].pinned = 16;
    CHECK(fault_of(plan, options) == "");
}

TEST_CASE("a view is within its root, at its place and aligned for every shape, or it is not proved")
{
    //   0: def root     1: view of it     2: use the view
    snapshot const program = sequence(3, 2, [](step_id s, effect_sink& sink) {
        if (s == 0) sink.def(0);
        else if (s == 1) sink.use(0), sink.view(1);
        else sink.use(1);
    });
    formula const n = symbol(0), hill = (n - 1) * (9 - n);
    auto answer = [&](formula const& bytes, formula const& offset, byte_count alignment = 1) {
        symbolic_options const options{.bytes = {64 + 16 * n, bytes},
                                       .dims = batches(9),
                                       .alignment = std::vector<byte_count>{64, alignment},
                                       .alias_of = {-1, 0},
                                       .view_offset = {formula{}, offset}};
        symbolic_plan plan{.dims = options.dims,
                           .buffers = {{0, {0, 3}, 0, 64}},
                           .buffer_of = {0, 0},
                           .sizes = {64 + 16 * n},
                           .stack = {.order = {{.buffer = 0, .alignment = 64}}, .pools = 1},
                           .most_bytes = {no_limit},
                           .offset_in_root = {0, offset}};
        if (alignment != 1) plan.buffers[0].alignment = plan.stack.order[0].alignment = 64;
        verdict const valid = check_plan(program, plan, options);
        return valid ? std::string() : printed(valid.error());
    };
    CHECK(answer(8, n) == "");
    CHECK(answer(64 + 15 * n, n) == "");
    CHECK(answer(65 + 15 * n, n).find("ends at byte") != std::string::npos);
    CHECK(answer(64 + 15 * n, n + hill).substr(0, 34) ==
          "it is not proved for every shape: "); // right at both ends
    CHECK(answer(8, 8 * n, 8) == "");
    CHECK(answer(8, 8 * (9 - n), 8) == "");
    CHECK(answer(1, hill, 8).substr(0, 34) == "it is not proved for every shape: "); // 0 at both ends
}

TEST_CASE("two values that live together are in one buffer only by an in-place pair")
{
    //   0: def a   1: def b   2: use both      in one buffer, of 0 bytes at both ends of the range
    snapshot const two = op_list(2, {{}, {}, {0, 1}}, {{0}, {1}, {}});
    formula const n = symbol(0);
    symbolic_options const options{.bytes = n * (10 - n), .dims = {{"n", 0, 10}}};
    symbolic_plan plan{.dims = options.dims,
                       .buffers = {{0, {0, 3}, 0}},
                       .buffer_of = {0, 0},
                       .sizes = {n * (10 - n)},
                       .stack = {.order = {{.buffer = 0}}, .pools = 1},
                       .most_bytes = {no_limit}};
    verdict const valid = check_plan(two, plan, options);
    REQUIRE(!valid);
    CHECK(valid.error().what == fault::clash);
}

TEST_CASE("a value without a place has no bytes for any shape, not only for the least and the largest")
{
    formula const n = symbol(0);
    std::vector<formula> const sizes{8 * n, 16, (n - 1) * (9 - n) * (n - 5) * (n - 5)};
    symbolic_options const options{.bytes = sizes, .dims = batches(9)};
    symbolic_plan plan = stacked(sizes, options.dims);
    plan.buffers.pop_back();
    plan.buffer_of[2] = no_buffer;
    plan.stack.order.pop_back();
    plan.stack.below.clear();
    CHECK(fault_of(plan, options) == "for the shape (1): value 2 needs storage and has none");
}

//   0: def a ──► 1: use a, def b ──► 3: use b, use c, def d      1 and 2 run in any order
//          └───► 2: use a, def c ────┘
snapshot const fork = op_list(4, {{}, {0}, {0}, {1, 2}}, {{0}, {1}, {2}, {3}});

/// d on c on b on a, of these sizes, for every schedule.
symbolic_plan forked(std::vector<formula> const& sizes, std::vector<buffer_id> const& below)
{
    return {.valid_for = program_reading::concurrent,
            .dims = batches(9),
            .buffers = {{0, {0, 3}, 0}, {1, {1, 4}, 1}, {2, {2, 4}, 2}, {3, {3, 4}, 3}},
            .buffer_of = {0, 1, 2, 3},
            .sizes = sizes,
            .stack = {.order = {{.buffer = 0, .first_below = 0},
                                {.buffer = 1, .first_below = 0},
                                {.buffer = 2, .first_below = 1},
                                {.buffer = 3, .first_below = 2}},
                      .below = below,
                      .pools = 1},
            .most_bytes = {no_limit}};
}

TEST_CASE("for every schedule, of two buffers one lies below the other or is needed before it")
{
    formula const n = symbol(0);
    std::vector<formula> const sizes{8 * n, 8 * n, 8 * n, 8 * n};
    symbolic_options const options{
        .bytes = sizes, .dims = batches(9), .valid_for = program_reading::concurrent};
    auto fault = [&](symbolic_plan const& plan) {
        verdict const valid = check_plan(fork, plan, options);
        return valid ? std::string() : printed(valid.error());
    };
    CHECK(fault(forked(sizes, {0, 1, 2})) == "");
    symbolic_plan other = forked(sizes, {0, 1, 2}); // d needs no bytes of its own: a ends before it begins
    other.stack.below = {0, 1, 1, 2};
    other.stack.order = {{.buffer = 0, .first_below = 0},
                         {.buffer = 1, .first_below = 0},
                         {.buffer = 2, .first_below = 1},
                         {.buffer = 3, .first_below = 2}};
    CHECK(fault(other) == "");
    CHECK(fault(forked(sizes, {0, 0, 2})) == // c on a, and b as well
          "for the shape (1): step 2 need not wait for step 3, and writes value 2 over bytes [8, 16) of pool "
          "0, "
          "where value 1 lies, which step 3 touches");
    // One that overlaps between the least and the largest shape only.
    std::vector<formula> between{8 * n, 8 * n, (n - 1) * (9 - n) * (n - 5) * (n - 5), 8 * n};
    symbolic_options const middle{
        .bytes = between, .dims = batches(9), .valid_for = program_reading::concurrent};
    verdict const valid = check_plan(fork, forked(between, {0, 0, 1, 2}), middle);
    REQUIRE(!valid);
    CHECK(printed(valid.error()) ==
          "it is not proved for every shape: values 1 and 2 are both alive in some schedule, and nothing "
          "keeps them apart in pool 0");
    CHECK(check_plan(fork, forked(between, {0, 1, 2}), middle));
}

TEST_CASE("for every schedule, a plan has the reading and the hand-offs that the options have")
{
    formula const n = symbol(0);
    std::vector<formula> const sizes{8 * n, 8 * n, 8 * n, 8 * n};
    symbolic_options options{.bytes = sizes, .dims = batches(9), .valid_for = program_reading::concurrent};
    symbolic_plan plan = forked(sizes, {0, 0, 2}); // b and c at the same place
    plan.stack.below = {0, 0, 1, 2};
    plan.stack.order[3].first_below = 2;
    CHECK(!check_plan(fork, plan, options));
    options.handoffs = plan.handoffs = {{1, 2}}; // does not help: 3 reads both
    CHECK(!check_plan(fork, plan, options));
    //   0: def a, 1: use a; 2: def b, 3: use b
    snapshot const two = op_list(2, {{}, {0}, {}, {1}}, {{0}, {}, {1}, {}});
    symbolic_plan shared{.valid_for = program_reading::concurrent,
                         .dims = batches(9),
                         .handoffs = {{1, 2}},
                         .buffers = {{0, {0, 2}, 0}, {1, {2, 4}, 0}},
                         .buffer_of = {0, 1},
                         .sizes = {8 * n},
                         .stack = {.order = {{.buffer = 0}, {.buffer = 1}}, .pools = 1},
                         .most_bytes = {no_limit}};
    symbolic_options asked{.bytes = 8 * n, .dims = batches(9), .valid_for = program_reading::concurrent};
    asked.handoffs = {{1, 2}};
    CHECK(check_plan(two, shared, asked));
    // An output is not written over, which no plan for the least, the middle or the largest shape shows.
    symbolic_plan kept = shared;
    kept.sizes = {8 * n, (n - 1) * (9 - n) * (n - 5) * (n - 5)};
    kept.buffers[1].size = 1;
    symbolic_options keeps = asked;
    keeps.bytes = {kept.sizes[0], kept.sizes[1]};
    CHECK(check_plan(two, kept, keeps));
    keeps.role = {value_role::output, value_role::intermediate};
    CHECK(check_plan(two, kept, keeps).error().what == fault::clash);
    keeps.role = {value_role::intermediate, value_role::input}; // nor does an input begin after anything
    CHECK(!check_plan(op_list(2, {{}, {0}, {}, {1}}, {{0}, {}, {}, {}}), kept, keeps));
    // A step writes over what it reads early, and not over what it reads late.
    for (bool is_early : {false, true}) {
        auto const over = sequence(2, 2, [is_early](step_id step, effect_sink& s) {
            if (step == 1 && is_early) s.use_early(0);
            if (step == 1 && !is_early) s.use(0);
            s.def(+step);
        });
        keeps.role = value_role::intermediate;
        keeps.handoffs = kept.handoffs = {};
        CHECK(bool(check_plan(over, kept, keeps)) == is_early);
    }
    asked.handoffs.clear();
    CHECK(check_plan(two, shared, asked).error().what == fault::foreign_plan);
    shared.handoffs.clear();
    CHECK(check_plan(two, shared, asked).error().what == fault::overwritten);
    asked.valid_for = program_reading::sequential;
    CHECK(check_plan(two, shared, asked).error().what == fault::foreign_plan);
    shared.valid_for = program_reading::sequential;
    CHECK(check_plan(two, shared, asked));
}

TEST_CASE("for every schedule, inputs have bytes of their own, touched or not")
{
    formula const n = symbol(0), odd = 2 * ceil_divide(n, 2) - n; // 1 for odd n, else 0
    snapshot const one = op_list(3, {{1}}, {{2}});
    symbolic_options const options{.bytes = {8, 8 * odd, 8},
                                   .dims = {{"n", 2, 4}},
                                   .role = {value_role::input, value_role::input, value_role::output},
                                   .pool = {0, 0, 1},
                                   .valid_for = program_reading::concurrent};
    auto const planned = plan_symbolic(one, options);
    REQUIRE(planned);
    symbolic_plan plan = planned.plan;
    plan.stack.below.clear();
    for (stacking::layer& its : plan.stack.order) its.first_below = 0;
    CHECK(printed(check_plan(one, plan, options).error()) ==
          "for the shape (3): values 0 and 1 are both there from the start and share bytes [0, 8) of pool 0");
    plan = planned.plan;
    plan.order = {0};
    CHECK(check_plan(one, plan, options).error().what == fault::foreign_plan);
}

TEST_CASE("a pin is that of the buffer, not only where its value lies for the least and the largest shape")
{
    formula const n = symbol(0), odd = 2 * ceil_divide(n, 2) - n;
    snapshot const p = op_list(3, {{}, {0, 1}}, {{0, 1}, {2}});
    symbolic_options options{.bytes = {63 + odd, 8, 1},
                             .dims = {{"n", 1, 3}},
                             .pinned = {no_offset, byte_count{64}, byte_count{200}}};
    for (program_reading const reading : {program_reading::sequential, program_reading::concurrent}) {
        options.valid_for = reading;
        auto const planned = plan_symbolic(p, options);
        REQUIRE(planned);
        symbolic_plan plan = planned.plan;
        plan.buffers[1].pinned = no_offset;
        for (stacking::layer& its : plan.stack.order)
            if (its.buffer == 1) its.pinned = no_offset;
        verdict const valid = check_plan(p, plan, options);
        REQUIRE(!valid);
        CHECK(printed(valid.error()) ==
              "it is not proved for every shape: value 1 has no fixed offset in pool 0 and "
              "is pinned to 64");
    }
}

TEST_CASE("for every schedule, values in one buffer are in a pair with equal places, whatever the shape is")
{
    //   0: def a, 1: use a, def v = view of b, over a
    formula const n = symbol(0);
    auto const over = sequence(2, 3, [](step_id step, effect_sink& s) {
        if (step == 0) return s.def(0);
        s.use(0);
        s.view(2);
        s.write(2);
        s.may_overwrite(0, 2);
    });
    symbolic_options options{.bytes = {8 * n + 8, 8 * n + 8, 8},
                             .dims = batches(9),
                             .alias_of = {-1, -1, 1},
                             .valid_for = program_reading::concurrent};
    auto const planned = plan_symbolic(over, options);
    REQUIRE(planned);
    CHECK(planned.report().buffers == 1);
    CHECK(check_plan(over, planned.plan, options));
    symbolic_options apart = options;
    apart.in_place = false;
    CHECK(!check_plan(over, planned.plan, apart));
    // At a place that is fixed, the operand with a size that is open.
    auto const views = sequence(3, 5, [](step_id step, effect_sink& s) {
        if (step == 0) return s.def(0), s.view(1);
        if (step == 2) return s.use(3), s.def(4);
        s.use(1);
        s.view(3);
        s.write(3);
        s.may_overwrite(1, 3);
    });
    CHECK(plan_symbolic(views,
                        {.bytes = {64, n, 64, 4, 8},
                         .dims = {{"n", 1, 4}},
                         .role = {value_role::intermediate, value_role::intermediate,
                                  value_role::intermediate, value_role::intermediate, value_role::output},
                         .alias_of = {-1, 0, -1, 2, -1},
                         .view_offset = {formula{}, 8, formula{}, 8, formula{}},
                         .valid_for = program_reading::concurrent})
              .bytes() == 72);
    options.view_offset = {formula{}, formula{}, (n - 1) * (9 - n) * n}; // 0 for 1 and 9
    options.bytes = {600 + formula{}, 600 + formula{}, 8};
    auto const two = plan_symbolic(over, options);
    REQUIRE(two);
    CHECK(two.report().buffers == 2);
    symbolic_plan joined = two.plan;
    joined.buffers.pop_back();
    joined.buffer_of = {0, 0, 0};
    joined.stack.order = {{.buffer = 0}};
    joined.stack.below.clear();
    CHECK(printed(check_plan(over, joined, options).error()) ==
          "for the shape (5): step 1 writes value 1 over bytes [0, 600) of pool 0, where value 0 lies, which "
          "the "
          "step itself touches");
}

TEST_CASE("every planted fault of a stacking is found, and each error is true")
{
    unsigned dropped = 0, harmless = 0, shown = 0, moved = 0;
    for (unsigned seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_shapes const all = draw_shapes(pick, 7);
        snapshot const program = all.program();
        auto const planned = plan_symbolic(program, all.options);
        REQUIRE(planned);
        symbolic_plan plan = planned.plan;
        if (plan.stack.below.empty()) continue;
        bool const drops = pick.below(2) == 0;
        auto const at = pick.below(static_cast<std::uint32_t>(plan.stack.below.size()));
        if (drops) { // a reduction too many: a pair is left out
            plan.stack.below.erase(plan.stack.below.begin() + at);
            for (stacking::layer& its : plan.stack.order) its.first_below -= its.first_below > at;
        } else { // an alignment is forgotten
            auto const k = pick.below(static_cast<std::uint32_t>(plan.buffers.size()));
            std::size_t layer = 0;
            while (plan.stack.order[layer].buffer != k) ++layer;
            if (plan.buffers[k].alignment == 1) continue;
            plan.buffers[k].alignment = plan.stack.order[layer].alignment = 1;
        }
        verdict const valid = check_plan(program, plan, all.options);
        bool is_wrong = false;
        for (shape const& one : some_shapes(pick, all.options.dims, 30))
            is_wrong = is_wrong || !check_plan(program, plan.at(one), all.options.at(one));
        if (is_wrong) REQUIRE(!valid);
        if (drops) dropped += !valid, harmless += bool(valid);
        else moved += !valid;
        if (valid || !valid.error().at_shape || valid.error().at_shape->empty()) continue;
        ++shown;
        CAPTURE(printed(valid.error()));
        shape const one = *valid.error().at_shape;
        REQUIRE(!check_plan(program, plan.at(one), all.options.at(one)));
    }
    MESSAGE(dropped << " pairs left out, found; " << harmless << " of which none was needed; " << moved
                    << " alignments; " << shown << " errors with a shape");
    CHECK(dropped > rounds(100));
    CHECK(moved > rounds(10));
    CHECK(shown > rounds(20));
    CHECK(harmless * 20 < dropped);
}

} // namespace this_test
