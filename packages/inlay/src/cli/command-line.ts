import { parseArgs } from 'node:util'
import { isInlayError, type InlayError, type ValidationIssue } from '@inlay/protocol'
import manifest from '../../package.json' with { type: 'json' }
import { outageOf } from '../error-report.ts'
import type { Environment } from '../settings/readers.ts'
import { readSettings, type Settings } from '../settings/read-settings.ts'
import { isMisuse, misuse, sharedOptions, type Command, type CommandContext } from './command.ts'
import { commandHelp, generalHelp } from './help.ts'
import { createOutput, type Output, type OutputStream } from './output.ts'

/** The commands, each loaded when it is called. */
export const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./serve.ts')).serve,
  ingest: async () => (await import('./ingest.ts')).ingest,
  ask: async () => (await import('./ask.ts')).ask,
  search: async () => (await import('./search.ts')).search,
  keys: async () => (await import('./keys.ts')).keys,
  'check-client': async () => (await import('./check-client.ts')).checkClient,
  eval: async () => (await import('./eval.ts')).evaluation,
  backup: async () => (await import('./backup.ts')).backup,
  restore: async () => (await import('./restore.ts')).restore,
  erase: async () => (await import('./erase.ts')).erase,
  reindex: async () => (await import('./reindex.ts')).reindex,
}

/** Exit code for a command that was called in a way it cannot be. */
const misused = 2

/** The process a command line runs in. */
export interface CommandProcess {
  /** Read when a command needs it: help and version do not fail for a setting. */
  readonly env: () => Environment
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  /** Aborts when the person interrupts. */
  readonly signal: AbortSignal
}

/**
 * Runs a command and writes its errors, one sentence each.
 * @param words what stands after the program's name
 * @returns the exit code: 0 for success, 1 for a failure, 2 for a wrong call, 130 when interrupted
 */
export async function runCommandLine(words: readonly string[], process: CommandProcess): Promise<number> {
  const { signal, ...streams } = process
  const output = createOutput({ isJson: words.includes('--json'), ...streams })
  try {
    return await runCommand(words, process, output)
  } catch (error) {
    if (signal.aborted) return 130
    output.note(`inlay: ${messageOf(error)}`)
    return isMisuse(error) ? misused : 1
  }
}

async function runCommand(words: readonly string[], { env, signal }: CommandProcess, output: Output): Promise<number> {
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
      const missing = `${nameOf(command)} needs ${command.needs}.`
      return { fault: positionals.length < least ? missing : `"${positionals[most]}" is too much.` }
    }
    return { words: positionals, options: values }
  } catch (error) {
    // `parseArgs` words its errors for the person at the command line.
    return { fault: messageOf(error).split('\n')[0]! }
  }
}

const nameOf = ({ usage }: Command): string => usage.split(' ')[0]!

function settingsOf(env: Environment, data: unknown, output: Output): Settings {
  const settings = readSettings(env)
  for (const warning of settings.warnings) output.note(`inlay: ${warning}`)
  if (data === undefined) return settings
  if (typeof data !== 'string' || data.trim() === '') throw misuse('--data needs the path of a folder.')
  return { ...settings, options: { ...settings.options, dataFolder: data } }
}

/** One sentence for a person; the origin is in `cause`, for a debugger. */
function messageOf(error: unknown): string {
  if (isInlayError(error) && error.code !== 'VALIDATION_FAILED') return outageOf(error) ?? error.message
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
