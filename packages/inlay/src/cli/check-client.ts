import { InlayError } from '@inlay/protocol'
import { clientChecks } from '@inlay/evaluation/client-checks'
import { textOption, type Command, type CommandContext } from './command.ts'
import { commandTable } from './command-table.ts'

/** Tries what clients of the reference service do against an installation that runs. */
export const checkClient: Command = {
  ...commandTable['check-client'],
  details: [
    'The address of the API with its path; by default that of this machine and these settings.',
    'A session, a document and a file are made with the key and removed again.',
  ],
  words: [0, 1],
  options: {
    key: { type: 'string', value: 'key', meaning: 'key of the clients (default: INLAY_API_KEY)' },
    origin: {
      type: 'string',
      value: 'origin',
      meaning: 'also check pages of this origin, such as https://app.example',
    },
  },
  async run(context) {
    const { output, signal } = context
    const installation = {
      base: addressOf(context),
      key: keyOf(context),
      origin: textOption(context, 'origin'),
      signal,
      // oxlint-disable-next-line eslint/no-restricted-globals, eslint/no-restricted-properties -- the operator names the address
      fetch: globalThis.fetch,
    }
    const outcomes: { client: string; what: string; fault: string | null; mend: string | null }[] = []
    for (const { client, what, mend, run } of clientChecks) {
      const fault = (await run(installation).catch((error: unknown) => wordsOf(error, signal))) ?? null
      outcomes.push({ client, what, fault, mend: fault === null ? null : mend })
      if (!output.isJson) output.line(`${fault === null ? 'ok  ' : output.styled('red', 'FAIL')}  ${what} (${client})`)
      if (!output.isJson && fault !== null) output.line(`      ${fault}\n      ${mend}`)
      // Without an answer or a key nothing else can be tried.
      if (fault !== null && outcomes.length <= 2) break
    }
    if (output.isJson) output.json(outcomes)
    return outcomes.every(({ fault }) => fault === null) ? 0 : 1
  },
}

function addressOf({ words, settings }: CommandContext): string {
  const [given] = words
  if (given !== undefined) {
    const base = /^https?:\/\//.test(given) ? given : `http://${given}`
    if (URL.canParse(base)) return base.replace(/\/+$/, '')
    throw new InlayError('INVALID_INPUT', { message: 'An address looks like http://localhost:3000/api.' })
  }
  const path = `/${settings.options.basePath ?? '/api'}`.replace(/\/+/g, '/').replace(/\/$/, '')
  return `http://localhost:${settings.port}${path}`
}

function keyOf(context: CommandContext): string {
  const key = textOption(context, 'key') ?? context.settings.options.apiKey
  if (key !== undefined) return key
  throw new InlayError('INVALID_INPUT', { message: 'Name the key of the clients by --key, or set INLAY_API_KEY.' })
}

/** `fetch` says nothing of use by itself; what it failed of is in its cause. */
function wordsOf(error: unknown, signal: AbortSignal): string {
  signal.throwIfAborted()
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error ? `It cannot be reached: ${cause.message}` : 'It cannot be reached.'
}
