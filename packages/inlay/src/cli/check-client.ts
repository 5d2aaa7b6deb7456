import { InlayError, isInlayError } from '@inlay/protocol'
import { clientChecks } from '@inlay/evaluation/client-checks'
import { textOption, type Command, type CommandContext } from './command.ts'
import { commandTable } from './command-table.ts'
import { basePathOf } from '../base-path.ts'
import { baseUrlOf, keyOf, serverFetch } from './service.ts'
import { option } from './shared-options.ts'

export const checkClient: Command = {
  ...commandTable['check-client'],
  details: [
    'Specify the URL of the API including its path; default: this machine, with these settings.',
    'Creates a session, a document and a file with the key, and deletes them again.',
  ],
  words: [0, 1],
  options: {
    origin: option('origin', 'also check pages of this origin, such as https://app.example'),
  },
  async run(context) {
    const { output, signal } = context
    const base = addressOf(context)
    const installation = {
      base,
      key: neededKey(context),
      origin: textOption(context, 'origin'),
      signal,
      fetch: serverFetch(base),
    }
    const outcomes: { client: string; what: string; fault: string | null; mend: string | null }[] = []
    for (const { client, what, mend, run } of clientChecks) {
      const fault = (await run(installation).catch((error: unknown) => faultMessage(error, signal))) ?? null
      outcomes.push({ client, what, fault, mend: fault === null ? null : mend })
      if (!output.isJson) output.line(`${fault === null ? 'ok  ' : output.styled('red', 'FAIL')}  ${what} (${client})`)
      if (!output.isJson && fault !== null) output.line(`      ${fault}\n      ${mend}`)
      // Without a connection or a valid key, all further checks would fail.
      if (fault !== null && outcomes.length <= 2) break
    }
    if (output.isJson) output.json(outcomes)
    return outcomes.every(({ fault }) => fault === null) ? 0 : 1
  },
}

function addressOf(context: CommandContext): string {
  const given = context.words[0] ?? textOption(context, 'url')
  if (given !== undefined) return baseUrlOf(given)
  const { options, port } = context.settings
  return `http://localhost:${port}${basePathOf(options)}`
}

function neededKey(context: CommandContext): string {
  const key = keyOf(context)
  if (key !== undefined) return key
  throw new InlayError('INVALID_INPUT', { message: 'Specify the API key with --key, or set INLAY_API_KEY.' })
}

function faultMessage(error: unknown, signal: AbortSignal): string {
  signal.throwIfAborted()
  if (isInlayError(error)) return error.message
  return error instanceof Error ? `The connection broke: ${error.message}` : 'The connection broke.'
}
