/**
 * One of several processes over a data folder. Its clients post and delete documents that the other processes change
 * too, a reader looks all the time, and everything is said as it happens. Told to stop, it changes nothing any more; told
 * to end, it waits until the queue is empty and says what search shows.
 */
import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { createKnowledge, migrateKnowledge, type Knowledge } from '@inlay/knowledge'
import { Kysely } from 'kysely'
import { processPresence } from 'inlay/internal/process-presence'
import { seededRandom } from '../random.ts'
import { look, post, remove, type Shown, type State } from '../versions.ts'

/** Instructions for the process, as JSON in its first argument. */
export interface ChildTask {
  readonly folder: string
  readonly seed: number
  /** Documents that every client of every process posts and deletes. */
  readonly shared: readonly string[]
  /** A document that one client of this process updates, and nobody else. */
  readonly own: string
  /** Versions are numbered from here. */
  readonly firstVersion: number
  /** How far its clock is ahead of the others', in milliseconds: it takes their leases for expired. */
  readonly aheadMs: number
}

/** Its messages. Times are nanoseconds of the clock that all processes of a machine share. */
export type ChildLine =
  | { readonly say: 'began'; readonly call: string; readonly id: string; readonly state: State; readonly at: number }
  | { readonly say: 'ended'; readonly call: string; readonly existed: boolean; readonly at: number }
  | { readonly say: 'looked'; readonly began: number; readonly ended: number; readonly shown: Shown }
  | { readonly say: 'stopped' }
  | { readonly say: 'end'; readonly shown: Shown; readonly listed: Readonly<Record<string, string>> }
  | { readonly say: 'error'; readonly error: string }

const clients = 3

function print(line: ChildLine): void {
  writeSync(1, `${JSON.stringify(line)}\n`)
}

const point = (): number => Number(process.hrtime.bigint())
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

async function main({ folder, seed, shared, own, firstVersion, aheadMs }: ChildTask): Promise<void> {
  const random = seededRandom(seed)
  const db = new Kysely<unknown>({ dialect: nodeSqlite({ file: join(folder, 'records.db') }) })
  await migrateKnowledge(db)
  const knowledge = createKnowledge({
    db,
    index: lancedbIndex({ folder: join(folder, 'index'), keepVersionsMs: 2000 }),
    now: () => Date.now() + aheadMs,
    worker: { ...processPresence(), maxClaimDocuments: 2, lingerMs: 1, pollMs: 10, leaseMs: 300 },
    // Steps take so long that the processes overtake each other.
    at: async (step) => {
      if (step !== 'accept' && random() < 0.5) await pause(random() * 30)
    },
    onError: (error) => print({ say: 'error', error: String(error instanceof Error ? error.stack : error) }),
  })
  await knowledge.start()
  let isOver = false
  const words = process.stdin.setEncoding('utf8')[Symbol.asyncIterator]()
  const received = words.next().then(() => (isOver = true))
  let version = firstVersion
  async function change(id: string, state: State): Promise<void> {
    const call = `${seed} ${version++}`
    print({ say: 'began', call, id, state, at: point() })
    const existed = state === null ? await remove(knowledge, id) : await post(knowledge, id, state)
    print({ say: 'ended', call, existed, at: point() })
  }
  const work = Array.from({ length: clients }, async () => {
    while (!isOver) {
      const id = shared[Math.floor(random() * shared.length)]!
      await change(id, random() < 0.3 ? null : version++)
      await pause(random() ** 3 * 60)
    }
  })
  const update = async (): Promise<void> => {
    while (!isOver) {
      await change(own, version++)
      await pause(random() * 25)
    }
  }
  const read = async (): Promise<void> => {
    while (!isOver) {
      const began = point()
      const shown = await look(knowledge)
      print({ say: 'looked', began, ended: point(), shown })
    }
  }
  await Promise.all([...work, update(), read(), received])
  print({ say: 'stopped' })
  await words.next()
  await end(knowledge)
  await knowledge.close()
  await db.destroy()
  process.stdin.destroy()
}

async function end(knowledge: Knowledge): Promise<void> {
  await knowledge.whenIdle()
  const { documents } = await knowledge.list()
  const listed = Object.fromEntries(documents.map(({ documentId, phase }) => [documentId, phase]))
  print({ say: 'end', shown: await look(knowledge), listed })
}

if (process.argv[2]) await main(JSON.parse(process.argv[2]) as ChildTask)
