/**
 * Fills PostgreSQL with a million documents and messages, and prints how long each call takes that reads
 * lists: the median of seven tries, the least and the first.
 * Usage: node --conditions=@inlay/source test/rigs/scale/lists.ts [--quick]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgres } from '@inlay/drivers/postgres'
import { Kysely } from 'kysely'
import { startPostgres } from '../../knowledge/postgres-server.ts'
import { fillRecords } from './filled-records.ts'
import { make, readingCalls, serviceOver } from './list-calls.ts'

const scale = process.argv.includes('--quick') ? 0.01 : 1
const filling = {
  documents: 1_000_000 * scale,
  pairs: 5_000 * scale,
  sessions: 200_000 * scale,
  messages: 1_000_000 * scale,
  auditRows: 500_000 * scale,
}
const server = await startPostgres()
const folder = mkdtempSync(join(tmpdir(), 'inlay-lists-'))
try {
  const dialect = postgres({ connectionString: await server.takeDatabase() })
  const inlay = serviceOver(dialect, folder)
  await inlay.start()
  const db = new Kysely<unknown>({ dialect })
  const began = performance.now()
  await fillRecords(db, filling, true)
  console.log(`filled in ${Math.round((performance.now() - began) / 1000)} s`)
  for (const call of readingCalls(filling.documents)) {
    const tries = []
    for (let attempt = 0; attempt < 7; attempt++) tries.push(await make(inlay, call))
    const [first] = tries
    const times = tries.map(({ ms }) => ms).toSorted((a, b) => a - b)
    console.log(
      `${String(Math.round(times[3]!)).padStart(6)} ms  least ${String(Math.round(times[0]!)).padStart(5)}  first ${String(Math.round(first!.ms)).padStart(5)}  ${first!.status}  ${String(Math.round(first!.bytes / 1000)).padStart(5)} kB  ${call.name}`,
    )
  }
  await inlay.close()
} finally {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
