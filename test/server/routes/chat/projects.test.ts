import { describe, expect, test } from 'vitest'
import { createStorage } from 'unstorage'
import { toUserId, type Project, type UserFile } from '@inlay/protocol'
import { newService, type Service } from '../../conversation.ts'

const service = (): Promise<Service> => newService([['Fine.'], ['Fine.']], { storage: createStorage() })

async function create({ fetchJson }: Service, name = 'Moving'): Promise<Project> {
  return (await fetchJson(`/user/projects/create?name=${encodeURIComponent(name)}`, { method: 'POST' })).body as Project
}

async function upload({ ask }: Service, fields: Record<string, string> = {}): Promise<UserFile> {
  const form = new FormData()
  form.append('files', new Blob(['Everybody gets 25 days.']), 'leave.md')
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  const response = await ask('/user/projects/file/upload', { method: 'POST', body: form })
  return ((await response.json()) as { user_files: UserFile[] }).user_files[0]!
}

describe('a project', () => {
  test('is made by a name in the query, shown, renamed and removed', async () => {
    const fixture = await service()
    const project = await create(fixture)
    expect(project).toEqual({
      id: expect.any(Number),
      name: 'Moving',
      description: null,
      created_at: '2026-01-12T09:30:00.000Z',
      user_id: toUserId('alice'),
      instructions: null,
      chat_sessions: [],
    })
    const path = `/user/projects/${project.id}`
    expect((await fixture.fetchJson(path)).body).toEqual(project)
    const renamed = { ...project, name: 'Moved', description: 'Done.' }
    expect(
      (await fixture.fetchJson(path, { method: 'PATCH', json: { name: 'Moved', description: 'Done.' } })).body,
    ).toEqual(renamed)
    expect((await fixture.fetchJson('/user/projects')).body).toEqual([renamed])
    const removed = await fixture.ask(path, { method: 'DELETE' })
    expect([removed.status, await removed.text()]).toEqual([204, ''])
    expect((await fixture.fetchJson(path)).status).toBe(404)
  })

  test('needs a name that fits', async () => {
    const { fetchJson } = await service()
    const named = async (query: string): Promise<unknown> =>
      (await fetchJson(`/user/projects/create${query}`, { method: 'POST' })).status
    expect(await named('')).toBe(422)
    expect(await named('?name=')).toBe(400)
    expect(await named(`?name=${'x'.repeat(256)}`)).toBe(400)
    expect(await named(`?name=${'x'.repeat(255)}`)).toBe(200)
  })

  test('holds files and counts what they take of a prompt', async () => {
    const fixture = await service()
    const { id } = await create(fixture)
    const file = await upload(fixture, { project_id: String(id) })
    expect((await fixture.fetchJson(`/user/projects/files/${id}`)).body).toEqual([
      expect.objectContaining({ id: file.id }),
    ])
    expect((await fixture.fetchJson(`/user/projects/${id}/token-count`)).body).toEqual({
      total_tokens: file.token_count,
    })
    expect((await fixture.fetchJson(`/user/projects/${id}/details`)).body).toMatchObject({
      project: { id },
      files: [{ id: file.id }],
      persona_id_to_is_featured: {},
    })
    const link = `/user/projects/${id}/files/${file.id}`
    expect((await fixture.ask(link, { method: 'DELETE' })).status).toBe(204)
    expect((await fixture.fetchJson(`/user/projects/files/${id}`)).body).toEqual([])
    expect((await fixture.fetchJson(link, { method: 'POST' })).body).toMatchObject({ id: file.id })
    expect((await fixture.fetchJson(`/user/projects/files/${id}`)).body).toHaveLength(1)
  })

  test('holds instructions, which null takes away', async () => {
    const fixture = await service()
    const { id } = await create(fixture)
    const path = `/user/projects/${id}/instructions`
    expect((await fixture.fetchJson(path)).body).toEqual({ instructions: null })
    expect((await fixture.fetchJson(path, { json: { instructions: 'Be brief.' } })).body).toEqual({
      instructions: 'Be brief.',
    })
    expect((await fixture.fetchJson(path)).body).toEqual({ instructions: 'Be brief.' })
    expect((await fixture.fetchJson(path, { json: { instructions: null } })).body).toEqual({ instructions: null })
  })

  test('takes chats in and lets them go', async () => {
    const fixture = await service()
    const { id } = await create(fixture)
    const file = await upload(fixture, { project_id: String(id) })
    const { session } = await fixture.say('Hello')
    const json = { chat_session_id: session }
    expect((await fixture.ask(`/user/projects/${id}/move_chat_session`, { json })).status).toBe(204)
    expect((await fixture.fetchJson(`/user/projects/${id}`)).body).toMatchObject({
      chat_sessions: [{ id: session, persona_id: 0 }],
    })
    expect((await fixture.fetchJson(`/user/projects/session/${session}/files`)).body).toMatchObject([{ id: file.id }])
    expect((await fixture.fetchJson(`/user/projects/session/${session}/token-count`)).body).toEqual({
      total_tokens: file.token_count,
    })
    expect((await fixture.ask('/user/projects/remove_chat_session', { json })).status).toBe(204)
    expect((await fixture.fetchJson(`/user/projects/${id}`)).body).toMatchObject({ chat_sessions: [] })
    expect((await fixture.fetchJson(`/user/projects/session/${session}/files`)).body).toEqual([])
  })

  test('is unknown to everybody else at each of its addresses', async () => {
    const fixture = await service()
    const { id } = await create(fixture)
    const file = await upload(fixture, { project_id: String(id) })
    const { session } = await fixture.say('Hello')
    const addresses: [string, string, object?][] = [
      ['GET', `/user/projects/${id}`],
      ['PATCH', `/user/projects/${id}`, { name: 'Mine' }],
      ['DELETE', `/user/projects/${id}`],
      ['GET', `/user/projects/${id}/details`],
      ['GET', `/user/projects/${id}/instructions`],
      ['POST', `/user/projects/${id}/instructions`, { instructions: 'x' }],
      ['GET', `/user/projects/files/${id}`],
      ['POST', `/user/projects/${id}/files/${file.id}`],
      ['DELETE', `/user/projects/${id}/files/${file.id}`],
      ['GET', `/user/projects/${id}/token-count`],
      ['POST', `/user/projects/${id}/move_chat_session`, { chat_session_id: session }],
      ['POST', '/user/projects/remove_chat_session', { chat_session_id: session }],
      ['GET', `/user/projects/session/${session}/files`],
      ['GET', `/user/projects/session/${session}/token-count`],
    ]
    for (const [method, path, json] of addresses) {
      const { status } = await fixture.ask(path, { method, key: 'key-bob', ...(json ? { json } : {}) })
      expect(status, `${method} ${path}`).toBe(404)
    }
    expect((await fixture.fetchJson('/user/projects', { key: 'key-bob' })).body).toEqual([])
    expect((await fixture.fetchJson(`/user/projects/${id}`)).status).toBe(200)
  })
})
