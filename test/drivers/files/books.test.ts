import { fileExtractor } from '@inlay/drivers/file-extraction'
import { afterAll, describe, expect, test } from 'vitest'
import { utf8, zip } from './samples.ts'

const extract = fileExtractor()
afterAll(() => extract.close())

describe('e-books', () => {
  const chapter = (body: string): string =>
    `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body>${body}</body></html>`
  const book = (more: Record<string, string> = {}): Uint8Array =>
    zip({
      mimetype: 'application/epub+zip',
      'META-INF/container.xml':
        '<container><rootfiles><rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
      'OEBPS/book.opf':
        '<package><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Tides</dc:title><dc:creator>Ann Lee</dc:creator></metadata><manifest><item id="nav" href="nav.xhtml" properties="nav"/><item id="b" href="text/two%20b.xhtml"/><item id="a" href="text/one.xhtml"/></manifest><spine><itemref idref="nav"/><itemref idref="a"/><itemref idref="b"/><itemref idref="gone"/></spine></package>',
      'OEBPS/nav.xhtml': chapter('<nav><ol><li>Ebb</li></ol></nav>'),
      'OEBPS/text/one.xhtml': chapter('<h1>Ebb</h1><p>Water goes.</p>'),
      'OEBPS/text/two b.xhtml': chapter('<h1>Flood</h1><p>Water comes.</p>'),
      ...more,
    })

  test('chapters are sections in reading order, under the title of the book', async () => {
    expect(await extract({ name: 'a.epub', bytes: book() })).toMatchObject({
      mediaType: 'application/epub+zip',
      title: 'Tides',
      metadata: { author: 'Ann Lee' },
      sections: [{ text: '# Ebb\n\nWater goes.' }, { text: '# Flood\n\nWater comes.' }],
    })
  })

  test('a book without its list of chapters is refused as broken', async () => {
    const bytes = book({ 'META-INF/container.xml': '<container/>' })
    await expect(extract({ name: 'a.epub', bytes })).rejects.toMatchObject({ data: { reason: 'broken' } })
  })
})

describe('notebooks', () => {
  const notebook = (cells: readonly object[]): Uint8Array =>
    utf8(JSON.stringify({ nbformat: 4, metadata: { language_info: { name: 'python' } }, cells }))

  test('texts, code and printed outputs are read, pictures are counted', async () => {
    const cells = [
      { cell_type: 'markdown', source: ['# Tides\n', '\n', 'Heights of a year.'] },
      {
        cell_type: 'code',
        source: 'print(4.2)',
        outputs: [
          { output_type: 'stream', text: ['4.2\n'] },
          { data: { 'text/plain': '<Figure size 640x480>', 'image/png': 'iVBORw0KGgo=' } },
        ],
      },
    ]
    expect(await extract({ name: 'tides.ipynb', bytes: notebook(cells) })).toMatchObject({
      title: 'Tides',
      sections: [
        { text: '# Tides\n\nHeights of a year.\n\n```python\nprint(4.2)\n```\n\nOutput:\n\n```text\n4.2\n```' },
      ],
    })
  })

  test.each(['{"cells": 5}', '[1, 2]', '{"nbformat": 4, "cells": [{"source"'])(
    'what is called a notebook and is none (%s) is text',
    async (content) => {
      expect(await extract({ name: 'a.ipynb', bytes: utf8(content) })).toMatchObject({
        mediaType: 'text/plain',
        sections: [{ text: content }],
      })
    },
  )
})
