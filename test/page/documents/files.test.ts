import { expect, test } from 'vitest'
import { chosenFiles, documentIdOf, refusalOf } from '../../../packages/page/src/documents/files.ts'
import { typedDocument } from '../../../packages/page/src/documents/typed-document.ts'

const handed = (file: File, path = file.name): { file: File; path: string } => ({ file, path })

test('a file is known by its path, and a copy beside it by a number', () => {
  const readme = handed(new File(['x'], 'README.md'), 'guide/README.md')
  expect([documentIdOf(readme), documentIdOf(readme, 2)]).toEqual(['guide/README.md', 'guide/README.md (2)'])
  expect(chosenFiles([new File(['x'], 'notes.txt')])).toMatchObject([{ path: 'notes.txt' }])
})

test.each([
  [new File(['x'], 'tool.exe'), /kind of file is not read/],
  [new File(['x'], 'letter.DOC'), /kind of file is not read\. Save it as \.docx/],
  [new File(['x'], 'phone.heic'), /kind of picture .* save it as PNG or JPEG/],
  [new File(['x'], 'all.zip'), /is an archive\. Unpack it/],
  [new File(['x'], 'talk.mp3'), /is a recording\. Add a transcript/],
  [new File([''], 'notes.txt'), /is empty/],
  [Object.defineProperty(new File(['x'], 'big.pdf'), 'size', { value: 2 ** 27 }), /is larger than 100 MB/],
])('a file that cannot become a document is refused in words', (file, words) => {
  expect(refusalOf(handed(file))).toMatch(words)
})

test.each(['report.PDF', 'plan.docx', 'slides.pptx', 'list.xlsx', 'mail.eml', 'page.html', 'notes.md'])(
  '%s is taken',
  (name) => {
    expect(refusalOf(handed(new File(['x'], name)))).toBeUndefined()
  },
)

test('a picture chosen alone is for the service to read or refuse, one in a folder is left out', () => {
  const picture = new File(['x'], 'photo.png', { type: 'image/png' })
  expect(refusalOf(handed(picture))).toBeUndefined()
  expect(refusalOf(handed(picture, 'trip/photo.png'))).toMatch(/Pictures in folders .* choose it alone/)
})

test('a pasted text is named by its title, its heading or its first words', () => {
  expect(typedDocument(' Hours ', 'We open at 9.')).toEqual({ id: 'page/Hours', title: 'Hours', text: 'We open at 9.' })
  expect(typedDocument('', '## Hours\n\nWe open at 9.').title).toBe('Hours')
  expect(typedDocument('', `We open at nine ${'and stay open '.repeat(9)}`).title).toMatch(
    /^We open at nine .{1,45} …$/,
  )
})
