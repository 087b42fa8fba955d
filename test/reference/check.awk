# SPDX-License-Identifier: BSL-1.0
# Checks the reference by its XML, and prints what is wrong; fails if something is.
#     awk -v examples="01_first_plan 02_your_ir ..." -f check.awk NAMES XML ...
# NAMES is what public_names.awk prints. Every name has text, and nothing is there that is not public; every header
# and every example has a page, and the index by task leads to every header; labels of comments became sections.
function complain(what)
{
    print what
    ++complaints
}
function page_of(header)
{
    sub(/.*\/include\/sublet\//, "", header)
    sub(/^include\/sublet\//, "", header)
    sub(/[.]hpp$/, "", header)
    gsub(/\//, "_", header)
    return "header_" header
}
function text_of(line)
{
    gsub(/<[^>]*>/, "", line)
    gsub(/^ +| +$/, "", line)
    return line
}
function name_in_sublet(name)
{
    sub(/.*::/, "", name)
    return name
}
# At the end of a name's element.
function close_name(name, is_documented)
{
    if (name ~ /(^|[^a-z_])detail(::|$)/) complain(file ": " name " is not public")
    else if (name ~ /[a-z]_$/) complain(file ": " name " is private")
    else if ((in_member ? kind == "group" && name !~ /^operator/ : name ~ /^sublet::[a-z_]*$/) && !(name_in_sublet(name) in header_of))
        complain(file ": " name " is no public name")
    name = name_in_sublet(name)
    if (is_documented) documented[name] = 1
    else if (kind == "group" && in_member) complain(file ": " name " has no text")
}

NR == FNR {
    header_of[$1] = substr($0, length($1) + 2)
    pages[page_of(header_of[$1])] = header_of[$1]
    next
}
FNR == 1 {
    file = FILENAME
    sub(/.*\//, "", file)
}
/^  <compounddef / {
    match($0, /kind="[a-z]*"/)
    kind = substr($0, RSTART + 6, RLENGTH - 7)
    has_text = in_member = 0
}
/^    <compoundname>/ {
    compound = text_of($0)
    if (kind == "group" || kind == "example") is_page[compound] = 1
}
/^  <\/compounddef>/ {
    if (kind ~ /^(struct|class|union|concept)$/) close_name(compound, has_text)
}
/^      <memberdef / {
    in_member = 1
    member_has_text = 0
}
/^ +<type>.*detail::/ { hidden = text_of($0) }
/^        <name>/ {
    member = text_of($0)
    if (hidden != "") complain(file ": " member " names what is not public: " hidden)
    hidden = ""
}
/^      <\/memberdef>/ {
    close_name(member, member_has_text)
    in_member = 0
}
/^    <(brief|detailed)description>/ { in_text = 1 }
/^        <(brief|detailed)description>/ { in_text = 2 }
/^ +<\/(brief|detailed)description>/ || /<\/para> +<\/(brief|detailed)description>/ { closes = 1 }
in_text && /<para>/ {
    if (in_text == 1) has_text = 1
    else member_has_text = 1
}
closes { in_text = closes = 0 }
/<para>(Requires|Ensures|Complexity|Throws|Sources?|Semantics|(Minimal|Ordinary) models?): / { complain(file ": a label that is no section: " text_of($0)) }
compound == "by_task" {
    line = $0
    while (match(line, /refid="group__header__[a-z_0-9]*"/)) {
        name = substr(line, RSTART + 14, RLENGTH - 15)
        gsub(/__/, "_", name)
        is_in_index[name] = 1
        line = substr(line, RSTART + RLENGTH)
    }
}
/<simplesect kind="(pre|post)">/ || /<title>(Complexity|Throws|Source|Semantics)<\/title>/ {
    match($0, /kind="(pre|post)"|<title>[A-Za-z]*/)
    ++sections[substr($0, RSTART, RLENGTH)]
}

END {
    for (name in header_of) {
        if (!(name in documented)) complain(header_of[name] ": " name " has no text")
        ++names
    }
    for (page in pages) {
        if (!(page in is_page)) complain(pages[page] ": has no page")
        if (!(page in is_in_index)) complain(pages[page] ": is not in the index by task")
    }
    count = split(examples, example, " ")
    for (i = 1; i <= count; ++i)
        if (!((example[i] ".cpp") in is_page)) complain(example[i] ": has no page")
    count = split("kind=\"pre\" kind=\"post\" <title>Complexity <title>Throws <title>Source <title>Semantics", wanted, " ")
    for (i = 1; i <= count; ++i)
        if (!sections[wanted[i]]) complain("no section is " wanted[i])
    if (!names) complain("no names")
    print names + 0 " names, " complaints + 0 " complaints"
    exit complaints != 0
}
