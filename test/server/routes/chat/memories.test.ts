import { describe, expect, test } from 'vitest'
import { toUserId, type PersonalizationDetail } from '@inlay/protocol'
import { newService, type Service } from '../../conversation.ts'

const service = (script: string[][] = []): Promise<Service> => newService(script, { memories: true })
const nothing: PersonalizationDetail = {
  name: '',
  role: '',
  use_memories: true,
  enable_memory_tool: true,
  memories: [],
  user_preferences: '',
}

describe('personalization', () => {
  test('is shown by /me and by an address of its own', async () => {
    const { fetchJson } = await service()
    await fetchJson('/user/memories', { method: 'POST', json: { content: 'Works in optics.' } })
    const expected = { ...nothing, memories: [{ id: expect.any(Number), content: 'Works in optics.' }] }
    expect((await fetchJson('/user/personalization')).body).toEqual(expected)
    expect((await fetchJson('/me')).body).toMatchObject({ id: toUserId('alice'), personalization: expected })
    expect((await fetchJson('/me', { key: 'key-bob' })).body).toMatchObject({
      id: toUserId('bob'),
      personalization: nothing,
    })
  })

  test('changes field by field; what is absent or null stays', async () => {
    const { fetchJson } = await service()
    const change = async (json: object): Promise<unknown> =>
      (await fetchJson('/user/personalization', { method: 'PATCH', json })).body
    const changed = { ...nothing, name: 'Alice', use_memories: false }
    expect(await change({ name: 'Alice', use_memories: false })).toEqual(changed)
    expect(await change({ name: null, user_preferences: 'Short.' })).toEqual({ ...changed, user_preferences: 'Short.' })
    expect(await change({ memories: [{ content: 'Has a dog.' }] })).toMatchObject({
      memories: [{ content: 'Has a dog.' }],
    })
    expect((await fetchJson('/user/personalization', { key: 'key-bob' })).body).toEqual(nothing)
  })

  test('refuses what does not fit', async () => {
    const { fetchJson } = await service()
    const statusOf = async (json: unknown): Promise<number> =>
      (await fetchJson('/user/personalization', { method: 'PATCH', json })).status
    expect(await statusOf({ use_memories: 'never' })).toBe(422)
    expect(await statusOf({ memories: ['Has a dog.'] })).toBe(422)
    expect(await statusOf({ name: 'x'.repeat(201) })).toBe(400)
    expect(await statusOf([])).toBe(422)
  })
})

describe('memories', () => {
  test('are added, listed, changed and forgotten', async () => {
    const { fetchJson, ask } = await service()
    const added = await fetchJson('/user/memories', { method: 'POST', json: { content: ' Works in\noptics. ' } })
    const { id } = added.body as { id: number }
    expect(added.body).toEqual({ id, content: 'Works in optics.' })
    const path = `/user/memories/${id}`
    expect((await fetchJson(path, { method: 'PATCH', json: { content: 'Works in lasers.' } })).body).toEqual({
      id,
      content: 'Works in lasers.',
    })
    expect((await fetchJson('/user/memories')).body).toEqual([{ id, content: 'Works in lasers.' }])
    expect((await ask(path, { method: 'DELETE' })).status).toBe(204)
    expect((await ask(path, { method: 'DELETE' })).status).toBe(404)
    await fetchJson('/user/memories', { method: 'POST', json: { content: 'Has a dog.' } })
    const contents = ((await fetchJson('/user/memories')).body as { content: string }[]).map(({ content }) => content)
    expect(contents[0]).toBe('Has a dog.')
    expect((await ask('/user/memories', { method: 'DELETE' })).status).toBe(204)
    expect((await fetchJson('/user/memories')).body).toEqual([])
  })

  test('of others do not exist, whatever is tried with them', async () => {
    const { fetchJson, ask } = await service()
    const { body } = await fetchJson('/user/memories', { method: 'POST', json: { content: 'Works in optics.' } })
    const path = `/user/memories/${(body as { id: number }).id}`
    const key = 'key-bob'
    expect((await fetchJson(path, { method: 'PATCH', json: { content: 'x' }, key })).status).toBe(404)
    expect((await ask(path, { method: 'DELETE', key })).status).toBe(404)
    expect((await ask('/user/memories', { method: 'DELETE', key })).status).toBe(204)
    expect((await fetchJson('/user/memories')).body).toHaveLength(1)
  })

  test('need the scope chat, a text that fits, and a host that has them', async () => {
    const { fetchJson, ask } = await service()
    expect((await ask('/user/memories', { key: 'key-importer' })).status).toBe(403)
    for (const content of ['', 'x'.repeat(501)])
      expect((await fetchJson('/user/memories', { method: 'POST', json: { content } })).status).toBe(400)
    const off = await newService([], { memories: false })
    expect((await off.fetchJson('/user/memories', { method: 'POST', json: { content: 'x' } })).status).toBe(403)
    expect((await off.fetchJson('/me')).body).toMatchObject({
      personalization: { use_memories: false, enable_memory_tool: false },
    })
  })
})

test('the action that keeps memories is listed, so that clients can allow it, and not for people to pick', async () => {
  const { fetchJson, say, setting } = await service([['Hello.']])
  expect((await fetchJson('/tool')).body).toMatchObject([
    { id: 7, name: 'add_memory', chat_selectable: false, agent_creation_selectable: false },
  ])
  await say('Hello')
  expect(setting.model.requests[0]?.tools?.map(({ name }) => name)).toEqual(['add_memory'])
})
