# SPDX-License-Identifier: BSL-1.0
# What every header costs the one who includes it: user cpu of a syntax check, alone and with one call,
# best of five, against the budgets. An uncalled template costs its parse, so the columns should be close.
#   cmake -DCOMPILER=g++ -P bench/build_cost.cmake
# Headers on top of CUDA are measured where -DCUDA=FOLDER says where its headers are, or the compiler knows.
# With -DCOUNTED=ON it counts the instructions of g++ instead (valgrind; ten seconds a figure, and the same
# on every run); -DONLY=REGEX leaves out the headers that do not match.
# With -DSMOKE=ON it only sees that every header has a call here and that all of them compile together: that is
# a test.
#
# The budgets are milliseconds of a reference machine on which the bundle of standard headers below takes
# 117 ms. Busy machines change their speed, so the bundle is measured again beside every header; "scale"
# is how many times as long this machine took just then, and the columns are divided by it.
cmake_minimum_required(VERSION 3.25)

if(NOT COMPILER)
  set(COMPILER c++)
endif()
string(CONCAT bundle "#include <algorithm>\n#include <concepts>\n#include <cstddef>\n#include <cstdint>\n"
                     "#include <span>\n#include <vector>\n")
set(root ${CMAKE_CURRENT_LIST_DIR}/..)
execute_process(COMMAND mktemp -d OUTPUT_VARIABLE scratch OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
set(compile ${COMPILER} -std=c++20 -I${root}/include)
if(CUDA)
  list(APPEND compile -isystem ${CUDA})
endif()
set(over 0)
set(measured)

function(print text)
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${text}")
endfunction()

function(cell text width result)
  string(LENGTH "${text}" length)
  math(EXPR missing "${width} - ${length}")
  string(REPEAT " " ${missing} spaces)
  set(${result} "${${result}}${spaces}${text}" PARENT_SCOPE)
endfunction()

# Lowers `result` to the user cpu, in ms as they are here, or the millions of instructions, if it was higher.
function(measure source result)
  if(COUNTED)
    execute_process(COMMAND ${compile} -wrapper valgrind,--tool=callgrind,--callgrind-out-file=/dev/null
                            -fsyntax-only ${source}
                    RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(failed OR NOT said MATCHES "Collected : ([0-9]+)")
      message(FATAL_ERROR "${said}\nthe call of ${header} does not compile, or valgrind is missing")
    endif()
    math(EXPR millions "${CMAKE_MATCH_1} / 1000000")
    set(${result} ${millions} PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND bash -c "TIMEFORMAT=%3U; time \"$@\" 2>&1" measure
                          ${compile} -fsyntax-only ${source}
                  RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE seconds)
  if(failed)
    message(NOTICE "${said}")
    message(FATAL_ERROR "the call of ${header} does not compile")
  endif()
  string(REGEX REPLACE "[.\n]" "" ms "${seconds}")
  math(EXPR ms "${ms} + 0")
  if(NOT ${result} OR ms LESS ${result})
    set(${result} ${ms} PARENT_SCOPE)
  endif()
endfunction()

function(budget_of header result)
  set(words "^(units|contract|live_range|per_value|value_role|plan|plan_options|graph/concepts)[.]hpp$")
  if(header MATCHES "${words}")
    set(${result} 60 PARENT_SCOPE)
  elseif(header MATCHES "^(reporting/(dot|why_peak)|rewriting/sharing_log)[.]hpp$") # a program, and names
    set(${result} 250 PARENT_SCOPE)
  # On top of flatten(), happens_before() or liveness().
  elseif(header MATCHES "^rewriting/(rename_tree|release_(concurrent|flow))[.]hpp$")
    set(${result} 300 PARENT_SCOPE)
  elseif(header MATCHES "^analysis/(flatten|with_captures)[.]hpp$") # these make programs
    set(${result} 300 PARENT_SCOPE)
  elseif(header STREQUAL checking/check_symbolic_plan.hpp) # check_plan() and more
    set(${result} 300 PARENT_SCOPE)
  # The model of orders, and a search in it.
  elseif(header MATCHES "^ordering/(order_window|order_cuts|nodes_on_demand|down_set_walk|free_moves)[.]hpp$")
    set(${result} 300 PARENT_SCOPE)
  elseif(header MATCHES "^ordering/(down_set_search|exact_window)[.]hpp$")
    set(${result} 350 PARENT_SCOPE)
  elseif(header MATCHES "^ordering/(order_graph|peak_walk|topological|longest_path|plain_walks)[.]hpp$")
    set(${result} 300 PARENT_SCOPE)
  elseif(header MATCHES "^ordering/(node_demands|mirrored_graph|order_contest)[.]hpp$")
    set(${result} 300 PARENT_SCOPE)
  elseif(header MATCHES "^ordering/(list_schedule|least_peak)[.]hpp$") # all rules, from either end
    set(${result} 450 PARENT_SCOPE)
  elseif(header MATCHES "^ordering/(improve|best)_order[.]hpp$") # that, and the exact search
    set(${result} 550 PARENT_SCOPE)
  elseif(header STREQUAL ordering/exact_order.hpp) # that, twice
    set(${result} 450 PARENT_SCOPE)
  # Searches, or threads.
  elseif(header MATCHES "^placement/(portfolio|minimize|improve|fewest_that_fail|clocked)[.]hpp$")
    set(${result} 350 PARENT_SCOPE)
  elseif(header MATCHES "^placement/pack[.]hpp$") # every way to place, instantiated by its one call
    set(${result} 500 PARENT_SCOPE)
  elseif(header MATCHES "^placement/pack_symbolic[.]hpp$") # pack(), and three ways more
    set(${result} 650 PARENT_SCOPE)
  elseif(header MATCHES "^placement/(choose_pools|replan)[.]hpp$") # pack() and what is asked of it
    set(${result} 600 PARENT_SCOPE)
  elseif(header STREQUAL planner.hpp) # pack() and a checker
    set(${result} 700 PARENT_SCOPE)
  elseif(header STREQUAL symbolic_planner.hpp) # that, and two checkers
    set(${result} 850 PARENT_SCOPE)
  elseif(header STREQUAL placement/place.hpp) # pack() with clocks and threads
    set(${result} 850 PARENT_SCOPE)
  elseif(header MATCHES "^(execution|execution/cpu)[.]hpp$") # an executor holds a checker, too
    set(${result} 350 PARENT_SCOPE)
  elseif(header MATCHES "^execution/(streams|stream/(desk|storage|schedule))[.]hpp$") # with a device
    set(${result} 450 PARENT_SCOPE)
  elseif(header MATCHES "^execution/(run_proof|threads)[.]hpp$") # one checker more, and threads
    set(${result} 450 PARENT_SCOPE)
  elseif(header MATCHES "^concurrent_planner[.]hpp$") # all that shares under every schedule
    set(${result} 600 PARENT_SCOPE)
  elseif(header MATCHES "^(rewriting/apply_absences|placement/advise)[.]hpp$") # a snapshot, a search
    set(${result} 300 PARENT_SCOPE)
  elseif(header STREQUAL memory_advisor.hpp) # plan_memory(), and what it is asked for
    set(${result} 1000 PARENT_SCOPE)
  elseif(header STREQUAL nested_planner.hpp) # plan_flow() and flatten()
    set(${result} 1100 PARENT_SCOPE)
  # A program of its own and its liveness; that and loops; all that follows paths.
  elseif(header MATCHES "^(analysis/flow_lives|sharing/in_place_flow|checking/check_flow_plan)[.]hpp$")
    set(${result} 350 PARENT_SCOPE)
  elseif(header STREQUAL flow_planner.hpp) # pack(), every way to find liveness, and a checker
    set(${result} 900 PARENT_SCOPE)
  elseif(header MATCHES "^(handoff_planner|sublet)[.]hpp$") # that and pack(); all, with a plan
    set(${result} 1000 PARENT_SCOPE)
  elseif(header MATCHES "^adapt/") # nearly all of it is Boost's
    set(${result} 650 PARENT_SCOPE)
  else()
    set(${result} 200 PARENT_SCOPE)
  endif()
endfunction()

function(cost header call)
  set(measured ${measured} ${header} PARENT_SCOPE)
  if(ONLY AND NOT header MATCHES "${ONLY}")
    return()
  endif()
  if(SMOKE)
    string(REGEX MATCHALL "#include [^\n]+\n" includes "${call}")
    string(REGEX REPLACE "#include [^\n]+\n" "" call "${call}")
    string(JOIN "" includes ${includes})
    string(MAKE_C_IDENTIFIER ${header} name)
    file(APPEND ${scratch}/includes.hpp "#include <sublet/${header}>\n${includes}")
    file(APPEND ${scratch}/calls.hpp "namespace call_of_${name} {\n${call}\n}\n")
    return()
  endif()
  file(WRITE ${scratch}/bundle.cpp "${bundle}")
  file(WRITE ${scratch}/alone.cpp "#include <sublet/${header}>\n")
  file(WRITE ${scratch}/called.cpp "#include <sublet/${header}>\n${call}")
  set(last 4)
  if(COUNTED)
    set(last 0)
  endif()
  foreach(run RANGE ${last})
    measure(${scratch}/bundle.cpp reference)
    measure(${scratch}/alone.cpp alone)
    measure(${scratch}/called.cpp called)
  endforeach()
  execute_process(COMMAND ${compile} -E ${scratch}/alone.cpp COMMAND wc -l
                  OUTPUT_VARIABLE lines OUTPUT_STRIP_TRAILING_WHITESPACE)
  math(EXPR alone "${alone} * 117 / ${reference}")
  math(EXPR called "${called} * 117 / ${reference}")
  math(EXPR scale "${reference} * 100 / 117 + 1000") # 1.09 is 1109
  string(REGEX REPLACE "^1(.)(..)$" "\\1.\\2" scale ${scale})

  budget_of(${header} budget)
  set(verdict ok)
  if(called GREATER budget)
    set(verdict OVER)
    math(EXPR over "${over} + 1")
    set(over ${over} PARENT_SCOPE)
  endif()
  string(LENGTH ${header} length)
  math(EXPR missing "36 - ${length}")
  string(REPEAT " " ${missing} spaces)
  set(row "${header}${spaces}")
  foreach(column lines scale alone called budget)
    cell("${${column}}" 8 row)
  endforeach()
  print("${row}  ${verdict}")
endfunction()

cell("" 36 head)
foreach(column lines scale alone +call budget)
  cell("${column}" 8 head)
endforeach()
print("${head}   (${COMPILER})")

set(nested "auto nested = [](sublet::node_id n) { return std::vector<int>(n, 0); };\n")
set(graph "${nested}auto g = sublet::as_graph(3, nested);\n")
set(program "extern sublet::snapshot const p;\n") # what making one costs stands at snapshot.hpp
string(CONCAT lives "auto lives = [](auto i) { return sublet::live_range{i, i + 2}; };\n"
                    "auto sizes = [](auto i) { return sublet::byte_count{i}; };\n")
set(buffers "std::vector<sublet::placement_buffer> buffers{{.life = {0, 2}, .size = 8}};\n")
string(CONCAT text "struct text {\n    text& operator<<(char const*);\n    text& operator<<(char);\n"
                   "    text& operator<<(unsigned);\n    text& operator<<(unsigned long);\n};\n")

cost(contract.hpp "void call(int i) { SUBLET_EXPECTS(i > 0, \"sublet: a sentence\"); }")
cost(units.hpp "auto call(long i) { return sublet::checked_add(sublet::to_id(i), 7); }")
cost(sorting.hpp "void call(std::vector<int>& v) { sublet::sort_ascending(v); }")
cost(keyed.hpp "void call(std::vector<sublet::keyed>& v) { sublet::sort_keyed(v); }")
cost(live_range.hpp "bool call() { return sublet::overlaps({0, 2}, {1, 3}); }")
cost(value_role.hpp "auto call() { return sublet::value_role::input | sublet::value_role::output; }")
cost(per_value.hpp "auto b = sublet::per_value<sublet::byte_count>({1, 2, 3}).tabulate(3);")
cost(plan_options.hpp "sublet::plan_options call() { return {.bytes = 4096, .alignment = 64}; }")
cost(plan.hpp "auto call(sublet::memory_plan const& p) { return p.offset_of(0); }")

cost(graph/concepts.hpp "
struct path { int length; };
struct at {
    int n;
    int operator*() const { return n; }
    at& operator++() { return ++n, *this; }
    bool operator==(at const&) const = default;
};
std::pair<at, at> vertices(path const& g) { return {{0}, {g.length}}; }
std::pair<at, at> out_edges(int v, path const& g) { return {{v}, {v + 1 < g.length ? v + 1 : v}}; }
int target(int e, path const&) { return e + 1; }
static_assert(sublet::graph<path>);")
cost(graph/explain.hpp "static_assert(sublet::explain_graph<sublet::csr_graph>());")
cost(graph/csr_graph.hpp "${graph}")
cost(graph/vertex_numbering.hpp "auto n = sublet::vertex_numbering<unsigned>().number_of(3u);")
cost(graph/program.hpp "
struct ir {
    unsigned nodes() const { return 1; }
    unsigned values() const { return 1; }
    std::vector<int> successors(sublet::node_id) const { return {}; }
    void effects(sublet::node_id, sublet::effect_sink& s) const { s.def(0); }
};
static_assert(sublet::program<ir>);")
cost(graph/snapshot.hpp "${nested}auto p = sublet::sequence(3, 3, nested, nested);")
cost(graph/program_draft.hpp "
sublet::program_draft d;
auto p = d.program(d.open_node());")
cost(graph/program_tree.hpp "
sublet::program_tree t(sublet::snapshot{});
auto b = t.size() == 1 ? sublet::bodies_by_step(t).of(0, 0).size() : 0;")
cost(graph/traversal.hpp "${graph}auto f = sublet::depth_first(g);")
cost(graph/nesting.hpp "auto t = sublet::nest(std::vector<sublet::node_id>(1, 0), {0});")
cost(graph/dominators.hpp "${graph}auto t = sublet::dominators(g);")
cost(graph/loops.hpp "${graph}auto f = sublet::loops(g);")

cost(analysis/aliases.hpp "auto b = sublet::aliases(3, [](auto) { return sublet::no_value; });")
cost(analysis/lifetimes.hpp "${program}auto l = sublet::lifetimes(p, {.order = {2, 1, 0}});")
cost(analysis/buffers.hpp "auto t = sublet::gather_buffers({}, sublet::plan_options{.bytes = 4096});")
cost(analysis/absences.hpp "${program}auto a = sublet::possible_absences(p, {}, {}, {}, {});")
cost(analysis/pressure.hpp "${lives}auto m = sublet::pressure(2, lives, sizes, 3);")

cost(analysis/strictness.hpp "${program}auto v = sublet::find_ssa_violation(p);")
cost(analysis/crossing.hpp "${program}auto c = sublet::crossing(p);")
cost(analysis/bit_rows.hpp "auto call(sublet::bit_rows const& r) { return r.test(0, 0) ? r.count(0) : 0; }")
cost(analysis/live_sets.hpp "auto call(sublet::live_sets const& l) { return l.is_live_in(0, 0); }")
cost(analysis/liveness_worklist.hpp "${program}auto l = sublet::detail::live_by_worklist(p, {});")
cost(analysis/liveness_loop_forest.hpp "${program}auto l = sublet::detail::live_by_loop_forest(p, {});")
cost(analysis/liveness_per_value.hpp "${program}auto l = sublet::detail::live_by_exploration(p, {}, 0);")
cost(analysis/liveness.hpp "${program}auto l = sublet::liveness(p);")
cost(analysis/def_use.hpp "${program}auto c = sublet::def_use(p);")
cost(analysis/live_query.hpp "${program}
auto c = sublet::def_use(p);
auto i = sublet::live_query(p).is_live_in(0, 0, c);")
cost(analysis/value_set.hpp "auto call(sublet::detail::value_set& s) { return s.erase(0); }")
cost(analysis/live_range_lists.hpp "auto call(sublet::live_range_lists const& l) { return l.max_live(); }")
cost(analysis/live_intervals.hpp "${program}auto l = sublet::live_intervals(p);")
cost(analysis/flow_lives.hpp "${program}
auto l = sublet::framed_lives(p, {}, {}, sublet::operand_end::held);")
cost(analysis/interference_graph.hpp "
auto call(sublet::interference_graph const& g) { return g.are_adjacent(0, 1); }")
cost(analysis/interference.hpp "${program}auto g = sublet::interference(p);")

cost(analysis/overwrite_matching.hpp "auto m = sublet::match_overwrites<sublet::overwrite_pair>({});")
cost(analysis/storage_order.hpp "${program}auto h = sublet::storage_order(p, 1, {0}, {1});")
cost(analysis/tree_values.hpp "
auto v = sublet::number_values(sublet::program_tree());
auto r = sublet::view_roots(v, {});")
cost(analysis/flat_tree.hpp "auto f = sublet::flat_tree();")
cost(analysis/copy_order.hpp "
sublet::copy_order<sublet::value_copy> o({0, 1});
void f() { o.order({{0, 1}}, [](unsigned, unsigned) {}, [](unsigned) { return 2u; }); }")
cost(analysis/flatten.hpp "auto f = sublet::flatten(sublet::program_tree());")
cost(analysis/with_captures.hpp "auto p = sublet::with_captures(sublet::program_tree());")
cost(analysis/versions.hpp "${program}auto v = sublet::versions(p);")
cost(analysis/dependences.hpp "${program}auto g = sublet::dependences(p);")
cost(analysis/concurrent_lifetimes.hpp "${program}
auto l = sublet::concurrent_lifetimes(p, sublet::dependences(p), 1, {0}, {{}});")
cost(analysis/frontiers.hpp "
auto call(sublet::csr_rows const& r, sublet::concurrent_lives const& l)
{
    return sublet::frontiers(r, r, l, [](auto) { return true; }, [](auto, auto) { return true; }, 9);
}")
cost(analysis/giving_network.hpp "
using network = sublet::detail::giving_network<sublet::dependence_graph>;
network call(sublet::dependence_graph const& g) { return {g, {}, {}, {}, 9}; }")
cost(analysis/resting_flow.hpp "
void call(sublet::detail::resting_flow<sublet::csr_rows>& f) { f.fetch(1, 2, 3); }")
cost(analysis/antichain.hpp "
auto a = sublet::heaviest_antichain(sublet::dependence_graph(), {}, sublet::conflict_ranges(), {});")
cost(analysis/range_sets.hpp "void call(sublet::detail::range_sets& s) { s.keep(0, std::vector{sublet::live_range{0, 2}}, 3); }")
cost(analysis/unreached.hpp "void call(sublet::dependence_graph const& g, sublet::detail::range_sets& s)
{
    sublet::detail::find_unreached(g, {}, s, true, [](auto const&...) { return true; });
}")
cost(analysis/later_conflicts.hpp "auto c = sublet::later_conflicts(sublet::dependence_graph(), {});")
cost(analysis/column_closure.hpp "bool b = sublet::column_closure(sublet::csr_rows()).before(1, 2);")
cost(analysis/ancestor_walk.hpp "bool b = sublet::ancestor_walk(sublet::csr_rows()).before(1, 2);")
cost(analysis/happens_before.hpp "bool b = sublet::happens_before(sublet::dependence_graph()).before(1, 2);")
cost(analysis/detours.hpp "
auto d = sublet::has_detour(sublet::csr_rows(), 0, [](auto) { return sublet::csr_graph::edge{}; });")

cost(ordering/order_graph.hpp "${program}auto g = sublet::order_graph_of(p, {.bytes = 8});")
cost(ordering/node_order.hpp "auto b = sublet::node_order().is_optimal();")
cost(ordering/peak_walk.hpp "auto b = sublet::peak_of(sublet::order_graph(), {});")
cost(ordering/topological.hpp "auto o = sublet::topological(sublet::order_graph());")
cost(ordering/longest_path.hpp "auto o = sublet::longest_path(sublet::order_graph());")
cost(ordering/plain_walks.hpp "
sublet::order_graph const g;
auto a = sublet::breadth_first(g), b = sublet::depth_first(g), c = sublet::on_demand(g);")
cost(ordering/ready_nodes.hpp "auto n = sublet::ready_nodes(1, std::vector{sublet::keyed{8, 0, 0}}).best(8);")
cost(ordering/node_demands.hpp "
sublet::order_graph const g;
sublet::node_demands demands(g);
auto d = demands.need(0);
void call() { demands.run(0, [](sublet::node_id) {}); }")
cost(ordering/list_schedule.hpp "auto o = sublet::list_schedule(sublet::order_graph(), {});")
cost(ordering/mirrored_graph.hpp "auto m = sublet::mirrored(sublet::order_graph());")
cost(ordering/order_contest.hpp "
sublet::order_graph const g;
sublet::order_contest contest(g);
auto b = contest.enter_reversed({}, sublet::order_method::reversed);")
cost(ordering/least_peak.hpp "auto o = sublet::least_peak(sublet::order_graph());")
set(whole "sublet::order_graph g;
auto w = sublet::window_of(g, sublet::peak_walk(g), {});")
set(never "[](auto, auto, auto) { return false; }")
cost(ordering/order_window.hpp "${whole}")
cost(ordering/order_bound.hpp "auto b = sublet::order_lower_bound(sublet::order_graph());")
cost(ordering/nodes_on_demand.hpp "${whole}auto d = sublet::nodes_on_demand(w);")
cost(ordering/order_cuts.hpp "${whole}auto c = sublet::cut_order(w, sublet::nodes_on_demand(w));")
cost(ordering/down_set_walk.hpp "${whole}sublet::down_set_walk<sublet::order_window> walk(w);
auto e = walk.run(0);")
cost(ordering/down_set_table.hpp "sublet::down_set_table sets(8);
auto n = sets.number_of(nullptr, 0);")
cost(ordering/free_moves.hpp "${whole}auto d = sublet::nodes_on_demand(w);
sublet::free_moves<sublet::order_window> moves(w, d);
auto ran = (moves.run_free(8), 0);")
cost(ordering/down_set_search.hpp "${whole}auto r = sublet::search_down_sets(w, 0, 8, {}, ${never});")
cost(ordering/exact_window.hpp "auto w = sublet::exact_window(sublet::order_graph(), {}, 0, 0);")
cost(ordering/exact_order.hpp "auto r = sublet::exact_order(sublet::order_graph());")
cost(ordering/improve_order.hpp "auto o = sublet::improve_order(sublet::order_graph(), {});")
cost(ordering/best_order.hpp "auto o = sublet::best_order(sublet::order_graph());")
cost(ordering/parallel_clock.hpp "auto c = sublet::parallel_clock(sublet::dependence_graph());")
cost(ordering/clock_lives.hpp "auto l = sublet::clock_lives({}, sublet::clock_times());")
cost(ordering/clock_order.hpp "auto g = sublet::in_clock_order(sublet::dependence_graph(), {});")
cost(ordering/clock_conflicts.hpp "
auto c = sublet::clock_conflicts(sublet::live_range_lists(), {}, {}, {});")

cost(sharing/in_place_pairs.hpp "${program}
auto yes = [](auto, auto) { return true; };
auto t = sublet::join_in_place(p, {}, yes, yes);")
cost(sharing/in_place_concurrent.hpp "${program}
auto t = sublet::take_in_place_concurrently(p, sublet::dependences(p), {});")
cost(sharing/in_place_flow.hpp "${program}auto t = sublet::take_in_place_in_flow(p, {}, {}, {});")
cost(sharing/in_place.hpp "${program}auto t = sublet::take_in_place(p, {}, {});")
cost(sharing/in_place_gains.hpp "auto g = sublet::in_place_gains(sublet::buffer_table(), {});")
cost(sharing/color_intervals.hpp "${lives}auto s = sublet::color_intervals(2, lives);")
cost(sharing/linear.hpp "${lives}auto s = sublet::share_linearly(2, lives, sizes);")
cost(sharing/slot_choice.hpp "auto call(sublet::slot_chooser<>& c) { return c.take({}, [](auto) { return sublet::step_id{0}; }); }")
cost(sharing/heir_forest.hpp "auto call(sublet::dependence_graph const& g) { return sublet::heir_forest(g); }")
cost(sharing/token_deposits.hpp "void call(sublet::detail::token_deposits<>& d) { d.taken(0); }")
cost(sharing/token_sets.hpp "auto call(sublet::token_sets<>& t) { return t.before(0, 1); }")
cost(sharing/sleepers.hpp "void call(sublet::detail::sleepers<>& s) { s.wake(0, 8, [](auto) {}); }")
cost(sharing/tokens.hpp "
auto call(sublet::dependence_graph const& g) {
    return sublet::share_by_tokens(g, {}, [](auto) { return 4096; }).slots;
}")
cost(sharing/program_tokens.hpp "${program}auto t = sublet::share_by_tokens(p, {.bytes = 4096});")
cost(sharing/coloring_orders.hpp "${graph}auto o = sublet::smallest_last(g);")
cost(sharing/cliques.hpp "${graph}auto b = sublet::find_cliques(g, {1, 1, 1});")
cost(sharing/dsatur.hpp "${graph}auto s = sublet::color_by_saturation(g, {}, {});")
cost(sharing/color_graph.hpp "${graph}auto c = sublet::color_graph(g, {.bytes = 4096});")
cost(sharing/hosts.hpp "auto call(sublet::hosted_values<>& v) { v.find_hosts(); return v.parts(); }")
cost(sharing/prefix_cliques.hpp "auto c = sublet::find_prefix_cliques(sublet::bit_rows(2, 2), 2, 8);")
cost(sharing/stair_coloring.hpp "auto call(sublet::stair_coloring<>& c) { return c.color(0, {1}, 8); }")
cost(sharing/staircases.hpp "auto s = sublet::find_staircase(sublet::bit_rows(2, 2), {2, 1}, 8);")
cost(sharing/assign_exact.hpp "${graph}auto a = sublet::assign_exact(g, {.bytes = 4096});")
cost(sharing/slot_set.hpp "auto call(sublet::detail::slot_set const& s) { return s.lowest_free(); }")
cost(sharing/color_chordal.hpp "${program}auto c = sublet::color_chordal(p);")
cost(sharing/takers.hpp "auto call(sublet::takers<> const& t) { t.for_each_range(0, [](auto) {}); }")
cost(sharing/range_matching.hpp "auto m = sublet::match_ranges(sublet::live_range_lists(), 2);")
cost(sharing/fewest_slots.hpp "auto c = sublet::fewest_slots(sublet::concurrent_lives(), {});")
cost(sharing/slot_room.hpp "auto call(sublet::slot_room<>& r) { return r.find(0); }")
cost(sharing/relink_chains.hpp
     "auto call(sublet::takers<> const& t, sublet::sized_chains& c, std::uint64_t& v)
{ return sublet::relink_chains(t, {}, c, v); }")
cost(sharing/largest_first.hpp
     "auto p = sublet::share_largest_first(sublet::concurrent_lives(), sublet::conflict_ranges(), {});")
cost(sharing/chains.hpp "${lives}auto p = sublet::share_in_chains(sublet::concurrent_lives(),
                                                                  sublet::conflict_ranges(), sizes);")
cost(sharing/chains_by_columns.hpp "${lives}
auto p = sublet::share_by_columns(sublet::dependence_graph(), {}, sizes);")

cost(placement/problem.hpp "${buffers}auto n = sublet::pool_count(sublet::placement_problem{buffers});")
cost(placement/result.hpp "void call(sublet::placement& p) { sublet::detail::sum_up(p); }")
cost(placement/phase.hpp "auto call(sublet::phased_offsets& o) { return sublet::restrict_to(o, {4, 3}); }")
cost(placement/colocated.hpp "auto g = sublet::group_colocated(sublet::placement_problem{}, {});")
cost(placement/pieces.hpp "auto call(std::vector<sublet::shape_piece>& p) { return sublet::rank_positions(p); }")
cost(placement/shapes.hpp "${buffers}auto s = sublet::shapes_of(sublet::placement_problem{buffers}, {0});")
cost(placement/driver.hpp "void call(sublet::steady& driver) { driver.run(1, [](std::size_t) {}); }")
cost(placement/scaled_shapes.hpp "auto s = sublet::scale_down(sublet::placement_shapes{});")
cost(placement/search_orders.hpp "
    auto o = sublet::rank_by(sublet::search_orders[0], sublet::search_problem<std::int32_t>{});")
cost(placement/search_conflict.hpp "
    template <class State> auto call(sublet::search_conflict<State> const& c) { return c.has_shape(0); }")
cost(placement/sections.hpp "
    auto p = sublet::search_problem_of<std::int32_t>(sublet::scale_down(sublet::placement_shapes{}));")
cost(placement/search_state.hpp "void call(sublet::search_state<std::int32_t>& s) { if (s.reset()) s.place(0, 1); }")
cost(placement/search.hpp "
    auto call(sublet::stacking_search<std::int32_t>& s) { return s.run(9, [](std::uint64_t) { return false; }); }")
cost(placement/portfolio.hpp "
    auto call(sublet::steady& driver) { return sublet::decide(sublet::placement_shapes{}, 64, {}, driver); }")
cost(placement/minimize.hpp "
    auto call(sublet::steady& d) { return sublet::minimize(sublet::placement_shapes{}, 64, {}, {}, d); }")
cost(placement/subset.hpp "auto s = sublet::subset_of(sublet::placement_shapes{}, {});")
cost(placement/clashing_pins.hpp "auto c = sublet::clashing_pins(sublet::placement_shapes{});")
cost(placement/bound.hpp "auto call(sublet::placement_shapes const& s) { return sublet::lower_bound(s); }")
cost(placement/orders.hpp "auto call(sublet::placement_shapes const& s, sublet::placement_bound const& b)
{ return sublet::order_by(sublet::placement_order::size, s, b); }")
cost(placement/byte_unions.hpp "auto call(sublet::byte_unions& all, sublet::byte_unions::byte_union& u) { return all.unite(u, 0, 8); }")
cost(placement/placed.hpp "void call(sublet::placement_shapes const& s) { sublet::placed_pieces p(s); p.insert(s, 0, p.free_origin(s, 0, 0, 8)); }")
cost(placement/fit.hpp "auto call(sublet::placement_shapes const& s) { return sublet::fit(s, {0}); }")
cost(placement/gap_list.hpp "void call(sublet::gap_list& g) { g.stack(0, 8, 8); (void)g.take(1, sublet::placement_shape{}, 8); g.give_back(1); }")
cost(placement/fit_outwards.hpp "auto call(sublet::placement_shapes const& s) { return sublet::fit_outwards(s, {0}, {}); }")
cost(placement/fit_upwards.hpp "auto call(sublet::placement_shapes const& s) { return sublet::fit_upwards(s, {0}, {}); }")
cost(placement/parts_in_time.hpp "auto call(sublet::placement_shapes const& s) { return sublet::parts_in_time(s); }")
cost(placement/best_packing.hpp "auto call(sublet::placement_shapes const& s, sublet::placement_bound const& b, unsigned& n)
{ return sublet::best_packing(s, b, 1000, sublet::first_packing(s, b), n); }")
cost(placement/sorted_pieces.hpp "void call(sublet::sorted_pieces& all) { all.insert(sublet::lying_piece{0, 8, {0, 1}, 0}); }")
cost(placement/ejection.hpp "auto call(sublet::ejection& e, std::vector<std::uint64_t>& o) { return e.lower(o, 8, {}, [] { return false; }); }")
cost(placement/improve.hpp "auto call(sublet::placement_shapes const& s, sublet::placement_bound const& b, unsigned& n)
                            { sublet::steady none; return sublet::improve(s, b, {}, {}, none, n); }")
cost(placement/pack.hpp "${buffers}auto o = sublet::pack(sublet::placement_problem{buffers});")
cost(placement/load_tree.hpp "auto call(sublet::load_tree<>& t) { t.add({0, 1}, 8); return t.most({0, 1}); }")
cost(placement/pool_candidates.hpp "auto c = sublet::candidates_of(sublet::placement_problem{});")
set(steady "sublet::steady none;\n")
cost(placement/choose_pools.hpp "${steady}auto c = sublet::choose_pools(sublet::placement_problem{}, {}, none);")
cost(placement/idle_loads.hpp "
sublet::placement_problem const problem;
sublet::idle_times const times;
auto peak = sublet::idle_loads(problem, times).peak(0);")
cost(placement/advise.hpp "auto a = sublet::advise(sublet::placement_problem{}, {});")
cost(placement/replan.hpp "${steady}auto o = sublet::replan(sublet::placement_problem{}, {}, {}, {}, none);")
cost(placement/fewest_that_fail.hpp "${steady}auto f = sublet::fewest_that_fail(sublet::placement_shapes{}, 8, {}, 100, none);")
cost(placement/clocked.hpp "bool call(sublet::clocked<>& c) { return c.stop(8, 4, 0); }")
cost(placement/place.hpp "${buffers}auto o = sublet::place(sublet::placement_problem{buffers});")
cost(placement/stack_slots.hpp "${buffers}
auto o = sublet::stack_slots(sublet::placement_problem{buffers}, sublet::sized_slot_plan{});")
cost(placement/conflicts.hpp "auto call(sublet::placement_conflicts const& c) { return c.conflict(0, 1); }")
cost(placement/placed_by_range.hpp "void call(sublet::placed_by_range& all) { all.insert(0, 0, 8); }")
cost(placement/concurrent_orders.hpp "
auto o = sublet::order_by(sublet::concurrent_order::size, sublet::order_keys{});")
cost(placement/fit_concurrently.hpp "${buffers}
auto call(sublet::placed_by_range& all) { return sublet::fit_concurrently(buffers, {0}, all, 8); }")
cost(placement/place_concurrently.hpp "
struct any_lives { // what making them costs stands at analysis/concurrent_lifetimes.hpp
    std::vector<std::span<sublet::step_id>> begins, ends;
    sublet::step_id positions, first(sublet::buffer_id) const;
    std::size_t buffers() const;
};
auto call(any_lives const& l) { return sublet::place_concurrently(sublet::placement_problem{}, l, {}); }")

cost(checking/witness.hpp "${text}void call(text& out) { out << sublet::witness{}; }")
cost(checking/demands.hpp "${program}auto d = sublet::demands(p, sublet::plan_options{.bytes = 4096});")
cost(checking/rank_set.hpp "auto call(sublet::rank_set<> const& s) { return s.above(3); }")
cost(checking/check_places.hpp "auto w = sublet::check_places(sublet::plan_demands(), {}, {.bytes = 4096});")
cost(checking/check_plan.hpp "${program}auto w = sublet::check_plan(p, {}, {.bytes = 4096});")
cost(checking/check_slots.hpp "${program}auto w = sublet::check_slots(p, {});")
cost(checking/node_ends.hpp "${program}auto e = sublet::ends_of_nodes(p, {});")
cost(checking/unwritten_reads.hpp "${program}
auto w = sublet::find_unwritten_read(p, {}, {}, {});")
cost(checking/intact_values.hpp "void call(sublet::intact_values& i) { i.write(0); }")
cost(checking/intact_arrivals.hpp "
using arrivals = sublet::intact_arrivals<sublet::snapshot>;
void call(arrivals const& a, sublet::intact_values& i) { a.enter(0, i); }")
cost(checking/spoiling_path.hpp "
auto call(sublet::flow_paths<sublet::snapshot> const& f) { return sublet::find_spoiling_path(f, 0, 0, 0); }")
cost(checking/check_flow_plan.hpp "${program}
auto w = sublet::check_flow_plan(p, {}, {.bytes = 4096});")
cost(checking/check_rewrite.hpp "${program}auto f = sublet::check_rewrite(p, p);")
cost(checking/step_order.hpp "${program}auto o = sublet::order_of_steps(p, {}, {});")
cost(checking/order_questions.hpp "auto call(sublet::order_questions<>& q) { return q.first_no(); }")
cost(checking/concurrent_witness.hpp "${text}
void call(text& out) { out << sublet::concurrent_witness{}; }")
cost(checking/class_touches.hpp "
auto call(sublet::class_touches<> const& t) { return t.hands_over(0, 1, 2, {}, true); }")
cost(checking/clash_schedule.hpp "
auto call(sublet::step_order const& o, sublet::class_touches<> const& t)
{ return sublet::clash_schedule(o, t, {}, true, 0, 1); }")
cost(checking/check_concurrent_plan.hpp "${program}
auto w = sublet::check_concurrent_plan(p, {}, {.bytes = 4096});")
cost(checking/race_questions.hpp "
void call(std::vector<sublet::byte_access> const& a) { sublet::race_questions(a, [](auto, auto, auto) {}); }")
cost(checking/check_waits.hpp "${program}auto w = sublet::check_waits(p, {.bytes = 4096}, nullptr, {}, {});")
cost(checking/stream_commands.hpp "auto c = sublet::stream_commands();")
cost(checking/stream_clocks.hpp "auto c = sublet::stream_clocks(sublet::stream_commands());")
cost(checking/check_streams.hpp "auto f = sublet::check_streams(sublet::stream_commands());")
cost(checking/placement_fault.hpp "${text}void call(text& out) { out << sublet::placement_fault{}; }")
cost(checking/solid_parts.hpp "auto s = sublet::solid_parts_of(sublet::placement_problem{});")
cost(checking/allowed_pools.hpp "auto a = sublet::allowed_pools_of(sublet::placement_problem{}, {});")
cost(checking/check_placement.hpp "auto f = sublet::check_placement(sublet::placement_problem{}, {});")
cost(checking/proof_finding.hpp "${text}void call(text& out) { out << sublet::proof_finding{}; }")
cost(checking/all_stackings.hpp "
auto call(sublet::all_stackings<sublet::placement_problem>& all) { return all.lower_than(8, {all.group_of(0)}); }")
cost(checking/check_proof.hpp "auto f = sublet::check_proof(sublet::placement_problem{}, {}, 0);")

cost(rewriting/handoffs.hpp "auto h = sublet::find_handoffs(sublet::dependence_graph(), {}, {});")
cost(rewriting/rename.hpp "auto n = sublet::name_slots(sublet::versioned_program(), {}, {.bytes = 4096});")
cost(rewriting/rename_tree.hpp "${program}
struct renamer {
    void set_input(unsigned, unsigned, std::size_t, std::size_t) {}
    void set_output(unsigned, unsigned, std::size_t, std::size_t) {}
    void set_at_end(unsigned, unsigned, std::size_t, std::size_t) {}
    void set_capture(unsigned, std::size_t, std::size_t) {}
    void set_binding(unsigned, std::size_t, sublet::binding_part, std::size_t) {}
};
void call(sublet::program_tree const& t, renamer& r) { sublet::rename_tree(t, sublet::flatten(t), {}, r); }")
cost(rewriting/unused_names.hpp "auto n = sublet::unused_names(\"s\", 2, 3, [](auto v) { return v; });")
cost(rewriting/sharing_log.hpp "${program}auto l = sublet::log_sharing(p, {}, {.bytes = 4096});")
cost(rewriting/release.hpp "${program}auto r = sublet::releases(p, 1, {0});")
cost(rewriting/release_concurrent.hpp "${program}
auto r = sublet::concurrent_releases(p, {}, 1, {0}, {{}});")
cost(rewriting/release_flow.hpp "${program}auto r = sublet::flow_releases(p, 1, {0}, {{}});")
cost(rewriting/apply_absences.hpp "${program}auto r = sublet::apply_absences(p, {}, {.bytes = 4096}, {}, {});")

cost(reporting/text.hpp "${text}
void call(sublet::detail::plain_text<text>& t) { sublet::detail::write_bytes(t, 4096); }")
cost(reporting/names.hpp "
void call(std::vector<char>& t, sublet::detail::own_id& n) { sublet::detail::read_name(t, n, 7); }")
cost(reporting/csv.hpp "${text}void call(text& out) { sublet::write_csv(out, {}); }")
cost(reporting/svg_canvas.hpp "${text}
void call(sublet::detail::svg_canvas<text>& c) { c.time_axis(100); }")
cost(reporting/svg_profile.hpp "
auto call(std::vector<sublet::placed_buffer const*> const& b) { return sublet::detail::profile_of(b); }")
cost(reporting/svg_kinds.hpp "
auto call(std::vector<sublet::placed_buffer const*> const& b, sublet::detail::own_id& kind_of)
{
    return sublet::detail::kinds_of(b, kind_of);
}")
cost(reporting/svg_map.hpp "
auto call(sublet::memory_plan const& p, std::vector<sublet::placed_buffer const*> const& b)
{
    return sublet::detail::panel_of(p, b, 0);
}")
cost(reporting/svg.hpp "${text}void call(text& out) { sublet::write_svg(out, {}); }")
cost(reporting/dot.hpp "${program}${text}
void call(text& out) { sublet::write_dot(out, p, [](auto v) { return v; }); }")
cost(reporting/why_peak.hpp "${program}${text}
void call(text& out) { sublet::write_why_peak(out, sublet::why_peak(p, {})); }")

cost(execution/sentence.hpp "void call(sublet::detail::sentence& s) { s << \"of \" << 7u << ' '; }")
cost(execution/short_lock.hpp "void call(sublet::detail::short_lock& l) { sublet::detail::holding const only(&l); }")
cost(execution/memory.hpp "void* call(sublet::counted_memory& m) { return m.allocate(sublet::byte_count{8}, {1}); }")
cost(execution/errors.hpp "void call(sublet::witness const& w) { throw sublet::unsound_plan(w); }")
cost(execution/tape.hpp "${program}auto t = sublet::tape_of(p, {.bytes = 4096}, false);")
cost(execution/live_peak.hpp "auto call(sublet::run_tape const& t) { return sublet::live_peak(t); }")
cost(execution/poison.hpp "void call(std::span<std::byte> b) { sublet::detail::make_dead(b); }")
cost(execution/storage.hpp "
extern sublet::run_tape const tape;
sublet::detail::value_storage<sublet::run_tape> s(tape, sublet::recycle{}, sublet::counted_memory{});")
cost(execution/digest.hpp "auto call(std::span<std::byte const> b) { return sublet::digest(b); }")
cost(execution/byte_owners.hpp "auto o = sublet::detail::byte_owners<sublet::buffer_id>({}, 64);")
cost(execution/watch.hpp "void call(sublet::detail::run_watch<sublet::run_tape>& w) { w.before(0); }")
cost(execution/synthetic.hpp "auto k = sublet::synthetic_kernel{};")
set(run "{.bytes = 4096}, sublet::recycle{}, [](sublet::cpu_call const&) {}")
cost(execution/cpu_call.hpp "auto call(sublet::cpu_call const& c) { return sublet::as<float>(c.in(0)); }")
cost(execution/cpu.hpp "${program}void call() { sublet::cpu_executor{p, ${run}}.run(); }")
cost(execution/tenants.hpp "
void call(sublet::detail::tenants<sublet::run_tape>& t) { t.move_in(0, [](auto) {}); }")
cost(execution/listed_order.hpp "${program}
auto o = sublet::detail::listed_order(sublet::as_snapshot(p), {.bytes = 4096}).handoffs();")
cost(execution/step_waits.hpp "${program}
auto o = sublet::run_order_of(p, {.bytes = 4096}, sublet::no_plan{});")
cost(execution/run_options.hpp "auto o = sublet::executor_options{.limit = 64};")
cost(execution/caller_duties.hpp "void call(sublet::run_tape const& t) { sublet::detail::caller_duties<sublet::run_tape> d(t); d.expect_all(t); }")
cost(execution/run_desk.hpp "auto call(sublet::run_desk<> const& d) { return d.memory(); }")
cost(execution/run_proof.hpp "${program}
auto o = sublet::detail::proved_order(p, {.bytes = 4096}, sublet::recycle{}, {}, {});")
cost(execution/ready_queue.hpp "auto call(sublet::ready_queue<>& q) { return q.pop(); }")
cost(execution/step_dispatcher.hpp "
void call(sublet::detail::step_dispatcher<>& d) { d.work([](sublet::step_id) {}); }")
cost(execution/thread_pool.hpp "void call(sublet::thread_pool& p) { p.run(2, [](std::size_t) {}); }")
cost(execution/threads.hpp "${program}void call() { sublet::thread_executor{p, ${run}}.run(); }")
cost(execution/adversarial_order.hpp "
auto call(sublet::step_waits const& w) { return sublet::adversarial_order(w, {1}, {2}); }")
cost(execution/recorded_call.hpp "
auto call(sublet::recorded_call<sublet::cpu_call> const& c) { return c.read(sublet::recorded_value<float>{0}); }")
cost(execution/recorder.hpp "
void call(sublet::recorder& r) { r.record({}, {r.output<float>(8)}, [](auto const&) {}); }")
cost(execution/stream/queues.hpp "void call(sublet::stream_queues& q) { q.push(0, 0, [] {}); q.drain(); }")
cost(execution/stream/pool.hpp "
auto call(sublet::stream_pool& p, sublet::stream_queues& q) { return p.allocate(64, 64, 0, q); }")
cost(execution/stream/simulated_device.hpp "void call(sublet::simulated_device& d) { d.synchronize(); }")
cost(execution/stream/recording_device.hpp "
#include <sublet/execution/stream/simulated_device.hpp>
auto call(sublet::recording_device<sublet::simulated_device>& d) { return d.check(); }")
cost(execution/stream/device.hpp "static_assert(!sublet::stream_device<int>);")
cost(execution/stream/knowledge.hpp "auto call(sublet::detail::stream_knowledge<>& k) { return k.mark(0); }")
cost(execution/stream/commands.hpp "auto s = sublet::stream_schedule();")
cost(execution/stream/schedule.hpp "
auto call(sublet::run_order const& o) { return sublet::schedule_streams(o, sublet::recycle{}); }")
cost(execution/stream/call.hpp "auto call(sublet::stream_call<int> const& c) { return c.in(0); }")
cost(execution/stream/digests.hpp "
auto call(sublet::detail::stream_digests<sublet::run_tape> const& d) { return d.first_change(nullptr); }")
set(simulated "#include <sublet/execution/stream/simulated_device.hpp>\n")
cost(execution/stream/storage.hpp "${simulated}
void call(sublet::detail::stream_storage<sublet::simulated_device>& s) { s.allocate(0, {}, 0); }")
cost(execution/stream/desk.hpp "${simulated}
void call(sublet::stream_desk<sublet::simulated_device>& d) { (void)d.input(0); }")
cost(execution/stream/capture.hpp "static_assert(!sublet::captures_graphs<int>);")
cost(execution/streams.hpp "${simulated}${program}
void call(sublet::simulated_device& d) {
    sublet::stream_executor{d, p, {.bytes = 4096}, sublet::recycle{}, [](auto const&) {}}.run();
}")
cost(execution/stream/check_schedule.hpp "${program}
auto f = sublet::check_schedule(p, {.bytes = 4096}, nullptr, {}, {});")
cost(execution.hpp "${program}void call() { sublet::cpu_executor{p, ${run}}.run(); }")

# Only where there is a Boost.
file(WRITE ${scratch}/boost.cpp "#include <boost/graph/graph_traits.hpp>\n")
execute_process(COMMAND ${compile} -fsyntax-only ${scratch}/boost.cpp RESULT_VARIABLE has_no_boost ERROR_QUIET)
if(has_no_boost)
  list(APPEND measured adapt/boost_graph.hpp)
else()
  cost(adapt/boost_graph.hpp "auto call(sublet::csr_graph const& g) { return num_edges(g); }")
endif()

# Only where there is CUDA's runtime.
set(on_cuda execution/cuda.hpp execution/cuda/errors.hpp execution/cuda/probe.hpp execution/cuda/calls.hpp
            execution/cuda/handles.hpp execution/cuda/pool.hpp execution/cuda/graph.hpp execution/cuda/device.hpp)
file(WRITE ${scratch}/cuda.cpp "#include <cuda_runtime_api.h>\n")
execute_process(COMMAND ${compile} -fsyntax-only ${scratch}/cuda.cpp RESULT_VARIABLE has_no_cuda ERROR_QUIET)
if(has_no_cuda)
  list(APPEND measured ${on_cuda})
else()
  cost(execution/cuda/errors.hpp "auto e = sublet::cuda_error(cudaErrorInvalidValue, \"cudaMalloc\");")
  cost(execution/cuda/probe.hpp "auto p = sublet::cuda::probe();")
  cost(execution/cuda/calls.hpp "void call(sublet::cuda_calls& c) { c(\"none\", [] { return cudaSuccess; }); }")
  cost(execution/cuda/handles.hpp "sublet::cuda_stream call(sublet::cuda_calls& c) { return {c, nullptr}; }")
  cost(execution/cuda/pool.hpp "auto call(sublet::cuda_pool& p) { return p.use(); }")
  cost(execution/cuda/graph.hpp "void call(sublet::cuda_graph& g) { g.launch(nullptr); }")
  cost(execution/cuda/device.hpp "auto call(sublet::cuda_device& d) { return d.allocate(64, 64, nullptr); }")
  cost(execution/cuda.hpp "auto call(sublet::cuda_device& d) { return d.allocate(64, 64, nullptr); }")
endif()

cost(affine_bytes.hpp "auto a = sublet::least_above({8, 1}, {1, 8}, 4);")
cost(symbolic_options.hpp "auto o = sublet::options_at(sublet::symbolic_options{.bytes = sublet::affine_bytes{}}, 1);")
cost(symbolic_plan.hpp "auto call(sublet::symbolic_plan const& p) { return p.at(3); }")
set(growing "std::vector<sublet::symbolic_buffer> const b{{0, {0, 2}, {64, 8}}};\n")
cost(placement/stack_two_ended.hpp "${growing}auto s = sublet::stack_two_ended(b, {0}, 4);")
cost(placement/fit_two_ended.hpp "${growing}auto s = sublet::fit_two_ended(b, {0}, 4);")
cost(placement/improve_two_ended.hpp "${growing}auto s = sublet::improve_two_ended(b, {0}, {{1, 72}}, 4, 9);")
cost(sharing/symbolic_slots.hpp "${growing}auto s = sublet::share_symbolically(b, {.max_batch = 4});")
cost(placement/pack_symbolic.hpp "${growing}auto s = sublet::pack_symbolic(b, 4);")
cost(placement/settle_batch.hpp "auto call(sublet::symbolic_plan const& p) { return sublet::settle_batch(p, 3); }")
cost(checking/check_symbolic_plan.hpp "${program}
auto w = sublet::check_symbolic_plan(p, {}, {.bytes = sublet::affine_bytes{0, 64}});")
cost(symbolic_planner.hpp "${program}
auto m = sublet::plan_symbolic(p, {.bytes = sublet::affine_bytes{0, 64}, .max_batch = 8});")

cost(planned_memory.hpp "${text}void call(text& out) { out << sublet::plan_report{}; }")
cost(planned_buffers.hpp "auto call(sublet::buffer_table const& t, sublet::memory_plan& p, sublet::placement_problem& q)
{
    return sublet::detail::list_planned(t, p, q);
}")
cost(placed_in_place.hpp "auto f = sublet::place_in_place(sublet::buffer_table(), {}, {}, {});")
cost(planner.hpp "${program}auto m = sublet::plan_memory(p, {.bytes = 4096, .alignment = 64});")
cost(concurrent_planner.hpp "${program}auto m = sublet::plan_concurrent(p, {.bytes = 4096});")
cost(flow_planner.hpp "${program}auto m = sublet::plan_flow(p, {.bytes = 4096});")
cost(nested_planner.hpp "
auto m = sublet::plan_nested(sublet::program_tree(), std::vector<sublet::plan_options>{{.bytes = 4096}});")
cost(memory_advisor.hpp "${program}auto a = sublet::advise_memory(p, {.bytes = 4096});")
cost(handoff_planner.hpp "${program}auto m = sublet::plan_with_handoffs(p, {.bytes = 4096});")
cost(sublet.hpp "${program}auto m = sublet::plan_memory(p, {.bytes = 4096, .alignment = 64});")
if(SMOKE)
  file(WRITE ${scratch}/called.cpp "#include \"includes.hpp\"\n#include \"calls.hpp\"\n")
  set(header "one of the headers")
  measure(${scratch}/called.cpp called)
endif()
file(REMOVE_RECURSE ${scratch})

file(GLOB_RECURSE headers RELATIVE ${root}/include/sublet ${root}/include/sublet/*.hpp)
list(REMOVE_ITEM headers ${measured})
if(headers)
  message(FATAL_ERROR "no call stands here for: ${headers}")
elseif(over)
  message(FATAL_ERROR "${over} headers are over their budget")
endif()
