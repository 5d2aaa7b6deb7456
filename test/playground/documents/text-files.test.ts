import { expect, test } from 'vitest'
import { readTextFile, typedDocument } from '../../../playground/web/documents/text-files.ts'

test('a Markdown file is a document named by its first heading, and the same file again is the same document', async () => {
  const reading = await readTextFile(new File(['Preface\n\n# Leave policy #\n\ntext'], 'leave.md'))
  expect(reading).toEqual({
    document: { id: 'page/leave.md', title: 'Leave policy', text: 'Preface\n\n# Leave policy #\n\ntext' },
  })
})

test('a file without a heading is named by its file', async () => {
  expect(await readTextFile(new File(['just text'], 'notes.txt'))).toMatchObject({ document: { title: 'notes.txt' } })
})

test.each([
  [new File(['x'], 'photo.png', { type: 'image/png' }), /not a text or Markdown file/],
  [new File([new Uint8Array([0xff, 0xfe, 0x00])], 'notes.txt'), /not UTF-8/],
  [new File(['a\0b'], 'notes.txt'), /not a text file/],
  [new File(['x'.repeat(5_000_001)], 'notes.txt'), /larger than 5 MB/],
])('a file the page cannot read is refused in words', async (file, words) => {
  expect(await readTextFile(file)).toEqual({ refusal: expect.stringMatching(words) })
})

test('a pasted text is named by its title, its heading or its first words', () => {
  expect(typedDocument(' Hours ', 'We open at 9.')).toEqual({ id: 'page/Hours', title: 'Hours', text: 'We open at 9.' })
  expect(typedDocument('', '## Hours\n\nWe open at 9.').title).toBe('Hours')
  expect(typedDocument('', `We open at nine ${'and stay open '.repeat(9)}`).title).toMatch(
    /^We open at nine .{1,45} …$/,
  )
})
