import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { createKnowledge, migrateKnowledge, type IngestionStep, type Knowledge } from '@inlay/knowledge'
import { Kysely } from 'kysely'
import { fakeEmbedder } from './fake-embedder.ts'
import { request } from './requests.ts'

/** What the process is to do, as JSON in its first argument. */
export interface ChildTask {
  readonly folder: string
  /** First version it posts; it goes up from there. */
  readonly firstVersion: number
  /** Go on until the step is reached for the nth time, and die there; absent: finish, and print what search shows. */
  readonly kill?: { readonly step: IngestionStep; readonly nth: number }
}

/** Documents that are updated again and again. */
export const ids: readonly string[] = Array.from({ length: 12 }, (_, at) => `document${at}`)

/** Lines it prints, each before or after what it says happened. */
export type ChildLine =
  | { readonly began: string; readonly version: number }
  | { readonly acknowledged: string; readonly version: number }
  | { readonly shown: Record<string, number[]>; readonly rows: number }

function print(line: ChildLine): void {
  writeSync(1, `${JSON.stringify(line)}\n`)
}

async function post(knowledge: Knowledge, id: string, version: number): Promise<void> {
  print({ began: id, version })
  await knowledge.accept(request({ id, text: `${id} version${version}x ${'and more words '.repeat(300)}` }))
  print({ acknowledged: id, version })
}

/** Version of each document, by all passages that show it. */
async function shown(knowledge: Knowledge): Promise<Record<string, number[]>> {
  const entries = ids.map(async (id) => {
    const found = await knowledge.search({ text: id, limit: 50 })
    const mine = found.filter(({ document, content }) => document.document_id === id && content.includes('version'))
    return [id, mine.map(({ content }) => Number(/version(\d+)x/.exec(content)![1]))] as const
  })
  return Object.fromEntries(await Promise.all(entries))
}

async function main(task: ChildTask): Promise<void> {
  const { folder, kill } = task
  let left = kill?.nth ?? Infinity
  const db = new Kysely<unknown>({ dialect: nodeSqlite({ file: join(folder, 'records.db') }) })
  await migrateKnowledge(db)
  const knowledge = createKnowledge({
    db,
    index: lancedbIndex({ folder: join(folder, 'index') }),
    embedder: fakeEmbedder(),
    // Every process before this one is gone.
    worker: { lingerMs: 5, pollMs: 20, isGone: () => true },
    at: (step) => {
      if (step === kill?.step && --left <= 0) process.kill(process.pid, 'SIGKILL')
    },
  })
  await knowledge.start()
  let version = task.firstVersion
  do {
    await Promise.all(ids.map((id) => post(knowledge, id, version++)))
    // Leaves some documents be for a moment, so that they are indexed before they change again.
    await new Promise((resolve) => setTimeout(resolve, 20))
  } while (kill)
  await knowledge.settled()
  print({ shown: await shown(knowledge), rows: (await knowledge.figures()).index.rows })
  await knowledge.close()
  await db.destroy()
}

if (process.argv[2]) await main(JSON.parse(process.argv[2]) as ChildTask)
