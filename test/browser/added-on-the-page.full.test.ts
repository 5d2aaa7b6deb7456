import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startStrictServer } from '../drivers/mcp/strict-server.ts'
import type { StandIn } from '../stand-in/model-server.ts'
import { startOpenAi } from '../stand-in/openai.ts'
import { startPlayground, type Playground } from './playground.ts'
import { answered, ask, faultsOf, open, reason, shot } from './visit.ts'

describe.skipIf(reason !== undefined)('an installation without a model', () => {
  let model: StandIn
  let wiki: Wiki
  let strict: Awaited<ReturnType<typeof startStrictServer>>
  let playground: Playground
  beforeAll(async () => {
    wiki = await startWiki()
    strict = await startStrictServer()
    // Calls the tool when it is offered, and answers from its result.
    model = await startOpenAi(({ body }) => {
      if (JSON.stringify(body['messages']).includes('The keys hang')) return [{ text: 'They hang behind the boiler.' }]
      return JSON.stringify(body['tools'] ?? []).includes('look_up')
        ? [{ calls: [{ id: 'call00001', name: 'look_up', input: {} }] }]
        : [{ text: 'I was added on the page.' }]
    })
    playground = await startPlayground({
      INLAY_SECRET_KEY: 'a-random-text-of-the-host',
      INLAY_EGRESS_ALLOW: [model.origin, wiki.origin, strict.origin].map((origin) => new URL(origin).host).join(','),
      INLAY_LOCAL_MODELS: 'off',
    })
    await playground.printed('searchable after')
  })
  afterAll(async () => {
    expect(await playground?.end()).toBe(0)
    await model?.close()
    wiki?.server.close()
    strict?.close()
  })

  test('gets one on the page, and a server of tools: added, tried, used in chats and removed', async () => {
    const page = await open(playground.address)
    await page.getByRole('link', { name: 'Administration' }).click()
    const form = page.getByRole('form', { name: 'Add a model' })
    await form.getByLabel('Name in lists').fill('Ours')
    await form.getByLabel('Address of the API').fill(`${model.origin}/v1`)
    await form.getByLabel('Key').fill('sk-unguessable-hunter2')
    await form.getByLabel('Names of the models').fill('gpt-4o')
    expect(await faultsOf(page)).toEqual([])
    await form.getByRole('button', { name: 'Add the model' }).click()
    await page.getByRole('heading', { name: 'gpt-4o' }).waitFor()
    await page.getByRole('button', { name: 'Test gpt-4o' }).click()
    await page.getByText(/Answered “I was added on the page\.” in \d+ ms\./).waitFor()
    await page.getByRole('button', { name: 'Make default: gpt-4o' }).click()
    await page.getByRole('button', { name: 'Make default: gpt-4o' }).waitFor({ state: 'detached' })
    await shot(page, 'model-added')
    expect(await faultsOf(page)).toEqual([])
    expect(await page.content()).not.toContain('hunter2')

    await page.getByRole('button', { name: 'New chat', exact: true }).click()
    await page.locator('.model', { hasText: 'gpt-4o' }).waitFor()
    await ask(page, 'Hello, who are you?')
    await (await answered(page)).getByText('I was added on the page.').waitFor()
    expect(model.requests.at(-1)?.headers.authorization).toBe('Bearer sk-unguessable-hunter2')

    await page.getByRole('link', { name: 'Administration' }).click()
    const sections = page.getByRole('navigation', { name: 'Sections' })
    await sections.getByRole('link', { name: 'Actions' }).click()
    await page.getByText('Add an MCP server').click()
    const addServer = page.getByRole('form', { name: 'Add an MCP server' })
    await addServer.getByLabel('Name of the server').fill('Wiki')
    await addServer.getByLabel('Address of its endpoint').fill(`${wiki.origin}/mcp`)
    await addServer.getByLabel('Token').fill('token-hunter2')
    await addServer.getByRole('button', { name: 'Add the server' }).click()
    const servers = page.getByRole('region', { name: 'MCP servers' })
    await servers.getByRole('button', { name: 'Try Wiki' }).click()
    await servers.getByText('1 tool: look up').waitFor()
    await shot(page, 'mcp-server-added')
    expect(await faultsOf(page)).toEqual([])
    expect(wiki.tokens).toContain('Bearer token-hunter2')

    await sections.getByRole('link', { name: 'Agents' }).click()
    await page.getByRole('button', { name: 'New agent' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Librarian')
    await page.getByRole('group', { name: 'Wiki' }).getByLabel('All of its tools').check()
    expect(await page.getByRole('group', { name: 'Wiki' }).getByLabel('look up').isChecked()).toBe(true)
    expect(await faultsOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Create the agent' }).click()
    await page.getByRole('button', { name: 'Try Librarian in a new chat' }).click()
    await ask(page, 'Where are the keys?')
    await (await answered(page)).getByText('They hang behind the boiler.').waitFor()

    await page.getByRole('link', { name: 'Administration' }).click()
    await sections.getByRole('link', { name: 'Actions' }).click()
    await page.getByRole('button', { name: 'Delete Wiki' }).click()
    await page.getByRole('group', { name: 'Delete Wiki?' }).getByRole('button', { name: 'Delete' }).click()
    await servers.getByRole('heading', { name: 'Wiki' }).waitFor({ state: 'detached' })
    await sections.getByRole('link', { name: 'Models' }).click()
    await page.getByRole('button', { name: 'Delete gpt-4o' }).click()
    await page.getByRole('group', { name: 'Delete Ours?' }).getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'gpt-4o' }).waitFor({ state: 'detached' })
  })

  test('signs in to a server of tools that asks for it', async () => {
    const page = await open(playground.address)
    await page.getByRole('link', { name: 'Administration' }).click()
    await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Actions' }).click()
    await page.getByText('Add an MCP server').click()
    const addServer = page.getByRole('form', { name: 'Add an MCP server' })
    await addServer.getByLabel('Name of the server').fill('Strict')
    await addServer.getByLabel('Address of its endpoint').fill(strict.server.url)
    await addServer.getByRole('button', { name: 'Add the server' }).click()
    const servers = page.getByRole('region', { name: 'MCP servers' })
    await servers.getByRole('button', { name: 'Try Strict' }).click()
    await servers.getByText('asks to sign in').waitFor()
    await shot(page, 'mcp-server-asks-to-sign-in')
    expect(await faultsOf(page)).toEqual([])
    await servers.getByRole('button', { name: 'Sign in to Strict' }).click()
    // The authorization server sends the browser straight back.
    await servers.getByText('1 tool: look up').waitFor()
    expect(page.url()).not.toContain('code=')
    expect(await servers.getByRole('button', { name: 'Sign in to Strict' }).count()).toBe(0)
    expect(await faultsOf(page)).toEqual([])
    await page.reload()
    await servers.getByRole('button', { name: 'Try Strict' }).click()
    await servers.getByText('1 tool: look up').waitFor()
  })
})

interface Wiki {
  readonly origin: string
  readonly server: Server
  readonly tokens: (string | undefined)[]
}

/** An MCP server with one tool. */
async function startWiki(): Promise<Wiki> {
  const tokens: (string | undefined)[] = []
  const results: Readonly<Record<string, object>> = {
    initialize: { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'wiki', version: '1' } },
    'tools/list': { tools: [{ name: 'look up', description: 'Looks up a page.', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: 'The keys hang behind the boiler.' }] },
  }
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (part: Buffer) => (text += part.toString()))
    request.on('end', () => {
      tokens.push(request.headers.authorization)
      const { id, method } = (text === '' ? {} : JSON.parse(text)) as { id?: number; method?: string }
      const result = results[method ?? '']
      if (!result) return response.writeHead(202).end()
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, tokens }
}
