import { parseArgs } from 'node:util'
import type { InlayError, ValidationIssue } from '@inlay/protocol'
import manifest from '../../package.json' with { type: 'json' }
import type { Environment } from '../settings/environment.ts'
import type { Settings } from '../settings/read-settings.ts'
import type { Command, CommandContext } from './command.ts'
import { commandTable, type CommandName } from './command-table.ts'
import { commandHelp, generalHelp, settingsHelp } from './help.ts'
import { createOutput, type Output, type OutputStream } from './output.ts'
import { sharedOptions, type CommandOption } from './shared-options.ts'

// Everything else is loaded when a command needs it, so that help is fast.

const commands: Readonly<Record<CommandName, () => Promise<Command>>> = {
  serve: async () => (await import('./serve.ts')).serve,
  ingest: async () => (await import('./ingest.ts')).ingest,
  ask: async () => (await import('./ask.ts')).ask,
  chat: async () => (await import('./chat.ts')).chat,
  search: async () => (await import('./search.ts')).search,
  documents: async () => (await import('./documents.ts')).documents,
  agents: async () => (await import('./agents.ts')).agents,
  keys: async () => (await import('./keys.ts')).keys,
  'check-client': async () => (await import('./check-client.ts')).checkClient,
  eval: async () => (await import('./eval.ts')).evaluation,
  migrate: async () => (await import('./migrate.ts')).migrate,
  backup: async () => (await import('./backup.ts')).backup,
  restore: async () => (await import('./restore.ts')).restore,
  move: async () => (await import('./move.ts')).move,
  erase: async () => (await import('./erase.ts')).erase,
  export: async () => (await import('./export.ts')).exporting,
  holds: async () => (await import('./holds.ts')).holds,
  reindex: async () => (await import('./reindex.ts')).reindex,
  'sign-in': async () => (await import('./sign-in.ts')).signIn,
  doctor: async () => (await import('./doctor.ts')).doctor,
  init: async () => (await import('./init.ts')).init,
  completion: async () => (await import('./completion.ts')).completion,
}

/** Exit code for wrong usage. */
const misused = 2

export interface CommandProcess {
  /** Read only when a command needs it, so that help and version work with invalid settings. */
  readonly env: () => Environment
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  /** Default: the standard input of this process. */
  readonly stdin?: NodeJS.ReadableStream
  /** Aborts when the user presses Ctrl+C. */
  readonly signal: AbortSignal
}

/**
 * Runs a command and prints errors as one sentence each.
 * @param words arguments after the program name
 * @returns the exit code: 0 for success, 1 for a failure, 2 for wrong usage, 130 when interrupted
 */
export async function runCommandLine(words: readonly string[], process: CommandProcess): Promise<number> {
  const { signal, stdout, stderr } = process
  const output = createOutput({ isJson: words.includes('--json'), stdout, stderr })
  try {
    return await runCommand(words, process, output)
  } catch (error) {
    if (signal.aborted) return 130
    const { isMisuse } = await import('./command.ts')
    const { isInlayError } = await import('@inlay/protocol')
    const isWrongCall = isMisuse(error)
    const code = isWrongCall ? wrongCall : isInlayError(error) ? error.code : 'INTERNAL_ERROR'
    tellError(output, code, await messageOf(error))
    return isWrongCall ? misused : 1
  }
}

const wrongCall = 'INVALID_INPUT'

function tellError(output: Output, code: string, message: string): void {
  output.note(`inlay: ${message}`, true)
  if (output.isJson) output.json({ error: { code, message } })
}

async function runCommand(
  words: readonly string[],
  { env, signal, stdin }: CommandProcess,
  output: Output,
): Promise<number> {
  const [name, rest] = splitCommand(words)
  if (name === '--version' || name === '-v') return say(output, manifest.version)
  if (name === '--help' || name === '-h' || (name === 'help' && rest.length === 0))
    return say(output, generalHelp(output.columns))
  if (name === 'help') return tellMore(rest[0]!, output)
  if (!isCommand(name)) return await refuseName(name, output)
  const command = await commands[name]()
  const parsed = await parse(command, rest)
  if ('fault' in parsed) {
    tellError(output, wrongCall, parsed.fault)
    output.note(`Usage: inlay ${command.usage}`)
    return misused
  }
  if (parsed.options['help'] === true) return say(output, commandHelp(command, output.columns))
  const settings = await settingsOf(env(), parsed.options['data'], output, name === 'serve')
  return command.run({ ...parsed, settings, output, signal, optionsOf, input: stdin ?? process.stdin })
}

/** Name and arguments of the command. Shared options may come before the name. */
function splitCommand(words: readonly string[]): readonly [name: string, rest: readonly string[]] {
  const args = [...words]
  const { tokens } = parseArgs({ args, options: sharedOptions, strict: false, allowPositionals: true, tokens: true })
  // Only the command knows whether another option takes the next word as its value.
  const name = tokens.find((token) => token.kind !== 'option' || !Object.hasOwn(sharedOptions, token.name))
  return name === undefined ? ['--help', []] : [words[name.index]!, words.toSpliced(name.index, 1)]
}

async function optionsOf(name: string): Promise<Readonly<Record<string, CommandOption>>> {
  if (!isCommand(name)) return {}
  const [{ allOptions }, command] = await Promise.all([import('./command.ts'), commands[name]()])
  return allOptions(command)
}

