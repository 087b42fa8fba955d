# SPDX-License-Identifier: BSL-1.0
# Lists the names that headers declare in namespace sublet, one a line with its header:  awk -f public_names.awk FILE ...
# A declaration begins at the left margin, as .clang-format has it; namespace detail is left out, and so is what adapt/
# declares: these names are those of the other library. With -v nested=1 also the types that types declare.
FNR == 1 { inside = 0; hidden = 0 }
FILENAME ~ /\/adapt\// { next }
/^namespace .*detail [{]/ { inside = 1 }
/^[}] \/\/ namespace .*detail/ { inside = 0; next }
nested && !inside && /^(struct|class) [a-z_0-9]+( |$)/ { outer = $2; hidden = 0 }
nested && !inside && /^    *(private|protected):|^(private|protected):/ { hidden = 1 }
nested && !inside && /^public:/ { hidden = 0 }
nested && !inside && !hidden && /^    (    )?(struct|class|enum class|using) [a-z_0-9]+( |$)/ && !/^        using / {
    name = outer "::" ($1 == "enum" && $2 == "class" ? $3 : $2)
    if (!(name in seen) && $2 != "enum" && name !~ /::friend$/) {
        seen[name] = 1
        print name, FILENAME
    }
    next
}
inside || /^$/ || /^[ \t}#\/]/ || /^(namespace|template|static_assert|extern|friend|private|public|protected)/ { next }
{
    line = $0
    while (sub(/^\[\[[a-z ]*\]\] /, "", line)) {}
    if (match(line, /^(struct|class|enum class|enum|union|concept|using) [a-z_0-9]+/)) {
        split(substr(line, RSTART, RLENGTH), word, " ")
        name = word[length(word)] == "class" ? "" : word[length(word)]
    } else if (match(line, /[a-z_][a-z_0-9]*\(/))
        name = substr(line, RSTART, RLENGTH - 1)
    else if (match(line, /[a-z_][a-z_0-9]* *[={]/)) {
        name = substr(line, RSTART, RLENGTH)
        sub(/ *[={]$/, "", name)
    } else
        next
    if (name == "" || name ~ /^(operator|requires|decltype|noexcept|return|std)$/ || name in seen) next
    seen[name] = 1
    print name, FILENAME
}
