import type { Action } from '@inlay/agent'
import { InlayError, type Principal } from '@inlay/protocol'
import * as v from 'valibot'
import type { ServerParts } from '../http/route.ts'
import { turnOutsideChats } from '../outside-chats/turn.ts'
import { defineMcpTool, toLinks, type McpTool } from './tool.ts'

const inputSchema = v.object({
  urls: v.pipe(
    v.array(v.pipe(v.string(), v.description('A complete http or https URL'))),
    v.minLength(1),
    v.maxLength(10),
    v.description('URLs to open together'),
  ),
})

export const openUrlTool: McpTool = defineMcpTool({
  name: 'open_url',
  title: 'Open addresses',
  description:
    'Opens web pages and documents by their URLs and returns their content. URLs of the ' +
    "organisation's own documents are read from the index.",
  scope: 'chat',
  isOpenWorld: true,
  isThere: async ({ parts, caller }) => (await findAction(parts, caller)) !== undefined,
  input: inputSchema,
  async run({ urls }, call) {
    const action = await findAction(call.parts, call.caller)
    if (action === undefined) throw new InlayError('NOT_IMPLEMENTED')
    const outcome = await action.input['~standard'].validate({ urls })
    if (outcome.issues !== undefined) throw new InlayError('INVALID_INPUT', { message: 'The URLs are invalid.' })
    const { text, documents = [] } = await action.run(
      outcome.value,
      turnOutsideChats({
        caller: call.caller,
        requestId: call.requestId,
        signal: AbortSignal.any([call.signal, call.cancelled]),
        // A question selects the excerpt of a long page. MCP calls have none, so the URLs are used.
        userMessage: urls.join(' '),
      }),
    )
    const shown = documents.map(({ semantic_identifier: title, link }) => ({ title, link }))
    return { value: { content: JSON.parse(text) as unknown }, links: toLinks(shown) }
  },
})

async function findAction(parts: ServerParts, caller: Principal): Promise<Action | undefined> {
  return (await parts.agent.actions(caller)).find(({ builtIn }) => builtIn === 'OpenURLTool')
}
