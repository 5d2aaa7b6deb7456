import type { Command } from './command.ts'
import { commandTable } from './command-table.ts'
import { sharedOptions, type CommandOption } from './shared-options.ts'

const width = 100

/** Output of `inlay --help`. */
export function generalHelp(): string {
  return [
    'An AI assistant over your own documents.',
    '',
    'Usage: inlay <command>',
    '',
    ...table(Object.values(commandTable).map(({ usage, summary }) => [usage, summary])),
    '',
    'inlay help <command> shows details; inlay help settings lists the settings (environment or .env).',
    'Every command accepts --url and --key to use a server, --data to use a data folder, and --json.',
    'Exit codes: 0 done; 1 failed, or a question without an answer; 2 wrong usage; 130 interrupted.',
  ].join('\n')
}

/** Output of `inlay help settings`. */
export async function settingsHelp(): Promise<string> {
  const { describeSettings } = await import('../settings/setting-table.ts')
  return [
    'Settings, from the environment or a file .env:',
    '',
    ...table(
      describeSettings().map(({ name, meaning, allowed, without }) => [
        name,
        `${meaning}: ${allowed} (without it: ${without})`,
      ]),
    ),
  ].join('\n')
}

/** Output of `inlay <command> --help`. */
export function commandHelp(command: Command): string {
  return [
    command.summary,
    '',
    `Usage: inlay ${command.usage}`,
    '',
    ...(command.details === undefined ? [] : [...command.details, '']),
    ...table(Object.entries({ ...command.options, ...sharedOptions }).map(optionRow)),
  ].join('\n')
}

function optionRow([name, option]: [string, CommandOption]): [string, string] {
  const short = option.short === undefined ? '' : `-${option.short}, `
  const value = option.value === undefined ? '' : ` <${option.value}>`
  return [`${short}--${name}${value}`, option.meaning]
}

/** Two columns; the second is wrapped. */
function table(rows: readonly (readonly [string, string])[]): string[] {
  const first = Math.max(...rows.map(([name]) => name.length))
  return rows.flatMap(([name, text]) =>
    wrapped(text, width - first - 4).map((line, index) => `  ${(index === 0 ? name : '').padEnd(first)}  ${line}`),
  )
}

function wrapped(text: string, columns: number): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1)!
    if (last !== '' && last.length + word.length + 1 > columns) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines
}
