import { readSettings } from 'inlay'
import { engineLines } from 'inlay/internal/options/engines'
import { expect, test } from 'vitest'

const database = 'postgres://inlay:se%40cret-one@db.internal:5432/inlay?sslmode=require'
const nodes = 'https://inlay:secret-two@search-1:9200, https://search-2:9200/'
const redis = 'rediss://:secret-three@cache.internal:6380/3'
const keys = { INLAY_S3_ACCESS_KEY_ID: 'an-id', INLAY_S3_SECRET_ACCESS_KEY: 'secret-four' }

const enginesOf = (env: Record<string, string>) => readSettings(env).options

function refusalOf(env: Record<string, string>): string {
  try {
    readSettings(env)
  } catch (error) {
    return (error as Error).message
  }
  return 'accepted'
}

test('each address reaches its engine', () => {
  const s3 = { ...keys, INLAY_S3_ENDPOINT: 'http://minio:9000/', INLAY_S3_REGION: 'eu-central-1' }
  const layout = { INLAY_INDEX_SHARDS: '3', INLAY_INDEX_REPLICAS: '0', INLAY_DATABASE_CONNECTIONS: '20' }
  const addresses = { INLAY_DATABASE_URL: database, INLAY_INDEX_URL: nodes, INLAY_REDIS_URL: redis }
  const files = { INLAY_FILES_URL: 's3://bucket/inlay/files', INLAY_ENGINE_PREFIX: 'help_desk' }
  expect(enginesOf({ ...addresses, ...layout, ...files, ...s3 })).toEqual({
    database: { url: database, maxConnections: 20 },
    index: { url: nodes, shards: 3, replicas: 0 },
    sharedRuns: redis,
    files: 's3://bucket/inlay/files',
    s3: {
      endpoint: 'http://minio:9000',
      region: 'eu-central-1',
      accessKeyId: 'an-id',
      secretAccessKey: 'secret-four',
      sessionToken: undefined,
    },
    enginePrefix: 'help_desk',
  })
  expect(enginesOf({ INLAY_REDIS_URL: redis })).toEqual({ sharedRuns: redis })
})

test('keys of the buckets come from the variables of AWS, unless there are own ones', () => {
  const aws = { AWS_ACCESS_KEY_ID: 'usual', AWS_SECRET_ACCESS_KEY: 's', AWS_SESSION_TOKEN: 't', AWS_REGION: 'r' }
  const inBucket = { INLAY_FILES_URL: 's3://bucket' }
  expect(enginesOf({ ...inBucket, ...aws }).s3).toMatchObject({
    accessKeyId: 'usual',
    sessionToken: 't',
    region: 'r',
  })
  expect(enginesOf({ ...inBucket, ...aws, ...keys }).s3).toMatchObject({
    accessKeyId: 'an-id',
    sessionToken: undefined,
  })
  // The role of a machine may do for the index.
  expect(enginesOf({ INLAY_INDEX_URL: 's3://bucket/index' }).s3?.accessKeyId).toBeUndefined()
  expect(enginesOf({ INLAY_REDIS_URL: redis, ...aws })).toEqual({ sharedRuns: redis })
})

test.each([
  ['INLAY_DATABASE_URL', 'mysql://root:secret@db/inlay', /use postgres:\/\//],
  ['INLAY_INDEX_URL', 'https://search-1:9200,secret', /use http or https addresses/],
  ['INLAY_INDEX_URL', 's3://Bucket_secret/x', /s3:\/\/bucket\/path/],
  ['INLAY_REDIS_URL', 'localhost:6379/secret', /use redis:\/\//],
  ['INLAY_FILES_URL', 'https://bucket.s3.amazonaws.com', /use s3:\/\//],
  ['INLAY_FILES_URL', 's3://id:secret@bucket', /use s3:\/\//],
  ['INLAY_S3_ENDPOINT', 'http://minio:secret@minio:9000', /without user and password/],
  ['INLAY_ENGINE_PREFIX', 'Help Desk', /lower-case letters/],
  ['INLAY_DATABASE_CONNECTIONS', '0', /from 1 to 1000/],
])('%s=%s is refused with what may stand there', (name, value, words) => {
  const refusal = refusalOf({ [name]: value })
  expect(refusal).toMatch(words)
  expect(refusal).toContain(`${name}: `)
  expect(refusal).not.toContain('secret')
})

test('what has no use, or lacks its other half, is refused', () => {
  expect(refusalOf({ INLAY_DATABASE_CONNECTIONS: '5' })).toMatch(/no effect without INLAY_DATABASE_URL/)
  expect(refusalOf({ INLAY_DATABASE_URL: database, INLAY_INDEX_SHARDS: '2' })).toMatch(/no effect without OpenSearch/)
  expect(refusalOf({ INLAY_S3_REGION: 'eu-central-1' })).toMatch(/no effect without a bucket/)
  expect(refusalOf({ INLAY_FILES_URL: 's3://bucket' })).toMatch(
    /INLAY_FILES_URL: needs INLAY_S3_ACCESS_KEY_ID and INLAY_S3_SECRET_ACCESS_KEY/,
  )
  expect(refusalOf({ INLAY_INDEX_URL: 's3://bucket', INLAY_S3_ACCESS_KEY_ID: 'a' })).toMatch(
    /needs INLAY_S3_SECRET_ACCESS_KEY/,
  )
})

test('what lies where is told without users, passwords and parameters', () => {
  expect(engineLines({ database, index: nodes, sharedRuns: redis, files: 's3://bucket/inlay/files' })).toEqual([
    'Records: postgres://db.internal:5432/inlay',
    'Index: https://search-1:9200, https://search-2:9200',
    'Files: s3://bucket/inlay/files',
    'Running answers: rediss://cache.internal:6380/3',
  ])
  expect(engineLines({ database, index: 'folder' })).toEqual(['Records: postgres://db.internal:5432/inlay'])
  expect(engineLines({ database })).toHaveLength(2)
  for (const password of ['12,34', 'a, b', 'a,postgres://b'])
    expect(
      engineLines({ database: `postgres://inlay:${password.replaceAll('/', '%2F')}@db/inlay`, index: 'folder' }),
    ).toEqual(['Records: postgres://db/inlay'])
})
