import assert from 'node:assert/strict'
import { eventually } from '../../life/process.ts'
import { call, find, ingest } from './calls.ts'
import { accepted, insist, type Installation } from './installation.ts'

/** Documents that were acknowledged. */
export interface Written {
  readonly count: number
  /** How many of them were changed once. */
  readonly updates: number
  readonly acknowledged: number
  /** Longest time until one was, with all tries. */
  readonly longestMs: number
}

const letters = (number: number): string =>
  [...String(number).padStart(5, '0')].map((digit) => 'bcdfghjklm'[Number(digit)]).join('o')

/** A word that no other text has. */
const marker = (number: number, version: number): string => `zyq${letters(number)}${version === 1 ? 'e' : 'u'}q`
const isChanged = (number: number): boolean => number % 10 === 0

/** Eight clients write one document after the other; each tenth is changed once it is acknowledged. */
export async function writeDocuments(installation: Installation, count: number): Promise<Written> {
  let [next, acknowledged, longestMs] = [0, 0, 0]
  const write = async (number: number, version: number): Promise<void> => {
    const began = performance.now()
    const text = `Note ${number} of the archive, version ${version}, keeps the word ${marker(number, version)} and nothing else.`
    await insist(installation, `document ${number}`, async (base) =>
      (await accepted(await ingest(base, `note-${number}`, text))).json(),
    )
    acknowledged++
    longestMs = Math.max(longestMs, performance.now() - began)
  }
  const client = async (): Promise<void> => {
    while (next < count) {
      const number = next++
      await write(number, 1)
      if (isChanged(number)) await write(number, 2)
    }
  }
  await Promise.all(Array.from({ length: 8 }, client))
  return { count, updates: Math.ceil(count / 10), acknowledged, longestMs }
}

async function countOf(installation: Installation, state: string): Promise<number> {
  const rows = await insist(installation, 'the list of documents', async (base) => {
    const response = await accepted(await call(base, `/service-api/ingestion?state=${state}&limit=1`))
    return (await response.json()) as unknown[]
  })
  return rows.length
}

/** Ids of all documents that are indexed. */
async function listed(installation: Installation): Promise<string[]> {
  const ids: string[] = []
  let path = '/service-api/ingestion?state=indexed&limit=1000'
  while (path !== '') {
    const response = await insist(installation, 'the list of documents', async (base) =>
      accepted(await call(base, path)),
    )
    ids.push(...((await response.json()) as { document_id: string }[]).map((row) => row.document_id))
    const next = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1]
    // Relative to the address that was asked for.
    const { search } = new URL(next ?? '', 'http://any.example')
    path = next === undefined ? '' : `/service-api/ingestion${search}`
  }
  return ids
}

/** Most documents that are looked up by their words. */
const maxLookups = 1_000

/** Each acknowledged document is indexed once, and found by its newest words alone. @returns ms until all were indexed */
export async function checkDocuments(
  installation: Installation,
  { count }: Written,
  say: (text: string) => void,
): Promise<number> {
  const began = performance.now()
  await eventually(
    'all documents are indexed',
    async () => {
      for (const state of ['pending', 'indexing']) if ((await countOf(installation, state)) > 0) return undefined
      return true
    },
    1_200_000,
  )
  const took = performance.now() - began
  const ids = await listed(installation)
  assert.equal(new Set(ids).size, ids.length, 'no document is listed twice')
  assert.equal(ids.length, count, 'every document is indexed')
  const step = Math.max(1, Math.floor(count / maxLookups))
  const lookups = Array.from({ length: Math.ceil(count / step) }, (_, at) => at * step)
  const lookUp = async (): Promise<void> => {
    for (let number = lookups.pop(); number !== undefined; number = lookups.pop()) {
      const [id, version] = [`note-${number}`, isChanged(number) ? 2 : 1]
      const hits = await insist(installation, 'a search', (base) => find(base, marker(number, version)))
      assert.deepEqual(hits, [id], `${id} by its word`)
      if (version === 2)
        assert.deepEqual(
          await insist(installation, 'a search', (base) => find(base, marker(number, 1))),
          [],
          `${id}, older`,
        )
    }
  }
  const total = lookups.length
  await Promise.all(Array.from({ length: 4 }, lookUp))
  say(`  ${ids.length} documents indexed once each, ${total} of them looked up by their words`)
  return took
}
