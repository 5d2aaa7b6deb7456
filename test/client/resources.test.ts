import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type Client } from '@inlay/client'
import { createInlay, type Inlay } from 'inlay'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { UserFile } from '@inlay/protocol'
import { json, service } from './service.ts'

const folder = mkdtempSync(join(tmpdir(), 'inlay-client-'))
const baseUrl = 'http://host.example/api'
let inlay: Inlay
let client: Client
let stranger: Client

/** A client of the real service, without a port. */
function clientOf(apiKey: string): Client {
  return createClient({ baseUrl, apiKey, fetch: (input, init) => inlay.fetch(new Request(input, init)) })
}

beforeAll(async () => {
  inlay = createInlay({ dataFolder: folder, apiKey: 'the-key-of-the-test', worker: { lingerMs: 1 } })
  client = clientOf('the-key-of-the-test')
  stranger = clientOf((await inlay.keys.create({ scopes: ['chat'] })).key)
  const sections = [{ text: 'Staff get 25 days of leave a year.', link: 'https://docs.example/leave' }]
  await client.ingest({ semantic_identifier: 'Leave', sections, metadata: {} }, { waitSeconds: 60 })
})
afterAll(async () => {
  await inlay.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})

const codeOf = (failing: Promise<unknown>): Promise<unknown> =>
  failing.then(
    () => 'nothing failed',
    (error: { code?: unknown }) => error.code,
  )
const askOnce = async (message: string): Promise<{ session: string; question: number; answer: number }> => {
  const whole = await client.ask(message)
  return { session: whole.chat_session_id ?? '', question: whole.message_id - 1, answer: whole.message_id }
}

// The first test: a project's file is a document of its own until its removal is done.
it('documents are counted by their states for administrators', async () => {
  expect((await client.figures()).documents.indexed).toBe(1)
  expect(await codeOf(stranger.figures())).toBe('INSUFFICIENT_PERMISSIONS')
})

describe('sessions', () => {
  it('are made, named, found, shared and read again with what was said', async () => {
    const { session } = await askOnce('How many days of leave do staff get?')
    expect(await client.sessions.rename(session)).toBe('How many days of leave do staff get?')
    expect(await client.sessions.rename(session, 'Leave & rest')).toBe('Leave & rest')
    expect((await client.sessions.list()).sessions.map(({ name }) => name)).toContain('Leave & rest')
    const passages = await client.sessions.search('rest')
    expect(passages.groups.flatMap(({ chats }) => chats.map(({ id }) => id))).toEqual([session])
    const read = await client.sessions.get(session)
    expect(read.messages.map(({ message_type: type }) => type)).toEqual(['system', 'user', 'assistant'])
    expect(read.packets[0]?.at(-1)?.obj.type).toBe('stop')

    expect(await codeOf(stranger.sessions.get(session, { shared: true }))).toBe('SESSION_NOT_FOUND')
    await client.sessions.share(session, 'public')
    expect((await stranger.sessions.get(session, { shared: true })).description).toBe('Leave & rest')
  })

  it('are listed page by page', async () => {
    const ids = [await client.sessions.create({ description: 'a' }), await client.sessions.create({ description: 'b' })]
    const first = await client.sessions.list({ limit: 1 })
    const second = await client.sessions.list({ limit: 1, before: first.sessions[0]?.time_updated })
    expect([first.has_more, first.sessions[0]?.id, second.sessions[0]?.id]).toEqual([true, ids[1], ids[0]])
    for (const id of ids) await client.sessions.remove(id, { erase: true })
  })

  it('go on with the branch that is chosen, and answers are rated', async () => {
    const { session, question, answer } = await askOnce('Leave?')
    const again = await client.ask({ message: '', chat_session_id: session, parent_message_id: question })
    const latest = async (): Promise<unknown> =>
      (await client.sessions.get(session)).messages.find(({ message_id: id }) => id === question)?.latest_child_message
    expect(await latest()).toBe(again.message_id)
    await client.sessions.selectBranch(answer)
    expect(await latest()).toBe(answer)
    await client.sessions.prefer(question, again.message_id)
    expect(await latest()).toBe(again.message_id)

    const feedback = async (): Promise<unknown> =>
      (await client.sessions.get(session)).messages.find(({ message_id: id }) => id === answer)?.current_feedback
    await client.sessions.rate(answer, { isPositive: false, text: 'Too short.' })
    expect(await feedback()).toBe('dislike')
    await client.sessions.unrate(answer)
    expect(await feedback()).toBeNull()
    expect(await codeOf(client.sessions.rate(answer, {}))).toBe('VALIDATION_FAILED')
  })

  it('are pinned to a model, piece by piece', async () => {
    const id = await client.sessions.create()
    await client.sessions.pin(id, { temperature: 0.5, reasoningEffort: 'high' })
    await client.sessions.pin(id, { reasoningEffort: null })
    const { current_temperature_override: temperature, current_reasoning_effort_override: effort } =
      await client.sessions.get(id)
    expect([temperature, effort]).toEqual([0.5, null])
    expect(await codeOf(client.sessions.pin(id, { model: 'none such' }))).toBe('VALIDATION_ERROR')
  })

  it('of others are not there', async () => {
    const { session, answer } = await askOnce('Mine?')
    const failing = [
      stranger.sessions.rename(session, 'x'),
      stranger.sessions.remove(session),
      stranger.sessions.share(session, 'public'),
      stranger.sessions.pin(session, { temperature: 1 }),
      stranger.stop(session),
    ]
    expect(await Promise.all(failing.map(codeOf))).toEqual(failing.map(() => 'SESSION_NOT_FOUND'))
    expect(await codeOf(stranger.sessions.rate(answer, { isPositive: true }))).toBe('VALIDATION_ERROR')
    await client.sessions.remove(session)
    expect(await codeOf(client.sessions.get(session))).toBe('SESSION_NOT_FOUND')
    await client.sessions.removeAll()
    expect((await client.sessions.list()).sessions).toEqual([])
  })
})

