import type { ResolvedModel } from '@inlay/agent'
import { findTitle } from '@inlay/conversations/internal/sessions/title'
import { expect, test } from 'vitest'

const modelSaying = (text: string): ResolvedModel =>
  ({ contextTokens: 8_000, model: { doGenerate: async () => ({ content: [{ type: 'text', text }] }) } }) as never

test.each([
  '**Leave days**',
  '# Leave days',
  'Title: Leave days',
  '**Title:** "Leave days"',
  'Titel: `Leave days`.',
  '## __Leave days__',
  'Leave days',
])('a name that a model writes as %j is plain text', async (text) => {
  const messages = [{ role: 'user', text: 'How many days of leave are there?' }] as const
  expect(await findTitle(messages, modelSaying(text), new AbortController().signal)).toBe('Leave days')
})

test.each(['Titles: of books', 'C# and F#', 'snake_case names', 'Plan: leave'])(
  'a name keeps the signs that belong to it: %s',
  async (text) => {
    const messages = [{ role: 'user', text: 'What?' }] as const
    expect(await findTitle(messages, modelSaying(text), new AbortController().signal)).toBe(text)
  },
)
