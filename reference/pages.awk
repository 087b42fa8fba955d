# SPDX-License-Identifier: BSL-1.0
# Prints the pages of the reference that join others, all from what other files say:
#     awk -f pages.awk NAMES README.md examples/README.md include/sublet/sublet.hpp include/sublet/execution.hpp HEADER ...
# NAMES is what test/public_names.awk prints; a HEADER that no list includes has its first sentence as its question.
#
#   a page for each header       its place among the others, and the question that it answers
#   a page for each example      what it shows and prints, the program and its output
#   the index by task            the list of headers, and how a program joins
function strip(text) { sub(/^ +/, "", text); sub(/ +$/, "", text); return text }
function escaped(text)
{
    gsub(/[<>@#%&\\]/, "\\\\&", text)
    return text
}
function page_of(header)
{
    sub(/[.]hpp$/, "", header)
    gsub(/\//, "_", header)
    return "header_" header
}
function header_link(header) { return "@ref " page_of(header) " \"" header "\"" }

function name_of(call)
{
    sub(/[^a-z_0-9].*/, "", call)
    return call
}
function read_example(file,    line, path, name, status)
{
    example[++examples] = file
    uses[examples] = " "
    path = folder "examples/" file ".cpp"
    while ((status = (getline line <path)) > 0) {
        sub(/\/\/.*/, "", line)
        while (match(line, /sublet::[a-z_0-9]+/)) {
            name = substr(line, RSTART + 8, RLENGTH - 8)
            if (!index(uses[examples], " " name " ")) uses[examples] = uses[examples] name " "
            line = substr(line, RSTART + RLENGTH)
        }
    }
    close(path)
}

# The calls in "place(), f(a, b)": call[1 ... calls_found].
function find_calls(text,    end, depth, letter)
{
    calls_found = 0
    while (text != "") {
        depth = 0
        for (end = 1; end <= length(text); ++end) {
            letter = substr(text, end, 1)
            if (letter == "(" || letter == "<") ++depth
            if (letter == ")" || letter == ">") --depth
            if (letter == "," && depth == 0) break
        }
        call[++calls_found] = strip(substr(text, 1, end - 1))
        text = substr(text, end + 1)
    }
}
# Links to them, and to the examples that name one of them.
function links_of_calls(text,    i, links)
{
    find_calls(text)
    links = ""
    for (i = 1; i <= calls_found; ++i)
        links = links (i == 1 ? "" : ", ") "@ref sublet::" name_of(call[i]) " \"" escaped(call[i]) "\""
    return links
}
function links_of_examples(text,    i, j, is_used, links)
{
    find_calls(text)
    links = ""
    for (i = 1; i <= examples; ++i) {
        is_used = 0
        for (j = 1; j <= calls_found; ++j)
            if (index(uses[i], " " name_of(call[j]) " ")) is_used = 1
        if (is_used)
            links = links (links == "" ? "" : ", ") "@ref " example[i] ".cpp \"" substr(example[i], 1, 2) "\""
    }
    return links
}
function fail(reason)
{
    print "pages.awk: " reason >"/dev/stderr"
    failed = 1
}

function file_of(path)
{
    sub(/.*\/include\/sublet\//, "", path)
    sub(/^include\/sublet\//, "", path)
    return path
}

FNR == 1 { ++file }
file == 1 {
    if (!($1 in header_of)) header_of[$1] = file_of(substr($0, length($1) + 2))
    next
}
file == 2 && FNR == 1 {
    folder = FILENAME
    sub(/README.md$/, "", folder)
}
file == 2 { # README.md: the table of joins
    if ($0 ~ /^\| I have /) in_joins = 1
    else if ($0 !~ /^\|/) in_joins = 0
    else if (in_joins && $0 !~ /^\|---/) joins[++join_count] = $0
    next
}
file == 3 { # examples/README.md
    if (match($0, /^\| \[`[0-9][0-9]_[a-z_]*`\]\([0-9a-z_]*[.]cpp\) \|/)) {
        name = substr($0, 5)
        sub(/`.*/, "", name)
        text = substr($0, RLENGTH + 1)
        sub(/ \|$/, "", text)
        gsub(/\(how_it_works[.]md\)/, "(@ref how_it_works)", text)
        split(text, cell, " [|] ")
        read_example(name)
        shows[examples] = strip(cell[1])
        prints[examples] = strip(cell[2])
    }
    next
}
FNR == 1 { in_list = file < 6 }
in_list && /^\/\/ [A-Z].*[.]$/ {
    section[++sections] = substr($0, 4, length($0) - 4)
    next
}
in_list && /^#include <sublet\/.*> *\/\/ / {
    name = substr($0, 18, index($0, ">") - 18)
    if (sections == 0 || name in question) fail(FILENAME ": no section, or a header twice: " name)
    text = $0
    sub(/.*\/\/ /, "", text)
    headers[++header_count] = name
    section_of[header_count] = sections
    if (!match(text, /   *[^ ].*$/)) fail(FILENAME ": no two spaces before the call: " $0)
    question[name] = strip(substr(text, 1, RSTART))
    calls[name] = strip(substr(text, RSTART))
    find_calls(calls[name])
    for (i = 1; i <= calls_found; ++i) {
        if (!(name_of(call[i]) in header_of)) fail(call[i] " of the list of headers is no public name")
        if (!(name_of(call[i]) in is_first)) header_of[name_of(call[i])] = name
        is_first[name_of(call[i])] = 1
    }
    next
}
!in_list && FNR == 1 {
    name = file_of(FILENAME)
    is_new = !(name in question) && name !~ /^(sublet|execution)[.]hpp$/
    if (is_new) {
        headers[++header_count] = name
        question[name] = calls[name] = ""
        if (section[sections] !~ /^Included by themselves/) section[++sections] = "Included by themselves"
        section_of[header_count] = sections
    }
}
!in_list && is_new && /^\/\/\/ / {
    question[name] = question[name] (question[name] == "" ? "" : " ") substr($0, 5)
    if (match(question[name], /[.]( |$)/)) {
        question[name] = substr(question[name], 1, RSTART - 1)
        is_new = 0
    }
}

END {
    print "/** @namespace sublet\n@brief All public names.\n\nEach stands on the page of the header that declares it. Requirements of templates without a link, such as `id_number`, are\ninternal: the text says what they ask for."
    print "*/"
    for (s = 1; s <= sections; ++s) {
        title = section[s]
        sub(/:.*/, "", title)
        printf "/** @defgroup section_%d %s\n", s, title
        if (section[s] ~ /:/) printf "@brief %s\n", escaped(toupper(substr(section[s], length(title) + 3, 1)) substr(section[s], length(title) + 4))
        print "*/"
    }
    for (i = 1; i <= header_count; ++i) {
        name = headers[i]
        printf "/** @defgroup %s %s\n@ingroup section_%d\n", page_of(name), name, section_of[i]
        printf "\n@code{.cpp}\n#include <sublet/%s>\n@endcode\n", name
        if (calls[name] != "") printf "Begin with %s.", links_of_calls(calls[name])
        links = links_of_examples(calls[name])
        if (links != "") printf " Used in the examples %s.", links
        print "\n*/"
    }
    for (i = 1; i <= examples; ++i) {
        printf "/** @example %s.cpp\n@par Shows\n%s\n\n@par Prints\n%s:\n@verbinclude %s.txt\n*/\n", example[i],
            shows[i] ".", prints[i], example[i]
    }
    print "/** @page by_task Index by task"
    print "@section by_task_join How my program joins\n"
    print "| I have | I call | example | header |\n|---|---|---|---|"
    for (i = 1; i <= join_count; ++i) {
        line = joins[i]
        sub(/^\| /, "", line)
        split(line, cell, / *[|] */)
        n = split(cell[2], part, "`") # every second one is code
        links = ""
        for (j = 2; j <= n; j += 2)
            while (match(part[j], /[a-z_]+/)) {
                name = substr(part[j], RSTART, RLENGTH)
                part[j] = substr(part[j], RSTART + RLENGTH)
                if (name == "list") name = "listing" # an object of that type
                if (!(name in header_of) || index(links, "\"" header_of[name] "\"")) continue
                links = links (links == "" ? "" : ", ") header_link(header_of[name])
            }
        text = cell[3]
        while (match(text, /\(examples\/[0-9][0-9]_[a-z_]+[.]cpp\)/)) {
            name = substr(text, RSTART + 10, RLENGTH - 15)
            text = substr(text, 1, RSTART - 1) "(@ref " name ".cpp)" substr(text, RSTART + RLENGTH)
        }
        line = sprintf("| %s | %s | %s | %s |", cell[1], cell[2], text, links)
        gsub(/\(examples\/README[.]md(#[a-z-]*)?\)/, "(@ref examples_readme)", line)
        gsub(/\[`pack`\]/, "[pack]", line)
        print line
    }
    for (s = 1; s <= sections; ++s) {
        printf "\n@section by_task_%d %s\n\n", s, section[s]
        print "| task | call | example | header |\n|---|---|---|---|"
        for (i = 1; i <= header_count; ++i)
            if (section_of[i] == s) {
                name = headers[i]
                printf "| %s | %s | %s | %s |\n", escaped(question[name]), links_of_calls(calls[name]),
                    links_of_examples(calls[name]), header_link(name)
            }
    }
    print "*/"
    exit failed
}
