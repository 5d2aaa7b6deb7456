import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { postgres } from '@inlay/drivers/postgres'
import { createInlay, type Inlay } from 'inlay'
import type { DatabaseConnection, Dialect, Driver } from 'kysely'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { png } from '../../conversations/files/setting.ts'
import { personaBody } from '../../server/persona-body.ts'
import { poolOf, startPostgres } from '../../stand-in/pglite.ts'
import { cases } from '../../cases.ts'

/** Pauses the next caller whose statement matches, once its connection is free again. */
interface Gate {
  stopAfter(statement: RegExp): void
  /** Resolves when a caller is paused there. */
  readonly reached: Promise<void>
  open(): void
}

/** A dialect whose statements can be waited after. */
function gated(inner: Dialect): { dialect: Dialect; gate: Gate } {
  const [reached, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let wanted: RegExp | undefined
  const stopped = new WeakSet<DatabaseConnection>()
  const watch = (connection: DatabaseConnection): DatabaseConnection => ({
    executeQuery: async (query) => {
      const result = await connection.executeQuery(query)
      if (wanted?.test(query.sql)) {
        wanted = undefined
        stopped.add(connection)
      }
      // Rows are whatever the statement names.
      return result as never
    },
    streamQuery: () => {
      throw new Error('Nothing streams.')
    },
  })
  const createDriver = (): Driver => {
    const driver = inner.createDriver()
    const watched = new WeakMap<DatabaseConnection, DatabaseConnection>()
    const own = (connection: DatabaseConnection): DatabaseConnection => watched.get(connection) ?? connection
    return {
      init: () => driver.init(),
      destroy: () => driver.destroy(),
      acquireConnection: async () => {
        const connection = await driver.acquireConnection()
        const outer = watch(connection)
        watched.set(outer, connection)
        return outer
      },
      beginTransaction: (connection, settings) => driver.beginTransaction(own(connection), settings),
      commitTransaction: (connection) => driver.commitTransaction(own(connection)),
      rollbackTransaction: (connection) => driver.rollbackTransaction(own(connection)),
      releaseConnection: async (connection) => {
        await driver.releaseConnection(own(connection))
        if (!stopped.delete(own(connection))) return
        reached.resolve()
        await opened.promise
      },
    }
  }
  const gate: Gate = {
    stopAfter: (statement) => void (wanted = statement),
    reached: reached.promise,
    open: () => opened.resolve(),
  }
  const dialect = {
    createDriver,
    createAdapter: () => inner.createAdapter(),
    createQueryCompiler: () => inner.createQueryCompiler(),
    createIntrospector: (db: Parameters<Dialect['createIntrospector']>[0]) => inner.createIntrospector(db),
  }
  return { dialect, gate }
}

const folder = mkdtempSync(join(tmpdir(), 'inlay-files-in-use-'))
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})
let count = 0
const key = 'the-key-of-the-test'

/** A caller's step: looks for its own files. */
const lookedForFile = /^select .* from "inlay_files" where .*"owner_id" = /s
/** A removal's step: looks for documents that name the file. */
const lookedForUse = /^select .* from "inlay_document_images" /s

async function call(inlay: Inlay, path: string, body?: FormData | object): Promise<{ status: number; json: never }> {
  const isForm = body instanceof FormData
  const [method, address] = path.split(' ') as [string, string]
  const headers = new Headers({ authorization: `Bearer ${key}`, prefer: 'wait=60' })
  if (!isForm) headers.set('content-type', 'application/json')
  const response = await inlay.fetch(
    new Request(`http://host.example/api${address}`, {
      method,
      headers,
      body: isForm ? body : body && JSON.stringify(body),
    }),
  )
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  // Each test names the fields it reads.
  return { status: response.status, json: (isJson ? JSON.parse(text) : text) as never }
}

