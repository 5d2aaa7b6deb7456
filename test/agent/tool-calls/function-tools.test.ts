import { createStorage } from 'unstorage'
import { expect, test } from 'vitest'
import { toFunctionTools } from '@inlay/agent/internal/tool-calls/call-plan'
import { ana, findsAlways, newPassage, newSetting } from '../setting.ts'

/** Every keyword of a schema, at any depth. */
function keywordsOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([name, value]) => [
    ...(name === 'properties' ? [] : [name]),
    ...(name === 'properties' ? Object.values(value as object).flatMap(keywordsOf) : keywordsOf(value)),
  ])
}

test('no built-in action is described by a keyword that servers are known to refuse', async () => {
  const { agent } = await newSetting([], {
    search: findsAlways(newPassage('a', 'b')),
    webSearch: async () => [],
    readPage: async () => ({ url: 'https://a.example', title: '', text: '', links: [] }) as never,
    imageGenerator: async () => [],
    codeRunner: (async () => ({})) as never,
    storage: createStorage(),
    memories: true,
  })
  const actions = (await agent.actions(ana, { evenOff: true })).filter(({ builtIn }) => builtIn !== null)
  expect(actions.length).toBeGreaterThan(5)
  const known = [
    'type',
    'properties',
    'required',
    'items',
    'description',
    'enum',
    'default',
    'anyOf',
    'additionalProperties',
  ]
  const bounds = ['minItems', 'maxItems', 'minLength', 'maxLength', 'minimum', 'maximum']
  for (const tool of toFunctionTools(actions))
    for (const keyword of keywordsOf(tool.inputSchema))
      if (Number.isNaN(Number(keyword))) expect([...known, ...bounds], `${tool.name}: ${keyword}`).toContain(keyword)
})
