import type { ActionSource } from '@inlay/agent'
import { expect, onTestFinished, test } from 'vitest'
import { ana, newDatabase } from '../../agent/setting.ts'
import type { ToolOptions } from 'inlay'
import { createWorkspaceRecords } from '@inlay/server'
import { toolParts } from 'inlay/internal/parts/tool-parts'

async function open(options: ToolOptions) {
  const db = await newDatabase()
  const errors: unknown[] = []
  const onError = (error: unknown): void => void errors.push(error)
  const parts = await toolParts(options, {
    db,
    workspace: createWorkspaceRecords({ db, now: () => 0 }),
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

test('without MCP servers there are the sources of the host alone', async () => {
  expect((await open({})).sources).toEqual([])
  expect((await open({ actionSources: [own], mcpServers: [] })).sources).toEqual([own])
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
