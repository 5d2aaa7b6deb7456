import { chmodSync } from 'node:fs'
import { readSettings } from 'inlay'
import { checkProduction } from 'inlay/internal/cli/doctor-production'
import type { Finding } from 'inlay/internal/cli/finding'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../life/process.ts'

type Settings = Readonly<Record<string, string>>

async function findingsOf(env: Settings, mode = 0o700): Promise<readonly Finding[]> {
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  chmodSync(path, mode)
  const settings = readSettings({ INLAY_DATA: path, ...env })
  return checkProduction({ settings } as never)
}

async function warnings(env: Settings, mode?: number): Promise<string[]> {
  const findings = await findingsOf(env, mode)
  return findings.filter(({ status }) => status === 'warning').map(({ check }) => check)
}

const secret = '5f0c9e7a1b2d48c6a3e1f7b9'

test('doctor --production warns of what others could use, each with what to do', async () => {
  const env = {
    HOST: '0.0.0.0',
    INLAY_API_KEY: 'change-me-soon',
    INLAY_CORS_ORIGINS: '*',
    INLAY_REDIS_URL: 'redis://cache.internal:6379',
  }
  const redis = ['INLAY_REDIS_URL', 'INLAY_REDIS_URL']
  expect(await warnings(env, 0o755)).toEqual([
    'Network',
    'Keys',
    'Origins',
    'Limits',
    'Added keys',
    ...redis,
    'Permissions',
  ])
})

test('it has nothing to say of an installation that is protected', async () => {
  const env = {
    INLAY_CALLER_LIMITS: 'tokensPerDay=50000',
    INLAY_SECRET_KEY: secret,
    INLAY_REDIS_URL: `rediss://inlay:${secret}%@cache.internal:6379`,
  }
  expect(await warnings(env)).toEqual([])
})

const bucket = {
  INLAY_FILES_URL: 's3://bucket/files',
  INLAY_S3_ACCESS_KEY_ID: 'inlay',
  INLAY_S3_SECRET_ACCESS_KEY: secret,
}

test('it asks for passwords and TLS of the index and for TLS of the buckets', async () => {
  const env = {
    INLAY_CALLER_LIMITS: 'tokensPerDay=50000',
    INLAY_SECRET_KEY: secret,
    INLAY_INDEX_URL: `http://search.internal:9200,https://inlay:${secret}@search-2.internal:9200`,
    INLAY_S3_ENDPOINT: 'http://minio.internal:9000',
    ...bucket,
  }
  const findings = await findingsOf(env)
  expect(findings.filter(({ status }) => status === 'warning')).toMatchObject([
    { check: 'INLAY_INDEX_URL', message: 'the password is absent or a known word' },
    { check: 'INLAY_INDEX_URL', message: 'goes to search.internal:9200 without TLS', advice: 'Use https://.' },
    { check: 'INLAY_S3_ENDPOINT', message: 'goes to minio.internal:9000 without TLS', advice: 'Use https://.' },
  ])
})

test('it does not look at a data folder in which nothing lies', async () => {
  const findings = await findingsOf({ INLAY_DATABASE_URL: 'postgres://inlay@localhost:1/inlay', ...bucket }, 0o755)
  expect(findings.map(({ check }) => check)).not.toContain('Permissions')
})

const addresses = (env: Readonly<Record<string, string>>) =>
  warnings({ INLAY_CALLER_LIMITS: 'tokensPerDay=50000', INLAY_SECRET_KEY: secret, ...env })

test.each(['postgres://inlay@localhost/inlay?host=/run/postgresql', 'postgres://inlay@%2Frun%2Fpostgresql/inlay'])(
  '%s is a socket, which needs neither password nor TLS',
  async (database) => {
    expect(await addresses({ INLAY_DATABASE_URL: database })).toEqual([])
    expect(await addresses({ INLAY_INDEX_URL: database })).toEqual([])
  },
)

test('a database goes to the host of its parameter', async () => {
  const url = `postgres://inlay:${secret}@127.0.0.1/inlay?host=db.internal`
  expect(await addresses({ INLAY_INDEX_URL: url })).toEqual(['INLAY_INDEX_URL'])
  expect(await addresses({ INLAY_INDEX_URL: `${url}&sslmode=verify-full` })).toEqual([])
})
