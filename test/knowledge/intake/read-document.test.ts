import { hash } from 'node:crypto'
import { withSyncHash } from '@inlay/knowledge/internal/intake/read-document'
import { describe, expect, test } from 'vitest'
import { toVersion } from '@inlay/knowledge/internal/intake/read-document'
import { request, section } from '../setup.ts'

describe('a document without id', () => {
  const idOf = async (...args: Parameters<typeof request>): Promise<string> => (await toVersion(request(...args))).id
  const linked = (link: string) => ({ sections: [section(String(Math.random()), link)] })

  test('gets the same one whenever it is sent again, whatever its text', async () => {
    const first = await idOf({ id: null, ...linked('https://a') })
    expect(first).toMatch(/^ingestion_api_[0-9a-f]{32}$/)
    expect(await idOf({ id: '', ...linked('https://a') })).toBe(first)
  })

  test('gets another one for another title, link, source or pair', async () => {
    const ids = await Promise.all([
      idOf({ id: null }),
      idOf({ id: null, semantic_identifier: 'other' }),
      idOf({ id: null, source: 'web' }),
      idOf({ id: null }, 2),
      idOf({ id: null, ...linked('https://a') }),
    ])
    expect(new Set(ids).size).toBe(5)
  })
})

test.each(['a\0b', '\ud800', 'x\udc00y'])('an id that cannot be stored (%j) is refused', async (id) => {
  await expect(toVersion(request({ id }))).rejects.toMatchObject({
    code: 'VALIDATION_FAILED',
    data: { issues: [{ loc: ['body', 'document', 'id'], type: 'value_error' }] },
  })
})

test.each(['.', '..'])('an id that no address can name (%j) is refused', async (id) => {
  await expect(toVersion(request({ id }))).rejects.toMatchObject({
    code: 'VALIDATION_FAILED',
    data: { issues: [{ loc: ['body', 'document', 'id'], type: 'value_error' }] },
  })
  expect((await toVersion(request({ id: '...' }))).id).toBe('...')
})

test.each([-1, 2 ** 31, 2 ** 40, Number.MAX_SAFE_INTEGER])('no pair has the number %d', async (pair) => {
  await expect(toVersion(request({}, pair))).rejects.toMatchObject({ code: 'CONNECTOR_NOT_FOUND' })
})

test('the link of a document is the first that a section has', async () => {
  const sections = [null, 'https://one', 'https://two'].map((link) => section('', link))
  expect((await toVersion(request({ sections }))).link).toBe('https://one')
  expect((await toVersion(request({ sections: [] }))).link).toBe('')
})

test('identifies a document the same with either hash, and hashes a long text on another thread', async () => {
  const hashed: string[] = []
  const own = withSyncHash((text) => {
    hashed.push(text)
    return hash('sha256', text)
  })
  for (const text of ['Grüße – 漢字 😀', 'x'.repeat(65_537)]) {
    const sent = request({ id: undefined, text })
    const [here, elsewhere] = [await toVersion(sent, own), await toVersion(sent)]
    expect([here.id, here.hash]).toEqual([elsewhere.id, elsewhere.hash])
  }
  expect(hashed.map(({ length }) => length).filter((length) => length > 65_536)).toEqual([])
  expect(hashed.length).toBeGreaterThan(1)
})
