/**
 * Documents and conversations while processes, and nodes of the index, are killed at random: `npm run -w test/rigs check:kills -- sqlite`,
 * `postgres` (needs `pip` and Debian's `postgresql` for its user) or `opensearch` (needs also `redis-server`, a JDK 17,
 * Maven and `unzip`). A second word is the number of documents, a third one that of conversations.
 */
import { temporaryFolder } from '../../life/process.ts'
import { seededRandom } from '../../life/random.ts'
import { startCluster, type OpenSearchCluster } from '../engines/opensearch-cluster.ts'
import { percentile } from './calls.ts'
import { checkConversations, converse, type Conversation } from './conversations.ts'
import { checkDocuments, writeDocuments, type Written } from './documents.ts'
import { redisServer, vectorPostgres, type EngineServer } from './engines.ts'
import { createErrors, type Installation } from './installation.ts'
import type { Engines } from './process.ts'
import { freePorts, member, type Member } from './processes.ts'

const [set = 'sqlite', documentCount = '20000', conversationCount = '200'] = process.argv.slice(2)
const seed = Number(process.env['INLAY_TEST_SEED'] ?? Date.now() % 1e9)
const random = seededRandom(seed)
const say = (text: string): void => void process.stdout.write(`${text}\n`)
const after = (delayMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, delayMs))

interface Opened {
  readonly engines: Omit<Engines, 'dataFolder'>
  readonly cluster?: OpenSearchCluster
  readonly servers: readonly EngineServer[]
}

async function open(): Promise<Opened> {
  if (set === 'sqlite') return { engines: {}, servers: [] }
  const [postgresPort, redisPort] = await freePorts(2)
  const postgres = await vectorPostgres(postgresPort!)
  if (set === 'postgres')
    return { engines: { postgres: postgres.url, pgvector: postgres.url, hasVectors: true }, servers: [postgres] }
  const redis = redisServer(redisPort!)
  await redis.start()
  const cluster = await startCluster()
  const engines = { postgres: postgres.url, redis: redis.url, opensearch: cluster.nodes, hasVectors: true }
  return { engines, cluster, servers: [postgres, redis] }
}

interface Killing {
  readonly recoveries: number[]
  readonly kills: { processes: number; nodes: number }
  stop(): Promise<void>
}

/** Kills one process at a time, and at the same time one node of the index. */
function killAtRandom(members: readonly Member[], cluster: OpenSearchCluster | undefined): Killing {
  const result = { recoveries: [] as number[], kills: { processes: 0, nodes: 0 } }
  let isOver = false
  const processes = async (): Promise<void> => {
    while (!isOver) {
      await after(2_000 + random() * 8_000)
      if (isOver) return
      const each = members[Math.floor(random() * members.length)]!
      const began = performance.now()
      await each.kill()
      result.kills.processes++
      await after(random() * 1_500)
      await each.start()
      result.recoveries.push(performance.now() - began)
    }
  }
  const nodes = async (): Promise<void> => {
    while (cluster && !isOver) {
      await after(15_000 + random() * 15_000)
      if (isOver) return
      const number = 1 + Math.floor(random() * 3)
      await cluster.killNode(number)
      result.kills.nodes++
      await after(3_000 + random() * 4_000)
      await cluster.startNode(number)
    }
  }
  const both = Promise.all([processes(), nodes()])
  // Told by `stop`.
  both.catch(() => {})
  return {
    ...result,
    stop: async () => {
      isOver = true
      await both
    },
  }
}

async function run(installation: Installation, cluster: OpenSearchCluster | undefined): Promise<void> {
  const began = performance.now()
  const seconds = (): number => Math.round((performance.now() - began) / 100) / 10
  if (process.env['INLAY_TEST_SHOW']) setInterval(() => say(JSON.stringify(installation.errors.counts)), 5_000)
  const killing = killAtRandom(installation.members, cluster)
  let [written, conversations]: [Written | undefined, readonly Conversation[]] = [undefined, []]
  try {
    const both = [
      writeDocuments(installation, Number(documentCount)).then((documents) => {
        written = documents
        say(`  all documents acknowledged after ${seconds()} s`)
      }),
      converse(installation, Number(conversationCount)).then((done) => {
        conversations = done
        say(`  all conversations ended after ${seconds()} s`)
      }),
    ]
    await Promise.all(both)
  } finally {
    await killing.stop()
  }
  const acknowledgedAfter = seconds()
  await checkConversations(installation, conversations)
  const searchableAfter = await checkDocuments(installation, written!, say)
  const { kills, recoveries } = killing
  const resumed = conversations.flatMap(({ recoveries: times }) => times)
  say(`${set}, seed ${seed}: ${documentCount} documents from 8 clients (${written!.updates} of them changed), ${conversationCount} conversations
  kills: ${kills.processes} of processes, ${kills.nodes} of index nodes
  documents: ${Math.round(written!.acknowledged / acknowledgedAfter)} acknowledged per second; searchable ${Math.round(searchableAfter / 1000)} s after the last
  a killed process served again after p50 ${percentile(recoveries, 0.5)} ms, max ${percentile(recoveries, 1)} ms (${recoveries.length} starts)
  answers cut by a kill: ${resumed.length}, ended or made anew after p50 ${percentile(resumed, 0.5)} ms, max ${percentile(resumed, 1)} ms
  longest wait for an acknowledgement: ${Math.round(written!.longestMs)} ms
  errors a client saw, each followed by another try: ${JSON.stringify(installation.errors.counts)}
  nothing acknowledged was lost or doubled, and no answer is still running`)
}

const { engines, cluster, servers } = await open()
const folder = temporaryFolder()
const members = (await freePorts(3)).map((port) => member({ ...engines, dataFolder: folder.path, port }))
try {
  await Promise.all(members.map((each) => each.start()))
  await run({ members, errors: createErrors(), random }, cluster)
} finally {
  await Promise.all(members.map((each) => each.kill()))
  await cluster?.stop()
  for (const server of servers) await server.remove()
  folder.remove()
}
process.exit()
