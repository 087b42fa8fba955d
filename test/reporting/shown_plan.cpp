// SPDX-License-Identifier: BSL-1.0
#include <sublet/reporting/csv.hpp>
#include <sublet/reporting/html.hpp>
#include <sublet/reporting/json.hpp>
#include <sublet/reporting/svg.hpp>
#include <sublet/reporting/trace.hpp>

#include <sublet/advise_memory.hpp>
#include <sublet/listing.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/plan_nested.hpp>
#include <sublet/plan_symbolic.hpp>

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

static_assert(detail::planned_or_plan<memory_plan> && detail::planned_or_plan<planned_memory> &&
              detail::planned_or_plan<planned_concurrently> && detail::planned_or_plan<planned_flow> &&
              detail::planned_or_plan<planned_with_handoffs> && detail::planned_or_plan<planned_nested> &&
              detail::planned_or_plan<memory_advice>);
static_assert(!detail::planned_or_plan<slot_plan> && !detail::planned_or_plan<planned_symbolic> &&
              !detail::planned_or_plan<snapshot> && !detail::planned_or_plan<int>);

template <class Write>
std::string written(Write write)
{
    std::ostringstream out;
    CHECK(&write(out) == &out);
    return out.str();
}

/// What each writer but write_html() writes of it.
template <class Planned>
std::vector<std::string> reports(Planned const& planned)
{
    auto const name = [](auto v) { return "value " + std::to_string(v); };
    return {written([&](auto& out) -> auto& { return write_csv(out, planned, {.names = name}); }),
            written([&](auto& out) -> auto& { return write_json(out, planned, {.names = name}); }),
            written([&](auto& out) -> auto& { return write_svg(out, planned, {.names = name}); }),
            written([&](auto& out) -> auto& { return write_trace(out, planned, {.names = name}); })};
}

template <class Planned>
std::string page(Planned const& planned, html_options const& options = {})
{
    return written([&](auto& out) -> auto& { return write_html(out, planned, options); });
}

template <class T>
std::string text_of(T const& printed)
{
    return written([&](auto& out) -> auto& { return out << printed; });
}

/// Each step reads the value before and makes its own.
snapshot chain()
{
    return sequence(4, 4, [](auto s, effect_sink& step) {
        if (s != 0) step.use(s - 1);
        step.def(+s);
    });
}

template <class Planned>
void check_refused(Planned const& planned)
{
    REQUIRE(!planned);
    std::string const why = "sublet: there is no plan to write: " + text_of(planned.error());
    std::ostringstream out;
    CHECK_THROWS_WITH_AS(write_csv(out, planned), why.c_str(), precondition_error);
    CHECK_THROWS_WITH_AS(write_json(out, planned), why.c_str(), precondition_error);
    CHECK_THROWS_WITH_AS(write_svg(out, planned), why.c_str(), precondition_error);
    CHECK_THROWS_WITH_AS(write_trace(out, planned), why.c_str(), precondition_error);
    CHECK(out.str().empty());
}

} // namespace

TEST_CASE("each writer takes the result of each planner, and writes its plan")
{
    snapshot const p = chain();
    plan_options const options{.bytes = {64, 32, 16, 8}, .in_place = false};
    auto check = [](auto const& planned) {
        REQUIRE(planned);
        CHECK(reports(planned) == reports(planned.plan));
        CHECK(page(planned).find(text_of(planned.report())) != std::string::npos);
    };
    check(plan_memory(p, options));
    check(plan_concurrent(p, options));
    check(plan_with_handoffs(p, options));
    check(advise_memory(p, options));
}

