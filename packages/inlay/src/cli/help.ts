import { allOptions, type Command } from './command.ts'
import { commandTable } from './command-table.ts'
import { meaningOf, type CommandOption } from './shared-options.ts'
import { widestColumn, wrapped } from './word-wrap.ts'

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

/** Two columns. Where the second would be too narrow, it stands below the first. */
function table(columns: number, rows: readonly (readonly [string, string])[]): string[] {
  const first = Math.max(...rows.map(([name]) => name.length))
  const isBeside = first + 4 <= Math.min(columns * widestColumn, columns - 30)
  return rows.map(([name, text]) => (isBeside ? `  ${name.padEnd(first)}  ${text}` : `  ${name}\n      ${text}`))
}

const wrapLines = (columns: number, lines: readonly string[]): string => wrapped(lines.join('\n'), columns)
