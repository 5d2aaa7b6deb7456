import type { ActionTurn } from '@inlay/agent'
import { egressStream } from '@inlay/drivers/internal/http/egress-stream'
import { httpTransport } from '@inlay/drivers/internal/models/stream/http-transport'
import { mcpClient } from '@inlay/drivers/mcp-client'

// Does one thing with a server's compressed answers, and prints `alive` once they have gone.
const [mode = '', url = ''] = process.argv.slice(2)
const fetch = egressStream({ allowHosts: ['127.0.0.1'] })
/** Lets sockets close and their errors be thrown. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 200; turn++) await new Promise((next) => setImmediate(next))
}

const modes: Record<string, () => Promise<void>> = {
  stream: async () => {
    const { body } = await fetch(url)
    await body.cancel()
  },
  transport: async () => {
    const answer = await httpTransport({ idleTimeoutMs: 10_000 })({ url, method: 'POST', headers: {}, body: '{}' })
    answer.read({ push: () => {}, end: () => {}, fail: () => {} }).cancel()
  },
  late: async () => {
    const { body } = await fetch(url)
    await settled()
    await body
      .getReader()
      .read()
      .then((part) => part.done || body)
      .catch((error: { code: string }) => console.log(error.code))
  },
  mcp: async () => {
    const client = mcpClient({
      servers: [{ name: 'wiki', url, allowPrivate: true }],
      numbers: { numberOf: async (kind) => (kind === 'mcp' ? 2 : 1), find: async () => undefined },
    })
    const caller = { id: 'ana', scopes: ['chat'] as const }
    const [action] = await client.list({ caller })
    console.log(action?.name)
    const turn: ActionTurn = {
      caller,
      sessionId: 's',
      messageId: 1,
      userMessage: 'q',
      toolCallId: 'c',
      signal: new AbortController().signal,
      emit: (packet) => console.log(JSON.stringify(packet).includes('look failed') ? 'look failed' : packet.type),
      cite: () => [],
    }
    await action?.run({}, turn)
    await client.close()
  },
}
await modes[mode]?.()
await settled()
console.log('alive')
process.exit(0)
