import { describe, expect, test } from 'vitest'
import { unsupportedNumbers } from '@inlay/agent/internal/citations/unsupported-numbers'
import { scriptedModel } from '@inlay/agent/testing'
import { packetsOf, newPassage, newSetting, providerOf, readAll, ana } from '../setting.ts'
import { cpuMsOf } from '../../cpu-time.ts'

const read = (text: string) => (): readonly string[] => [text]

describe('numbers that stand in nothing the model read', () => {
  test.each([
    ['a duration', 'You get 3 days [[1]](https://wiki.example/3).', 'You get 5 days.', ['3 days']],
    ['an amount of money', 'It costs €45 or 1,200 euros.', 'It costs 40 euros.', ['€45', '1,200 euros']],
    ['a percentage', 'About 12.5 % of it.', 'About 12 % of it.', ['12.5 %']],
    ['a year', 'Founded in 1883.', 'Founded in 1893.', ['1883']],
    ['a number once', 'In 1883 and in 1883.', '', ['1883']],
    ['a duration in German', 'Sie haben 3 Tage und 14 Tage.', 'Sie haben 14 Tage.', ['3 Tage']],
    ['a duration in Chinese', '你有 15天 假。', '你有 25天 假。', ['15天']],
  ])('%s', (_, answer, text, expected) => expect(unsupportedNumbers(answer, read(text))).toEqual(expected))

  test.each([
    ['written otherwise', 'It costs 1,200.50 euros.', 'Es kostet 1.200,5 Euro.'],
    ['written as a word', 'You get 5 days and 3 weeks.', 'five days; drei Wochen'],
    ['written in Chinese', 'You get 3 days.', '三 天'],
    ['a date in another order', 'On 1 March 2026.', '2026-03-01'],
    ['a time', 'It opens at 9:30.', 'It opens at 09:30.'],
    ['grouped by spaces', 'It has 40 000 members.', '40,000 members'],
    ['counts of the answer itself', '1. Open it.\n2. Take 2 of the 3 parts.\n\n### 12. End', ''],
    ['code', 'Run `sleep 300` or\n```sh\nsleep 500\n```', ''],
    ['addresses', 'See https://wiki.example/2024/77 and [this](https://wiki.example/88).', ''],
    ['parts of names', 'COVID-19, GPT-44 and v22.', ''],
  ])('not: %s', (_, answer, text) => expect(unsupportedNumbers(answer, read(text))).toEqual([]))

  test('the number of a result is no source', () =>
    expect(unsupportedNumbers('It takes 12 days.', read('{"document":12,"content":"It takes a while."}'))).toEqual([
      '12 days',
    ]))

  test('nothing is read for an answer without numbers', () =>
    expect(unsupportedNumbers('It is so [[1]](https://wiki.example).', () => expect.fail())).toEqual([]))

  test.each(['1.', '`', '\n', '# ', '> ', ' ', '1 ', '```\n', '[[1]](', '1,111,'])(
    'a long answer of %j takes no time',
    async (piece) => {
      const text = piece.repeat(40_000)
      expect(await cpuMsOf(() => void unsupportedNumbers(text, read(text)))).toBeLessThan(5_000)
    },
  )
})

describe('an answer', () => {
  const passage = newPassage('leave', 'Part-time staff receive 15 days.')
  const settingOf = (answer: string, withDocuments = true) => {
    const model = scriptedModel((_call, step) => [
      step % 2 === 0 ? { call: { name: 'internal_search', input: { queries: ['leave'] } } } : answer,
    ])
    return newSetting(() => [], {
      models: providerOf(model, { callsTools: true }),
      search: async () => (withDocuments ? [passage] : []),
    })
  }
  const stopOf = (packets: readonly { readonly obj: { readonly type: string } }[]) =>
    packets.map(({ obj }) => obj).find(({ type }) => type === 'stop')

  test('tells its numbers that stand in no passage with its end, and again when it is read later', async () => {
    const setting = await settingOf('They get 15 days, at most 77 days.')
    const run = await setting.send()
    const lines = await readAll(run)
    expect(stopOf(packetsOf(lines))).toEqual({ type: 'stop', stop_reason: null, unsupported_numbers: ['77 days'] })
    const whole = await run.whole()
    expect(whole).toMatchObject({ unsupported_numbers: ['77 days'] })
    const { packets } = await setting.agent.sessions.get(whole.chat_session_id!, ana)
    expect(stopOf(packets.flat())).toEqual({ type: 'stop', stop_reason: null, unsupported_numbers: ['77 days'] })
  })

  test('tells its numbers when the search found nothing', async () => {
    const setting = await settingOf('They get 77 days.', false)
    expect(await (await setting.send()).whole()).toMatchObject({ unsupported_numbers: ['77 days'] })
  })

  test.each([
    ['all numbers stand in a passage', 'They get 15 days.'],
    ['the question has the number', 'It depends on the 88 people.'],
  ])('tells none when %s', async (_, answer) => {
    const setting = await settingOf(answer)
    const lines = await readAll(await setting.send({ message: 'How many days do 88 people get?' }))
    expect(stopOf(packetsOf(lines))).toEqual({ type: 'stop', stop_reason: null })
  })
})
