import { expect, test } from 'vitest'
import { excerptOf } from '@inlay/conversations/internal/sessions/excerpt'
import { ana, ben, newSetting } from '../../agent/setting.ts'

const dayMs = 86_400_000

test('a session is found by its name or by what was said in it, whatever the endings', async () => {
  const { agent, send } = await newSetting(() => ['Staff get 28 days of paid leave, agreed in 2026.'])
  const { sessions } = agent
  const run = await send({ message: 'What about holidays?' })
  await run.whole()
  const named = await sessions.create({ description: 'Übungen für Bergretter' }, ana)
  const passages = async (query: string, caller = ana) =>
    (await sessions.search(query, caller)).groups.flatMap((group) => group.sessions.map(({ id }) => id))
  expect(await passages('holiday')).toEqual([run.sessionId])
  expect(await passages('the LEAVES of staff')).toEqual([run.sessionId])
  expect(await passages('übungen')).toEqual([named.id])
  expect(await passages('leave mountains')).toEqual([])
  // Words of the question and of the answer: no single text holds both.
  expect(await passages('holidays paid')).toEqual([])
  expect(await passages('aff')).toEqual([])
  expect(await passages("%_' OR 1=1")).toEqual([])
  expect(await passages('holiday', ben)).toEqual([])
})

test('a deleted session is not found', async () => {
  const { agent } = await newSetting([])
  const { id } = await agent.sessions.create({ description: 'Bees' }, ana)
  await agent.sessions.remove(id, ana)
  expect(await agent.sessions.search('bees', ana)).toEqual({ groups: [], hasMore: false })
})

test('sessions are grouped by the day they were begun on, newest first', async () => {
  const { agent, clock } = await newSetting([])
  const today = clock.time
  for (const age of [40, 31, 30, 8, 7, 2, 1, 0]) {
    clock.time = today - age * dayMs
    await agent.sessions.create({ description: `${age} days` }, ana)
  }
  // Just before midnight it is still yesterday's.
  clock.time = Math.floor(today / dayMs) * dayMs - 1
  await agent.sessions.create({ description: 'late' }, ana)
  clock.time = today
  const { groups } = await agent.sessions.search('', ana)
  expect(groups.map(({ title, sessions }) => [title, sessions.map(({ name }) => name)])).toEqual([
    ['Today', ['0 days']],
    ['Yesterday', ['late', '1 days']],
    ['This Week', ['2 days', '7 days']],
    ['This Month', ['8 days', '30 days']],
    ['Older', ['31 days', '40 days']],
  ])
})

test('pages hold each session once', async () => {
  const { agent, clock } = await newSetting([])
  for (let count = 0; count < 120; count++) {
    clock.time += 1_000
    await agent.sessions.create({ description: count % 2 === 0 ? `bee ${count}` : `wasp ${count}` }, ana)
  }
  const names: string[] = []
  for (let offset = 0; ; offset += 25) {
    const { groups, hasMore } = await agent.sessions.search('bees', ana, { offset, limit: 25 })
    names.push(...groups.flatMap(({ sessions }) => sessions.map(({ name }) => name)))
    if (!hasMore) break
  }
  expect(names).toEqual(Array.from({ length: 60 }, (_, index) => `bee ${118 - 2 * index}`))
})

test('a session found by what was said names the newest message with the words, and the text around them', async () => {
  const filler = 'Nothing else happened on that day. '.repeat(20)
  const answers = [`${filler}Two whales\n\n| were | seen |\n near the pier. ${filler}`, 'No whales any more.']
  const { agent, send } = await newSetting(() => [answers.shift() ?? ''])
  const { sessions } = agent
  const first = await send({ message: 'How was it?' })
  await first.whole()
  const named = await sessions.create({ description: 'Whales' }, ana)
  const matches = async (query: string) =>
    (await sessions.search(query, ana)).groups.flatMap((group) => group.sessions.map(({ id, match }) => [id, match]))
  const listed = await matches('pier whale')
  expect(listed).toEqual([
    [first.sessionId, { messageId: expect.any(Number) as number, text: expect.any(String) as string }],
  ])
  const [, match] = listed[0] as [string, { messageId: number; text: string }]
  expect(match.text).toContain('Two whales | were | seen | near the pier.')
  expect(match.text).toMatch(/^…\S.*\S…$/)
  expect(match.text.length).toBeLessThanOrEqual(162)
  const { messages } = await sessions.get(first.sessionId, ana)
  expect(messages.find(({ id }) => id === match.messageId)?.role).toBe('assistant')
  const again = await send({ message: 'And now?', chat_session_id: first.sessionId })
  await again.whole()
  expect(new Map((await matches('whale')) as [string, unknown][])).toEqual(
    new Map<string, unknown>([
      [named.id, undefined],
      [first.sessionId, { messageId: expect.any(Number) as number, text: 'No whales any more.' }],
    ]),
  )
  expect((await matches('')).every(([, none]) => none === undefined)).toBe(true)
})

test('an excerpt shows the words as they stand, in scripts without spaces too', () => {
  expect(excerptOf('Staff get 28 days of paid leave.', ['leav'])).toBe('Staff get 28 days of paid leave.')
  expect(excerptOf('従業員は年間28日の有給休暇を取得できます。', ['有給', '給休', '休暇'])).toContain('有給休暇')
  // Three words close together win over one far ahead of them.
  const text = `leave ${'filler '.repeat(60)} paid leave for staff ${'filler '.repeat(60)}`
  expect(excerptOf(text, ['paid', 'leav', 'staff'])).toContain('paid leave for staff')
  expect(excerptOf('Nothing of it.', ['absent'])).toBe('Nothing of it.')
  // Marks of quoted lines go, signs of the text stay.
  expect(excerptOf('The passages:\n\n> Bees swarm.\n>\n> > If 5 > 3, in May.', ['may'])).toBe(
    'The passages: Bees swarm. If 5 > 3, in May.',
  )
  // The word itself wins over another that only holds it, or of which it is no stem.
  expect(excerptOf(`Unpaid. ${'filler '.repeat(60)}Paid well.`, ['paid'])).toContain('Paid well.')
  expect(excerptOf(`Only unpaid leave. ${'filler '.repeat(60)}`, ['paid'])).toContain('unpaid')
})

test('an excerpt of a text whose lower case is longer begins where the word stands', () => {
  const text = `${'İİİİİ '.repeat(100)}The bees swarm in May. ${'filler '.repeat(60)}`
  expect(excerptOf(text, ['swarm'])).toContain('The bees swarm in May.')
  expect(excerptOf('İstanbul', ['i', 'stanbul'])).toBe('İstanbul')
})

test('an excerpt shows no half of a character', () => {
  const emoji = '😀'.repeat(400)
  for (const text of [`${emoji}a bees ${emoji}`, `${emoji} bees${emoji}`, `a${emoji}`, emoji, `${emoji}a bees`]) {
    const excerpt = excerptOf(text, ['bees'])
    expect(excerpt).toMatch(/^…?(?:😀|[a-z ])*…?$/u)
    expect(excerpt.includes('bees')).toBe(text.includes('bees'))
  }
})

test('other work goes on between the sessions of a search', async () => {
  const { agent, send } = await newSetting(() => ['Bees swarm in May.'])
  for (let count = 0; count < 10; count++) await (await send({ message: 'Bees?' })).whole()
  let turns = 0
  let isOver = false
  const turn = (): void => {
    turns++
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  const { groups } = await agent.sessions.search('swarm', ana)
  isOver = true
  expect(groups.flatMap(({ sessions }) => sessions)).toHaveLength(10)
  expect(turns).toBeGreaterThanOrEqual(10)
})
