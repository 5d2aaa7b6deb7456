import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInlay, type Inlay } from 'inlay'
import { expect, onTestFinished, test } from 'vitest'
import { personaBody } from '../server/persona-body.ts'

/** Objects of alice, by the name of the path parameter or body field. */
type Belongings = Readonly<Record<string, string | number>>

/** An assistant whose callers name themselves, where alice has one of each. */
interface Fixture {
  readonly inlay: Inlay
  readonly alices: Belongings
  readonly errors: unknown[]
  ask(caller: string, method: string, path: string, body?: object | FormData): Promise<Response>
  /** Calls as alice; returns the object of the response. */
  own(method: string, path: string, body?: object | FormData): Promise<Record<string, unknown>>
}

async function newFixture(): Promise<Fixture> {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-ownership-'))
  const errors: unknown[] = []
  const inlay = createInlay({
    dataFolder: folder,
    onError: (error) => errors.push(error),
    authenticate: (request) => {
      const id = /^Bearer (alice|bob)$/.exec(request.headers.get('authorization') ?? '')?.[1]
      return id === undefined ? undefined : { id, scopes: ['chat'] }
    },
  })
  onTestFinished(async () => {
    await inlay.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  })
  const ask: Fixture['ask'] = (caller, method, path, body) => {
    const init = body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }
    const headers = { authorization: `Bearer ${caller}` }
    return inlay.fetch(new Request(`http://host.example/api${path}`, { method, headers, ...init }))
  }
  const own: Fixture['own'] = async (method, path, body) => {
    const response = await ask('alice', method, path, body)
    expect([path, response.status]).toEqual([path, 200])
    // Each of these calls answers with an object.
    return (await response.json()) as Record<string, unknown>
  }
  return { inlay, errors, ask, own, alices: await belongings(ask, own) }
}

async function belongings(ask: Fixture['ask'], own: Fixture['own']): Promise<Belongings> {
  const answer = await own('POST', '/chat/send-chat-message', { message: 'Mine?', stream: false })
  const [session, message] = [String(answer['chat_session_id']), Number(answer['message_id'])]
  const feedback = { chat_message_id: message, is_positive: true }
  expect(await (await ask('alice', 'POST', '/chat/create-chat-message-feedback', feedback)).json()).toBeNull()
  const form = new FormData()
  form.append('files', new File(['secret words'], 'secret.txt', { type: 'text/plain' }))
  const uploaded = await own('POST', '/user/projects/file/upload', form)
  const [file] = uploaded['user_files'] as { id: string; file_id: string }[]
  const project = await own('POST', '/user/projects/create?name=House')
  const persona = await own('POST', '/persona', { ...agent, name: 'Clerk', system_prompt: 'secret prompt' })
  const memory = await own('POST', '/user/memories', { content: 'secret habit' })
  const prompt = await own('POST', '/input_prompt', { prompt: 'leave', content: 'secret prompt', is_public: false })
  return {
    session_id: session,
    message_id: message,
    file_id: file!.id,
    project_id: Number(project['id']),
    persona_id: Number(persona['id']),
    memory_id: Number(memory['id']),
    prompt_id: Number(prompt['id']),
    tool_id: 1_001,
    server_id: 1,
  }
}

const agent = { ...personaBody, name: 'Thief' }

/** Bodies that name something of alice's, by operation; other operations take none or are not about somebody's things. */
const bodies: Readonly<Record<string, (theirs: Belongings) => object>> = {
  sendChatMessage: ({ session_id: id }) => ({ message: 'Hi', chat_session_id: id, stream: false }),
  createChatSession: ({ persona_id: id }) => ({ persona_id: id }),
  renameChatSession: ({ session_id: id }) => ({ chat_session_id: id, name: 'Mine now' }),
  updateChatSession: () => ({ sharing_status: 'public' }),
  selectBranch: ({ message_id: id }) => ({ message_id: id }),
  setPreferredResponse: ({ user_message_id: question, message_id: answer }) => ({
    user_message_id: question,
    preferred_response_id: answer,
  }),
  createFeedback: ({ message_id: id }) => ({ chat_message_id: id, is_positive: true }),
  pinSessionModel: ({ session_id: id }) => ({ chat_session_id: id, new_alternate_model: null }),
  setSessionTemperature: ({ session_id: id }) => ({ chat_session_id: id, temperature_override: null }),
  setSessionReasoning: ({ session_id: id }) => ({ chat_session_id: id, reasoning_effort_override: null }),
  updatePersona: () => ({ name: 'Mine now' }),
  updateInputPrompt: () => ({ prompt: 'leave', content: 'Mine now', active: true }),
  updateProject: () => ({ name: 'Mine now' }),
  setProjectInstructions: () => ({ instructions: 'Mine now' }),
  moveSessionIntoProject: ({ session_id: id }) => ({ chat_session_id: id }),
  takeSessionOutOfProject: ({ session_id: id }) => ({ chat_session_id: id }),
}

