import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInlay, type Inlay } from 'inlay'
import { afterAll, beforeAll, expect, test } from 'vitest'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlay-put-back-'))
})
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))

/** Runs an assistant over a folder as a process does; its errors are what an operator reads. */
async function run(data: string, work: (inlay: Inlay, errors: string[]) => Promise<void>): Promise<void> {
  const errors: string[] = []
  const inlay = createInlay({ dataFolder: data, onError: (error) => errors.push(String(error)) })
  await inlay.start()
  try {
    await work(inlay, errors)
  } finally {
    await inlay.close()
  }
}

async function put({ knowledge }: Inlay, texts: Readonly<Record<string, string>>): Promise<void> {
  for (const [id, text] of Object.entries(texts))
    await knowledge.accept({
      document: { id, semantic_identifier: id, sections: [{ text }], metadata: {}, source: 'web' },
    })
  await knowledge.whenIdle()
}

async function idsOf({ knowledge }: Inlay, text: string): Promise<string[]> {
  const hits = await knowledge.search({ text, limit: 50 })
  return hits.map(({ document }) => document.document_id).toSorted()
}

/** A folder with some documents, its copy `monday`, and what came after that day. */
async function twoDays(
  name: string,
  tuesday: (inlay: Inlay) => Promise<void>,
): Promise<{ data: string; monday: string }> {
  const [data, monday] = [join(folder, name), join(folder, `${name}-monday`)]
  await run(data, (inlay) => put(inlay, { kept: 'A heron.', changed: 'A heron.', deleted: 'A heron.' }))
  await cp(data, monday, { recursive: true })
  await run(data, async (inlay) => {
    await inlay.knowledge.remove('deleted')
    await put(inlay, { changed: 'An otter.', later: 'An otter.' })
    await tuesday(inlay)
  })
  return { data, monday }
}

async function putBack(from: string, to: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await rm(join(to, name), { recursive: true, force: true })
    await cp(join(from, name), join(to, name), { recursive: true, force: true }).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
      },
    )
  }
}

const records = ['inlay.db', 'inlay.db-wal', 'inlay.db-shm']

test('an index of another day, put back by hand, gets what it lacks', async () => {
  const { data, monday } = await twoDays('index', async () => {})
  await putBack(monday, data, ['index'])
  await run(data, async (inlay, errors) => {
    await expect.poll(() => idsOf(inlay, 'otter')).toEqual(['changed', 'later'])
    expect(await idsOf(inlay, 'heron')).toEqual(['kept'])
    expect(errors.join()).toContain('Documents in the database but not in the index: 2.')
    // What the index alone holds, such as deleted documents, is not found, and stays until the operator decides.
    await inlay.knowledge.reindex()
    await expect.poll(async () => (await inlay.knowledge.figures()).index.rows).toBe(3)
    expect(await idsOf(inlay, 'heron')).toEqual(['kept'])
  })
  await run(data, async (inlay, errors) => {
    expect(await idsOf(inlay, 'otter')).toEqual(['changed', 'later'])
    expect(errors).toEqual([])
  })
})

test('records of another day, put back by hand, find all they hold and nothing else', async () => {
  const { data, monday } = await twoDays('records', async () => {})
  await putBack(monday, data, records)
  await run(data, async (inlay, errors) => {
    await expect.poll(() => idsOf(inlay, 'heron')).toEqual(['changed', 'deleted', 'kept'])
    expect(await idsOf(inlay, 'otter')).toEqual([])
    expect(errors.join()).toContain('The database lost changes')
    // What the index alone holds stays until the operator decides.
    expect((await inlay.knowledge.figures()).index.rows).toBe(5)
    await inlay.knowledge.reindex()
    await expect.poll(async () => (await inlay.knowledge.figures()).index.rows).toBe(3)
    expect(await idsOf(inlay, 'heron')).toEqual(['changed', 'deleted', 'kept'])
  })
})

test.each(['index', 'records'])(
  '%s of a day before the index was made anew cost indexing everything once',
  async (what) => {
    const { data, monday } = await twoDays(`anew-${what}`, async ({ knowledge }) => {
      await knowledge.reindex()
      await knowledge.whenIdle()
    })
    await putBack(monday, data, what === 'index' ? ['index'] : records)
    const [herons, otters] = what === 'index' ? [['kept'], ['changed', 'later']] : [['changed', 'deleted', 'kept'], []]
    for (const day of [1, 2])
      await run(data, async (inlay, errors) => {
        await inlay.knowledge.whenIdle()
        await expect.poll(() => idsOf(inlay, 'heron')).toEqual(herons)
        await expect.poll(() => idsOf(inlay, 'otter')).toEqual(otters)
        // A database of another day is told until the operator decides.
        const notices = what === 'records' ? [expect.stringContaining('The database lost changes')] : []
        if (day > 1) expect(errors).toEqual(notices)
      })
  },
)
