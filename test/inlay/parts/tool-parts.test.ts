import type { ActionSource } from '@inlay/agent'
import { expect, onTestFinished, test } from 'vitest'
import { ana, newDatabase } from '../../agent/setting.ts'
import type { ToolOptions } from 'inlay'
import { createWorkspaceRecords, migrateServer } from '@inlay/server'
import { createSecrets } from 'inlay/internal/parts/secrets'
import { toolParts } from 'inlay/internal/parts/tool-parts'

async function open(options: ToolOptions) {
  const db = await newDatabase()
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
