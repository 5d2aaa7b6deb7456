import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { IndexCondition, IndexFilter } from '@inlay/knowledge'
import type { Table } from '@lancedb/lancedb'
import { isOutage, loadEngine, type Engine } from './engine.ts'
import { among, conditionOf } from './filtered-search.ts'
import type { IndexLocation } from './location.ts'
import { isOfFormat, isOfSpace, searchColumn } from './rows.ts'
import type { Space } from '../hybrid-search/open-state.ts'
import { tableName } from './table.ts'

/** Maintenance of another process may remove files that are being read. */
const maxAttempts = 3

export async function readThrough(location: IndexLocation, space: Space | undefined): Promise<IndexCondition['state']> {
  const engine = await loadEngine()
  for (let tries = 1; ; tries++) {
    try {
      return await readOnce(engine, location, space)
    } catch (error) {
      // If the disk or bucket cannot be read at all, the state of the index is unknown.
      if (isOfSystem(error) || isOutage(error)) return 'present'
      if (tries === maxAttempts) return 'damaged'
    }
  }
}

const maxApartMs = 120_000

/** The engine aborts on certain damage. @param checkUrl the program to run @returns undefined if it was not possible */
export async function readThroughApart(
  checkUrl: URL,
  index: { readonly folder: string; readonly space: Space | undefined },
): Promise<IndexCondition['state'] | undefined> {
  // A bundler may have moved this module into a URL that is not a file.
  if (checkUrl.protocol !== 'file:') return undefined
  const file = fileURLToPath(checkUrl)
  const flags = file.endsWith('.ts') ? ['--conditions=@inlay/source'] : []
  const { NODE_OPTIONS: _, ...env } = process.env
  const child = spawn(process.execPath, [...flags, file, JSON.stringify(index)], {
    // Without this, Electron would start the app again.
    env: { ...env, ELECTRON_RUN_AS_NODE: '1' },
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: maxApartMs,
    killSignal: 'SIGKILL',
    windowsHide: true,
  })
  let output = ''
  child.stdout.on('data', (part) => (output += part))
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.once('error', () => resolve([1, null]))
    child.once('close', (...end) => resolve(end))
  })
  if (code === 0) return states.find((state) => state === output)
  // Windows has no signals: an abort has an exit code of its own there.
  return (signal !== null && abortSignals.has(signal)) || (code ?? 0) > 0x8000_0000 ? 'damaged' : undefined
}

const states = ['present', 'damaged', 'outdated'] as const
/** Signals of a crash. Other signals come from outside, for example when memory runs out. */
const abortSignals: ReadonlySet<string> = new Set(['SIGABRT', 'SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGTRAP'])

function isOfSystem(error: unknown): boolean {
  const message = error instanceof Error ? error.message : ''
  return /permission denied|read-only|input\/output error|no space left|too many open files|out of memory|os error (5|12|13|23|24|28|30)\b/i.test(
    message,
  )
}

async function readOnce(
  engine: Engine,
  location: IndexLocation,
  space: Space | undefined,
): Promise<IndexCondition['state']> {
  const connection = await location.connect(engine)
  try {
    const table = await connection.openTable(tableName)
    try {
      const schema = await table.schema()
      if (!isOfFormat(schema) || !isOfSpace(schema, space)) return 'outdated'
      await readRows(table)
      return 'present'
    } finally {
      table.close()
    }
  } finally {
    connection.close()
  }
}

const maxWords = 20

/** Reads every row, and looks up one of them in each index. */
async function readRows(table: Table): Promise<void> {
  const words = new Set<string>()
  let filter: IndexFilter | undefined
  for await (const batch of table.query())
    for (const row of batch) {
      // Values are read lazily; a truncated file fails here.
      for (const text of [row['text'], row['card'], row['generation']]) if (typeof text !== 'string') throw new Error()
      if (words.size < maxWords) for (const word of String(row[searchColumn]).match(/\p{L}+/gu) ?? []) words.add(word)
      filter ??= {
        sources: [row['source']],
        documentIds: [row['document_id']],
        pairs: [...row['pairs']].map(Number),
        tags: [[...row['tags'], '']],
      }
    }
  for (const word of [...words].slice(0, maxWords))
    await table.query().fullTextSearch(word).select(['generation', '_score']).limit(1).toArray()
  const { sources, documentIds, pairs, tags } = filter ?? {}
  const lookups = [{ sources }, { documentIds }, { pairs }, { tags }].map(conditionOf)
  for (const condition of [...lookups, among('generation', [''])])
    if (condition) await table.query().where(condition).select(['generation']).limit(1).toArray()
}
