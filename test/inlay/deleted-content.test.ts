import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { scriptedModel } from '@inlay/agent/testing'
import type { Principal } from '@inlay/protocol'
import { createInlay, type Inlay } from 'inlay'
import { afterAll, expect, test } from 'vitest'
import { eventually, providerOf, toRequest } from '../agent/setting.ts'
import { filesOnDisk } from '../life/files-on-disk.ts'
import { arriving, incoming } from '../conversations/files/setting.ts'

const folder = mkdtempSync(join(tmpdir(), 'inlay-deleted-'))
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))

const ana: Principal = { id: 'ana', scopes: ['chat'] }
/** Each is a single word, which text indexes store, and occurs in one place only, so that a finding tells the place. */
const marks = {
  question: 'markquestion9f2c',
  answer: 'markanswer71be',
  name: 'marknamee03d',
  feedback: 'markfeedback5c8a',
  key: 'markkeyb617',
  file: 'markfiled4f0',
  memory: 'markmemory28aa',
  edited: 'markeditedc95e',
}

/** The marks that are still in files of the data folder. */
const marksOnDisk = (isWanted?: (name: string) => boolean): string[] =>
  marksIn(filesOnDisk(folder, isWanted).map(({ bytes }) => bytes))

const marksIn = (files: readonly Buffer[]): string[] =>
  Object.entries(marks).flatMap(([name, mark]) => (files.some((bytes) => bytes.includes(mark)) ? [name] : []))

async function say({ agent }: Inlay): Promise<string> {
  const request = toRequest({ message: `What about ${marks.question}?` })
  const run = await agent.send(request, { caller: ana, idempotencyKey: marks.key })
  await run.whole()
  const feedback = { messageId: run.messageId, isPositive: true, text: marks.feedback, predefined: null }
  await agent.sessions.rate(feedback, ana)
  await agent.sessions.rename(run.sessionId, marks.name, ana)
  return run.sessionId
}

async function upload({ agent }: Inlay): Promise<string> {
  const text = `A long note. ${marks.file}. `.repeat(400)
  const { files } = await agent.files.upload(arriving(incoming('note.txt', text)), { caller: ana })
  const { id } = files[0]!
  await agent.files.read(id, ana)
  return id
}

test('what people remove is gone from the disk: sessions, file texts, memories', async () => {
  const model = scriptedModel([[`It is ${marks.answer}.`]])
  const inlay = createInlay({ dataFolder: folder, model: providerOf(model), onError: () => {} })
  const { agent } = inlay
  const sessionId = await say(inlay)
  const fileId = await upload(inlay)
  const removed = await agent.memories.add(`Likes ${marks.memory}.`, ana)
  const edited = await agent.memories.add(`Likes ${marks.edited}.`, ana)
  expect(marksOnDisk()).toEqual(Object.keys(marks))

  await agent.sessions.remove(sessionId, ana, { erase: true })
  await agent.files.remove(fileId, ana)
  await agent.memories.remove(removed.id, ana)
  await agent.memories.edit(edited.id, 'Likes tea.', ana)
  // The worker removes the bytes of a file first, and `close` waits for the rest of its work.
  await eventually(() => marksOnDisk((name) => !name.startsWith('inlay.db')).length === 0)
  await inlay.close()
  expect(marksOnDisk()).toEqual([])
})

test('erased text is gone from the log of a running service when the call resolves, with a reader beside it', async () => {
  const models = providerOf(scriptedModel(() => [`It is ${marks.answer}.`]))
  const inlay = createInlay({ dataFolder: folder, model: models, onError: () => {} })
  const { agent } = inlay
  const sessionId = await say(inlay)
  expect(marksOnDisk()).toEqual(['question', 'answer', 'name', 'feedback', 'key'])
  const reader = new DatabaseSync(join(folder, 'inlay.db'), { readOnly: true })
  reader.exec('begin')
  reader.prepare('select count(*) from inlay_chat_messages').get()
  let isErased = false
  const removing = agent.sessions.remove(sessionId, ana, { erase: true }).then(() => (isErased = true))
  // The rows are gone, but the reader holds on to the log.
  await eventually(async () => (await agent.sessions.list(ana, { includeEmpty: true })).sessions.length === 0)
  expect([isErased, marksOnDisk().length > 0]).toEqual([false, true])
  reader.close()
  await removing
  expect(marksOnDisk()).toEqual([])

  await say(inlay)
  await agent.memories.add(`Likes ${marks.memory}.`, ana)
  await inlay.erase(ana.id)
  expect(marksOnDisk()).toEqual([])
  await inlay.close()
})

test('single memories, files, projects, actions and documents leave the log of a running service at once', async () => {
  const inlay = createInlay({ dataFolder: folder, model: providerOf(scriptedModel([])), onError: () => {} })
  const { agent, knowledge } = inlay
  const records = (): string[] => marksIn(['inlay.db', 'inlay.db-wal'].map((name) => readFileSync(join(folder, name))))
  const admin: Principal = { id: 'ana', scopes: ['admin'] }

  const { id: removed } = await agent.memories.add(`Likes ${marks.memory}.`, ana)
  const { id: edited } = await agent.memories.add(`Likes ${marks.edited}.`, ana)
  await agent.memories.update({ preferences: marks.name }, ana)
  expect(records()).toEqual(['name', 'memory', 'edited'])
  await agent.memories.remove(removed, ana)
  expect(records()).toEqual(['name', 'edited'])
  await agent.memories.edit(edited, 'Likes tea.', ana)
  expect(records()).toEqual(['name'])
  await agent.memories.update({ preferences: '' }, ana)
  expect(records()).toEqual([])

  await agent.memories.add(`Likes ${marks.memory}.`, ana)
  await agent.memories.clear(ana)
  expect(records()).toEqual([])

  const project = await agent.projects.create('P', ana)
  await agent.projects.update(project.id, { instructions: marks.question }, ana)
  expect(records()).toEqual(['question'])
  await agent.projects.remove(project.id, ana)
  expect(records()).toEqual([])

  const tool = await agent.tools.create(
    {
      name: 'T',
      description: '',
      definition: {
        openapi: '3.0.0',
        info: { title: 'T', description: 'A service.', version: '1' },
        servers: [{ url: 'https://tool.example' }],
        paths: { '/': { get: { operationId: 'go', summary: 'Goes.', responses: {} } } },
      },
      customHeaders: [{ key: 'x-key', value: marks.key }],
      passesAuth: false,
      isForAll: false,
    },
    admin,
  )
  expect(records()).toEqual(['key'])
  await agent.tools.remove(tool.id)
  expect(records()).toEqual([])

  await knowledge.accept({
    document: { id: 'd', title: marks.answer, sections: [{ text: `${marks.feedback} is here.` }] },
  })
  await knowledge.whenIdle()
  expect(records()).toEqual(['answer', 'feedback'])
  await knowledge.remove('d')
  expect(records()).toEqual([])

  const fileId = await upload(inlay)
  expect(records()).toEqual(['file'])
  await agent.files.remove(fileId, ana)
  await eventually(() => records().length === 0)
  await inlay.close()
})
