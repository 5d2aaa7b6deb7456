import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInlay, type Inlay, type Principal } from 'inlay'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let inlay: Inlay
let folder: string
const ana: Principal = { id: 'ana', scopes: ['chat'] }

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'inlay-inputs-'))
  inlay = createInlay({ dataFolder: folder, apiKey: 'key-of-the-operator', onError: () => {} })
})
afterAll(async () => {
  await inlay.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})

describe('a document as a host writes it', () => {
  const accept = (text: string) => inlay.knowledge.accept({ document: { sections: [{ text }] } }, { waitMs: 60_000 })

  test('needs its text alone, and is found by the first line', async () => {
    await accept('Leave policy\nStaff get 25 days of leave.')
    const [passage] = await inlay.knowledge.search({ text: 'How many days of leave?' })
    expect(passage?.document.semantic_identifier).toBe('Leave policy')
  })

  test('is the same document when it comes again, and no other one replaces it', async () => {
    const first = await accept('Notice\nThe canteen opens at noon.')
    const again = await accept('Notice\nThe canteen opens at noon.')
    const other = await accept('Notice\nThe gate closes at eight.')
    expect([again.documentId, again.alreadyExisted]).toEqual([first.documentId, true])
    expect(other.documentId).not.toBe(first.documentId)
    expect((await inlay.knowledge.search({ text: 'canteen' })).length).toBeGreaterThan(0)
  })

  test('without id and with a title is updated under that title', async () => {
    const write = (text: string) =>
      inlay.knowledge.accept({ document: { title: 'Opening hours', sections: [{ text }] }, cc_pair_id: undefined })
    const first = await write('From nine.')
    expect((await write('From ten.')).documentId).toBe(first.documentId)
  })

  test.each([
    ['no sections', {}],
    ['a section of another kind', { sections: [{ text: 7 }] }],
    ['no object', 'text'],
  ])('with %s is refused with what is wrong', async (_title, document) => {
    await expect(inlay.knowledge.accept({ document: document as never })).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
    })
  })
})

describe('a message as a host writes it', () => {
  test('needs its text alone, and belongs to the operator', async () => {
    const run = await inlay.agent.send({ message: 'Hello?' })
    expect(await run.whole()).toMatchObject({ error_msg: null, chat_session_id: run.sessionId })
    const next = await inlay.agent.send({ message: 'And now?', chat_session_id: run.sessionId })
    expect(next.sessionId).toBe(run.sessionId)
    await next.whole()
    const theirs = inlay.agent.send({ message: 'Mine?', chat_session_id: run.sessionId }, { caller: ana })
    await expect(theirs).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
  })

  test('is refused with what is wrong', async () => {
    await expect(inlay.agent.send({ message: 7 as never })).rejects.toMatchObject({ code: 'VALIDATION_FAILED' })
  })
})

describe('a user whom the host hands over', () => {
  const whoAmI = async (known?: object, headers: Record<string, string> = {}): Promise<unknown> => {
    const request = new Request('http://host.example/api/me', { headers })
    const response = await (known ? inlay.fetch(request, known as { principal: Principal }) : inlay.fetch(request))
    return response.ok ? ((await response.json()) as { email: string }).email : response.status
  }
  const user = { id: 'ana', email: 'ana@example.com', scopes: ['chat'] as const }
  const key = { authorization: 'Bearer key-of-the-operator' }

  test('is the caller, whatever key the request carries', async () => {
    expect(await whoAmI({ principal: user })).toBe('ana@example.com')
    expect(await whoAmI({ principal: user }, key)).toBe('ana@example.com')
  })

  test('may be nobody: then keys decide', async () => {
    expect(await whoAmI({ principal: null })).toBe(401)
    expect(await whoAmI(undefined)).toBe(401)
    expect(await whoAmI({ principal: null }, key)).not.toBe(401)
  })

  test('is refused without an id', async () => {
    expect(await whoAmI({ principal: { scopes: ['chat'] } })).toBe(500)
  })
})
