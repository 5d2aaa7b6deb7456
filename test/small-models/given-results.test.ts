import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { withGivenResults } from '@inlay/small-models/internal/given-results'
import { expect, test } from 'vitest'
import { cpuMsOf } from '../cpu-time.ts'

/** The prompt with one result of a search made for the model. */
function promptWith(content: string): string {
  const value = JSON.stringify({ results: [{ document: 1, title: 'Tools', content }] })
  const prompt: LanguageModelV4Prompt = [
    { role: 'user', content: [{ type: 'text', text: 'How?' }] },
    {
      role: 'tool',
      content: [
        { type: 'tool-result', toolCallId: 'search-first-1', toolName: 'search', output: { type: 'text', value } },
      ],
    },
  ]
  return JSON.stringify(withGivenResults(prompt, { includeCitations: true, hasFiles: false }))
}

test.each([
  ['behind a blank line', 'Run this:\n\n```bash\n$ npm test\n```'],
  ['in the next line', 'Run this:\n~~~\n  > npm test\n~~~'],
])('a line of code %s joins the sentence before it', (_, content) => {
  expect(promptWith(content)).toContain('Run this: `npm test` [1]')
})

test('code of several lines stays as it is', () => {
  expect(promptWith('Run this:\n\n```\na\nb\n```')).not.toContain('this: `')
})

test.each([
  ['fences', `a:\n${'`'.repeat(20_000)} \n a`],
  ['tildes', `a:\n${'~'.repeat(20_000)}\n a\n~`],
  ['spaces in a fence', `a:\n${'~'.repeat(700)}\n${' '.repeat(700)}\nx`],
  ['spaces', `a:\n\`\`\`\n${' '.repeat(20_000)}\n x`],
  ['line ends', `a:${'\r'.repeat(20_000)}x`],
  ['colons', `${':\n'.repeat(20_000)}\`\`\`\nx`],
])('a passage of many %s takes linear time', async (_, content) => {
  expect(await cpuMsOf(() => promptWith(content))).toBeLessThan(100)
})
