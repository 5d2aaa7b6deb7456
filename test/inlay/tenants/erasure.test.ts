import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createInlay, type Principal } from 'inlay'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../life/process.ts'

const people = { ann: 'ann@zebulon.example', bob: 'bob@quillon.example' }
type Person = keyof typeof people

/** Every text in every table, but for the audit. */
function textsOf(folder: string): string {
  const db = new DatabaseSync(join(folder, 'inlay.db'), { readOnly: true })
  try {
    const tables = db.prepare("select name from sqlite_master where type = 'table' and name <> 'inlay_audit'").all()
    return JSON.stringify(tables.map(({ name }) => db.prepare(`select * from "${String(name)}"`).all()))
  } finally {
    db.close()
  }
}

function open() {
  const folder = temporaryFolder()
  const inlay = createInlay({
    dataFolder: folder.path,
    authenticate: (request): Principal | undefined => {
      const person = request.headers.get('x-person') as Person | null
      return person === null ? undefined : { id: people[person], email: people[person], scopes: ['admin'] }
    },
    onError: () => {},
  })
  onTestFinished(async () => {
    await inlay.close()
    folder.remove()
  })
  const call = async (person: Person, method: string, path: string, body?: object) => {
    const request = new Request(`http://host.example/api${path}`, {
      method,
      headers: { 'x-person': person, ...(body instanceof FormData ? {} : { 'content-type': 'application/json' }) },
      ...(body && { body: body instanceof FormData ? body : JSON.stringify(body) }),
    })
    const response = await inlay.fetch(request)
    return { status: response.status, body: (await response.json().catch(() => null)) as Record<string, never> }
  }
  return { inlay, folder: folder.path, call }
}

/** Leaves something of every kind, each with a word of the person's own. */
async function leaveTraces({ inlay, call }: ReturnType<typeof open>, person: Person): Promise<void> {
  const word = `${person}sword`
  const form = new FormData()
  form.append('files', new Blob([`My ${word} is here.`]), `${word}.txt`)
  const project = await call(person, 'POST', `/user/projects/create?name=${word}`)
  form.append('project_id', String(project.body['id']))
  expect((await call(person, 'POST', '/user/projects/file/upload', form)).status).toBe(200)
  for (const removed of [false, true]) {
    const { body } = await call(person, 'POST', '/chat/send-chat-message', {
      message: `What of ${word}?`,
      stream: false,
    })
    const path = `/chat/delete-chat-session/${String(body['chat_session_id'])}`
    if (removed) expect((await call(person, 'DELETE', path)).status).toBe(200)
    else
      await call(person, 'POST', '/chat/create-chat-message-feedback', {
        chat_message_id: body['message_id'],
        is_positive: true,
        feedback_text: word,
      })
  }
  expect((await call(person, 'POST', '/user/memories', { content: word })).status).toBe(200)
  expect((await call(person, 'PATCH', '/user/personalization', { name: word })).status).toBe(200)
  expect((await call(person, 'PATCH', '/user/pinned-assistants', { ordered_assistant_ids: [0] })).status).toBe(200)
  const persona = { name: word, description: '', document_set_ids: [], tool_ids: [], system_prompt: word }
  expect((await call(person, 'POST', '/persona', { ...persona, task_prompt: '', datetime_aware: true })).status).toBe(
    200,
  )
  const { record } = await inlay.keys.create({ scopes: ['chat'], owner: people[person], email: people[person] })
  await inlay.keys.revoke(record.id)
}

test('an erased person leaves nothing but the id in the audit, and others keep all they had', async () => {
  const setting = open()
  const { inlay, folder } = setting
  await leaveTraces(setting, 'ann')
  await leaveTraces(setting, 'bob')
  expect(textsOf(folder)).toMatch(/annsword/)

  expect(await inlay.erase(people.ann)).toEqual({
    sessions: 2,
    files: 1,
    projects: 1,
    personas: 1,
    memories: 1,
    keys: 1,
  })
  const rows = textsOf(folder)
  expect(rows).not.toMatch(/annsword|zebulon/)
  expect(rows).toMatch(/bobsword/)
  expect(rows).toMatch(/quillon/)
  await inlay.close()
  const files = globSync('files/**/*', { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile())
  const bytes = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1')).join('\n')
  expect(bytes).not.toContain('annsword')
  expect(bytes).toContain('bobsword')
})

test('the audit keeps what the host and the command line did with keys and people', async () => {
  const { inlay, call } = open()
  const { record } = await inlay.keys.create({ scopes: ['chat'], owner: people.ann })
  await inlay.keys.regenerate(record.id)
  await inlay.keys.revoke(record.id)
  await expect(inlay.keys.revoke(record.id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await inlay.erase(people.ann)
  const { body } = await call('bob', 'GET', '/admin/audit')
  const events = body as unknown as { operation: string; caller_id: null; target: object; status: number }[]
  const key = { api_key_id: String(record.id) }
  expect(events.map(({ operation, target, status }) => [operation, target, status]).toReversed()).toEqual([
    ['createKey', { id: String(record.id) }, 200],
    ['regenerateKey', key, 200],
    ['revokeKey', key, 200],
    ['revokeKey', key, 404],
    ['erasePerson', { user_id: people.ann }, 200],
  ])
  expect(new Set(events.map(({ caller_id: caller }) => caller))).toEqual(new Set([null]))
})

test('erasing somebody unknown, or again, does no harm', async () => {
  const setting = open()
  await leaveTraces(setting, 'ann')
  const nothing = { sessions: 0, files: 0, projects: 0, personas: 0, memories: 0, keys: 0 }
  expect(await setting.inlay.erase('nobody')).toEqual(nothing)
  await setting.inlay.erase(people.ann)
  expect(await setting.inlay.erase(people.ann)).toEqual(nothing)
})
