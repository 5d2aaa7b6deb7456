import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { keepApiKey } from '../../../playground/server/api-key.ts'

let folder: string
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'inlay-key-')), 'data')
})
afterEach(() => rm(join(folder, '..'), { recursive: true }))

test('the second start gives the key of the first', async () => {
  const key = await keepApiKey(folder)
  expect(key).toMatch(/^inlay_[\w-]{32}$/)
  expect(await keepApiKey(folder)).toBe(key)
})

test('only the owner may read the key, also when the file was there before', async () => {
  await keepApiKey(folder)
  expect((await stat(join(folder, 'api-key'))).mode & 0o777).toBe(0o600)
  await rm(join(folder, 'api-key'))
  await writeFile(join(folder, 'api-key'), 'inlay_mine\n', { mode: 0o644 })
  expect(await keepApiKey(folder)).toBe('inlay_mine')
  expect((await stat(join(folder, 'api-key'))).mode & 0o777).toBe(0o600)
})

test('starts at the same time agree on one key', async () => {
  const keys = await Promise.all(Array.from({ length: 8 }, () => keepApiKey(folder)))
  expect(new Set(keys).size).toBe(1)
  expect(await readdir(folder)).toEqual(['api-key'])
})

test('an empty file gets a key', async () => {
  await keepApiKey(folder)
  await writeFile(join(folder, 'api-key'), '')
  const key = await keepApiKey(folder)
  expect(key).toMatch(/^inlay_/)
  expect(await keepApiKey(folder)).toBe(key)
})
