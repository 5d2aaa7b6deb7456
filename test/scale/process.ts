/** One of several processes of an installation, as `startProcess` runs it; its tasks come as JSON. */
import { createServer } from 'node:http'
import { scriptedModel, type ScriptStep } from '@inlay/agent/testing'
import { opensearchIndex } from '@inlay/drivers/opensearch'
import { pgvectorIndex } from '@inlay/drivers/pgvector'
import { postgres } from '@inlay/drivers/postgres'
import { redisRuns } from '@inlay/drivers/redis'
import { closeServer, createInlay, nodeListener, type VectorIndex } from 'inlay'
import pg from 'pg'
import { fakeEmbedder } from '../knowledge/fake-embedder.ts'
import { scripted } from '../life/serve.ts'

/** Where a process keeps what it shares with the others. */
export interface Engines {
  /** Folder of what no other engine keeps: records, index, files. */
  readonly dataFolder: string
  /** Address of a Postgres database for the records. */
  readonly postgres?: string
  /** Whether the index is in Postgres too. */
  readonly hasPgvector?: boolean
  /** Addresses of the nodes of an OpenSearch cluster, for the index. */
  readonly opensearch?: readonly string[]
  /** Address of a Redis server that running answers are shared through. */
  readonly redis?: string
  readonly hasVectors?: boolean
}

/** What a process is to do. */
export interface ProcessTask extends Engines {
  readonly port: number
  readonly apiKey: string
  readonly noticeMs?: number
  readonly drainMs?: number
}

/** Says as many words as the message asks for, one every 20 ms; asked to look something up, it searches first. */
function answerOf(prompt: readonly { readonly role: string; readonly content: unknown }[]): ScriptStep {
  const question = JSON.stringify(prompt.findLast(({ role }) => role === 'user')?.content ?? '')
  const lookup = /look up (\w+)/.exec(question)?.[1]
  if (lookup !== undefined && prompt.at(-1)?.role !== 'tool')
    return [{ call: { name: 'internal_search', input: { queries: [lookup] }, id: crypto.randomUUID() } }]
  const count = Number(/(\d+) words/.exec(question)?.[1] ?? 10)
  const pause = { pause: () => new Promise((resolve) => setTimeout(resolve, 20)) }
  return Array.from({ length: count }, (_, number) => [`word${number} `, pause]).flat()
}

function indexOf({ postgres: connectionString, hasPgvector, opensearch }: Engines): VectorIndex | undefined {
  if (opensearch) return opensearchIndex({ nodes: [...opensearch], shards: 3, replicas: 1 })
  if (hasPgvector && connectionString) return pgvectorIndex({ client: new pg.Pool({ connectionString }) })
  return undefined
}

async function main(task: ProcessTask): Promise<void> {
  const { port, apiKey, noticeMs = 0, drainMs = 0 } = task
  const inlay = createInlay({
    dataFolder: task.dataFolder,
    apiKey,
    dialect: task.postgres === undefined ? undefined : postgres({ connectionString: task.postgres }),
    index: indexOf(task),
    embedder: task.hasVectors ? fakeEmbedder({ batch: 64 }) : undefined,
    sharedRuns: task.redis === undefined ? undefined : redisRuns({ url: task.redis }),
    models: {
      resolve: async () => ({ ...scripted, model: scriptedModel(({ prompt }) => answerOf(prompt)) }),
      list: async () => [],
    },
    searchHelp: { expand: false, choose: false },
  })
  await inlay.start()
  const server = createServer({ keepAliveTimeout: 75_000 }, nodeListener(inlay.fetch))
  server.prependListener('request', (_, response) => response.setHeader('x-process', String(port)))
  server.listen(port, '127.0.0.1', () => process.stdout.write(`port ${port}\n`))
  process.once('SIGTERM', () => void closeServer(server, inlay, { noticeMs, drainMs }).then(() => process.exit()))
}

await main(JSON.parse(process.env['INLAY_TEST_TASK']!) as ProcessTask)
