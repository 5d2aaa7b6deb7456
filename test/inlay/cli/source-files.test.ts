import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { findSourceFiles } from 'inlay/internal/cli/source-files'

const folder = mkdtempSync(join(tmpdir(), 'inlay-files-'))
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
for (const path of [
  'book/a.md',
  'book/deep/er/b.HTML',
  'book/c.png',
  'book/.hidden/d.md',
  'book/node_modules/e.md',
  'book/.f.md',
  'top.txt',
]) {
  mkdirSync(join(folder, path, '..'), { recursive: true })
  writeFileSync(join(folder, path), 'x')
}
symlinkSync(join(folder, 'top.txt'), join(folder, 'book/linked.txt'))
symlinkSync(folder, join(folder, 'book/upwards'))

const idsOf = async (paths: string[], from = folder): Promise<string[]> =>
  (await findSourceFiles(paths, from)).map(({ id }) => id)

test('a folder gives its readable files of any depth, none that are hidden', async () => {
  expect(await idsOf(['book'])).toEqual(['book/a.md', 'book/deep/er/b.HTML', 'book/linked.txt'])
})

test('ids are the same however the folder is named', async () => {
  const ids = await idsOf(['book'])
  expect(await idsOf([join(folder, 'book')], '/')).toEqual(ids)
  expect(await idsOf(['../book/'], join(folder, 'book'))).toEqual(ids)
  expect(await idsOf(['.'], join(folder, 'book'))).toEqual(ids)
})

test.skipIf(process.platform === 'win32')('a pipe is refused, which could be read without end', async () => {
  execFileSync('mkfifo', [join(folder, 'pipe.md')])
  await expect(idsOf(['pipe.md'])).rejects.toThrow('"pipe.md" is not a regular file.')
})

test('a file has the id it has in its folder', async () => {
  expect(await idsOf(['book/a.md', './book/deep/er/b.HTML', join(folder, 'book/a.md')])).toEqual([
    'book/a.md',
    'book/deep/er/b.HTML',
  ])
  expect(await idsOf(['a.md'], join(folder, 'book'))).toEqual(['book/a.md'])
  expect(await idsOf([join(folder, 'book/a.md')], tmpdir() === folder ? '/' : join(folder, 'book/deep'))).toEqual([
    'book/a.md',
  ])
})

test('the same file named twice is taken once', async () => {
  expect(await idsOf(['book', 'book/a.md', 'book'])).toHaveLength(3)
})

test('the way below the folder goes into links', async () => {
  const [, deep] = await findSourceFiles(['book'], folder)
  expect(deep).toEqual({
    id: 'book/deep/er/b.HTML',
    below: 'deep/er/b.HTML',
    path: join(folder, 'book/deep/er/b.HTML'),
  })
})

test('a picture that is named is taken with OCR, one in a folder is not', async () => {
  const named = await findSourceFiles(['book/c.png', 'book'], folder, () => {}, true)
  expect(named.map(({ id }) => id)).toEqual(['book/a.md', 'book/c.png', 'book/deep/er/b.HTML', 'book/linked.txt'])
})

test.each([[['nowhere']], [['book/c.png']]])('%j is refused', async (paths) => {
  await expect(findSourceFiles(paths, folder)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})
