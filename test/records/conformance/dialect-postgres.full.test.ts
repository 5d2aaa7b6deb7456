import { postgres } from '@inlay/drivers/postgres'
import { dialectConformance } from '@inlay/conformance'
import { afterAll, beforeAll, test } from 'vitest'
import { startPostgres, type PostgresServer } from '../../knowledge/postgres-server.ts'

let server: PostgresServer
let connectionString: string
beforeAll(async () => {
  server = await startPostgres()
  connectionString = await server.takeDatabase()
})
afterAll(() => server.stop())

for (const [title, run] of dialectConformance(() => postgres({ connectionString }))) test(title, run)
