/**
 * Runs index and blobs in a bucket of a real S3 server: conformance, two processes at once, an outage:
 * `npm run -w test/rigs check:s3`, with `python3`.
 */
import { blobStorageConformance, vectorIndexConformance } from '@inlay/conformance'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import { s3Blobs } from '@inlay/drivers/s3-blobs'
import type { VectorIndex } from '@inlay/knowledge'
import { createStorage, prefixStorage } from 'unstorage'
import s3Driver from 'unstorage/drivers/s3'
import { folded, midFold } from '../../drivers/index-states.ts'
import { runAll } from './run-all.ts'
import { startS3 } from './s3-server.ts'
import { s3Scenes } from './s3-scenes.ts'

const server = await startS3()
// Environment variables of a host, inherited by the processes started here.
Object.assign(process.env, {
  AWS_ACCESS_KEY_ID: server.credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: server.credentials.secretAccessKey,
  AWS_REGION: server.credentials.region,
  AWS_ENDPOINT: server.endpoint,
  AWS_ALLOW_HTTP: 'true',
  LANCEDB_LOG: 'error',
})
try {
  const make =
    (wrap = (index: VectorIndex) => index) =>
    (store: string): VectorIndex => {
      const name = `${wrap.name || 'plain'}-${store.replace(/[^a-z0-9]+/gi, '-')}`
      return wrap(lancedbIndex({ folder: `s3://${server.bucket}/${name}` }))
    }
  const { credentials, endpoint, bucket } = server
  const inBucket = (): ReturnType<typeof createStorage> =>
    createStorage({ driver: s3Driver({ ...credentials, endpoint, bucket }) })
  await runAll(
    'blobs',
    blobStorageConformance((place) => prefixStorage(inBucket(), place)),
    server.clear,
  )
  await runAll(
    'blobs by their address',
    blobStorageConformance((place) => s3Blobs({ ...credentials, endpoint, address: `s3://${bucket}/${place}` })),
    server.clear,
  )
  await runAll('one bucket', s3Scenes(server), server.clear)
  await runAll('rows as they come', vectorIndexConformance(make()), server.clear)
  await runAll('rows folded in', vectorIndexConformance(make(folded)), server.clear)
  await runAll('amid a fold', vectorIndexConformance(make(midFold)), server.clear)
} finally {
  await server.stop()
}
process.exit()
