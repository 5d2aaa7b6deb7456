import { readFileSync } from 'node:fs'
import { aloneMs } from '@inlay/agent/internal/run/sharing'
import { sharingTimes } from '@inlay/conversations/internal/run-records/shared-runs'
import { bucketTimes } from '@inlay/drivers/internal/blobs/s3-blobs'
import { clusterTimes } from '@inlay/drivers/internal/opensearch/transport'
import { redisPaceMs } from '@inlay/drivers/internal/redis/index'
import { redisTimes } from '@inlay/drivers/internal/redis/connection'
import { postgresTimes } from '@inlay/drivers/internal/sql/silent-postgres'
import { sampleWaitMs } from '@inlay/knowledge/internal/figures/figures-sample'
import { probeSilenceMs, probeWaitMs } from '@inlay/knowledge/internal/figures/readiness'
import { expect, test } from 'vitest'

test('the table of waits for silent engines has the bounds of the code', () => {
  const page = readFileSync('docs/1.guide/19.several-processes.md', 'utf8')
  const [, section = ''] = page.split('## How long a silent engine holds calls up')
  const rows = [...section.split('## ')[0]!.matchAll(/^\| ([^|]+) \| [^|]+ \| ([\d,]+) \|$/gm)]
  const inDocs = rows.map(([, engine = '', bound = '']) => [engine, Number(bound.replaceAll(',', ''))])
  const of = (engine: string, ...bounds: number[]) => bounds.map((bound) => [engine, bound])
  expect(inDocs).toEqual([
    ...of('PostgreSQL, pgvector', ...Object.values(postgresTimes)),
    ...of('OpenSearch', clusterTimes.hedgeMs, clusterTimes.quietMs, clusterTimes.silentMs, clusterTimes.answerMs),
    ...of('Redis', redisTimes.quietMs, redisTimes.answerMs, redisTimes.reachMs),
    ...of('bucket of files', bucketTimes.hedgeMs, bucketTimes.answerMs, bucketTimes.writeMs, bucketTimes.readMs),
    ...of('`GET {base}/health/ready`', probeWaitMs, probeSilenceMs),
    ...of('`GET {base}/metrics`', sampleWaitMs),
  ])
})

test('the table of how often running answers are written has the times of the code', () => {
  const page = readFileSync('docs/1.guide/19.several-processes.md', 'utf8')
  const [, table = ''] = page.split('| running answers are written to |')
  const rows = [...table.split('\n\n')[0]!.matchAll(/^\| ([^|]+) \| ([\d,]+) \|$/gm)]
  expect(rows.map(([, store, time = '']) => [store, Number(time.replaceAll(',', ''))])).toEqual([
    ['PostgreSQL', sharingTimes.postgresMs],
    ['SQLite', sharingTimes.sqliteMs],
    ['SQLite, by the only process', aloneMs],
    ['Redis', redisPaceMs],
  ])
})
