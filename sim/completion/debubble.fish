# Completion of debubble for fish: the program itself knows its verbs, options, keys and shipped files.
function __debubble_candidates
    set -l words (commandline -opc)
    $words[1] complete $words[2..] (commandline -ct) 2> /dev/null
end
complete -c debubble -a '(__debubble_candidates)'
