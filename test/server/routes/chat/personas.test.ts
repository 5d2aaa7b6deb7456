import { describe, expect, test } from 'vitest'
import { toUserId, type FullPersona, type MinimalPersona, type PersonaPage } from '@inlay/protocol'
import { makeKnowledge } from '../../../knowledge/setup.ts'
import { newService, type Service } from '../../conversation.ts'

const body = {
  name: 'Ada',
  description: 'Knows leave.',
  document_set_ids: [],
  tool_ids: [],
  system_prompt: 'You are Ada.',
  task_prompt: 'Rhyme.',
  datetime_aware: true,
}

async function service(): Promise<Service> {
  const { knowledge } = await makeKnowledge()
  return newService(
    [['Fine.'], ['Fine.']],
    { documentSets: (caller) => knowledge.documentSets.list({ caller }) },
    { knowledge },
  )
}

async function create({ fetchJson }: Service, more: object = {}): Promise<FullPersona> {
  return (await fetchJson('/persona', { json: { ...body, ...more } })).body as FullPersona
}

describe('agents', () => {
  test('are made, shown, changed and removed by their owner', async () => {
    const fixture = await service()
    const persona = await create(fixture, { starter_messages: [{ name: 'Leave', message: 'How many days?' }] })
    expect(persona).toMatchObject({
      id: expect.any(Number),
      name: 'Ada',
      system_prompt: 'You are Ada.',
      task_prompt: 'Rhyme.',
      replace_base_system_prompt: false,
      is_public: false,
      public_permission: 'VIEWER',
      sharing_status: 'PRIVATE',
      builtin_persona: false,
      user_permission: 'OWNER',
      owner: { id: toUserId('alice'), email: '' },
      labels: [],
      starter_messages: [{ name: 'Leave', message: 'How many days?' }],
    })
    const path = `/persona/${persona.id}`
    expect((await fixture.fetchJson(path)).body).toEqual(persona)
    const asModel = { grounding: null, compared_citations: null }
    expect(persona).toMatchObject(asModel)
    const own = { grounding: 'search-first', compared_citations: false }
    expect((await fixture.fetchJson(path, { method: 'PATCH', json: own })).body).toMatchObject(own)
    expect((await fixture.fetchJson(path, { method: 'PATCH', json: { name: 'Ada' } })).body).toMatchObject(own)
    expect((await fixture.fetchJson(path, { method: 'PATCH', json: asModel })).body).toMatchObject(asModel)
    await fixture.fetchJson(path, { method: 'PATCH', json: { is_public: true }, key: 'key-operator' })
    const changed = await fixture.fetchJson(path, { method: 'PATCH', json: { name: 'Bea' } })
    expect(changed.body).toMatchObject({ name: 'Bea', system_prompt: 'You are Ada.', sharing_status: 'PUBLIC' })
    expect((await fixture.fetchJson(path, { key: 'key-bob' })).body).toMatchObject({
      name: 'Bea',
      user_permission: 'VIEWER',
    })
    expect((await fixture.fetchJson(path, { key: 'key-bob', method: 'PATCH', json: { name: 'Mine' } })).status).toBe(
      403,
    )
    expect((await fixture.fetchJson(path, { key: 'key-bob', method: 'DELETE' })).status).toBe(403)
    expect(await fixture.fetchJson(path, { method: 'DELETE' })).toEqual({ status: 200, body: null })
    expect(await fixture.fetchJson(path)).toMatchObject({ status: 404, body: { error_code: 'PERSONA_NOT_FOUND' } })
  })

  test('are listed whole and by the page, the default one first, private ones only to those they are for', async () => {
    const fixture = await service()
    const ada = await create(fixture)
    const bea = await create(fixture, { name: 'Bea' })
    await fixture.fetchJson(`/persona/${bea.id}`, { method: 'PATCH', json: { is_public: true }, key: 'key-operator' })
    const ids = async (path: string, key?: string): Promise<number[]> =>
      ((await fixture.fetchJson(path, key === undefined ? {} : { key })).body as MinimalPersona[]).map(({ id }) => id)
    expect(await ids('/persona')).toEqual([0, ada.id, bea.id])
    expect(await ids('/persona', 'key-bob')).toEqual([0, bea.id])
    expect(await ids(`/persona?persona_ids=${bea.id}&persona_ids=0`)).toEqual([0, bea.id])
    const page = (await fixture.fetchJson('/agents?page_num=1&page_size=2')).body as PersonaPage
    expect(page).toMatchObject({ items: [{ id: bea.id }], total_items: 3 })
  })

  test('have no labels and no pictures', async () => {
    const { fetchJson } = await service()
    expect((await fetchJson('/persona/labels')).body).toEqual([])
    expect((await fetchJson('/persona/0/avatar')).body).toMatchObject({ error_code: 'NOT_FOUND' })
    expect((await fetchJson('/persona/99/avatar')).body).toMatchObject({ error_code: 'PERSONA_NOT_FOUND' })
  })

  test('are checked: fields that are missing, wrong, or name what is not there', async () => {
    const { fetchJson } = await service()
    expect(await fetchJson('/persona', { json: { name: 'Ada' } })).toMatchObject({
      status: 422,
      body: {
        detail: expect.arrayContaining([expect.objectContaining({ loc: ['body', 'tool_ids'], type: 'missing' })]),
      },
    })
    expect((await fetchJson('/persona', { json: { ...body, tool_ids: ['one'] } })).status).toBe(422)
    expect((await fetchJson('/persona', { json: { ...body, tool_ids: [77] } })).status).toBe(400)
    expect((await fetchJson('/persona', { json: { ...body, document_set_ids: [9] } })).status).toBe(404)
    expect((await fetchJson('/persona', { json: { ...body, user_file_ids: ['x'] } })).status).toBe(404)
    expect((await fetchJson('/persona/0', { method: 'PATCH', json: { name: 'Mine' } })).status).toBe(400)
    for (const id of ['99', '2147483647', '-1']) expect((await fetchJson(`/persona/${id}`)).status).toBe(404)
    for (const id of ['x', '99999999999']) expect((await fetchJson(`/persona/${id}`)).status).toBe(422)
  })

  test('are what a session says it is held with', async () => {
    const fixture = await service()
    const { id } = await create(fixture)
    const { session } = await fixture.say('Hello', { chat_session_info: { persona_id: id } })
    expect((await fixture.fetchJson(`/chat/get-chat-session/${session}`)).body).toMatchObject({ persona_id: id })
    expect((await fixture.fetchJson(`/llm/persona/${id}/providers`)).status).toBe(200)
    expect((await fixture.fetchJson(`/llm/persona/${id}/providers`, { key: 'key-bob' })).status).toBe(404)
  })
})
