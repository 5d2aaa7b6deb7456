/**
 * One relay in a separate process: `bare`, `mastra`, `ai`, `inlay` or `fetch` (Inlay with the `fetch` of Node in place of
 * its own transport to models), in front of the model at the given port.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import {
  Agent as Connections,
  createServer,
  request as open,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Resources that a relay has used so far. */
export interface RelayFigures {
  /** User and system time in microseconds. */
  readonly cpuUs: number
  readonly rssBytes: number
  /** Highest since the figures were last asked for. */
  readonly peakRssBytes: number
}

const [kind = 'bare', modelPort = ''] = process.argv.slice(2)
const baseURL = `http://127.0.0.1:${modelPort}/v1`

/** A relay that is given the wanted model, and writes to the response as it likes. */
function overModel(answer: (model: string, response: ServerResponse) => Promise<void>): RequestListener {
  return (request, response) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('data', (piece: string) => (text += piece))
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      answer(JSON.parse(text).model, response).catch((error: unknown) => {
        console.error(error)
        response.destroy()
      })
    })
  }
}

const event = (text: string): string => `data: ${JSON.stringify({ text })}\n\n`

function bare(): RequestListener {
  const agent = new Connections({ keepAlive: true })
  return overModel(async (model, response) => {
    const sent = open(`${baseURL}/chat/completions`, { method: 'POST', agent }, (answer) => {
      answer.on('data', (bytes: Buffer) => response.write(bytes))
      answer.on('end', () => response.end())
    })
    sent.end(JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'go' }] }))
  })
}

async function mastra(): Promise<RequestListener> {
  const [{ Agent }, { createOpenAICompatible }] = await Promise.all([
    import('@mastra/core/agent'),
    import('@ai-sdk/openai-compatible'),
  ])
  const provider = createOpenAICompatible({ name: 'bench', baseURL, includeUsage: true })
  return overModel(async (model, response) => {
    // The engine has the types of its own copy of the provider package.
    const agent = new Agent({ id: 'a', name: 'a', instructions: 'Answer.', model: provider(model) as never })
    const { fullStream } = await agent.stream([{ role: 'user', content: 'go' }])
    for await (const part of fullStream) if (part.type === 'text-delta') response.write(event(part.payload.text))
    response.end()
  })
}

async function ai(): Promise<RequestListener> {
  const [{ streamText }, { createOpenAICompatible }] = await Promise.all([
    import('ai'),
    import('@ai-sdk/openai-compatible'),
  ])
  const provider = createOpenAICompatible({ name: 'bench', baseURL, includeUsage: true })
  return overModel(async (model, response) => {
    const { textStream } = streamText({ model: provider(model), prompt: 'go' })
    for await (const text of textStream) response.write(event(text))
    response.end()
  })
}

async function inlay(carry?: (plain: typeof fetch) => typeof fetch): Promise<RequestListener> {
  const [{ createInlay, nodeListener }, { modelProviders }] = await Promise.all([
    import('inlay'),
    import('@inlay/drivers/model-providers'),
  ])
  const dataFolder = mkdtempSync(join(tmpdir(), 'inlay-bench-relay-'))
  process.on('exit', () => rmSync(dataFolder, { recursive: true, force: true }))
  const provider = { name: 'bench', type: 'openai-compatible', baseUrl: baseURL, defaultModel: '1x1' } as const
  // Found out before, so that no stream waits for it.
  const known = { callsTools: true, cites: true, recordedAt: Date.now() }
  const abilities = { read: async () => known, write: async () => {} }
  const created = createInlay({
    dataFolder,
    apiKey: process.env['BENCH_RELAY_KEY'],
    model: modelProviders({ providers: [provider], abilities, ...(carry && { wrapFetch: carry }) }),
  })
  await created.start()
  return nodeListener(created.fetch)
}

const relays: Record<string, () => RequestListener | Promise<RequestListener>> = {
  bare,
  mastra,
  ai,
  inlay: () => inlay(),
  fetch: () => inlay((plain) => plain),
}
const listener = await relays[kind]!()
let peakRssBytes = 0
setInterval(() => (peakRssBytes = Math.max(peakRssBytes, process.memoryUsage.rss())), 500).unref()

process.on('message', () => {
  const { user, system } = process.cpuUsage()
  const rssBytes = process.memoryUsage.rss()
  const figures: RelayFigures = { cpuUs: user + system, rssBytes, peakRssBytes: Math.max(peakRssBytes, rssBytes) }
  peakRssBytes = 0
  process.send?.(figures)
})
process.on('disconnect', () => process.exit())
const server = createServer(listener)
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
