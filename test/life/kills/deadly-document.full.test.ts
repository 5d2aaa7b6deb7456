import { once } from 'node:events'
import { join } from 'node:path'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { Kysely } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { eventually, startService, temporaryFolder, type Service } from '../process.ts'

/** Changes the records while no process has them. */
async function setInterruptions(folder: string, interruptions: number): Promise<void> {
  const db = new Kysely<{ inlay_documents: { id: string; interruptions: number } }>({
    dialect: nodeSqlite({ file: join(folder, 'inlay.db') }),
  })
  await db.updateTable('inlay_documents').set({ interruptions }).where('id', '=', 'deadly').execute()
  await db.destroy()
}

async function post(service: Service, id: string, text: string): Promise<Response> {
  const document = { id, semantic_identifier: id, sections: [{ text }], metadata: {} }
  return service.fetch('/service-api/ingestion', { method: 'POST', body: JSON.stringify({ document }) })
}

/** The document ends its first process, and counts as one that has ended nineteen before. */
test('a document that ended the process twenty times is failed, with the reason, and the others are found', async () => {
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  const start = () => startService(path, { program: 'kills/deadly-service.ts' })
  const first = await start()
  const ended = once(first.child, 'exit')
  expect((await post(first, 'other', 'Otters swim in rivers.')).status).toBe(200)
  expect((await post(first, 'deadly', 'This one is deadly.')).status).toBe(200)
  expect(await ended).toEqual([null, 'SIGKILL'])
  await setInterruptions(path, 19)
  const second = await start()
  onTestFinished(() => second.kill())
  const status = await eventually('the failure of the document', async () => {
    const document = await (await second.fetch('/service-api/ingestion/deadly')).json()
    return document.state === 'failed' ? document : undefined
  })
  expect(status.reason).toBe(
    'The server process ended each time this document was being indexed. Make the document smaller, or check the server log.',
  )
  await eventually('the other document', async () => {
    const search = await second.fetch('/search', { method: 'POST', body: JSON.stringify({ query: 'otters' }) })
    return (await search.json()).results?.[0]?.title === 'other' || undefined
  })
})
