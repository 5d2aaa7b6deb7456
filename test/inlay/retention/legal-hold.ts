import { copiedTables, type AnyDatabase } from '@inlay/records'
import type { InlayOptions } from 'inlay'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { filesOnDisk } from '../../life/files-on-disk.ts'
import { dayMs, leaveTraces, newHeldSetting, people, type HeldInlay } from './held.ts'

interface OpenApiOperation {
  readonly operationId: string
  readonly responses: object
}

interface Hold {
  readonly id: number
}

const place = async ({ call }: HeldInlay, person: string | null, reason = 'Case 7'): Promise<number> =>
  (await call<Hold>('admin', 'POST', '/admin/holds', { person, reason })).body.id
const lift = ({ call }: HeldInlay, id: number) => call('admin', 'DELETE', `/admin/holds/${id}`)

/** All rows that are not those of the audit, of holds, or of what runs. */
export async function rowsOf(db: AnyDatabase): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {}
  for (const { name } of await copiedTables(db, (table) =>
    /chat_(?!search|runs|run_lines|proc)|file|project|persona|memor|api_key|workspace/.test(table),
  ))
    counts[name] = Number(
      (await sql<{ n: unknown }>`select count(*) as n from ${sql.table(name)}`.execute(db)).rows[0]!.n,
    )
  return counts
}

/** The API description names the refusal of each call that a hold refuses. */
async function checkDescription({ call }: HeldInlay): Promise<void> {
  const described = await call<{ paths: Record<string, Record<string, OpenApiOperation>> }>(
    'ann',
    'GET',
    '/openapi.json',
  )
  const refusable = Object.values(described.body.paths)
    .flatMap((methods) => Object.values(methods))
    .filter(({ responses }) => '409' in responses)
    .map(({ operationId }) => operationId)
  for (const operation of ['ChatSession', 'AllChatSessions', 'Project', 'Memory', 'InputPrompt'])
    expect(refusable).toContain(`delete${operation}`)
  for (const operation of ['forgetMemories', 'updatePersonalization', 'removeFeedback'])
    expect(refusable).toContain(operation)
}

type Open = () => Promise<{ options: InlayOptions; db: (folder: string) => AnyDatabase }>

/** Tests of legal holds in a database. */
export function testLegalHolds(open: Open): void {
  testSeveralHolds(open)
  test('a hold keeps all that is stored of a person from retention, from the person and from erasure, until it is lifted', async () => {
    const { options, db: dbOf } = await open()
    const { folder, clock, open: openInlay } = newHeldSetting(options)
    const first = openInlay()
    const { sessionId, messageId, projectId, memoryId, personaId, promptId, fileId } = await leaveTraces(first, 'ann')
    await leaveTraces(first, 'bob')
    const hidden = await leaveTraces(first, 'ann')
    await first.call('ann', 'DELETE', `/chat/delete-chat-session/${hidden.sessionId}`)
    await first.call('ann', 'DELETE', `/persona/${hidden.personaId}`)
    const hold = await place(first, people.ann)
    const db = dbOf(folder)
    const before = await rowsOf(db)
    const bytesBefore = filesOnDisk(`${folder}/files`).length

    const refused = {
      status: 409,
      body: { error_code: 'CONFLICT', detail: expect.stringContaining(`legal hold ${hold}:`) },
    }
    for (const [method, path] of [
      ['DELETE', `/chat/delete-chat-session/${sessionId}?hard_delete=true`],
      ['DELETE', '/chat/delete-all-chat-sessions?hard_delete=true'],
      ['DELETE', `/chat/remove-chat-message-feedback?chat_message_id=${messageId}`],
      ['DELETE', `/user/projects/${projectId}`],
      ['DELETE', `/user/memories/${memoryId}`],
      ['DELETE', `/input_prompt/${promptId}`],
      ['DELETE', `/v1/conversations/conv_${sessionId.replaceAll('-', '')}`],
    ] as const) {
      const answer = await first.call<Record<string, unknown>>('ann', method, path)
      // OpenAI's clients would repeat a 409.
      if (path.startsWith('/v1'))
        expect(answer, path).toMatchObject({
          status: 400,
          body: { error: { message: expect.stringContaining(`legal hold ${hold}:`) } },
        })
      else expect(answer, path).toMatchObject(refused)
    }
    expect((await first.call('ann', 'PATCH', '/user/personalization', { memories: [] })).status).toBe(409)
    await checkDescription(first)
    await expect(first.inlay.erase(people.ann)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining(`legal hold ${hold}:`),
    })
    await expect(first.inlay.agent.erase(people.ann)).rejects.toMatchObject({ code: 'CONFLICT' })
    await expect(first.inlay.destroy()).rejects.toMatchObject({ code: 'CONFLICT' })

    // What only hides goes on.
    expect((await first.call('ann', 'DELETE', `/chat/delete-chat-session/${sessionId}`)).status).toBe(200)
    expect((await first.call('ann', 'DELETE', `/persona/${personaId}`)).status).toBe(200)
    expect((await first.call('ann', 'DELETE', `/user/projects/file/${fileId}`)).status).toBe(200)
    expect((await first.call<{ id: string }[]>('ann', 'GET', '/user/files/recent')).body.map(({ id }) => id)).toEqual([
      hidden.fileId,
    ])
    await first.inlay.close()

    clock.time += 400 * dayMs
    const retention = { maxSessionDays: 30, maxDeletedSessionDays: 7, maxDeletedAgentDays: 7, maxAuditDays: 30 }
    const second = openInlay({ retention })
    await second.inlay.start()
    const auditOf = async (operation: string): Promise<unknown[]> =>
      (await second.call<unknown[]>('admin', 'GET', `/admin/audit?operation=${operation}`)).body
    await expect.poll(() => auditOf('applyRetention')).toHaveLength(1)
    // The session of bob went.
    const after = await rowsOf(db)
    expect(after['inlay_chat_sessions']).toBe(before['inlay_chat_sessions']! - 1)
    expect(after['inlay_chat_feedback']).toBe(before['inlay_chat_feedback']! - 1)
    for (const table of [
      'inlay_files',
      'inlay_personas',
      'inlay_memories',
      'inlay_projects',
      'inlay_api_key',
      'inlay_workspace',
    ])
      expect(after[table], table).toBe(before[table]! - (table === 'inlay_files' ? 1 : 0))
    expect(await auditOf('deletePersona')).toHaveLength(2)
    await second.inlay.close()

    const third = openInlay()
    expect(await lift(third, hold)).toMatchObject({ status: 200, body: { id: hold, person: people.ann } })
    expect(await third.inlay.erase(people.ann)).toMatchObject({
      sessions: 2,
      projects: 2,
      personas: 2,
      memories: 2,
      keys: 2,
      files: 2,
    })
    expect(filesOnDisk(`${folder}/files`).length).toBeLessThan(bytesBefore)
  })
}