describe('files and projects', () => {
  const upload = async (name: string, content: string, type: string): Promise<UserFile> => {
    const { user_files: files, rejected_files: rejected } = await client.files.upload([
      { name, content: new Blob([content], { type }) },
    ])
    expect(rejected).toEqual([])
    return files[0]!
  }

  it('go up as a page or a program has them, and come back as they were', async () => {
    const picked = new File(['# Rules\n\nNo flash.'], 'rules "1".md', { type: 'text/markdown' })
    const sheet = { name: 'hours.csv', content: new Blob(['day,hours\nMon,8\n'], { type: 'text/csv' }) }
    const { user_files: files } = await client.files.upload([picked, sheet])
    const read = await client.files.whenRead(files.map(({ id }) => id))
    expect(read.map(({ name, status }) => [name, status])).toEqual([
      ['rules "1".md', 'COMPLETED'],
      ['hours.csv', 'COMPLETED'],
    ])
    const [rules, hours] = files
    const content = await client.files.content(rules!.file_id)
    expect([content.name, content.type, await content.text()]).toEqual([
      'rules "1".md',
      'text/markdown',
      '# Rules\n\nNo flash.',
    ])
    expect((await client.files.sheets(hours!.id)).sheets[0]?.csv).toBe('day,hours\nMon,8\n')
    expect((await client.files.list()).map(({ id }) => id)).toEqual(expect.arrayContaining([rules!.id, hours!.id]))
    expect((await client.files.get(rules!.id)).name).toBe('rules "1".md')
    expect(await codeOf(stranger.files.content(rules!.file_id))).toBe('NOT_FOUND')
    expect(await stranger.files.statuses([rules!.id])).toEqual([])
  })

  it('are refused one by one, with the reason', async () => {
    const taken = { name: 'a.txt', content: new Blob(['a'], { type: 'text/plain' }) }
    const refused = { name: 'empty.txt', content: new Blob([]) }
    const answer = await client.files.upload([taken, refused])
    expect(answer.user_files.map(({ name }) => name)).toEqual(['a.txt'])
    expect(answer.rejected_files).toEqual([{ file_name: 'empty.txt', reason: expect.any(String) }])
  })

  it('of a project are seen by its chats; a file in use stays', async () => {
    const file = await upload('house.txt', 'The door code is 4711.', 'text/plain')
    const { id } = await client.projects.create('House & home')
    await client.projects.link(id, file.id)
    const response = await client.projects.update(id, { description: 'All of it', instructions: 'Be brief.' })
    expect(response).toMatchObject({ name: 'House & home', description: 'All of it', instructions: 'Be brief.' })
    expect((await client.projects.get(id)).files.map(({ name }) => name)).toEqual(['house.txt'])
    expect(await client.files.remove(file.id)).toMatchObject({
      has_associations: true,
      project_names: ['House & home'],
    })

    const session = await client.sessions.create({ project_id: id })
    const inProject = async (): Promise<unknown> =>
      (await client.sessions.list({ projectId: id })).sessions.map((session) => session.id)
    expect(await inProject()).toEqual([session])
    await client.projects.moveSession(session, null)
    expect(await inProject()).toEqual([])
    await client.projects.moveSession(session, id)
    expect(await inProject()).toEqual([session])

    await client.projects.unlink(id, file.id)
    expect(await client.projects.files(id)).toEqual([])
    await client.projects.remove(id)
    expect((await client.projects.list()).map((item) => item.id)).not.toContain(id)
    expect(await codeOf(client.projects.get(id))).toBe('NOT_FOUND')
    expect((await client.files.remove(file.id)).has_associations).toBe(false)
  })
})

