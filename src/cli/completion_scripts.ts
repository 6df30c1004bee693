const BASH = `# bash completion for pz; add to ~/.bashrc:  eval "$(pz completion bash)"
_pz() {
  local IFS=$'\\n'
  COMPREPLY=($(pz "[suggest:\${COMP_POINT}]" "\${COMP_LINE}" 2>/dev/null))
}
complete -o default -o bashdefault -F _pz pz
`;

const ZSH = `#compdef pz
# zsh completion for pz; add to ~/.zshrc:  eval "$(pz completion zsh)"
_pz() {
  local line="\${(j: :)words[1,CURRENT]}"
  local -a candidates
  candidates=(\${(f)"$(pz "[suggest:\${#line}]" "\${line}" 2>/dev/null)"})
  if (( \${#candidates} )); then
    compadd -- $candidates
  else
    _files
  fi
}
compdef _pz pz
`;

const FISH = `# fish completion for pz; save as ~/.config/fish/completions/pz.fish
function __pz_complete
  set -l line (commandline -cp | string collect)
  set -l candidates (pz "[suggest:"(string length -- $line)"]" $line 2>/dev/null)
  if test (count $candidates) -gt 0
    printf '%s\\n' $candidates
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c pz -f -a '(__pz_complete)'
`;

const PWSH = `# PowerShell completion for pz; add to $PROFILE:  pz completion pwsh | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName pz -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $line = $commandAst.ToString()
  pz "[suggest:$cursorPosition]" "$line" 2>$null | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`;

/** The script of each shell. It asks pz itself for every suggestion, so that it never goes out of date. */
export const COMPLETION_SCRIPTS: { readonly [shell: string]: string } = {
  bash: BASH,
  zsh: ZSH,
  fish: FISH,
  pwsh: PWSH,
};
