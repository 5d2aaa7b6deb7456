import type { Run } from '@inlay/agent'
import {
  createLineDecoder,
  isPacket,
  parseWith,
  sendMessageRequestSchema,
  type ChatFullResponse,
  type PacketBody,
} from '@inlay/protocol'
import { operator } from '../callers.ts'
import type { Inlay } from '../inlay.ts'
import { createCitationText } from './citation-text.ts'
import { textOption, type Command, type CommandContext } from './command.ts'
import { withInlay } from './opened.ts'

/** Asks a question and shows the answer as it comes, then its sources. */
export const ask: Command = {
  usage: 'ask "<question>"',
  summary: 'ask a question and see the answer come, then its sources',
  words: [1, Number.POSITIVE_INFINITY],
  options: {
    session: { type: 'string', value: 'id', meaning: 'go on with this conversation' },
  },
  run: (context) => withInlay(context, (inlay) => answer(context, inlay)),
}

async function answer(context: CommandContext, inlay: Inlay): Promise<number> {
  const { output, signal } = context
  const message = context.words.join(' ')
  const session = textOption(context, 'session')
  const request = parseWith(sendMessageRequestSchema, { message, chat_session_id: session, origin: 'api' }, 'body')
  const run = await inlay.agent.send(request, { caller: operator })
  const stop = (): void => void inlay.agent.stop(run.sessionId, operator)
  signal.addEventListener('abort', stop, { once: true })
  if (!output.isJson) await show(context, run)
  const whole = await run.whole()
  if (output.isJson) output.json(whole)
  else showSources(context, whole, run.sessionId)
  if (signal.aborted) return 130
  if (whole.error_msg === null) return 0
  output.note(`inlay: ${whole.error_msg}`)
  return 1
}

/** Writes the answer's text as it comes, and what is being done until then. */
async function show({ output }: CommandContext, run: Run): Promise<void> {
  const decoder = createLineDecoder('lines')
  const text = createCitationText()
  let hasText = false
  for await (const entries of run.read()) {
    for (const { line } of entries.flatMap(({ json }) => decoder.push(`${json}\n`))) {
      if (!isPacket(line) || line.placement.sub_turn_index !== null) continue
      if (line.obj.type === 'message_start' && hasText) output.write(`${text.end()}\n\n`)
      if (line.obj.type === 'message_delta') {
        hasText = true
        output.write(text.push(line.obj.content))
      } else showStep(output, line.obj)
    }
  }
  output.line(text.end())
}

function showStep(output: CommandContext['output'], packet: PacketBody): void {
  if (packet.type === 'search_tool_queries_delta')
    output.note(output.styled('dim', `Searching: ${packet.queries.join(' · ')}`))
}

function showSources({ output }: CommandContext, whole: ChatFullResponse, sessionId: string): void {
  if (whole.citation_info.length > 0) {
    output.line()
    output.line(output.styled('bold', 'Sources'))
    for (const { citation_number, document_id } of whole.citation_info) {
      const document = whole.top_documents.find((one) => one.document_id === document_id)
      const place = document?.link ?? document_id
      output.line(
        `[${citation_number}] ${document?.semantic_identifier ?? document_id}  ${output.styled('dim', place)}`,
      )
    }
  }
  output.note(output.styled('dim', `Go on with it: inlay ask --session ${sessionId} "…"`))
}