function testSeveralHolds(open: Open): void {
  test('of two holds each one keeps, a hold of everybody keeps, and the audit tells who placed and lifted them', async () => {
    const { options } = await open()
    const held = newHeldSetting(options).open()
    const { memoryId } = await leaveTraces(held, 'ann')
    const removed = async () => (await held.call('ann', 'DELETE', `/user/memories/${memoryId}`)).status
    const ids = [await place(held, people.ann), await place(held, people.ann, 'Case 8'), await place(held, null, '')]
    expect((await held.call('ann', 'DELETE', `/user/memories/${memoryId}`)).body).toMatchObject({
      detail: expect.stringContaining(`legal holds ${ids.join(', ')}:`),
    })
    expect((await held.call('admin', 'GET', '/admin/holds')).body).toMatchObject([
      { id: ids[0], person: people.ann, reason: 'Case 7' },
      { id: ids[1], person: people.ann, reason: 'Case 8' },
      { id: ids[2], person: null, reason: '' },
    ])
    for (const id of ids) {
      expect(await removed()).toBe(409)
      expect((await lift(held, id)).status).toBe(200)
    }
    expect(await removed()).toBe(204)
    for (const id of [ids[0], 77]) expect((await lift(held, Number(id))).status).toBe(404)
    expect((await held.call('ann', 'POST', '/admin/holds', { person: null })).status).toBe(403)
    expect(await held.call('admin', 'POST', '/admin/holds', { person: '' })).toMatchObject({
      status: 422,
      body: { detail: [{ msg: 'must be the id of a person, or null for everybody' }] },
    })
    const { body } = await held.call<{ operation: string; caller_id: string; target: object; status: number }[]>(
      'admin',
      'GET',
      '/admin/audit',
    )
    const events = body
      .filter(({ operation, status }) => /Hold/.test(operation) && status === 200)
      .map(({ operation, caller_id, target }) => [operation, caller_id, target])
    expect(events.toReversed()).toEqual([
      ['placeHold', 'admin', { id: String(ids[0]), person: people.ann }],
      ['placeHold', 'admin', { id: String(ids[1]), person: people.ann }],
      ['placeHold', 'admin', { id: String(ids[2]) }],
      ['liftHold', 'admin', { hold_id: String(ids[0]), id: String(ids[0]), person: people.ann }],
      ['liftHold', 'admin', { hold_id: String(ids[1]), id: String(ids[1]), person: people.ann }],
      ['liftHold', 'admin', { hold_id: String(ids[2]), id: String(ids[2]) }],
    ])
  })
}
