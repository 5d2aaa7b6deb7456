import { postgres } from '@inlay/drivers/postgres'
import { Kysely } from 'kysely'
import { onTestFinished } from 'vitest'
import { poolOf, startPostgres } from '../../stand-in/pglite.ts'
import { testLegalHolds } from './legal-hold.ts'

testLegalHolds(async () => {
  const database = await startPostgres()
  onTestFinished(() => database.close())
  const dialect = postgres({ pool: poolOf(database) })
  return { options: { database: dialect }, db: () => new Kysely({ dialect }) }
})