test('nobody else reads, changes or removes what is alice’s, whatever address names it', async () => {
  const { inlay, alices, errors, ask, own } = await newFixture()
  const touched: string[] = []
  const open: string[] = []
  for (const route of inlay.routes) {
    const scopes: readonly string[] = typeof route.scope === 'string' ? [route.scope] : route.scope
    if (route.owner === 'none' || route.answer === undefined || !scopes.includes('chat')) continue
    const names = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '')
    const body = bodies[route.operationId]?.(alices)
    if (names.length === 0 && body === undefined) continue
    const unknown = names.filter((name) => alices[name] === undefined)
    expect(unknown, `${route.operationId}: say what alice has of these`).toEqual([])
    const path = names.reduce((known, name) => known.replace(`{${name}}`, String(alices[name])), route.path)
    const takesBody = route.method !== 'GET' && route.method !== 'DELETE'
    const response = await ask('bob', route.method, path, takesBody ? (body ?? {}) : undefined)
    const text = await response.text()
    expect(text).not.toMatch(/secret|Mine\?/)
    expect(response.status, route.operationId).toBeLessThan(500)
    touched.push(route.operationId)
    if (response.ok) open.push(`${route.operationId}: ${response.status} ${text}`)
  }
  expect(open).toEqual([])
  expect(touched).toEqual(expect.arrayContaining(Object.keys(bodies)))
  expect(touched.length).toBeGreaterThan(35)
  // And nothing happened to it.
  expect(await own('GET', `/chat/get-chat-session/${alices['session_id']}`)).toMatchObject({
    description: 'Mine?',
    shared_status: 'private',
    deleted: false,
  })
  expect(await own('GET', `/persona/${alices['persona_id']}`)).toMatchObject({ name: 'Clerk' })
  expect(await own('GET', `/user/projects/${alices['project_id']}`)).toMatchObject({ name: 'House' })
  expect(await own('GET', `/user/projects/file/${alices['file_id']}`)).toMatchObject({ name: 'secret.txt' })
  expect(await own('GET', `/input_prompt/${alices['prompt_id']}`)).toMatchObject({ content: 'secret prompt' })
  expect(JSON.stringify(await own('GET', '/me'))).toContain('secret habit')
  expect(errors).toEqual([])
})

test('ids inside of bodies count too: files, projects, agents, parents', async () => {
  const { alices, ask, own } = await newFixture()
  const send = async (more: object): Promise<number> =>
    (await ask('bob', 'POST', '/chat/send-chat-message', { message: 'Hi', stream: false, ...more })).status
  expect(await send({ file_descriptors: [{ id: alices['file_id'] }] })).toBe(404)
  expect(await send({ chat_session_info: { project_id: alices['project_id'] } })).toBe(404)
  expect(await send({ chat_session_info: { persona_id: alices['persona_id'] } })).toBe(404)
  expect(await send({ parent_message_id: alices['message_id'] })).toBe(400)
  const stolen = await ask('bob', 'POST', '/persona', { ...agent, user_file_ids: [alices['file_id']] })
  expect(stolen.status).toBe(404)
  // Feedback that is not one's own is no matter at all.
  await ask('bob', 'DELETE', `/chat/remove-chat-message-feedback?chat_message_id=${alices['message_id']}`)
  const read = await own('GET', `/chat/get-chat-session/${alices['session_id']}`)
  expect(JSON.stringify(read)).toContain('"current_feedback":"like"')
  const statuses = await ask('bob', 'POST', '/user/projects/file/statuses', { file_ids: [alices['file_id']] })
  expect(await statuses.json()).toEqual([])
})
