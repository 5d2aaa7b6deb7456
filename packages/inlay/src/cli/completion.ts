import { misuse, type Command } from './command.ts'
import { commandTable } from './command-table.ts'
import { sharedOptions } from './shared-options.ts'

const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]

/** Prints a completion script. */
export const completion: Command = {
  ...commandTable.completion,
  details: [
    'bash: inlay completion bash >> ~/.bashrc',
    'zsh:  inlay completion zsh > "${fpath[1]}/_inlay"',
    'fish: inlay completion fish > ~/.config/fish/completions/inlay.fish',
  ],
  words: [1, 1],
  needs: `one of ${shells.join(', ')}`,
  options: {},
  async run({ words: [given = ''], output, optionsOf }) {
    const shell = shells.find((known) => known === given)
    if (shell === undefined) throw misuse(`"${given}" is not one of ${shells.join(', ')}.`)
    const commands = await Promise.all(
      Object.keys(commandTable).map(async (name) => ({
        name,
        options: [...(await optionsOf(name)), ...Object.keys(sharedOptions)],
      })),
    )
    output.write(scripts[shell](commands))
    return 0
  },
}

interface Completed {
  readonly name: string
  readonly options: readonly string[]
}

const flagsOf = ({ options }: Completed): string => [...new Set(options)].map((option) => `--${option}`).join(' ')

const scripts: Readonly<Record<Shell, (commands: readonly Completed[]) => string>> = {
  bash: (commands) => `_inlay() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(' ')} help" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${commands.map((command) => `    ${command.name}) local flags="${flagsOf(command)}" ;;`).join('\n')}
    *) local flags="" ;;
  esac
  if [ "\${word:0:1}" = "-" ]; then COMPREPLY=($(compgen -W "$flags" -- "$word")); else COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -o filenames -F _inlay inlay
`,
  zsh: (commands) => `#compdef inlay
_inlay() {
  if (( CURRENT == 2 )); then
    compadd ${commands.map(({ name }) => name).join(' ')} help
    return
  fi
  case "\${words[2]}" in
${commands.map((command) => `    ${command.name}) compadd -- ${flagsOf(command)} ;;`).join('\n')}
  esac
  _files
}
_inlay "$@"
`,
  fish: (commands) =>
    [
      'complete -c inlay -n __fish_use_subcommand -f',
      ...commands.map(({ name }) => `complete -c inlay -n __fish_use_subcommand -a ${name}`),
      ...commands.flatMap(({ name, options }) =>
        [...new Set(options)].map(
          (option) => `complete -c inlay -n "__fish_seen_subcommand_from ${name}" -l ${option}`,
        ),
      ),
      '',
    ].join('\n'),
}
