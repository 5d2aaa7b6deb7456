import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { createInlay, type Inlay, type InlayOptions } from 'inlay'
import type { CompiledQuery, Dialect } from 'kysely'
import { expect, onTestFinished, test, vi } from 'vitest'
import { fakeEmbedder } from '../knowledge/fake-embedder.ts'

const apiKey = 'inlay_key-of-the-readiness-test'

/** Records in a file; keeps the SQL of all statements, and holds each back while a promise says so. */
function watchedDialect(file: string) {
  const dialect = nodeSqlite({ file })
  const watched = { statements: [] as string[], held: undefined as Promise<void> | undefined }
  const createDriver: Dialect['createDriver'] = () => {
    const driver = dialect.createDriver()
    const acquire = driver.acquireConnection.bind(driver)
    driver.acquireConnection = async (...given) => {
      const connection = await acquire(...given)
      const executeQuery = async <Row>(query: CompiledQuery) => {
        watched.statements.push(query.sql)
        await watched.held
        return connection.executeQuery<Row>(query)
      }
      return Object.assign(Object.create(connection) as typeof connection, { executeQuery })
    }
    const release = driver.releaseConnection.bind(driver)
    driver.releaseConnection = (connection) => release(Object.getPrototypeOf(connection) as typeof connection)
    for (const name of ['beginTransaction', 'commitTransaction', 'rollbackTransaction'] as const) {
      const method = driver[name].bind(driver) as (...given: unknown[]) => Promise<void>
      driver[name] = async (connection: object, ...given: unknown[]) =>
        method(Object.getPrototypeOf(connection), ...given)
    }
    return driver
  }
  return { watched, dialect: { ...dialect, createDriver } satisfies Dialect }
}

function open(options: InlayOptions = {}, folder = mkdtempSync(join(tmpdir(), 'inlay-readiness-'))) {
  const { watched, dialect } = watchedDialect(join(folder, 'inlay.db'))
  const inlay: Inlay = createInlay({
    dataFolder: folder,
    apiKey,
    database: dialect,
    telemetry: true,
    worker: { lingerMs: 0, pollMs: 20 },
    onError: () => {},
    ...options,
  })
  onTestFinished(async () => {
    await inlay.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  })
  const get = async (path: string): Promise<readonly [number, string]> => {
    const headers = { authorization: `Bearer ${apiKey}` }
    const response = await inlay.fetch(new Request(`http://host.example/api${path}`, { headers }))
    return [response.status, await response.text()]
  }
  const countsOf = (statements: readonly string[]): number =>
    // The sizes of tables are counted up to a bound.
    statements.filter((text) => /count\(.*from "inlay_documents"(?! limit)/.test(text)).length
  return { inlay, folder, watched, get, counts: () => countsOf(watched.statements) }
}

const documents = Array.from({ length: 20 }, (_, at) => ({
  document: { id: `d${at}`, semantic_identifier: `D${at}`, metadata: {}, sections: [{ text: `heron number ${at}` }] },
}))

test('probes and scrapes amid a rebuild count the documents once, however many there are', async () => {
  const gate = Promise.withResolvers<void>()
  onTestFinished(() => gate.resolve())
  let isHeld = false
  const fake = fakeEmbedder()
  const embedder = {
    ...fake,
    embed: async (...given: Parameters<typeof fake.embed>) => {
      if (isHeld) await gate.promise
      return fake.embed(...given)
    },
  }
  const { inlay, get, counts, watched } = open({ embedder })
  for (const document of documents) await inlay.knowledge.accept(document)
  await inlay.knowledge.whenIdle()
  isHeld = true
  await inlay.knowledge.reindex()
  await expect.poll(() => inlay.knowledge.waiting()).toBe(documents.length)
  watched.statements.length = 0
  for (let probe = 0; probe < 20; probe++) {
    const [status, text] = await get('/health/ready')
    expect([status, text]).toEqual([200, expect.stringContaining('the index is being rebuilt')])
  }
  const first = await get('/metrics')
  expect(first[1]).toMatch(/^inlay_rebuild_documents 20$/m)
  for (let scrape = 0; scrape < 5; scrape++) expect((await get('/metrics'))[0]).toBe(200)
  // All documents, those of three states, and those to be indexed again. The mover counts what waits.
  const mostOfOneSample = 5
  const ofMover = watched.statements.filter((text) => /count\(.*"state" = 'pending'/.test(text)).length
  expect(counts() - ofMover).toBeLessThan(mostOfOneSample)
  isHeld = false
  gate.resolve()
})

test('one process counts for all that share the records, and each says how old the counts are', async () => {
  const first = open()
  for (const document of documents) await first.inlay.knowledge.accept(document)
  await first.inlay.knowledge.whenIdle()
  const second = open({}, first.folder)
  await second.inlay.start()
  first.watched.statements.length = 0
  second.watched.statements.length = 0
  for (const { get } of [first, second, first, second]) {
    const [status, text] = await get('/metrics')
    expect(status).toBe(200)
    expect(text).toMatch(/^inlay_documents{state="indexed"} 20$/m)
    expect(Number(/^inlay_figures_age_seconds (\S+)$/m.exec(text)?.[1])).toBeLessThan(60)
  }
  expect(first.counts()).toBeGreaterThan(0)
  expect(second.counts()).toBe(0)
})

test('a database that falls silent leaves a process ready for five seconds, and holds no probe or scrape up', async () => {
  const { inlay, get, watched } = open()
  await inlay.start()
  expect((await get('/health/ready'))[0]).toBe(200)
  let aheadMs = 0
  const { now } = performance
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + aheadMs)
  onTestFinished(() => clock.mockRestore())
  const gate = Promise.withResolvers<void>()
  watched.held = gate.promise
  onTestFinished(() => gate.resolve())
  const began = now.call(performance)
  expect((await get('/health/ready'))[0]).toBe(200)
  expect(await get('/metrics')).toEqual([200, expect.stringContaining('inlay_figures_age_seconds')])
  aheadMs = 5_000
  expect(await get('/health/ready')).toEqual([503, expect.stringContaining('The database does not respond')])
  expect(now.call(performance) - began).toBeLessThan(5_000)
  gate.resolve()
  watched.held = undefined
  await expect.poll(async () => (await get('/health/ready'))[0]).toBe(200)
})
