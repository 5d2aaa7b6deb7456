import type { Action, ActionTurn } from '@inlay/agent'
import { InlayError, type Principal, type SearchDoc } from '@inlay/protocol'
import * as v from 'valibot'
import type { ServerParts } from '../http/route.ts'
import { defineMcpTool, toLinks, type McpCall, type McpTool } from './tool.ts'

const inputSchema = v.object({
  urls: v.pipe(
    v.array(v.pipe(v.string(), v.description('A whole http or https address'))),
    v.minLength(1),
    v.maxLength(10),
    v.description('Addresses to open at once'),
  ),
})

/** Opens addresses as the assistant does, where it can. */
export const openUrlTool: McpTool = defineMcpTool({
  name: 'open_url',
  title: 'Open addresses',
  description:
    "Opens web pages and documents by their addresses and gives what they say. Addresses of the organisation's own " +
    'documents are answered from the index.',
  scope: 'chat',
  isOpenWorld: true,
  isThere: async ({ parts, caller }) => (await findAction(parts, caller)) !== undefined,
  input: inputSchema,
  async run({ urls }, call) {
    const action = await findAction(call.parts, call.caller)
    if (action === undefined) throw new InlayError('NOT_IMPLEMENTED')
    const outcome = await action.input['~standard'].validate({ urls })
    if (outcome.issues !== undefined) throw new InlayError('INVALID_INPUT', { message: 'The addresses do not fit.' })
    const { text, documents = [] } = await action.run(outcome.value, toTurn(urls, call))
    const shown = documents.map(({ semantic_identifier: title, link }) => ({ title, link }))
    return { value: { content: JSON.parse(text) as unknown }, links: toLinks(shown) }
  },
})

async function findAction(parts: ServerParts, caller: Principal): Promise<Action | undefined> {
  return (await parts.agent.actions(caller)).find(({ builtIn }) => builtIn === 'OpenURLTool')
}

/** A turn outside of any chat: nothing is told to anybody, and documents are numbered from 1. */
function toTurn(urls: readonly string[], { caller, signal, cancelled, requestId }: McpCall): ActionTurn {
  const numbers = new Map<string, number>()
  const cite = (documents: readonly SearchDoc[]): number[] =>
    documents.map(({ document_id: id }) => {
      const number = numbers.get(id) ?? numbers.size + 1
      numbers.set(id, number)
      return number
    })
  return {
    caller,
    sessionId: '',
    messageId: 0,
    // What of a long page is given depends on the question, and there is none.
    userMessage: urls.join(' '),
    toolCallId: requestId,
    signal: AbortSignal.any([signal, cancelled]),
    emit: () => {},
    cite,
  }
}
