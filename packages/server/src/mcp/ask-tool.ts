import {
  InlayError,
  mcpAskInputSchema,
  parseWith,
  sendMessageRequestSchema,
  type ChatFullResponse,
  type PacketBody,
  type StreamLine,
} from '@inlay/protocol'
import { defineMcpTool, toLinks, type McpTool } from './tool.ts'

export const askTool: McpTool = defineMcpTool({
  name: 'ask',
  title: 'Ask the assistant',
  description:
    "Asks an assistant that answers from the organisation's documents. The answer has numbered " +
    'citations as links, and a `session_id` to continue the conversation.',
  scope: 'chat',
  isSlow: true,
  input: mcpAskInputSchema,
  async run({ question, session_id: sessionId, sources, document_sets: sets }, call) {
    const { parts, caller, requestId, signal, cancelled, progress } = call
    const filters = sources || sets ? { source_type: sources, document_set: sets } : null
    const place = { chat_session_id: sessionId, origin: 'api' as const }
    const request = { ...place, message: question, internal_search_filters: filters }
    const run = await parts.agent.send(parseWith(sendMessageRequestSchema, request, 'body'), { caller, requestId })
    const stop = (): void => void parts.agent.stop(run.sessionId, caller).catch(() => {})
    if (cancelled.aborted) stop()
    cancelled.addEventListener('abort', stop, { once: true })
    // A client that disconnects does not end the run: its answer stays in the chat.
    for await (const entries of run.read(0, signal)) {
      for (const { json } of entries) {
        // Lines of the run's own log, encoded from this type.
        const step = stepOf(JSON.parse(json) as StreamLine)
        if (step !== undefined) progress(step)
      }
    }
    const whole = await run.whole()
    if (whole.error_msg !== null) throw new InlayError('LLM_PROVIDER_ERROR', { message: whole.error_msg })
    const citations = toCitations(whole)
    return {
      value: { answer: withApprovals(whole), session_id: run.sessionId, message_id: whole.message_id, citations },
      links: toLinks(citations),
    }
  },
})

/** Programs that ask by MCP cannot approve a call, so the answer says who can. */
function withApprovals({ answer, tool_approvals: requests = [] }: ChatFullResponse): string {
  if (requests.length === 0) return answer
  const names = requests.map(({ display_name: name }) => name).join(', ')
  return `${answer}\n\nThis waits until a person approves ${names} in the chat, or by tool_approvals of a message.`.trim()
}

function toCitations({ citation_info: cited, top_documents: documents }: ChatFullResponse) {
  return cited.flatMap(({ citation_number: number, document_id: id }) => {
    const document = documents.find(({ document_id: other }) => other === id)
    return document ? [{ number, document_id: id, title: document.semantic_identifier, link: document.link }] : []
  })
}

const steps: Partial<Record<PacketBody['type'], string>> = {
  reasoning_start: 'Thinking',
  search_tool_start: 'Searching',
  open_url_start: 'Reading pages',
  python_tool_start: 'Calculating',
  image_generation_start: 'Drawing',
  file_reader_start: 'Reading files',
  custom_tool_start: 'Using a tool',
  message_start: 'Answering',
}

function stepOf(line: StreamLine): string | undefined {
  return 'obj' in line ? steps[line.obj.type] : undefined
}
