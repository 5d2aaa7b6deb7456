import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { note } from '../figures.ts'

const pageBytes = 4096

/**
 * What acceptance is measured by: how often the disk syncs a page that was written, and how many of these texts a bare
 * SQLite stores durably, one and 50 in a commit.
 */
export function measureDisk(texts: readonly string[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-bench-disk-'))
  try {
    printRate('syncs of a written page', 'syncs/s', syncsASecond(join(folder, 'pages'), 1000))
    const few = texts.slice(0, Math.ceil(texts.length / 10))
    printRate('bare SQLite, one document in a commit', 'documents/s', storedASecond(join(folder, 'one.db'), few, 1))
    printRate('bare SQLite, 50 documents in a commit', 'documents/s', storedASecond(join(folder, 'many.db'), texts, 50))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function printRate(what: string, unit: string, rate: number): void {
  console.log(`accept, ${what}: ${Math.round(rate)} ${unit}`)
  note(`ingestion, ${what}, ${unit}`, rate)
}

/** Overwrites pages of a file that does not grow, as SQLite does in a write-ahead log that it has emptied. */
function syncsASecond(path: string, count: number): number {
  const page = Buffer.alloc(pageBytes, 1)
  const pages = 256
  const file = openSync(path, 'w')
  try {
    writeSync(file, Buffer.alloc(pages * pageBytes))
    fdatasyncSync(file)
    return rateOf(count, () => {
      for (let at = 0; at < count; at++) {
        writeSync(file, page, 0, pageBytes, (at % pages) * pageBytes)
        fdatasyncSync(file)
      }
    })
  } finally {
    closeSync(file)
  }
}

function storedASecond(path: string, texts: readonly string[], inCommit: number): number {
  const database = new DatabaseSync(path)
  try {
    database.exec('pragma journal_mode = wal; pragma synchronous = full')
    database.exec('create table documents (id integer primary key, text text not null)')
    const insert = database.prepare('insert into documents (text) values (?)')
    return rateOf(texts.length, () => {
      for (let at = 0; at < texts.length; at += inCommit) {
        database.exec('begin immediate')
        for (const text of texts.slice(at, at + inCommit)) insert.run(text)
        database.exec('commit')
      }
    })
  } finally {
    database.close()
  }
}

function rateOf(count: number, work: () => void): number {
  const begun = performance.now()
  work()
  return (count / (performance.now() - begun)) * 1000
}
