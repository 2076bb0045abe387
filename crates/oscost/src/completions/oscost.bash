# bash completion of oscost; the program itself knows what fits: oscost complete WORD...
_oscost() {
    local line=${COMP_LINE:0:COMP_POINT} words current mark start strip="" value about
    read -ra words <<<"$line"
    # Behind a blank a new word begins.
    if [[ $line == *[[:space:]] ]]; then words+=(""); fi
    current=${words[${#words[@]} - 1]}
    # bash replaces only what stands behind the last of these marks; an @ it replaces too.
    for mark in = :; do
        if [[ $COMP_WORDBREAKS == *"$mark"* && $current == *"$mark"* ]]; then
            start=${current%"${current##*"$mark"}"}
            if ((${#start} > ${#strip})); then strip=$start; fi
        fi
    done
    local -a values=() described=()
    while IFS=$'\t' read -r value about; do
        value=${value#"$strip"}
        values+=("$value")
        described+=("$value${about:+  ($about)}")
    done < <("${1/#\~/$HOME}" complete -- "${words[@]:1}" 2>/dev/null)
    COMPREPLY=("${values[@]}")
    # A list of several is shown with what they are; one alone is inserted.
    if ((${#values[@]} > 1)) && [[ $COMP_TYPE == 63 ]]; then COMPREPLY=("${described[@]}"); fi
    if ((${#values[@]} == 1)) && [[ ${values[0]} == *= ]]; then compopt -o nospace; fi
}
complete -o bashdefault -o default -F _oscost oscost
