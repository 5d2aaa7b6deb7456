import type { BlobStorage } from 'inlay'

const buckets = new Map<string, Map<string, Uint8Array>>()

/** Keeps bytes in memory: put the client of your object store here. */
export function bucketStorage(bucket: string): BlobStorage {
  const values = buckets.get(bucket) ?? new Map<string, Uint8Array>()
  buckets.set(bucket, values)
  return {
    // A copy: the bytes may be a part of a larger buffer.
    setItemRaw: async (key, value) => void values.set(key, value.slice()),
    getItemRaw: async (key) => values.get(key) ?? null,
    removeItem: async (key) => void values.delete(key),
  }
}

import { blobStorageConformance } from 'inlay/conformance'

for (const [title, run] of blobStorageConformance(bucketStorage)) test(title, run)

import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { SqliteDialect, type Dialect, type SqliteDatabase } from 'inlay/kysely'

export function plainSqlite(file: string): Dialect {
  return new SqliteDialect({
    database: async (): Promise<SqliteDatabase> => {
      const database = new DatabaseSync(file, { timeout: 5_000 })
      database.exec('pragma journal_mode = wal; pragma foreign_keys = on')
      return {
        close: () => database.close(),
        prepare(sql) {
          const statement = database.prepare(sql)
          // Kysely hands over what SQLite takes.
          const values = (given: readonly unknown[]): SQLInputValue[] => given as SQLInputValue[]
          return {
            reader: statement.columns().length > 0,
            all: (given) => statement.all(...values(given)),
            run: (given) => statement.run(...values(given)),
            iterate: (given) => statement.iterate(...values(given)),
          }
        },
      }
    },
  })
}

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dialectConformance } from 'inlay/conformance'

const file = join(mkdtempSync(join(tmpdir(), 'records-')), 'inlay.db')
for (const [title, run] of dialectConformance(() => plainSqlite(file))) test(title, run)
