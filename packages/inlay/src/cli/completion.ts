import { misuse, type Command } from './command.ts'
import { commandTable } from './command-table.ts'
import { meaningOf, sharedOptions, type CommandOption } from './shared-options.ts'

const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]

export const completion: Command = {
  ...commandTable.completion,
  isLocal: 'it only prints a script',
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
      Object.entries(commandTable).map(async ([name, { usage, summary }]): Promise<Completed> => {
        const options = Object.entries(await optionsOf(name))
        return { name, summary, options, actions: actionsOf(usage) }
      }),
    )
    const actions = [...commands.map(({ name }) => name), 'settings']
    const help = { name: 'help', summary: 'show the help of a command', options: [], actions }
    output.write(scripts[shell]([...commands, help]))
    return 0
  },
}

interface Completed {
  readonly name: string
  readonly summary: string
  readonly options: readonly (readonly [name: string, option: CommandOption])[]
  /** Words of which the first argument is one; without any, arguments are files. */
  readonly actions: readonly string[]
}

/** `documents [list | show]` has the actions `list` and `show`. */
function actionsOf(usage: string): readonly string[] {
  const given = usage.slice(usage.indexOf(' ') + 1)
  return given.includes(' | ') ? given.replace(/[[\]]/g, '').split(' | ') : []
}

/** Values of an option that takes one of few, as its help names them. */
const choicesOf = ({ value = '' }: CommandOption): readonly string[] => (value.includes('|') ? value.split('|') : [])

const flagsOf = ({ options }: Pick<Completed, 'options'>): string => options.map(([option]) => `--${option}`).join(' ')

const namesOf = (commands: readonly Completed[]): string => commands.map(({ name }) => name).join(' ')

const sharedFlags = flagsOf({ options: Object.entries(sharedOptions) })

/** Shared options that take a value may stand before the command. */
const valued = Object.entries(sharedOptions).flatMap(([name, { type }]) => (type === 'string' ? [`--${name}`] : []))

/** The cases of a shell for options with choices. @param body what it does with them */
function choiceCases(commands: readonly Completed[], body: (choices: string) => string): string {
  const all = new Map(commands.flatMap(({ options }) => options.map(([name, option]) => [name, choicesOf(option)])))
  return [...all]
    .filter(([, choices]) => choices.length > 0)
    .map(([name, choices]) => `    --${name}) ${body(choices.join(' '))}; return ;;`)
    .join('\n')
}

const scripts: Readonly<Record<Shell, (commands: readonly Completed[]) => string>> = {
  bash: (commands) => `_inlay() {
  local word="\${COMP_WORDS[COMP_CWORD]}" at=1 flags='' actions=''
  while [ "$at" -lt "$COMP_CWORD" ]; do
    case "\${COMP_WORDS[at]}" in
      ${valued.join('|')}) at=$((at + 2)) ;;
      -*) at=$((at + 1)) ;;
      *) break ;;
    esac
  done
  case "\${COMP_WORDS[COMP_CWORD - 1]}" in
${choiceCases(commands, (choices) => `COMPREPLY=($(compgen -W "${choices}" -- "$word"))`)}
  esac
  if [ "$at" -ge "$COMP_CWORD" ]; then
    actions='${namesOf(commands)}' flags='${sharedFlags}'
  else
    case "\${COMP_WORDS[at]}" in
${commands.map((command) => `      ${command.name}) flags='${flagsOf(command)}' actions='${command.actions.join(' ')}' ;;`).join('\n')}
    esac
    [ "$COMP_CWORD" -eq $((at + 1)) ] || actions=''
  fi
  local IFS=$' \\n'
  if [ "\${word:0:1}" = - ]; then COMPREPLY=($(compgen -W "$flags" -- "$word"))
  elif [ -n "$actions" ]; then COMPREPLY=($(compgen -W "$actions" -- "$word"))
  else IFS=$'\\n' && COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -o filenames -F _inlay inlay
`,
  zsh: (commands) => `#compdef inlay
_inlay() {
  local at=2
  local -a flags actions
  while (( at < CURRENT )); do
    case "\${words[at]}" in
      ${valued.join('|')}) (( at += 2 )) ;;
      -*) (( at += 1 )) ;;
      *) break ;;
    esac
  done
  case "\${words[CURRENT - 1]}" in
${choiceCases(commands, (choices) => `compadd -- ${choices}`)}
  esac
  if (( at >= CURRENT )); then
    actions=(${namesOf(commands)})
    flags=(${sharedFlags})
  else
    case "\${words[at]}" in
${commands.map((command) => `      ${command.name}) flags=(${flagsOf(command)}) actions=(${command.actions.join(' ')}) ;;`).join('\n')}
    esac
    (( CURRENT == at + 1 )) || actions=()
  fi
  if [[ "\${words[CURRENT]}" == -* ]]; then compadd -- $flags
  elif (( $#actions )); then compadd -- $actions
  else _files; fi
}
if [ "$funcstack[1]" = _inlay ]; then _inlay "$@"; else compdef _inlay inlay; fi
`,
  fish: (commands) =>
    [
      ...commands.map(
        ({ name, summary }) => `complete -c inlay -n __fish_use_subcommand -f -a ${name} -d ${fishText(summary)}`,
      ),
      ...commands.flatMap(({ name, options, actions }) => [
        ...actions.map(
          (action) => `complete -c inlay -n "test (commandline -opc | tail -n 1) = ${name}" -f -k -a ${action}`,
        ),
        ...options.map(([option, described]) => fishOption(name, option, described)),
      ]),
      '',
    ].join('\n'),
}

function fishOption(command: string, name: string, option: CommandOption): string {
  const choices = choicesOf(option)
  const value = option.type !== 'string' ? '' : choices.length > 0 ? ` -x -a ${fishText(choices.join(' '))}` : ' -r'
  return `complete -c inlay -n "__fish_seen_subcommand_from ${command}" -l ${name}${value} -d ${fishText(meaningOf(option))}`
}

const fishText = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`
