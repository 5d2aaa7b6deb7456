import { allOptions, type Command } from './command.ts'
import { commandTable } from './command-table.ts'
import { meaningOf, type CommandOption } from './shared-options.ts'

/** Output of `inlay --help`. @param columns width of the lines */
export function generalHelp(columns: number): string {
  return wrapLines(columns, [
    'An AI assistant over your own documents.',
    '',
    'Usage: inlay <command>',
    '',
    ...table(
      columns,
      Object.values(commandTable).map(({ usage, summary }) => [usage, summary]),
    ),
    '',
    'inlay help <command> shows details; inlay help settings lists the settings (environment or .env).',
    'Every command accepts --data to use a data folder and --json; those that can work on a server also --url and --key.',
    'Exit codes: 0 done; 1 failed, or a question without an answer; 2 wrong usage; 130 interrupted.',
  ])
}

/** Output of `inlay help settings`. */
export async function settingsHelp(columns: number): Promise<string> {
  const { describeSettings } = await import('../settings/setting-table.ts')
  return wrapLines(columns, [
    'Settings, from the environment or a file .env; secrets also from files, such as INLAY_DATABASE_URL_FILE:',
    '',
    ...table(
      columns,
      describeSettings().map(({ name, meaning, allowed, without }) => [
        name,
        `${meaning}: ${allowed} (without it: ${without})`,
      ]),
    ),
  ])
}

/** Output of `inlay <command> --help`. */
export function commandHelp(command: Command, columns: number): string {
  return wrapLines(columns, [
    command.summary,
    '',
    `Usage: inlay ${command.usage}`,
    '',
    ...(command.details === undefined ? [] : [...command.details, '']),
    ...table(columns, Object.entries(allOptions(command)).map(optionRow)),
  ])
}

function optionRow([name, option]: [string, CommandOption]): [string, string] {
  const short = option.short === undefined ? '' : `-${option.short}, `
  const value = option.value === undefined ? '' : ` <${option.value}>`
  return [`${short}--${name}${value}`, meaningOf(option)]
}

/** Two columns; the second is wrapped. Where it would be narrower than this, it stands below the first. */
const minColumn = 30

function table(columns: number, rows: readonly (readonly [string, string])[]): string[] {
  const first = Math.max(...rows.map(([name]) => name.length))
  const second = columns - first - 4
  if (second < minColumn)
    return rows.flatMap(([name, text]) => [`  ${name}`, ...wrapped(text, columns - 6).map((line) => `      ${line}`)])
  return rows.flatMap(([name, text]) =>
    wrapped(text, second).map((line, index) => `  ${(index === 0 ? name : '').padEnd(first)}  ${line}`),
  )
}

/** Wraps the lines that are too long, as far in as they begin. */
const wrapLines = (columns: number, lines: readonly string[]): string =>
  lines.flatMap((line) => (line.length <= columns ? [line] : indented(line, columns))).join('\n')

function indented(line: string, columns: number): string[] {
  const indent = /^ */.exec(line)![0]
  return wrapped(line.trimStart(), columns - indent.length).map((part) => indent + part)
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
