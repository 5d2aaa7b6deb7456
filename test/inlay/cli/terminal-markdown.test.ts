import { expect, test } from 'vitest'
import { createTerminalMarkdown } from 'inlay/internal/cli/terminal-markdown'
import { isTable } from 'inlay/internal/cli/terminal-table'

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
    const markdown = createTerminalMarkdown(mark, () => 1000)
    let all = ''
    for (let at = 0; at < given.length; at += size) all += markdown.push(given.slice(at, at + size))
    expect(joined(all + markdown.end()), `in pieces of ${size}`).toBe(shown)
  }
})

test('a word is shown once it is complete and can be no mark', () => {
  const markdown = createTerminalMarkdown(mark, () => 100)
  expect(markdown.push('Staff get')).toBe('Staff')
  expect(markdown.push(' 25 days')).toBe(' get 25')
  expect(markdown.push(' of **paid')).toBe(' days of')
  expect(markdown.end()).toBe(' <bold>paid</bold>')
})

const table = `| Grade | Days of leave | Department |
|---|--:|---|
| Junior | 25 | **Human** Resources [1] |
| Senior | 30 | a \\| b |
`

/** As shown in a terminal of this width, in pieces of three letters. */
function shownIn(columns: number, text: string): string[] {
  const markdown = createTerminalMarkdown(
    (_, part) => part,
    () => columns,
  )
  let all = ''
  for (let at = 0; at < text.length; at += 3) all += markdown.push(text.slice(at, at + 3))
  return (all + markdown.end()).split('\n')
}

test('a table gets columns that fit the terminal', () => {
  expect(shownIn(60, `${table}\nend`)).toEqual([
    'Grade  │ Days of leave │ Department',
    '───────┼───────────────┼────────────────────',
    'Junior │            25 │ Human Resources [1]',
    'Senior │            30 │ a | b',
    '',
    'end',
  ])
  expect(shownIn(32, table.trimEnd())).toEqual([
    'Grade  │    Days of │ Department',
    '       │      leave │',
    '───────┼────────────┼───────────',
    'Junior │         25 │ Human',
    '       │            │ Resources',
    '       │            │ [1]',
    'Senior │         30 │ a | b',
  ])
})

test('a table too wide for the terminal becomes a list of each row', () => {
  expect(shownIn(20, table)).toEqual([
    '- Grade: Junior',
    '- Days of leave: 25',
    '- Department: Human',
    '  Resources [1]',
    '',
    '- Grade: Senior',
    '- Days of leave: 30',
    '- Department: a | b',
    '',
  ])
})

test.each([
  ['--|:-:', true],
  ['| - |  :--: |', true],
  ['| -- | a |', false],
  ['|', false],
  ['| |--|', false],
  ['| : |', false],
  [`| --${' '.repeat(200_000)}a`, false],
])('whether a second line makes a table: %#', { timeout: 20_000 }, (line, isDelimiter) => {
  expect(isTable(['| a | b |', line])).toBe(isDelimiter)
})

test('lines with bars that are no table, and code, stay as they are', () => {
  expect(shownIn(20, '| a | b\nc')).toEqual(['| a | b', 'c'])
  const code = `const answer = 'far more than twenty letters'`
  expect(shownIn(20, `\`\`\`\n${code}\n| a |\n|---|\n\`\`\`\nwords that are wrapped again`)).toEqual([
    code,
    '| a |',
    '|---|',
    'words that are',
    'wrapped again',
  ])
})
