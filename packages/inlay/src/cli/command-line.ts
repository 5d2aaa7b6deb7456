import { parseArgs } from 'node:util'
import { InlayError, isInlayError } from '@inlay/protocol'
import manifest from '../../package.json' with { type: 'json' }
import { readEnvironment } from '../environment.ts'
import { readSettings, type Settings } from '../settings.ts'
import { sharedOptions, type Command, type CommandContext } from './command.ts'
import { commandHelp, generalHelp } from './help.ts'
import { createOutput, type Output } from './output.ts'

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

/** Runs what the words after the program's name ask for; answers the exit code, and writes errors itself. */
export async function runCommandLine(words: readonly string[]): Promise<number> {
  const output = createOutput({ isJson: words.includes('--json'), stdout: process.stdout, stderr: process.stderr })
  // Whoever reads us (`inlay … | head`) has seen enough.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  const interruption = new AbortController()
  process.once('SIGINT', () => interruption.abort())
  process.once('SIGTERM', () => interruption.abort())
  try {
    return await runCommand(words, output, interruption.signal)
  } catch (error) {
    if (interruption.signal.aborted) return 130
    output.note(`inlay: ${messageOf(error)}`)
    return 1
  }
}

async function runCommand(words: readonly string[], output: Output, signal: AbortSignal): Promise<number> {
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
  const env = readEnvironment()
  return command.run({ ...parsed, env, settings: settingsOf(env, parsed.options['data'], output), output, signal })
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

function settingsOf(env: CommandContext['env'], data: unknown, output: Output): Settings {
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
  if (isInlayError(error)) return error.message
  return error instanceof Error ? error.message : 'something failed.'
}
