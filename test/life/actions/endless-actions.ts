import type { StreamLine } from '@inlay/protocol'
import type { InlayOptions } from 'inlay'
import { expect, onTestFinished } from 'vitest'
import { orderFaults } from '../../agent/packet-order.ts'
import { startImages } from '../../stand-in/images.ts'
import { startEverything } from '../../stand-in/mcp-everything.ts'
import { startSearch } from '../../stand-in/web-search.ts'
import { startSite } from '../../stand-in/web-site.ts'
import { calls, openActionHarness, says, withoutHeartbeats, type ActionHarness } from './action-harness.ts'
import { eventually } from '../process.ts'

/** An action whose service never answers. */
export interface Endless {
  readonly options: InlayOptions
  readonly name: string
  readonly input: unknown
  /** Whether the call has reached its service. */
  readonly isUnderWay: (received: readonly StreamLine[]) => boolean
  close(): Promise<void>
  /** Makes the action known where options do not. */
  prepare?(harness: ActionHarness): Promise<void>
}

const hasBegun =
  (type: string) =>
  (received: readonly StreamLine[]): boolean =>
    received.some((line) => 'obj' in line && line.obj.type === type)

/** Actions of each kind whose service never answers. */
export const endless: Record<string, () => Promise<Endless>> = {
  web_search: async () => {
    const service = await startSearch('searxng', { mood: 'silent', pages: [] })
    return {
      options: { webSearch: { service: 'searxng', baseUrl: service.baseUrl } },
      name: 'web_search',
      input: { queries: ['leave'] },
      isUnderWay: () => service.seen.length > 0,
      close: service.close,
    }
  },
  open_url: async () => {
    const site = await startSite({ '/leave': { hangs: true } })
    return {
      options: { egress: { allowHosts: [site.host] } },
      name: 'open_url',
      input: { urls: [`${site.origin}/leave`] },
      isUnderWay: () => site.seen.length > 0,
      close: site.close,
    }
  },
  generate_image: async () => {
    const service = await startImages({ mood: 'silent', png: new Uint8Array() })
    return {
      options: { imageGenerator: { name: 'paint-1', baseUrl: service.baseUrl, apiKey: 'k' } },
      name: 'generate_image',
      input: { prompt: 'a heron' },
      isUnderWay: () => service.seen.length > 0,
      close: service.close,
    }
  },
  run_python: async () => ({
    options: {},
    name: 'run_python',
    input: { code: "print('begun', flush=True)\nwhile True: pass" },
    isUnderWay: hasBegun('python_tool_delta'),
    close: async () => {},
  }),
  'a custom action': async () => {
    const site = await startSite({ '/dogs': { hangs: true } })
    const definition = {
      openapi: '3.1.0',
      info: { title: 'Kennel', description: 'Dogs.', version: '1' },
      servers: [{ url: site.origin }],
      paths: { '/dogs': { get: { operationId: 'list_dogs', summary: 'Lists dogs.' } } },
    }
    return {
      options: { egress: { allowHosts: [site.host] } },
      name: 'list_dogs',
      input: {},
      isUnderWay: () => site.seen.length > 0,
      close: site.close,
      prepare: async (harness) => {
        const created = await harness.fetch('/admin/tool/custom', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ name: 'Kennel', definition, passthrough_auth: false, default_enabled: true }),
        })
        expect(created.status).toBe(200)
      },
    }
  },
  'a tool of an MCP server': async () => {
    const everything = await startEverything('http')
    return {
      options: { mcpServers: [{ name: 'everything', url: everything.url, allowPrivate: true }] },
      name: 'trigger-long-running-operation',
      input: { duration: 3_600, steps: 2 },
      isUnderWay: hasBegun('custom_tool_start'),
      close: everything.close,
    }
  },
}

/** Starts an answer; returns its packets so far, and whether it has ended. */
async function startAnswer({ fetch }: ActionHarness): Promise<{ lines: StreamLine[]; whole: Promise<void> }> {
  const response = await fetch('/chat/send-chat-message', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/x-ndjson' },
    body: JSON.stringify({ message: 'Go on.' }),
  })
  const received: StreamLine[] = []
  const read = async (): Promise<void> => {
    let rest = ''
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + part).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line !== '') received.push(JSON.parse(line) as StreamLine)
    }
  }
  return { lines: received, whole: read() }
}

/** Stops an answer during a call of such an action; the answer ends in order, and the chat continues. */
export async function stopWhileCalling(name: string): Promise<void> {
  const action = await endless[name]!()
  onTestFinished(action.close)
  const harness = await openActionHarness(action.options)
  await action.prepare?.(harness)
  harness.script([calls([action.name, action.input])])
  const { lines: received, whole } = await startAnswer(harness)
  await eventually(`${name} is under way`, async () => action.isUnderWay(received) || undefined)
  const session = received.find((line) => 'chat_session_id' in line)?.chat_session_id
  expect((await harness.fetch(`/chat/stop-chat-session/${session}`, { method: 'POST' })).status).toBe(200)
  await whole
  expect(orderFaults(withoutHeartbeats(received))).toEqual([])
  expect(received.at(-1)).toMatchObject({ obj: { type: 'stop', stop_reason: 'user_cancelled' } })
  expect(received.filter((line) => 'obj' in line && line.obj.type === 'section_end')).toHaveLength(1)
  const next = await harness.ask('And now?', [says('Fine.')])
  expect(JSON.stringify(next)).toContain('Fine.')
  expect(harness.errors).toEqual([])
}