TEST_CASE("live ranges with holes have a row for each range in pictures and tables, and are whole in JSON")
{
    std::vector<std::vector<int>> const next{{1, 2}, {3}, {}, {}};
    snapshot const p = flow(
        4, 2, [&](auto n) -> auto& { return next[n]; },
        [](auto n, effect_sink& step) {
            if (n == 0) step.def(0);
            if (n == 1) step.def(1);
            if (n == 2) step.use(0);
            if (n == 3) step.use(1);
        });
    planned_flow const planned = plan_flow(p, {.bytes = 64, .order = {0, 1, 3, 2}});
    REQUIRE(planned);
    auto const of_result = reports(planned), of_ranges = reports(planned.by_range());
    CHECK(planned.by_range().buffers.size() == 3);
    CHECK(of_result[0] == of_ranges[0]);
    CHECK(of_result[1] == reports(planned.plan)[1]);
    CHECK(of_result[2] == of_ranges[2]);
    CHECK(of_result[3] == of_ranges[3]);
}

TEST_CASE("the result for a listing, and for a nested one, is taken as any other")
{
    listing<std::string> list;
    list.step("load").make("image", {.bytes = 64});
    list.step("blur").read("image").make("blurred", {.bytes = 32, .role = value_role::output});
    auto const planned = plan_memory(list);
    CHECK(reports(planned) == reports(planned.plan));
    CHECK(written([&](auto& out) -> auto& { return write_csv(out, planned, {.names = list.names()}); }) ==
          "id,lower,upper,size,offset\nimage,0,2,64,0\nblurred,1,2,32,64\n");
    CHECK(page(planned, {.names = list.names()}).find(R"(["image","blurred"])") != std::string::npos);
    auto const every_path = plan_flow(list);
    CHECK(reports(every_path) == reports(every_path.by_range()));
}

TEST_CASE("a result without a plan is refused with its error by each writer, and explained by a page")
{
    snapshot const undefined =
        sequence(2, 2, [](auto s, effect_sink& step) { step.use(1 - s), step.def(+s); });
    plan_options const options{.bytes = 64};
    plan_options const too_much{.bytes = 64, .pools = {{.capacity = 32}}};
    check_refused(plan_memory(undefined, options));
    check_refused(plan_memory(chain(), too_much));
    check_refused(plan_concurrent(chain(), too_much));
    check_refused(plan_with_handoffs(chain(), too_much));
    check_refused(plan_flow(chain(), too_much));
    check_refused(advise_memory(chain(), too_much));
    listing<std::string> list;
    list.pools = {{.capacity = 32}};
    list.step("load").make("image", {.bytes = 64});
    check_refused(plan_memory(list));

    auto const failed = plan_memory(undefined, options);
    CHECK(page(failed).find("no plan: " + text_of(failed.error())) != std::string::npos);
    CHECK(page(failed, {.program = &undefined, .options = &options}).find("no plan: ") != std::string::npos);
    CHECK(page(plan_flow(undefined, options), {.program = &undefined}).find("no plan: ") !=
          std::string::npos);
}

TEST_CASE("a result of another kind with a plan or an error is written, and a page says its error")
{
    struct found {
        memory_plan plan = {};
        char const* why = nullptr;
        explicit operator bool() const { return why == nullptr; }
        char const* error() const { return why; }
    };
    CHECK(reports(found{}) == reports(memory_plan{}));
    std::ostringstream out;
    CHECK_THROWS_WITH_AS(write_csv(out, found{.why = "100 % of it is lost"}),
                         "sublet: there is no plan to write: 100 % of it is lost", precondition_error);
    CHECK(page(found{.why = "it is lost"}).find("\"report\":\"no plan: it is lost\"") != std::string::npos);
    CHECK(page(found{}) == page(memory_plan{}));
    snapshot const p = chain();
    CHECK(page(found{.why = "it is lost"}, {.program = &p}).find("no plan: it is lost") != std::string::npos);
    CHECK_THROWS_AS(write_html(out, found{}, {.program = &p}), precondition_error);
}

TEST_CASE("without an argument for it, a plan is empty")
{
    CHECK(written([](auto& out) -> auto& { return write_csv(out, {}); }) == "id,lower,upper,size,offset\n");
    CHECK(written([](auto& out) -> auto& {
              return write_html(out, {}, {.title = "Empty"});
          }).find("<title>Empty</title>") != std::string::npos);
}

} // namespace this_test
