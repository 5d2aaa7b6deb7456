import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'
import { scriptedModel, type ScriptStep } from '@inlay/agent/testing'
import { createClient } from '@inlay/client'
import { closeServer, createInlay, nodeListener } from 'inlay'
import { until } from '../package/installation.ts'

/** A service with the examples beside it, on one port, as an app would have them. */
export interface Examples {
  readonly origin: string
  /** Resolves once the model was left before its end. */
  abandoned(): Promise<void>
  /** Lets the slow answer go on. */
  goOn(): void
  close(): Promise<void>
}

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
}

/** @param folder the built examples */
export async function startExamples(folder: string, dataFolder: string): Promise<Examples> {
  const slow = Promise.withResolvers<void>()
  const model = scriptedModel(({ prompt }): ScriptStep =>
    stepFor(JSON.stringify(prompt.at(-1)), JSON.stringify(prompt), slow.promise),
  )
  const facts = {
    provider: 'scripted',
    name: 'scripted',
    displayName: 'Scripted',
    contextTokens: 32_000,
    takesImages: false,
  }
  const inlay = createInlay({
    dataFolder,
    authenticate: () => ({ id: 'ana', scopes: ['admin'] }),
    model: {
      resolve: async () => ({ ...facts, model }),
      list: async () => [{ ...facts, providerType: 'scripted', providerDisplayName: 'Scripted', isDefault: true }],
    },
    searchHelp: { expand: false },
    onError: () => {},
  })
  const listener = nodeListener(async (request) => {
    const { pathname } = new URL(request.url)
    return pathname.startsWith('/api/') ? inlay.fetch(request) : fileOf(folder, pathname)
  })
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A listening TCP server has an address of this form.
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await createClient({ baseUrl: `${origin}/api` }).ingest(leave, { waitSeconds: 20 })
  return {
    origin,
    abandoned: async () => void (await until('the stop', async () => (model.abandoned() > 0 ? true : undefined))),
    goOn: slow.resolve,
    close: () => closeServer(server, inlay),
  }
}

const leave = {
  id: 'leave',
  semantic_identifier: 'Leave policy',
  source: 'web' as const,
  metadata: {},
  sections: [{ text: 'Staff get 25 days of leave.', link: 'https://wiki.example.com/leave' }],
}

/** How the model answers the newest message. */
function stepFor(newest: string, prompt: string, slow: Promise<void>): ScriptStep {
  if (newest.includes('"role":"tool"')) return ['Staff get 25 days ', '[1].']
  if (newest.includes('Fail, please')) return { reject: new Error('The model is away.') }
  if (newest.includes('Talk for ever')) return ['And on and on', { hang: true }]
  if (newest.includes('Slowly')) return ['The first half', { pause: () => slow }, ' and the second.']
  if (newest.includes('does the file say')) return [prompt.includes('called Quibble') ? 'Read: Quibble' : 'No file.']
  return [{ call: { name: 'internal_search', input: { queries: ['days of leave'] } } }]
}

async function fileOf(folder: string, pathname: string): Promise<Response> {
  const content = await readFile(join(folder, normalize(pathname))).catch(() => undefined)
  if (content === undefined) return new Response('', { status: 404 })
  return new Response(content, { headers: { 'content-type': mediaTypes[extname(pathname)] ?? 'text/plain' } })
}
