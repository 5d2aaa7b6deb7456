import type { Run } from '@inlay/agent'
import {
  createLineDecoder,
  isPacket,
  operator,
  parseWith,
  sendMessageRequestSchema,
  type ChatFullResponse,
  type PacketBody,
} from '@inlay/protocol'
import type { Inlay } from '../inlay.ts'
import { createCitationText, type CitationText } from './citation-text.ts'
import { textOption, wordsOf, type Command, type CommandContext } from './command.ts'
import { commandTable } from './command-table.ts'
import { noteEmptyFolder, readsOnly, withInlay } from './with-inlay.ts'
import type { Output } from './output.ts'
import { createTerminalMarkdown, plain } from './terminal-markdown.ts'

/** Asks a question and shows the answer as it comes, then its sources. */
export const ask: Command = {
  ...commandTable.ask,
  words: [1, Number.POSITIVE_INFINITY],
  details: ['Ends with 1 when there is no answer: the model failed, or the documents do not answer the question.'],
  needs: 'a question',
  options: {
    session: { type: 'string', value: 'id', meaning: 'go on with this conversation' },
  },
  run: async (context) => {
    const question = wordsOf(context, 'question')
    return withInlay(context, (inlay) => answer(context, inlay, question), readsOnly)
  },
}

async function answer(context: CommandContext, inlay: Inlay, message: string): Promise<number> {
  const { output, signal } = context
  const session = textOption(context, 'session')
  // A session id of another form is a slip of the caller, not an unknown session.
  const request = parseWith(sendMessageRequestSchema, { message, chat_session_id: session, origin: 'api' }, 'body')
  await noteEmptyFolder(context, inlay)
  const run = await inlay.agent.send(request)
  const stop = (): void => void inlay.agent.stop(run.sessionId, operator)
  signal.addEventListener('abort', stop, { once: true })
  if (!output.isJson) await show(context, run)
  const whole = await run.whole()
  if (output.isJson) output.json(whole)
  else showSources(context, whole, run.sessionId)
  if (signal.aborted) return 130
  if (whole.error_msg === null) {
    if (await isAnswered(inlay, whole)) return 0
    output.note('inlay: the documents do not answer this.')
    return 1
  }
  output.note(`inlay: ${whole.error_msg}`)
  return 1
}

/** Whether there is an answer: some text, and of the built-in model, which only quotes, a source. */
async function isAnswered(
  inlay: Inlay,
  { answer: text, citation_info: citations }: ChatFullResponse,
): Promise<boolean> {
  if (text.trim() === '') return false
  const chosen = (await inlay.agent.models()).find(({ isDefault }) => isDefault)
  return chosen?.providerType !== 'extractive' || citations.length > 0
}

/** Writes the answer's text as it comes, and until then what is being done. */
async function show({ output }: CommandContext, run: Run): Promise<void> {
  const decoder = createLineDecoder('lines')
  let text = answerText(output)
  let hasText = false
  for await (const entries of run.read()) {
    for (const { line } of entries.flatMap(({ json }) => decoder.push(`${json}\n`))) {
      if (!isPacket(line) || line.placement.sub_turn_index !== null) continue
      if (line.obj.type === 'message_start' && hasText) {
        output.write(`${text.end()}\n\n`)
        text = answerText(output)
      }
      if (line.obj.type === 'message_delta') {
        hasText = true
        output.write(text.push(line.obj.content))
      } else showStep(output, line.obj)
    }
  }
  output.line(text.end())
}

/** The text as it is shown: without links in citations, and without the marks of Markdown on a terminal. */
function answerText(output: Output): Pick<CitationText, 'push' | 'end'> {
  const citations = createCitationText()
  if (!output.isTerminal) return citations
  const markdown = createTerminalMarkdown(output.styled)
  return {
    push: (piece) => markdown.push(citations.push(piece)),
    end: () => markdown.push(citations.end()) + markdown.end(),
  }
}

function showStep(output: Output, packet: PacketBody): void {
  if (packet.type === 'search_tool_queries_delta')
    output.note(output.styled('dim', plain(`Searching: ${packet.queries.join(' · ')}`)))
}

function showSources({ output }: CommandContext, whole: ChatFullResponse, sessionId: string): void {
  if (whole.citation_info.length > 0) {
    output.line()
    output.line(output.styled('bold', 'Sources'))
    for (const { citation_number, document_id } of whole.citation_info) {
      const document = whole.top_documents.find((candidate) => candidate.document_id === document_id)
      const place = document?.link ?? document_id
      const name = plain(document?.semantic_identifier ?? document_id)
      output.line(`[${citation_number}] ${name}  ${output.styled('dim', plain(place))}`)
    }
  }
  output.note(output.styled('dim', `Go on with it: inlay ask --session ${sessionId} "…"`))
}
