/** One of several processes of an installation, as `startProcess` runs it; its tasks come as JSON. */
import { createServer } from 'node:http'
import { scriptedModel, type ScriptStep } from '@inlay/agent/testing'
import { httpReranker } from '@inlay/drivers/http-reranker'
import { closeServer, createInlay, nodeListener, type EngineOptions } from 'inlay'
import { fakeEmbedder } from '../../knowledge/fake-embedder.ts'
import { scripted } from '../../life/serve.ts'

/** Databases and folders that a process shares with the others. */
export interface Engines {
  /** Folder of what no other engine keeps: records, index, files. */
  readonly dataFolder: string
  /** Address of a Postgres database for the records. */
  readonly postgres?: string
  /** Address of a Postgres database for the index. */
  readonly pgvector?: string
  /** Addresses of the nodes of an OpenSearch cluster, for the index. */
  readonly opensearch?: readonly string[]
  /** Address of a Redis server that running answers are shared through. */
  readonly redis?: string
  /** A bucket for files. */
  readonly bucket?: { readonly address: string; readonly access: NonNullable<EngineOptions['s3']> }
  readonly hasVectors?: boolean
  /** Address of a service that reranks as TEI does. */
  readonly reranker?: string
}

/** Instructions for a process. */
export interface ProcessTask extends Engines {
  readonly port: number
  readonly apiKey: string
  /** How far the clock of its machine is ahead of the others. */
  readonly clockMs?: number
  readonly telemetry?: boolean
  readonly requestsPerMinute?: number
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

/** The settings of `inlay serve`. */
function enginesOf({ postgres: database, pgvector, opensearch, redis, bucket }: Engines): EngineOptions {
  const index = opensearch ? { url: opensearch.join(','), shards: 3, replicas: 1 } : (pgvector ?? 'folder')
  const files = bucket && { files: bucket.address, s3: bucket.access }
  return { database, index, sharedRuns: redis, ...files }
}

async function main(task: ProcessTask): Promise<void> {
  const { port, apiKey, clockMs = 0, noticeMs = 0, drainMs = 0 } = task
  const machineClock = Date.now
  Date.now = () => machineClock() + clockMs
  const inlay = createInlay({
    dataFolder: task.dataFolder,
    apiKey,
    ...enginesOf(task),
    embedder: task.hasVectors ? fakeEmbedder({ batch: 64 }) : undefined,
    model: {
      resolve: async () => ({ ...scripted, model: scriptedModel(({ prompt }) => answerOf(prompt)) }),
      list: async () => [],
    },
    ...(task.reranker !== undefined && { reranker: httpReranker({ protocol: 'tei', baseUrl: task.reranker }) }),
    searchHelp: { expand: false },
    telemetry: task.telemetry ?? false,
    callerLimits: task.requestsPerMinute === undefined ? undefined : { requestsPerMinute: task.requestsPerMinute },
  })
  await inlay.start()
  const server = createServer({ keepAliveTimeout: 75_000 }, nodeListener(inlay.fetch))
  server.prependListener('request', (_, response) => response.setHeader('x-process', String(port)))
  server.listen(port, '127.0.0.1', () => process.stdout.write(`port ${port}\n`))
  process.once('SIGTERM', () => void closeServer(server, inlay, { noticeMs, drainMs }).then(() => process.exit()))
}

await main(JSON.parse(process.env['INLAY_TEST_TASK']!) as ProcessTask)