const isCommand = (name: string): name is CommandName => Object.hasOwn(commands, name)

async function tellMore(name: string, output: Output): Promise<number> {
  if (name === 'settings') return say(output, await settingsHelp(output.columns))
  return isCommand(name)
    ? say(output, commandHelp(await commands[name](), output.columns))
    : await refuseName(name, output)
}

async function refuseName(name: string, output: Output): Promise<number> {
  if (name.startsWith('-')) {
    const names = [
      ...Object.keys(sharedOptions),
      ...(await Promise.all(Object.keys(commandTable).map(optionsOf))).flatMap(Object.keys),
    ]
    const given = name.replace(/^-+/, '')
    const meant = names.includes(given) ? '' : ((await meantFor(given, names, '--')) ?? '')
    const place = 'Options of a command stand after its name, as in inlay search "…" --limit 3.'
    tellError(output, wrongCall, `not every command has an option ${name}.${meant} ${place} See inlay --help.`)
    return misused
  }
  const names = Object.keys(commandTable)
  const meant = await meantFor(name, names)
  tellError(
    output,
    wrongCall,
    `there is no command "${name}".${meant ?? ` There are ${names.join(', ')}.`} See inlay --help.`,
  )
  return misused
}

async function meantFor(word: string, names: readonly string[], before = ''): Promise<string | undefined> {
  const { suggestionFor } = await import('@inlay/protocol')
  const suggestion = suggestionFor(word, names)
  return suggestion === undefined ? undefined : ` Did you mean ${before}${suggestion}?`
}

function say(output: Output, text: string): number {
  output.line(text)
  return 0
}

type Parsed = Pick<CommandContext, 'words' | 'options'> | { readonly fault: string }

async function parse(command: Command, rest: readonly string[]): Promise<Parsed> {
  const options: Readonly<Record<string, CommandOption>> = { ...sharedOptions, ...command.options }
  try {
    const { values, positionals } = parseArgs({ args: [...rest], options, allowPositionals: true })
    const [least, most] = command.words
    const remote = ['url', 'key'].find((name) => values[name] !== undefined)
    if (command.isLocal !== undefined && remote !== undefined && values['help'] !== true)
      return { fault: `--${remote} does not work here: ${command.isLocal}.` }
    if (values['help'] !== true && (positionals.length < least || positionals.length > most)) {
      const missing = `${nameOf(command)} needs ${command.needs}.`
      return { fault: positionals.length < least ? missing : `Unexpected argument "${positionals[most]}".` }
    }
    return { words: positionals, options: values }
  } catch (error) {
    return { fault: await faultOf(error, command, Object.keys(options)) }
  }
}

async function faultOf(error: unknown, command: Command, names: readonly string[]): Promise<string> {
  const { code, message } = error as NodeJS.ErrnoException // `parseArgs` throws only this type.
  const option = /'(?:-\w, )?(--?[^\s'=]+)/.exec(message)?.[1] ?? ''
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const meant = await meantFor(option.replace(/^-+/, ''), names, '--')
    return `${nameOf(command)} has no option ${option}.${meant ?? ''} See inlay help ${nameOf(command)}.`
  }
  return /missing|ambiguous/.test(message) ? `${option} needs a value.` : `${option} takes no value.`
}

const nameOf = ({ usage }: Command): string => usage.split(' ')[0]!

async function settingsOf(env: Environment, data: unknown, output: Output, logs: boolean): Promise<Settings> {
  const { readSettings } = await import('../settings/read-settings.ts')
  const settings = readSettings(env)
  const { log } = settings.options
  // All that a server writes has one form, from its first line to its last.
  if (logs && log)
    output.noteTo((report, isFault) =>
      log(isFault ? { event: 'error', level: 'error', requestId: null, report } : { event: 'note', report }),
    )
  for (const warning of settings.warnings) output.note(`inlay: ${warning}`)
  if (data === undefined) return settings
  if (typeof data !== 'string' || data.trim() === '') {
    const { misuse } = await import('./command.ts')
    throw misuse('--data needs the path of a folder.')
  }
  return { ...settings, options: { ...settings.options, dataFolder: data } }
}

async function messageOf(error: unknown): Promise<string> {
  const { isInlayError } = await import('@inlay/protocol')
  const { outageOf } = await import('../error-report.ts')
  if (isInlayError(error) && error.status === 401)
    return `${keyFault(error)} Specify a key with --key or INLAY_API_KEY.`
  if (isInlayError(error) && error.code !== 'VALIDATION_FAILED') return outageOf(error) ?? error.message
  if (isInlayError(error))
    return issuesOf(error)
      .map(({ loc, msg }) => `${loc.slice(1).join('.')} ${msg}`)
      .join('; ')
  return error instanceof Error ? error.message : 'something failed.'
}

/** The message for a request without a key is written for programs. */
const keyFault = (error: InlayError): string =>
  error.code === 'UNAUTHENTICATED' ? 'The server requires an API key.' : error.message

function issuesOf(error: InlayError): readonly ValidationIssue[] {
  // `validationFailed` stores them there.
  return (error.data['issues'] ?? []) as readonly ValidationIssue[]
}
