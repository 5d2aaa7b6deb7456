import { expect, test } from 'vitest'
import {
  chosenSettings,
  pastedFile,
  triggerAt,
  withOfferedModels,
} from '../../../packages/page/src/chat/composer-options.ts'
import { defaultSettings, filtersOf, type AnswerSettings } from '../../../packages/page/src/service/service.ts'

const models = [
  { id: 2, name: 'large', efforts: ['low'], isDefault: false, hasTemperature: true },
  { id: 3, name: 'small', efforts: [], isDefault: true, hasTemperature: true },
]
const actions = [
  { id: 7, name: 'Search' },
  { id: 8, name: 'Web' },
]
const settings: AnswerSettings = {
  modelId: 2,
  secondModelId: 3,
  temperature: 0.5,
  effort: 'low',
  allowedTools: [7],
  filters: { sources: ['web'], sets: ['Handbook'], tags: [{ key: 'team', value: 'ops' }], days: 30 },
}

test('each setting is told in words, and taken back alone', () => {
  const chosen = chosenSettings(settings, models, actions)
  expect(chosen.map(({ label }) => label)).toEqual([
    'large',
    'Beside it: small',
    'Temperature 0.5',
    'Effort: low',
    '1 action',
    'web',
    'Handbook',
    'team: ops',
    'In the last month',
  ])
  expect(chosen[0]?.without).toEqual({ ...settings, modelId: null })
  expect(chosen[7]?.without).toEqual({ ...settings, filters: { ...settings.filters, tags: [] } })
  let left = settings
  for (let [first] = chosenSettings(left, models, actions); first; [first] = chosenSettings(left, models, actions))
    left = first.without
  expect(left).toEqual(defaultSettings)
})

test('filters go out as the service takes them, and none where nothing is filtered', () => {
  expect(filtersOf(defaultSettings.filters)).toBe(null)
  const { time_cutoff: cutoff, ...rest } = filtersOf(settings.filters) ?? {}
  expect(rest).toEqual({
    source_type: ['web'],
    document_set: ['Handbook'],
    tags: [{ tag_key: 'team', tag_value: 'ops' }],
  })
  expect(Date.now() - Date.parse(cutoff ?? '')).toBeGreaterThanOrEqual(30 * 86_400_000)
})

test('a long text that is pasted becomes a file, a short one stays', async () => {
  expect(pastedFile('short', 'Pasted')).toBe(null)
  const file = pastedFile('x'.repeat(4001), 'Pasted')
  expect([file?.name, file?.type, (await file?.text())?.length]).toEqual(['Pasted.txt', 'text/plain', 4001])
})

test('a slash at the beginning and an @ before a word ask for suggestions', () => {
  expect(triggerAt('/re', 3)).toEqual({ kind: 'command', word: 're', start: 0 })
  expect(triggerAt('see /re', 7)).toBe(null)
  expect(triggerAt('ask @leave pol', 14)).toEqual({ kind: 'mention', word: 'leave pol', start: 4 })
  expect(triggerAt('ask @le and more', 7)).toEqual({ kind: 'mention', word: 'le', start: 4 })
  expect(triggerAt('@', 1)).toEqual({ kind: 'mention', word: '', start: 0 })
  for (const text of ['me@example.com', 'no trigger', '@ alone', '/two words'])
    expect(triggerAt(text, text.length)).toBe(null)
})

test('a second model that is offered no longer is not asked', () => {
  expect(withOfferedModels(settings, models)).toBe(settings)
  expect(withOfferedModels(settings, models.slice(0, 1))).toEqual({ ...settings, secondModelId: null })
})
