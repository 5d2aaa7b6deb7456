import { chmodSync } from 'node:fs'
import { readSettings } from 'inlay'
import { checkProduction } from 'inlay/internal/cli/doctor-production'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../life/process.ts'

async function warnings(env: Readonly<Record<string, string>>, mode = 0o700): Promise<string[]> {
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  chmodSync(path, mode)
  const settings = readSettings({ INLAY_DATA: path, ...env })
  const findings = await checkProduction({ settings } as never)
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
