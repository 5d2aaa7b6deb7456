import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'

/** SQLite's own limit is 1000 pages: a commit of megabytes then copies megabytes more, and syncs twice as much. */
const pagesWithThread = 4000
const pagesAlone = 1000
/** A smaller log is left to grow. */
const smallLogBytes = 2 ** 20
const lookMs = 200

/**
 * Opens the database for each copy: as the last connection to close, the caller's then removes the log. It ends when
 * nothing was written for a while.
 */
const program = `
const { parentPort, workerData: file } = require('node:worker_threads')
const { DatabaseSync } = require('node:sqlite')
const idle = setTimeout(() => process.exit(), 10_000)
parentPort.on('message', () => {
  idle.refresh()
  try {
    const database = new DatabaseSync(file)
    try { database.prepare('pragma wal_checkpoint(passive)').get() } finally { database.close() }
  } catch {}
})`

/**
 * Copies the write-ahead log into the database from another thread while it grows, since a commit would have to do so
 * otherwise. Where threads cannot be started, commits do. @returns ends it
 */
export function copyLogElsewhere(database: DatabaseSync, file: string): () => void {
  let worker: Worker | undefined
  let writtenAt = 0
  const setLimit = (pages: number): void => database.exec(`pragma wal_autocheckpoint = ${pages}`)
  const stop = (): void => {
    clearInterval(timer)
    void worker?.terminate()
  }
  const giveUp = (): void => {
    stop()
    if (database.isOpen) setLimit(pagesAlone)
  }
  const timer = setInterval(() => {
    const log = statSync(`${file}-wal`, { throwIfNoEntry: false })
    if (!log || log.size < smallLogBytes || log.mtimeMs === writtenAt) return
    writtenAt = log.mtimeMs
    try {
      worker ??= new Worker(program, { eval: true, name: 'inlay log', workerData: file, execArgv: [], env: {} })
    } catch {
      return giveUp()
    }
    if (worker.listenerCount('exit') === 0) {
      worker.on('error', giveUp).on('exit', () => (worker = undefined))
      worker.unref()
    }
    worker.postMessage(undefined)
  }, lookMs)
  timer.unref()
  setLimit(pagesWithThread)
  return stop
}
