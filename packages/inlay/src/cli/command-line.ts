import { parseArgs } from 'node:util'
import { InlayError, isInlayError, type ValidationIssue } from '@inlay/protocol'
import manifest from '../../package.json' with { type: 'json' }
import { readSettings, type Environment, type Settings } from '../settings/settings.ts'
import { sharedOptions, type Command, type CommandContext } from './command.ts'
import { commandHelp, generalHelp } from './help.ts'
import { createOutput, type Output, type OutputStream } from './output.ts'

/** The commands, each loaded when it is called. */
export const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./serve.ts')).serve,
  ingest: async () => (await import('./ingest.ts')).ingest,
  ask: async () => (await import('./ask.ts')).ask,
  search: async () => (await import('./search.ts')).search,
  keys: async () => (await import('./keys.ts')).keys,
}

/** A command that was called in a way it cannot be. */
const misused = 2

/** What a command line runs in. */
export interface Surroundings {
  /** Read when a command needs it: help and version do not fail for a setting. */
  readonly env: () => Environment
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  /** Aborts when the person interrupts. */
  readonly signal: AbortSignal
}

/**
 * Runs what the words after the program's name ask for, and writes errors itself, a sentence each.
 * @returns the exit code: 0 when all went well, 1 when something failed, 2 for words that mean nothing, 130 when interrupted
 */
export async function runCommandLine(words: readonly string[], surroundings: Surroundings): Promise<number> {
  const { signal, ...streams } = surroundings
  const output = createOutput({ isJson: words.includes('--json'), ...streams })
  try {
    return await runCommand(words, surroundings, output)
  } catch (error) {
    if (signal.aborted) return 130
    output.note(`inlay: ${messageOf(error)}`)
    return 1
  }
}

async function runCommand(words: readonly string[], { env, signal }: Surroundings, output: Output): Promise<number> {
  const [name = '--help', ...rest] = words
  if (name === '--version' || name === '-v') return say(output, manifest.version)
  if (name === '--help' || name === '-h' || name === 'help') return say(output, await generalHelp(commands))
  if (!Object.hasOwn(commands, name)) {
    output.note(
      `inlay: there is no command "${name}". There are ${Object.keys(commands).join(', ')}; see inlay --help.`,
    )
    return misused
  }
  const command = await commands[name]!()
  const parsed = parse(command, rest)
  if ('fault' in parsed) {
    output.note(`inlay: ${parsed.fault}`)
    output.note(`Usage: inlay ${command.usage}`)
    return misused
  }
  if (parsed.options['help'] === true) return say(output, commandHelp(command))
  const settings = settingsOf(env(), parsed.options['data'], output)
  return command.run({ ...parsed, settings, output, signal })
}

function say(output: Output, text: string): number {
  output.line(text)
  return 0
}

type Parsed = Pick<CommandContext, 'words' | 'options'> | { readonly fault: string }

function parse(command: Command, rest: readonly string[]): Parsed {
  try {
    const { values, positionals } = parseArgs({
      args: [...rest],
      options: { ...sharedOptions, ...command.options },
      allowPositionals: true,
    })
    const [least, most] = command.words
    if (values['help'] !== true && (positionals.length < least || positionals.length > most)) {
      return { fault: positionals.length < least ? 'something is missing.' : `"${positionals[most]}" is too much.` }
    }
    return { words: positionals, options: values }
  } catch (error) {
    // `parseArgs` words its errors for the person at the command line.
    return { fault: messageOf(error).split('\n')[0]! }
  }
}

function settingsOf(env: Environment, data: unknown, output: Output): Settings {
  const settings = readSettings(env)
  for (const warning of settings.warnings) output.note(`inlay: ${warning}`)
  if (data === undefined) return settings
  if (typeof data !== 'string' || data.trim() === '') {
    throw new InlayError('INVALID_INPUT', { message: '--data needs the path of a folder.' })
  }
  return { ...settings, options: { ...settings.options, dataFolder: data } }
}

/** One sentence for a person; what it was inside is in `cause`, for a debugger. */
function messageOf(error: unknown): string {
  if (isInlayError(error) && error.code !== 'VALIDATION_FAILED') return error.message
  if (isInlayError(error))
    return issuesOf(error)
      .map(({ loc, msg }) => `${loc.slice(1).join('.')} ${msg}`)
      .join('; ')
  return error instanceof Error ? error.message : 'something failed.'
}

function issuesOf(error: InlayError): readonly ValidationIssue[] {
  // `validationFailed` puts them there.
  return (error.data['issues'] ?? []) as readonly ValidationIssue[]
}
