import { createStorage } from 'unstorage'
import { expect, test } from 'vitest'
import type { Run } from '@inlay/agent'
import type { ConversationTables } from '@inlay/conversations/internal/tables/database'
import { ana, codeOf, newDatabase, newSetting, readAll, type Setting } from '../../agent/setting.ts'
import { eraseExpired } from '@inlay/conversations/internal/sessions/retention'
import { generatedFiles } from '@inlay/conversations/internal/sessions/session-files'
import { after } from './after.ts'

const png = Uint8Array.from(Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'))

/** An agent that draws a picture for each message. */
async function drawing(): Promise<Setting & { readonly storage: ReturnType<typeof createStorage> }> {
  const storage = createStorage()
  const setting = await newSetting(
    ({ prompt }) =>
      prompt.at(-1)?.role === 'user' ? [{ call: { name: 'generate_image', input: { prompt: 'a heron' } } }] : ['Done.'],
    { storage, imageGenerator: async () => [{ bytes: png, mediaType: 'image/png' }] },
  )
  return { ...setting, storage }
}

async function pictureOf(run: Run): Promise<string> {
  const images = (await readAll(run)).flatMap((line) =>
    'obj' in line && line.obj.type === 'image_generation_final' ? line.obj.images : [],
  )
  return images[0]!.file_id
}

async function* arriving(name: string) {
  yield {
    name,
    mediaType: 'text/plain',
    bytes: (async function* () {
      yield new TextEncoder().encode('A heron.')
    })(),
  }
}

test.each(['alone', 'with all others'])(
  'a session that is erased %s takes the files made in it with it',
  async (how) => {
    const { agent, send, storage } = await drawing()
    const { files } = await agent.files.upload(arriving('a.txt'), { caller: ana })
    const upload = files[0]!
    const attached = { id: upload.fileId, type: 'plain_text' as const, name: 'a.txt' }
    const run = await send({ message: 'Draw a heron', file_descriptors: [attached] })
    const picture = await pictureOf(run)
    expect(await codeOf(agent.files.get(picture, ana))).toBe('none')
    if (how === 'alone') await agent.sessions.remove(run.sessionId, ana, { erase: true })
    else await agent.sessions.removeAll(ana, { erase: true })
    expect(await codeOf(agent.files.get(picture, ana))).toBe('NOT_FOUND')
    await expect.poll(async () => (await storage.getKeys()).filter((key) => key.includes(picture))).toEqual([])
    // Uploads are the library of their owner.
    expect(await codeOf(agent.files.get(upload.id, ana))).toBe('none')
  },
)

test('a session is not restored while it is being erased, and can be erased again after a failure', async () => {
  const db = await newDatabase()
  const first = await newSetting([['28 days.']], { db })
  const run = await first.send()
  await run.whole()
  const { sessionId } = run
  const restored: string[] = []
  const race = after('inlay_chat_tool_calls', async () => {
    restored.push(await codeOf(first.agent.sessions.restore(sessionId, ana)))
    throw new Error('the database is away')
  })
  const second = await newSetting([], { db: db.withPlugin(race) })
  const erase = ({ agent }: Setting): Promise<string> => codeOf(agent.sessions.remove(sessionId, ana, { erase: true }))
  expect(await erase(second)).toContain('the database is away')
  expect(restored).toEqual(['SESSION_NOT_FOUND'])
  expect(await codeOf(first.agent.sessions.get(sessionId, ana))).toBe('SESSION_NOT_FOUND')
  expect([await erase(first), await erase(first)]).toEqual(['none', 'SESSION_NOT_FOUND'])
})

test('a file that was attached in another session stays until that one is erased too', async () => {
  const { agent, send } = await drawing()
  const run = await send({ message: 'Draw a heron' })
  const picture = await pictureOf(run)
  const attached = { id: picture, type: 'image' as const, name: 'heron.png' }
  const other = await send({ message: 'And this?', file_descriptors: [attached] })
  await readAll(other)
  await agent.sessions.remove(run.sessionId, ana, { erase: true })
  expect(await codeOf(agent.files.get(picture, ana))).toBe('none')
})

test('a session that is only hidden keeps the files made in it', async () => {
  const { agent, send } = await drawing()
  const run = await send({ message: 'Draw a heron' })
  const picture = await pictureOf(run)
  await agent.sessions.remove(run.sessionId, ana)
  expect(await codeOf(agent.files.get(picture, ana))).toBe('none')
})

test.each([
  [true, 0],
  [false, 3],
])('a message to a session that is removed just then (erased: %s) is refused and not stored', async (erase, kept) => {
  const db = await newDatabase()
  const first = await newSetting([['28 days.']], { db })
  const run = await first.send()
  await run.whole()
  const race = after('has_files', () => first.agent.sessions.remove(run.sessionId, ana, { erase }))
  const second = await newSetting([['Thirty.']], { db: db.withPlugin(race) })
  expect(await codeOf(second.send({ chat_session_id: run.sessionId, message: 'And heron?' }))).toBe('SESSION_NOT_FOUND')
  const messages = await db
    .withTables<ConversationTables>()
    .selectFrom('inlay_chat_messages')
    .select('id')
    .where('session_id', '=', run.sessionId)
    .execute()
  expect(messages).toHaveLength(kept)
})

test('a name or an opinion that comes while the session is erased leaves nothing behind', async () => {
  const db = await newDatabase()
  const first = await newSetting([['28 days.'], ['28 days.']], { db })
  const tables = db.withTables<ConversationTables>()
  const answered = async (): Promise<Run> => {
    const run = await first.send()
    await run.whole()
    return run
  }
  const during = (named: string, { sessionId }: Run): Promise<Setting> => {
    const race = after(named, () => first.agent.sessions.remove(sessionId, ana, { erase: true }))
    return newSetting([], { db: db.withPlugin(race) })
  }
  const renamed = await answered()
  const renaming = await during('inlay_chat_sessions', renamed)
  expect(await codeOf(renaming.agent.sessions.rename(renamed.sessionId, 'Heron', ana))).toBe('SESSION_NOT_FOUND')
  expect(await tables.selectFrom('inlay_chat_search').select('id').execute()).toEqual([])
  const rated = await answered()
  const rating = await during('parentId', rated)
  const opinion = { messageId: rated.messageId, isPositive: null, text: 'Herons are grey.', predefined: null }
  expect(await codeOf(rating.agent.sessions.rate(opinion, ana))).toBe('SESSION_NOT_FOUND')
  expect(await tables.selectFrom('inlay_chat_feedback').select('id').execute()).toEqual([])
})

test('all files that were made in a session are found, however many calls made them', async () => {
  const { db, send } = await drawing()
  const run = await send({ message: 'Draw a heron' })
  await readAll(run)
  const tables = db.withTables<ConversationTables>()
  const { id: _, ...call } = await tables.selectFrom('inlay_chat_tool_calls').selectAll().executeTakeFirstOrThrow()
  const images = (at: number): string => JSON.stringify([{ file_id: `picture-${at}` }])
  const calls = Array.from({ length: 250 }, (__, at) => ({ ...call, call_id: `call-${at}`, images: images(at) }))
  await tables.insertInto('inlay_chat_tool_calls').values(calls).execute()
  const fileIds = await generatedFiles(tables, [run.sessionId])
  expect(fileIds.filter((id) => id.startsWith('picture-'))).toHaveLength(250)
})

test('the erasing of old sessions that fails is done by the next, although they were hidden', async () => {
  const { db, agent, send } = await drawing()
  const run = await send({ message: 'Draw a heron' })
  await readAll(run)
  await agent.sessions.remove(run.sessionId, ana)
  const tables = db.withTables<ConversationTables>()
  const { deleted_at: deletedAt } = await tables
    .selectFrom('inlay_chat_sessions')
    .select('deleted_at')
    .executeTakeFirstOrThrow()
  const before = Number(deletedAt) + 1
  let isDown = true
  const removeRuns = async (): Promise<void> => {
    if (isDown) throw new Error('down')
  }
  const parts = { db: tables, agent: { removeRuns }, files: { removeUnheld: async () => {} } }
  const erase = () => eraseExpired(parts as never, { deletedBefore: before, limit: 10 })
  await expect(erase()).rejects.toThrow('down')
  isDown = false
  expect(await erase()).toBe(1)
})

test('a session whose erasing has begun is not restored, and is erased later if that fails', async () => {
  const { db, agent, send } = await drawing()
  const run = await send({ message: 'Draw a heron' })
  await readAll(run)
  const id = run.sessionId
  const restored: string[] = []
  const removeRuns = async (): Promise<void> => {
    restored.push(await codeOf(agent.sessions.restore(id, ana)))
    if (restored.length === 1) throw new Error('down')
  }
  const parts = {
    db: db.withTables<ConversationTables>(),
    agent: { removeRuns },
    files: { removeUnheld: async () => {} },
  }
  await expect(eraseExpired(parts as never, { unchangedSince: Date.UTC(2100, 0), limit: 10 })).rejects.toThrow('down')
  expect(await codeOf(agent.sessions.restore(id, ana))).toBe('SESSION_NOT_FOUND')
  expect(await eraseExpired(parts as never, { limit: 10 })).toBe(1)
  expect(restored).toEqual(['SESSION_NOT_FOUND', 'SESSION_NOT_FOUND'])
  expect(await codeOf(agent.sessions.get(id, ana, { includeDeleted: true }))).toBe('SESSION_NOT_FOUND')
})

test('removing a session whose erasing begins meanwhile does not make it restorable', async () => {
  const db = await newDatabase()
  const first = await newSetting([['28 days.']], { db })
  const { sessionId, whole } = await first.send()
  await whole()
  const hide = after('inlay_chat_sessions', () =>
    db.withTables<ConversationTables>().updateTable('inlay_chat_sessions').set({ deleted_at: 0 }).execute(),
  )
  const second = await newSetting([], { db: db.withPlugin(hide) })
  await second.agent.sessions.remove(sessionId, ana)
  expect(await codeOf(first.agent.sessions.restore(sessionId, ana))).toBe('SESSION_NOT_FOUND')
})
