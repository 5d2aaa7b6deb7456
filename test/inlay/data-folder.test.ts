import { chmod, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInlay } from 'inlay'
import { afterAll, beforeAll, expect, test } from 'vitest'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlay-folder-'))
})
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))

const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8)

test('records are readable for their owner alone, also in a folder that existed', async () => {
  const data = join(folder, 'existing')
  await mkdir(data)
  await chmod(data, 0o755)
  const inlay = createInlay({ dataFolder: data })
  await inlay.start()
  const modes = await Promise.all((await readdir(data)).map(async (name) => [name, await modeOf(join(data, name))]))
  await inlay.close()
  expect(Object.fromEntries(modes)).toMatchObject({
    'inlay.db': '600',
    'inlay.db-wal': '600',
    'inlay.db-shm': '600',
    index: '700',
    files: '700',
  })
  expect(await modeOf(data)).toBe('755')
})

test.runIf(process.platform === 'linux')('a folder where none can be made is refused, and nothing spins', async () => {
  const inlay = createInlay({ dataFolder: '/proc/nope/deeper' })
  await expect(inlay.start()).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    message: expect.stringContaining('data folder cannot be used'),
  })
  await inlay.close()
})

test('destroyed twice at once, an assistant is destroyed once, and what others put into its folder stays', async () => {
  const data = join(folder, 'destroyed')
  const inlay = createInlay({ dataFolder: data })
  await inlay.start()
  await mkdir(join(data, 'notes'))
  await Promise.all([inlay.destroy(), inlay.destroy()])
  expect(await readdir(data)).toEqual(['notes'])
})
