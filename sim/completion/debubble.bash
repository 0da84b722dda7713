# Completion of debubble for bash: the program itself knows its verbs, options, keys and shipped files.
_debubble() {
    local line=${COMP_LINE:0:COMP_POINT} words current before candidates
    read -ra words <<< "$line"
    [[ $line == *' ' ]] && words+=("")
    current=${words[-1]}
    mapfile -t candidates < <("${words[0]}" complete "${words[@]:1}" 2> /dev/null)
    mapfile -t COMPREPLY < <(compgen -W "${candidates[*]}" -- "$current")
    # bash takes what stands before the last = for a word of its own.
    if [[ $current == *=* && $COMP_WORDBREAKS == *=* ]]; then
        before=${current%=*}=
        COMPREPLY=("${COMPREPLY[@]#"$before"}")
    fi
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
}
complete -o default -F _debubble debubble