describe('what a message may choose from', () => {
  it('models, actions, document sets and agents are listed', async () => {
    expect((await client.models()).default_text).toEqual({ provider_id: 1, model_name: 'extractive' })
    expect((await client.tools()).map(({ in_code_tool_id: kind }) => kind)).toContain('SearchTool')
    expect(await client.documentSets()).toEqual([])
    expect((await client.agents.list()).map(({ id }) => id)).toEqual([0])
  })

  it('agents are made, changed and removed', async () => {
    const tools = (await client.tools()).map(({ id }) => id)
    const created = await client.agents.create({
      name: 'Clerk',
      description: 'Knows the rules.',
      document_set_ids: [],
      tool_ids: tools.slice(0, 1),
      system_prompt: 'You are a clerk.',
      task_prompt: '',
      datetime_aware: true,
    })
    expect((await client.agents.update(created.id, { name: 'Chief clerk' })).name).toBe('Chief clerk')
    expect(await client.agents.get(created.id)).toMatchObject({
      name: 'Chief clerk',
      system_prompt: 'You are a clerk.',
    })
    expect(await codeOf(stranger.agents.get(created.id))).toBe('PERSONA_NOT_FOUND')
    await client.agents.remove(created.id)
    expect(await codeOf(client.agents.get(created.id))).toBe('PERSONA_NOT_FOUND')
  })
})

it('what is remembered about the caller is kept, changed and forgotten', async () => {
  const { memories } = client
  expect(await memories.change({ name: 'Ana', user_preferences: 'Short, please.' })).toMatchObject({
    name: 'Ana',
    use_memories: true,
  })
  const created = await memories.add('Works in optics.')
  expect(await memories.edit(created.id, 'Works in lasers.')).toEqual({ id: created.id, content: 'Works in lasers.' })
  expect((await memories.settings()).memories).toEqual(await memories.list())
  expect([await stranger.memories.list(), await codeOf(stranger.memories.remove(created.id))]).toEqual([
    [],
    'NOT_FOUND',
  ])
  await memories.remove(created.id)
  await memories.add('Has a dog.')
  await memories.removeAll()
  expect(await memories.list()).toEqual([])
})

it('what is no list where one is due is a fault of the service', async () => {
  const { fetch } = service(
    () => json({ tools: [] }),
    () => new Response('<html>'),
  )
  const other = createClient({ baseUrl: '/api', fetch })
  expect([await codeOf(other.tools()), await codeOf(other.files.list())]).toEqual(['BAD_GATEWAY', 'BAD_GATEWAY'])
})

it('waiting for files to be read ends when it is called off', async () => {
  const { fetch } = service(() => json([{ ...reading }]))
  const other = createClient({ baseUrl: '/api', fetch })
  const off = new AbortController()
  const waiting = other.files.whenRead([reading.id], { signal: off.signal })
  off.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
})

const reading = {
  id: '6f1c2f4e-5a0b-4c53-9a3e-0b8f2f1f7c11',
  name: 'a.pdf',
  file_id: 'f',
  created_at: '2026-01-01T00:00:00Z',
  status: 'PROCESSING',
  chat_file_type: 'document',
}
