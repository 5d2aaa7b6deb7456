import { readFile } from 'node:fs/promises'
import { InlayError, isInlayError } from '@inlay/protocol'
import type { Settings } from '../settings/read-settings.ts'
import type { CommandRow } from './command-table.ts'
import { sharedOptions, type CommandOption } from './shared-options.ts'
import type { Output } from './output.ts'

export interface CommandContext {
  /** Positional arguments, as given. */
  readonly words: readonly string[]
  /** Options as given: strings, booleans, or lists where an option may be repeated. */
  readonly options: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>
  /** Settings from the environment, with the shared options applied. */
  readonly settings: Settings
  readonly output: Output
  readonly optionsOf: (name: string) => Promise<Readonly<Record<string, CommandOption>>>
  readonly input: NodeJS.ReadableStream
  /** Aborts when the user presses Ctrl+C. */
  readonly signal: AbortSignal
}

export interface Command extends CommandRow {
  /** Further lines of the help. */
  readonly details?: readonly string[]
  readonly options: Readonly<Record<string, CommandOption>>
  /** Why the command takes no `--url` and `--key`, and what to do instead; absent if it can work on a server. */
  readonly isLocal?: string
  /** Minimum and maximum number of arguments. */
  readonly words: readonly [least: number, most: number]
  /** Description of the required argument for error messages, e.g. `a question`. */
  readonly needs?: string
  /** @returns the exit code: 0 for success */
  readonly run: (context: CommandContext) => Promise<number>
}

export function allOptions({ options, isLocal }: Command): Readonly<Record<string, CommandOption>> {
  const { url: _url, key: _key, ...everywhere } = sharedOptions
  return { ...options, ...(isLocal === undefined ? sharedOptions : everywhere) }
}

/** The arguments of a command as one text. @param what describes it in the error, e.g. `question` */
export function argumentText({ words }: CommandContext, what: string): string {
  const text = words.join(' ').trim()
  if (text === '') throw misuse(`The ${what} is empty.`)
  return text
}

/** The text of a file that an argument names. @throws INVALID_INPUT when it cannot be read */
export function textIn(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new InlayError('INVALID_INPUT', { message: `${path} cannot be read (${cause.code}).`, cause })
  })
}

/** Creates an error for wrong usage: the exit code is 2. */
export function misuse(message: string): InlayError {
  return new InlayError('INVALID_INPUT', { message, data: { isMisuse: true } })
}

export function isMisuse(error: unknown): boolean {
  return isInlayError(error) && (error.code === 'VALIDATION_FAILED' || error.data['isMisuse'] === true)
}

export function textOption(context: CommandContext, name: string): string | undefined {
  const value = context.options[name]
  return typeof value === 'string' ? value : undefined
}
