import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type Client } from '@inlay/client'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { Kysely } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startPlayground, type Playground } from './playground.ts'
import { open, reason } from './visit.ts'

interface Tables {
  inlay_documents: {
    id: string
    state: string
    reason: string
    visible_revision: number | null
    visible_generation: string | null
  }
}

const names = ['Aviary', 'Boathouse', 'Canteen', 'Dairy']

describe.skipIf(reason !== undefined)('documents that failed', () => {
  let folder: string
  let playground: Playground
  let client: Client
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'inlay-failed-'))
    playground = await startPlayground({ INLAY_DATA: folder })
    client = createClient({ baseUrl: `${playground.origin}/api`, apiKey: playground.key })
    await playground.printed('searchable after')
    for (const name of names)
      await client.ingest(
        { id: name, semantic_identifier: name, sections: [{ text: `The ${name} opens at nine.` }], metadata: {} },
        { waitSeconds: 60 },
      )
    // The state of documents that a model refused during indexing.
    const db = new Kysely<Tables>({ dialect: nodeSqlite({ file: join(folder, 'inlay.db') }) })
    const shown = { visible_revision: null, visible_generation: null }
    const failure = { state: 'failed', reason: 'The embedding model refused this document.', ...shown }
    await db.updateTable('inlay_documents').set(failure).where('id', 'in', names).execute()
    await db.destroy()
  })
  afterAll(async () => {
    await playground?.end()
    await rm(folder, { recursive: true, force: true, maxRetries: 10 })
  })

  const failed = async (): Promise<string[]> =>
    (await client.documents({ state: 'failed' })).documents.map(({ document_id: id }) => id).toSorted()

  test('say why, and are tried again one by one, or all together', async () => {
    expect(await failed()).toEqual(names)
    const page = await open(playground.address)
    await page.getByRole('link', { name: /^Documents/ }).click()
    const words = page.getByText('The embedding model refused this document.')
    await expect.poll(() => words.count()).toBe(4)
    await page.getByRole('button', { name: 'Try Boathouse again' }).click()
    await expect.poll(() => words.count()).toBe(3)
    await expect.poll(failed).toEqual(['Aviary', 'Canteen', 'Dairy'])
    await page.locator('.states button.failed').click()
    await page.getByRole('button', { name: 'Try all failed documents again' }).click()
    await page.getByText('3 documents are tried again.').waitFor()
    await expect.poll(() => words.count()).toBe(0)
    await expect.poll(failed).toEqual([])
    for (const name of names)
      await expect.poll(async () => (await client.documentState(name)).state, { timeout: 60_000 }).toBe('indexed')
  })

  test('a document of which pages could not be read says so below its name and in its details', async () => {
    await client.ingest(
      {
        id: 'archive/scan.pdf',
        semantic_identifier: 'Harbour plan',
        sections: [{ text: 'The harbour has two gates.' }],
        metadata: { unreadable_pages: ['3', '10-11'], unreadable_page_count: '3 of 12', team: 'Port' },
      },
      { waitSeconds: 60 },
    )
    const page = await open(playground.address)
    await page.getByRole('link', { name: /^Documents/ }).click()
    const row = page.getByRole('row').filter({ hasText: 'Harbour plan' })
    const words = '3 of 12 pages could not be read: 3, 10-11.'
    await row.getByText(words).waitFor()
    expect(await row.locator('.cell-tags').textContent()).toBe('team: Port')
    await row.getByRole('button', { name: /^Tags, sets and access/ }).click()
    await page.locator('.document-details').getByText(words).waitFor()
    await page.locator('.document-details').getByText('archive/scan.pdf').waitFor()
  })
})
