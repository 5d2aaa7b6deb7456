import type { ActionSource } from '@inlay/agent'
import { expect, onTestFinished, test } from 'vitest'
import { ana, newDatabase } from '../../agent/setting.ts'
import type { ToolOptions } from 'inlay'
import { createWorkspaceRecords, migrateServer } from '@inlay/server'
import { createSecrets } from 'inlay/internal/parts/secrets'
import { mcpTokens, toolParts } from 'inlay/internal/parts/tool-parts'

async function open(options: ToolOptions, given?: Awaited<ReturnType<typeof newDatabase>>) {
  const db = given ?? (await newDatabase())
  await migrateServer(db)
  const errors: unknown[] = []
  const onError = (error: unknown): void => void errors.push(error)
  const parts = await toolParts(options, {
    db,
    workspace: createWorkspaceRecords({ db, now: () => 0 }),
    secrets: createSecrets(undefined),
    egress: undefined,
    now: () => 0,
    onError,
  })
  onTestFinished(async () => {
    await parts.close()
    await db.destroy()
  })
  return { ...parts, errors }
}

const own: ActionSource = { list: async () => [], holds: async () => false }

test('beside the sources of the host there is one of MCP servers, empty until one is added', async () => {
  const { sources } = await open({ actionSources: [own], mcpServers: [] })
  expect(sources[0]).toBe(own)
  expect(await sources[1]!.list({ caller: ana })).toEqual([])
})

test('MCP servers are one more source, asked for the first time with a message', async () => {
  let count = 0
  const mcpServers = async () => {
    count++
    return [{ name: 'gone', url: 'http://127.0.0.1:1/mcp' }]
  }
  const { sources, errors } = await open({ actionSources: [own], mcpServers })
  expect([sources.length, count]).toEqual([2, 0])
  expect(await sources[1]!.list({ caller: ana })).toEqual([])
  expect([count, errors.length]).toEqual([1, 1])
})

test('a list of servers that cannot be stops the start', async () => {
  const mcpServers = [{ name: 'wiki', url: 'wiki.example' }]
  await expect(open({ mcpServers })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})

test('sign-ins to servers are encrypted where there is a key, and read where there was none before', async () => {
  const db = await newDatabase()
  onTestFinished(() => db.destroy())
  await migrateServer(db)
  const workspace = createWorkspaceRecords({ db, now: () => 0 })
  const [plain, sealed] = [undefined, 'a-random-text-of-the-host'].map((key) =>
    mcpTokens(workspace, createSecrets(key)),
  )
  await plain!.write('wiki https://a.example', '{"tokens":1}')
  expect(await sealed!.read('wiki https://a.example')).toBe('{"tokens":1}')
  await sealed!.write('wiki https://a.example', '{"tokens":"unguessable"}')
  expect((await workspace.get('mcp_sign_in', 1, 'wiki https://a.example'))?.value).not.toContain('unguessable')
  expect(await sealed!.read('wiki https://a.example')).toBe('{"tokens":"unguessable"}')
  // Signed in anew where the key is another one.
  expect(await plain!.read('wiki https://a.example')).toBeUndefined()
})

test('the sign-in to an added server goes with it, and with its address', async () => {
  const db = await newDatabase()
  const workspace = createWorkspaceRecords({ db, now: () => 0 })
  const { administration } = await open({}, db)
  const change = {
    name: 'Wiki',
    description: null,
    server_url: 'https://a.example',
    transport: 'STREAMABLE_HTTP',
    auth_type: 'NONE',
    api_token: null,
    existing_server_id: null,
  } as const
  const { id } = await administration.save(change)
  const isKept = async (url: string): Promise<boolean> => !!(await workspace.get('mcp_sign_in', 1, `Wiki ${url}`))
  await workspace.put('mcp_sign_in', 1, '{}', 'Wiki https://a.example')
  await administration.save({ ...change, existing_server_id: id, description: 'Pages' })
  expect(await isKept('https://a.example')).toBe(true)
  await administration.save({ ...change, existing_server_id: id, server_url: 'https://b.example' })
  expect(await isKept('https://a.example')).toBe(false)
  await workspace.put('mcp_sign_in', 1, '{}', 'Wiki https://b.example')
  await administration.remove(id)
  expect(await isKept('https://b.example')).toBe(false)
})
