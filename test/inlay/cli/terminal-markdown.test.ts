import { expect, test } from 'vitest'
import { createTerminalMarkdown } from 'inlay/internal/cli/terminal-markdown'

const mark = (style: string, text: string): string => `<${style}>${text}</${style}>`
/** Styled pieces that touch are one to a reader. */
const joined = (text: string): string => text.replaceAll('</bold><bold>', '')

const texts: [given: string, shown: string][] = [
  ['plain text, 3 * 4 = 12', 'plain text, 3 * 4 = 12'],
  ['Run **stop** now.', 'Run <bold>stop</bold> now.'],
  ['## Leave policy\n\nStaff **get** 25.', '<bold>Leave policy</bold>\n\nStaff <bold>get</bold> 25.'],
  ['Use `docker stop **x**` here', 'Use <dim>docker stop **x**</dim> here'],
  ['```sh\n# not a heading **at all**\n```\nend', '# not a heading **at all**\nend'],
  ['See [the guide](https://x.example/a) and [1].', 'See the guide (https://x.example/a) and [1].'],
  ['- one\n- two', '- one\n- two'],
  ['a \\* b', 'a * b'],
  ['never **closed\n\nnext', 'never <bold>closed</bold>\n\nnext'],
  ['evil \u001b[2J\u0007text', 'evil [2Jtext'],
  ['a `b', 'a `b'],
]

test.each(texts)('%j is shown as %j, cut anywhere', (given, shown) => {
  for (let size = 1; size <= given.length; size++) {
    const markdown = createTerminalMarkdown(mark)
    let all = ''
    for (let at = 0; at < given.length; at += size) all += markdown.push(given.slice(at, at + size))
    expect(joined(all + markdown.end()), `in pieces of ${size}`).toBe(shown)
  }
})

test('text that can be no mark is shown at once', () => {
  const markdown = createTerminalMarkdown(mark)
  expect(markdown.push('Staff get')).toBe('Staff get')
  expect(markdown.push(' 25 days')).toBe(' 25 days')
  expect(markdown.push(' **of')).toBe(' <bold>of</bold>')
})
