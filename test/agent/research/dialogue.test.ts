import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { expect, test } from 'vitest'
import { estimateTokens } from '@inlay/agent/internal/prompt/context-window'
import { userMessage } from '@inlay/agent/internal/prompt/history'
import { newestMessages, shortenTexts } from '@inlay/agent/internal/research/dialogue'

const answer = (text: string): LanguageModelV4Prompt[number] => ({
  role: 'assistant',
  content: [{ type: 'text', text }],
})

test('the newest messages are the last five of the user, each with the files that came with it', () => {
  const files = Array.from({ length: 6 }, (_, index) => userMessage(`File "${index}"`))
  const prompt = [
    { role: 'system' as const, content: 'Be kind.' },
    ...Array.from({ length: 6 }, (_, index) => [userMessage(`q${index}`), answer(`a${index}`)]).flat(),
    ...files,
    userMessage('q6'),
  ]
  const kept = newestMessages(prompt)
  expect(kept[0]).toEqual(userMessage('q2'))
  expect(kept.slice(-7)).toEqual([...files, userMessage('q6')])
})

test('texts are cut to a common length, the longest first, and short ones stay', () => {
  const texts = ['short', 'long '.repeat(1_000), 'longer '.repeat(3_000)]
  const cut = shortenTexts(texts, 1_000)
  expect(cut[0]).toBe('short')
  expect(cut.slice(1).every((text) => text.includes('left out to save space'))).toBe(true)
  expect(cut.reduce((sum, text) => sum + estimateTokens(text), 0)).toBeLessThan(1_100)
  expect(shortenTexts(texts, 100_000)).toEqual(texts)
})
