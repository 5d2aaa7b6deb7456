import type { ParseArgsOptionDescriptor } from 'node:util'
import type { Settings } from '../settings/settings.ts'
import type { Output } from './output.ts'

/** An option of a command, with what the help says of it. */
export type CommandOption = ParseArgsOptionDescriptor & {
  readonly meaning: string
  /** Name of the value in the help, e.g. `folder`. */
  readonly value?: string
}

/** What a command works with. */
export interface CommandContext {
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
export interface Command {
  /** How it is called, without the program's name: `ingest <folder or file…>`. */
  readonly usage: string
  /** What it does, in a line. */
  readonly summary: string
  /** More about it, a line each. */
  readonly details?: readonly string[]
  readonly options: Readonly<Record<string, CommandOption>>
  /** Fewest and most words after the command. */
  readonly words: readonly [least: number, most: number]
  /** Answers the exit code: 0 when all went well. */
  readonly run: (context: CommandContext) => Promise<number>
}

/** Options that every command takes. */
export const sharedOptions: Readonly<Record<string, CommandOption>> = {
  data: { type: 'string', value: 'folder', meaning: 'data folder (default: INLAY_DATA, else .inlay)' },
  json: { type: 'boolean', meaning: 'answer in JSON, for programs' },
  help: { type: 'boolean', short: 'h', meaning: 'this help' },
}

/** A value given once as text; undefined when absent. */
export function textOption(context: CommandContext, name: string): string | undefined {
  const value = context.options[name]
  return typeof value === 'string' ? value : undefined
}
