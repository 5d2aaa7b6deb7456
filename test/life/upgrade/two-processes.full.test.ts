import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { eventually, startService, type Service } from '../process.ts'
import { unpack } from './unpack.ts'

const archive = join(import.meta.dirname, 'data-0.1.0.zip')

/** The spaces of the records. */
function spaces(dataFolder: string): unknown[] {
  const db = new DatabaseSync(join(dataFolder, 'inlay.db'))
  const rows = db.prepare('select number, phase, identity, rebuild_reason from inlay_spaces').all()
  db.close()
  return rows.map((row) => ({ ...row }))
}

async function idsOf(service: Service, query: string): Promise<string[]> {
  const answer = await service.fetch('/search', { method: 'POST', body: JSON.stringify({ query }) })
  const { results } = (await answer.json()) as { results: { title: string }[] }
  return results.map(({ title }) => title)
}

test('two processes that open data of an earlier version at once take it as it is', async () => {
  const { dataFolder, manifest } = unpack(archive)
  const services = await Promise.all([0, 1].map(() => startService(dataFolder, { program: 'upgrade/service.ts' })))
  onTestFinished(async () => void (await Promise.all(services.map((service) => service.kill()))))
  const reports: unknown[] = []
  for (const { child } of services) child.on('message', (message) => reports.push(message))
  for (const service of services) {
    for (const [query, id] of [
      ['paid leave a year', 'leave'],
      ['Überstunden', 'urlaub'],
      ['congé parental', 'congés'],
    ] as const) {
      const titles = await eventually(`${id} is found`, async () => {
        const list = await idsOf(service, query)
        return list.length > 0 ? list : undefined
      })
      expect(
        titles.filter((title) => title === titles[0]),
        query,
      ).toHaveLength(1)
    }
    // Documents that the earlier version had not indexed yet are indexed once.
    const state = await eventually('the pending document is indexed', async () => {
      const answer = await service.fetch('/service-api/ingestion/pending')
      const status = (await answer.json()) as { state: string; chunk_count: number }
      return status.state === 'indexed' ? status : undefined
    })
    expect(state.chunk_count).toBe(1)
    const all = (await (await service.fetch('/service-api/ingestion?limit=100')).json()) as { document_id: string }[]
    expect(all.map(({ document_id: id }) => id)).toEqual(expect.arrayContaining([...manifest.documents]))
  }
  expect(reports).toEqual([])
  expect(spaces(dataFolder)).toEqual([
    {
      number: 0,
      phase: 'open',
      identity: readFileSync(join(dataFolder, 'index/identity'), 'utf8'),
      rebuild_reason: null,
    },
  ])
})
