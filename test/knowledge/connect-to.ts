import { postgres } from '@inlay/drivers/postgres'
import { Kysely } from 'kysely'
import { onTestFinished } from 'vitest'

/** Connects to a PostgreSQL database until the test ends. */
export function connectTo(connectionString: string, maxConnections?: number): Kysely<unknown> {
  const db = new Kysely<unknown>({
    dialect: postgres({ connectionString, ...(maxConnections !== undefined && { maxConnections }) }),
  })
  onTestFinished(() => db.destroy())
  return db
}
