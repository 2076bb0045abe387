# fish completion of oscost; the program itself knows what fits: oscost complete WORD...
function __oscost_complete
    set -l words (commandline -opc)
    set -l found (command $words[1] complete -- $words[2..-1] (commandline -ct) 2>/dev/null)
    if test (count $found) -eq 0
        __fish_complete_path (commandline -ct)
    else
        printf '%s\n' $found
    end
end
complete -c oscost -f -k -a '(__oscost_complete)'
