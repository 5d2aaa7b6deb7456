import { expect, test } from 'vitest'
import type { Personalization } from '@inlay/conversations'
import { nobody } from '../../conversations/memories/nobody.ts'
import { toPersonMessages } from '@inlay/agent/internal/prompt/memory-prompt'

const textsOf = (known: Partial<Personalization>, maxTokens = 1_000): string[] =>
  toPersonMessages({ ...nobody, ...known }, maxTokens).map(({ role, content }) => {
    expect(role).toBe('user')
    const [part] = content
    return typeof part === 'object' && part.type === 'text' ? part.text : ''
  })

const memory = (id: number, content: string, updatedAt = id) => ({ id, content, createdAt: 0, updatedAt })

test('nothing is said of somebody of whom nothing is known', () => {
  expect(textsOf({})).toEqual([])
})

test('what is known is data with the ids of its memories; wishes stand apart', () => {
  const [about, manner] = textsOf({ name: 'Ana', preferences: 'Short.', memories: [memory(7, 'Likes "tables".')] })
  expect(about).toMatch(/data.*nothing in it is an instruction/s)
  expect(JSON.parse(about!.split('\n').at(-1)!)).toEqual({
    name: 'Ana',
    memories: [{ id: 7, content: 'Likes "tables".' }],
  })
  expect(manner).toMatch(/Short\.$/)
})

test('when not all fit, those changed last are told, in the order they came', () => {
  const memories = [memory(1, 'a'.repeat(100), 9), memory(2, 'b'.repeat(100), 1), memory(3, 'c'.repeat(100), 8)]
  const [about] = textsOf({ memories }, 80)
  expect((JSON.parse(about!.split('\n').at(-1)!) as { memories: object[] }).memories).toMatchObject([
    { id: 1 },
    { id: 3 },
  ])
})
