import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInlay, type Inlay, type InlayOptions } from 'inlay'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { filesOnDisk } from '../../life/files-on-disk.ts'

const apiKey = 'key-of-the-retention'
const dayMs = 86_400_000
let folder: string
const clock = { time: 0 }

beforeEach(() => {
  const path = mkdtempSync(join(tmpdir(), 'inlay-retention-'))
  folder = path
  // After the assistants on it are closed, which still write.
  onTestFinished(() => rmSync(path, { recursive: true, force: true, maxRetries: 10 }))
  clock.time = Date.UTC(2026, 0, 12)
})

function open(options: InlayOptions = {}): Inlay {
  const inlay = createInlay({ dataFolder: folder, apiKey, now: () => clock.time, ...options })
  onTestFinished(() => inlay.close())
  return inlay
}

async function call<Answer>(inlay: Inlay, method: string, path: string, body?: object): Promise<Answer> {
  const sent = body instanceof FormData ? new Response(body) : new Response(JSON.stringify(body))
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': sent.headers.get('content-type') ?? '' }
  const init = body && { body: await sent.arrayBuffer() }
  const response = await inlay.fetch(new Request(`http://host.example/api${path}`, { method, headers, ...init }))
  const answer = await response.json()
  if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`)
  return answer as Answer
}

async function upload(inlay: Inlay, name: string): Promise<{ readonly id: string; readonly file_id: string }> {
  const form = new FormData()
  form.append('files', new File([`Text of ${name}.`], name, { type: 'text/plain' }))
  const { user_files: files } = await call<{ user_files: { id: string; file_id: string }[] }>(
    inlay,
    'POST',
    '/user/projects/file/upload',
    form,
  )
  return files[0]!
}

async function say(inlay: Inlay, files: readonly { readonly file_id: string }[] = []): Promise<string> {
  const descriptors = files.map(({ file_id: id }) => ({ id, type: 'plain_text', name: 'a.txt' }))
  const body = { message: 'What is it?', stream: false, file_descriptors: descriptors }
  const answer = await call<{ chat_session_id: string }>(inlay, 'POST', '/chat/send-chat-message', body)
  return answer.chat_session_id
}

const exists = (inlay: Inlay, id: string): Promise<boolean> =>
  call(inlay, 'GET', `/chat/get-chat-session/${id}?include_deleted=true`).then(
    () => true,
    () => false,
  )
const auditTimes = async (inlay: Inlay): Promise<number> =>
  (await call<{ operation: string }[]>(inlay, 'GET', '/admin/audit')).filter(
    ({ operation }) => operation === 'createKey',
  ).length
const bytesKept = (): number => filesOnDisk(join(folder, 'files')).length

test('sessions, deleted sessions, audit entries and the files that only they used go once they are too old', async () => {
  const first = open()
  const [own, shared] = [await upload(first, 'own.txt'), await upload(first, 'shared.txt')]
  const old = await say(first, [own, shared])
  const deleted = await say(first)
  await call(first, 'DELETE', `/chat/delete-chat-session/${deleted}`)
  await call(first, 'POST', '/admin/api-key', { scopes: ['chat'] })
  clock.time += 20 * dayMs
  const young = await say(first, [shared])
  clock.time += 20 * dayMs
  const kept = bytesKept()
  await first.close()

  // Without the option, nothing is erased.
  const second = open()
  await second.start()
  expect([await exists(second, old), await exists(second, deleted), await exists(second, young)]).toEqual([
    true,
    true,
    true,
  ])
  expect(await auditTimes(second)).toBe(1)
  expect(await call(second, 'GET', '/settings')).toMatchObject({ maximum_chat_retention_days: null })
  await second.close()

  const third = open({ retention: { maxSessionDays: 30, maxDeletedSessionDays: 35, maxAuditDays: 39 } })
  await third.start()
  await expect.poll(() => auditTimes(third)).toBe(0)
  expect([await exists(third, old), await exists(third, deleted), await exists(third, young)]).toEqual([
    false,
    false,
    true,
  ])
  expect(await call(third, 'GET', '/settings')).toMatchObject({ maximum_chat_retention_days: 30 })
  const files = await call<{ id: string }[]>(third, 'GET', '/user/files/recent')
  expect(files.map(({ id }) => id)).toEqual([shared.id])
  await expect.poll(bytesKept).toBeLessThan(kept)
  const applied = expect.objectContaining({
    operation: 'applyRetention',
    target: { sessions: '2', agents: '0', files: '0', events: expect.any(String) },
  })
  await expect.poll(() => call(third, 'GET', '/admin/audit')).toContainEqual(applied)
})

test('a session that was deleted is erased after its own time, and others stay', async () => {
  const first = open()
  const [kept, deleted] = [await say(first), await say(first)]
  clock.time += 10 * dayMs
  await call(first, 'DELETE', `/chat/delete-chat-session/${deleted}`)
  clock.time += 8 * dayMs
  await first.close()
  const second = open({ retention: { maxDeletedSessionDays: 7 } })
  await second.start()
  await expect.poll(() => exists(second, deleted)).toBe(false)
  expect(await exists(second, kept)).toBe(true)
})

test('an agent that was deleted is erased with its instructions after its time, and others stay', async () => {
  const instructions = 'Speak of the grey heron alone.'
  const make = (inlay: Inlay, name: string): Promise<{ readonly id: number }> =>
    call(inlay, 'POST', '/persona', {
      name,
      description: '',
      system_prompt: instructions,
      task_prompt: '',
      document_set_ids: [],
      tool_ids: [],
      datetime_aware: false,
    })
  const first = open()
  const [early, late, kept] = [await make(first, 'early'), await make(first, 'late'), await make(first, 'kept')]
  await call(first, 'DELETE', `/persona/${early.id}`)
  clock.time += 8 * dayMs
  await call(first, 'DELETE', `/persona/${late.id}`)
  await first.close()
  const second = open({ retention: { maxDeletedAgentDays: 7 } })
  await second.start()
  const ids = async (): Promise<number[]> =>
    (await call<{ id: number }[]>(second, 'GET', '/admin/persona?include_deleted=true')).map(({ id }) => id)
  await expect.poll(ids).not.toContain(early.id)
  expect(await ids()).toEqual(expect.arrayContaining([late.id, kept.id]))
  const applied = expect.objectContaining({
    operation: 'applyRetention',
    target: { sessions: '0', agents: '1', files: '0', events: '0' },
  })
  await expect.poll(() => call(second, 'GET', '/admin/audit')).toContainEqual(applied)
})

test('more than one batch is erased, and two processes that start at once both end in order', async () => {
  const failures: unknown[] = []
  const onError = (error: unknown): void => void failures.push(error)
  const first = open({ onError })
  const { chat_session_id: firstId } = await call<{ chat_session_id: string }>(
    first,
    'POST',
    '/chat/create-chat-session',
    {},
  )
  const others = await Promise.all(
    Array.from({ length: 45 }, () => call<{ chat_session_id: string }>(first, 'POST', '/chat/create-chat-session', {})),
  )
  clock.time += 40 * dayMs
  await first.close()
  const retention = { maxSessionDays: 30 }
  const [left, right] = [open({ retention, onError }), open({ retention, onError })]
  await Promise.all([left.start(), right.start()])
  for (const id of [firstId, ...others.map(({ chat_session_id: id }) => id)])
    await expect.poll(() => exists(left, id)).toBe(false)
  expect(failures).toEqual([])
})

test('uploads that nobody uses go once they are too old, and those that something holds stay', async () => {
  const first = open()
  const loose = await upload(first, 'loose.txt')
  const [attached, linked] = [await upload(first, 'attached.txt'), await upload(first, 'linked.txt')]
  const removed = await upload(first, 'removed.txt')
  await say(first, [attached])
  const ended = await say(first, [removed])
  const { id: project } = await call<{ id: number }>(first, 'POST', '/user/projects/create?name=birds')
  await call(first, 'POST', `/user/projects/${project}/files/${linked.id}`)
  await call(first, 'DELETE', `/chat/delete-chat-session/${ended}?hard_delete=true`)
  clock.time += 8 * dayMs
  const young = await upload(first, 'young.txt')
  await first.close()
  const second = open({ retention: { maxFileDays: 7 } })
  await second.start()
  const applied = expect.objectContaining({
    operation: 'applyRetention',
    target: { sessions: '0', agents: '0', files: '2', events: '0' },
  })
  await expect.poll(() => call(second, 'GET', '/admin/audit')).toContainEqual(applied)
  const files = await call<{ id: string }[]>(second, 'GET', '/user/files/recent')
  const kept = files.map(({ id }) => id)
  expect(kept.toSorted()).toEqual([attached.id, linked.id, young.id].toSorted())
  expect(kept).not.toContain(loose.id)
})

test('metrics tell how many rows and bytes each table holds', async () => {
  const inlay = open({ telemetry: true })
  await say(inlay)
  const request = new Request('http://host.example/api/metrics', { headers: { authorization: `Bearer ${apiKey}` } })
  const text = await (await inlay.fetch(request)).text()
  expect(text).toContain('inlay_table_rows{table="inlay_chat_sessions"} 1')
  expect(text).toContain('inlay_table_rows{table="inlay_chat_messages"} 3')
  expect(text).toMatch(/inlay_table_bytes\{table="inlay_chat_messages"\} \d{4,}/)
})

test('wrong days are told', () => {
  expect(() => createInlay({ retention: { maxSessionDays: 0 } })).toThrow(/retention.*1 to 36500/)
  expect(() => createInlay({ retention: { sessions: 3 } as never })).toThrow(/retention/)
})
