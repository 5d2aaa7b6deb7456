/**
 * A process that looks at a data folder, says what it sees, and then posts and deletes until it kills itself at a
 * moment it was told, or is killed. Only the knowledge runs in it: no server, no agent.
 */
import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { createKnowledge, migrateKnowledge, type IngestionStep, type Knowledge } from '@inlay/knowledge'
import { Kysely } from 'kysely'
import { fakeEmbedder } from '../../knowledge/fake-embedder.ts'
import { tellCommits, tellIndexChanges, type CrashPoint } from './crash-points.ts'
import { seededRandom } from '../random.ts'
import { look, post, remove, type Shown } from '../versions.ts'

/** Instructions for the process, as JSON in its first argument. */
export interface ChildTask {
  readonly folder: string
  readonly seed: number
  /** First version it posts; it goes up from there. */
  readonly firstVersion: number
  /** Die at the nth arrival at a moment, counted from the start or, with `afterLook`, from the first post on. */
  readonly kill?: { readonly at: IngestionStep | CrashPoint; readonly nth: number; readonly afterLook: boolean }
  /** Look, clean up, say how much is left, and end. */
  readonly isLast?: boolean
}

/** Documents that are posted and deleted again and again. */
export const ids: readonly string[] = Array.from({ length: 10 }, (_, at) => `document${at}`)

/** Lines it prints, each before or after what it says happened. */
export type ChildLine =
  /** Before anything is taken up again, and after all of it is done. */
  | { readonly say: 'found' | 'settled'; readonly shown: Shown; readonly listed: Readonly<Record<string, string>> }
  | { readonly say: 'begins'; readonly id: string; readonly version: number | null }
  | { readonly say: 'done'; readonly id: string; readonly version: number | null; readonly existed: boolean }
  | { readonly say: 'dies'; readonly at: string }
  /** Rows of the index, and those that search can see. */
  | { readonly say: 'cleaned'; readonly rows: number; readonly visibleRows: number }

function print(line: ChildLine): void {
  writeSync(1, `${JSON.stringify(line)}\n`)
}

function die(at: string): void {
  print({ say: 'dies', at })
  process.kill(process.pid, 'SIGKILL')
}

async function main({ folder, seed, firstVersion, kill, isLast }: ChildTask): Promise<void> {
  const random = seededRandom(seed)
  let arrivals = 0
  let isArmed = kill !== undefined && !kill.afterLook
  const reach = (point: string): void => {
    if (isArmed && point === kill?.at && ++arrivals >= kill.nth) die(point)
  }
  tellIndexChanges(reach, random)
  const db = new Kysely<unknown>({ dialect: tellCommits(nodeSqlite({ file: join(folder, 'records.db') }), reach) })
  await migrateKnowledge(db)
  const knowledge = createKnowledge({
    db,
    index: lancedbIndex({ folder: join(folder, 'index'), keepVersionsMs: 50, vectorIndexRows: 12 }),
    embedder: fakeEmbedder(),
    // Every process before this one is gone.
    worker: { lingerMs: 2, pollMs: 20, isGone: () => true },
    at: reach,
    onError: (error) => {
      throw error
    },
  })
  await say(knowledge, 'found')
  await knowledge.start()
  await knowledge.whenIdle()
  await say(knowledge, 'settled')
  isArmed = kill !== undefined
  if (isLast) return end(knowledge)
  for (let [version, round] = [firstVersion, 0]; ; round++) {
    // Some points come only if there is something to clean up.
    if (round > 30) die('a moment that did not come')
    const chosen = ids.filter(() => random() < 0.4)
    const work = chosen.map((id) => change(knowledge, id, random() < 0.25 ? null : version++))
    await Promise.all(work)
    // Lets some documents be indexed before they change again.
    await new Promise((resolve) => setTimeout(resolve, random() ** 2 * 60))
  }
}

async function say(knowledge: Knowledge, when: 'found' | 'settled'): Promise<void> {
  const { documents } = await knowledge.list({ limit: 1000 })
  const listed = Object.fromEntries(documents.map(({ documentId, phase }) => [documentId, phase]))
  print({ say: when, shown: await look(knowledge), listed })
}

async function change(knowledge: Knowledge, id: string, version: number | null): Promise<void> {
  print({ say: 'begins', id, version })
  const existed = version === null ? await remove(knowledge, id) : await post(knowledge, id, version)
  print({ say: 'done', id, version, existed })
}

/** Waits until nothing is left that nobody can see. */
async function end(knowledge: Knowledge): Promise<void> {
  const deadline = Date.now() + 120_000
  for (;;) {
    const { documents } = await knowledge.list({ limit: 1000 })
    const visibleRows = documents.reduce((sum, { chunkCount }) => sum + (chunkCount ?? 0), 0)
    const { rows } = (await knowledge.figures()).index
    if (rows === visibleRows || Date.now() > deadline) {
      print({ say: 'cleaned', rows, visibleRows })
      await knowledge.close()
      return
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

if (process.argv[2]) await main(JSON.parse(process.argv[2]) as ChildTask)