async function setUp(inner: Dialect): Promise<{ inlay: Inlay; gate: Gate; file: { id: string; file_id: string } }> {
  const { dialect, gate } = gated(inner)
  const dataFolder = join(folder, String(++count))
  const inlay = createInlay({ dataFolder, database: dialect, apiKey: key, worker: { lingerMs: 1 }, onError: () => {} })
  closers.push(() => inlay.close())
  const form = new FormData()
  form.append('files', new File([new Uint8Array(png)], 'heron.png', { type: 'image/png' }))
  const { json } = await call(inlay, 'POST /user/file/upload', form)
  return { inlay, gate, file: (json as { user_files: [{ id: string; file_id: string }] }).user_files[0] }
}

const sqlite = async (): Promise<Dialect> => nodeSqlite({ file: join(folder, `${++count}.db`) })

async function postgresInProcess(): Promise<Dialect> {
  const database = await startPostgres()
  closers.unshift(() => database.close())
  return postgres({ pool: poolOf(database) })
}

interface Use {
  readonly path: string
  readonly body: (file: { id: string; file_id: string }, projectId: number) => object | undefined
  readonly held: object
}

const uses: [string, Use][] = [
  [
    'a document',
    {
      path: 'POST /service-api/ingestion',
      body: ({ file_id }) => ({
        document: {
          semantic_identifier: 'Birds',
          sections: [{ text: 'A heron.', image_file_id: file_id }],
          metadata: {},
        },
      }),
      held: { project_names: [], assistant_names: [] },
    },
  ],
  [
    'an agent',
    {
      path: 'POST /persona',
      body: ({ id }) => ({ ...personaBody, name: 'Ornithologist', user_file_ids: [id] }),
      held: { project_names: [], assistant_names: ['Ornithologist'] },
    },
  ],
  [
    'a project',
    {
      path: 'POST /user/projects/{project}/files/{file}',
      body: () => undefined,
      held: { project_names: ['Ponds'], assistant_names: [] },
    },
  ],
]

/** One way in, and all of them with the full tests. */
const tried = cases(uses.slice(0, 1), uses)

describe.each([
  ['SQLite', sqlite],
  ['Postgres', postgresInProcess],
])('with %s', (_, makeDialect) => {
  test.each(tried)('a file that is removed while %s takes it in is either kept or refused', async (_, use) => {
    const { inlay, gate, file } = await setUp(await makeDialect())
    const project = await call(inlay, 'POST /user/projects/create?name=Ponds')
    const projectId = (project.json as { id: number }).id
    gate.stopAfter(lookedForFile)
    const path = use.path.replace('{project}', String(projectId)).replace('{file}', file.id)
    const taken = call(inlay, path, use.body(file, projectId))
    await Promise.race([gate.reached, taken])
    const removed = await call(inlay, `DELETE /user/projects/file/${file.id}`)
    gate.open()
    const { status } = await taken
    const isKept = (removed.json as { has_associations: boolean }).has_associations
    expect([isKept, status]).toEqual(isKept ? [true, 200] : [false, 404])
    expect((await call(inlay, `GET /chat/file/${file.file_id}`)).status).toBe(isKept ? 200 : 404)
  })

  test.each(tried)('a file that %s takes in while it is being removed is kept', async (_, use) => {
    const { inlay, gate, file } = await setUp(await makeDialect())
    const project = await call(inlay, 'POST /user/projects/create?name=Ponds')
    const projectId = (project.json as { id: number }).id
    gate.stopAfter(lookedForUse)
    const removing = call(inlay, `DELETE /user/projects/file/${file.id}`)
    await Promise.race([gate.reached, removing])
    const path = use.path.replace('{project}', String(projectId)).replace('{file}', file.id)
    expect((await call(inlay, path, use.body(file, projectId))).status).toBe(200)
    gate.open()
    expect((await removing).json).toEqual({ has_associations: true, ...use.held })
    expect((await call(inlay, `GET /chat/file/${file.file_id}`)).status).toBe(200)
  })
})
