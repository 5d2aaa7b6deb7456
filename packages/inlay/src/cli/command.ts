import { InlayError, isInlayError } from '@inlay/protocol'
import type { Settings } from '../settings/read-settings.ts'
import type { CommandRow } from './command-table.ts'
import type { CommandOption } from './shared-options.ts'
import type { Output } from './output.ts'

/** Dependencies of a command. */
export interface CommandContext {
  /** Positional arguments, as given. */
  readonly words: readonly string[]
  /** Options as given: strings, booleans, or lists where an option may be repeated. */
  readonly options: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>
  /** Settings of the environment, with the options that every command has. */
  readonly settings: Settings
  readonly output: Output
  /** Aborts when the person interrupts. */
  readonly signal: AbortSignal
}

/** One sub-command. */
export interface Command extends CommandRow {
  /** More about it, a line each. */
  readonly details?: readonly string[]
  readonly options: Readonly<Record<string, CommandOption>>
  /** Fewest and most words after the command. */
  readonly words: readonly [least: number, most: number]
  /** Name of the required argument for error messages, e.g. `a question`. */
  readonly needs?: string
  /** Answers the exit code: 0 when all went well. */
  readonly run: (context: CommandContext) => Promise<number>
}

/** The words of a command as one text. @param what names it in the error, e.g. `question` */
export function wordsOf({ words }: CommandContext, what: string): string {
  const text = words.join(' ').trim()
  if (text === '') throw misuse(`The ${what} is empty.`)
  return text
}

/** An error for a command that was called in a way it cannot be: the exit code is 2. */
export function misuse(message: string): InlayError {
  return new InlayError('INVALID_INPUT', { message, data: { isMisuse: true } })
}

/** Whether an error says that a command was called in a way it cannot be. */
export function isMisuse(error: unknown): boolean {
  return isInlayError(error) && (error.code === 'VALIDATION_FAILED' || error.data['isMisuse'] === true)
}

/** A value given once as text; undefined when absent. */
export function textOption(context: CommandContext, name: string): string | undefined {
  const value = context.options[name]
  return typeof value === 'string' ? value : undefined
}
