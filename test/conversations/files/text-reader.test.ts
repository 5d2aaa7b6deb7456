import { expect, test } from 'vitest'
import { readTextFile } from '@inlay/conversations/internal/files/text-reader'

const read = async (html: string): Promise<string | undefined> => {
  const { sections } = await readTextFile({ name: 'page.html', bytes: new TextEncoder().encode(html) })
  return sections.map((section) => section.text).join('\n')
}

test('HTML is read without its tags, its comments and what pages do not show', async () => {
  const page =
    '<p>One<!-- <p> --> two</p><SCRIPT>if (a < b) c()</script ><b title="x">three</b> &amp; <style>p{}</style>4'
  expect(await read(page)).toBe('One two\nthree & 4')
})

test('tags, comments and scripts that nothing closes cost no more than their length', async () => {
  // Reading on to the end from each of them would take hours.
  for (const opening of ['<', '<p ', '<!-- ', '<script ', '<style>'])
    expect(await read(`Before ${opening.repeat(100_000)}`)).toMatch(/^Before/)
})
