import { expect, test } from 'vitest'
import { scriptedModel } from '@inlay/agent/testing'
import type { StreamLine } from '@inlay/protocol'
import { newDoc, newSetting, providerOf } from '../setting.ts'
import { asking, brainScript, onlyOne, onlySearch } from './research-script.ts'
import { scriptedAction } from '../scripted-action.ts'

const leave = 'Employees get 25 days of annual leave. Up to five days carry over to March.'
const search = scriptedAction({
  id: 1,
  name: 'internal_search',
  builtIn: 'SearchTool',
  result: (_input, turn) => {
    turn.cite([newDoc('leave')], [leave])
    return { text: leave, documents: [newDoc('leave')], foundDocuments: [newDoc('leave')] }
  },
})

/** A research of one agent, of which neither the report nor the answer cites anything. */
async function research(comparesCitations?: boolean): Promise<readonly StreamLine[]> {
  const script = brainScript({
    orchestrate: ({ index }) => onlyOne(index === 0),
    agent: onlySearch,
    report: () => ['Employees get 25 days of annual leave. ', 'Ask your lead for more.'],
    final: () => ['Employees get 25 days of annual leave.\n', '- Up to five days carry over to April\n'],
  })
  const facts = comparesCitations === undefined ? { cites: false } : { cites: false, comparesCitations }
  const models = providerOf(scriptedModel(script), facts)
  const { lines } = await newSetting(script, { models, actions: [search] })
  return lines(asking)
}

const textOf = (lines: readonly StreamLine[], type: string): string =>
  lines
    .flatMap((line) => ('obj' in line && line.obj.type === type && 'content' in line.obj ? [line.obj.content] : []))
    .join('')

test('reports and the answer of a deep research by a model that does not cite get the numbers of what they say', async () => {
  const lines = await research()
  expect(textOf(lines, 'intermediate_report_delta')).toBe(
    'Employees get 25 days of annual leave. [1] Ask your lead for more.',
  )
  expect(textOf(lines, 'message_delta')).toMatch(
    /^Employees get 25 days of annual leave\. \[\[1\]\]\([^)]+\)\n- Up to five days carry over to April\n$/,
  )
})

test('a setting of the model turns that off', async () => {
  const lines = await research(false)
  expect(textOf(lines, 'intermediate_report_delta') + textOf(lines, 'message_delta')).not.toContain('[')
})
