import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createReader, type Reader } from 'inlay/internal/cli/source-document'

const folder = mkdtempSync(join(tmpdir(), 'inlay-source-document-'))
let reader: Reader
beforeAll(async () => {
  reader = await createReader('https://wiki.example.com/docs')
})
afterAll(async () => {
  await reader.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})

test.each([
  ['a heading of the first level', '# Leave policy\n\nText.', 'Leave policy'],
  ['a heading of a lower level', '## `Leave` policy ##\n\nText.', 'Leave policy'],
  [
    'a heading after a comment and an anchor',
    '<!-- old names -->\n\n<a id="leave"></a>\n\n## Leave policy\n\nText.',
    'Leave policy',
  ],
  ['no heading before the text', 'Text.\n\n## Later', 'page.md'],
])('a file with %s is called by it', async (_, text, title) => {
  const path = join(folder, 'page.md')
  writeFileSync(path, text)
  const { document } = await reader.read({ path, id: 'docs/page.md', below: 'a b/page.md' })
  expect(document.semantic_identifier).toBe(title)
  expect(document.sections[0]?.link).toBe('https://wiki.example.com/docs/a%20b/page.md')
  expect(document.metadata).toMatchObject({ path: 'a b/page.md' })
})

test('a base URL that is none is refused', async () => {
  await expect(createReader('wiki')).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})
