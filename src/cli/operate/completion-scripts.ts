/**
 * The scripts that let shells ask Raymond for completions. Each line of the answer is a word, a tab
 * and a description. A script never evaluates a word. Bash inserts words without quotes, and the Enter
 * key would evaluate them, so its script quotes them. zsh (compadd) and fish quote words themselves.
 */
const BASH = `# Completion for raymond. Add this to ~/.bashrc:  eval "$(raymond completion bash)"
_raymond() {
  local word about
  local -a words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  COMPREPLY=()
  while IFS=$'\\t' read -r word about; do
    printf -v word %q "$word"
    COMPREPLY+=("$word")
  done < <(raymond __complete -- "\${words[@]//[\\\\\\"\\']/}" 2>/dev/null)
}
complete -o default -F _raymond raymond
`;

const ZSH = `#compdef raymond
# Completion for raymond. Add this to ~/.zshrc, below compinit:  eval "$(raymond completion zsh)"
_raymond() {
  local word about
  local -a found shown
  while IFS=$'\\t' read -r word about; do
    found+=("$word")
    shown+=("$word\${about:+  -- $about}")
  done < <(raymond __complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)
  if (( $#found )); then
    compadd -l -d shown -- "\${found[@]}"
  else
    _files
  fi
}
compdef _raymond raymond
`;

const FISH = `# Completion for raymond. Add this to ~/.config/fish/config.fish:  raymond completion fish | source
function __raymond_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found (raymond __complete -- $words[2..-1] 2>/dev/null)
    if set -q found[1]
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c raymond -f -a '(__raymond_complete)'
`;

export const COMPLETION_SCRIPTS: ReadonlyMap<string, string> = new Map([
  ['bash', BASH],
  ['zsh', ZSH],
  ['fish', FISH],
]);
