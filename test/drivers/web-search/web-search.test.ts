import type { WebSearch } from '@inlay/agent'
import { webSearchConformance, type SearchServiceMood } from '@inlay/conformance'
import { braveSearch } from '@inlay/drivers/web-search/brave'
import { exaSearch } from '@inlay/drivers/web-search/exa'
import { searxngSearch } from '@inlay/drivers/web-search/searxng'
import { serperSearch } from '@inlay/drivers/web-search/serper'
import { tavilySearch } from '@inlay/drivers/web-search/tavily'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { SearchAccess } from '@inlay/drivers/internal/web-search/search-call'
import { searchServices, startSearch, type SearchServiceName, type SearchStandIn } from '../../stand-in/web-search.ts'

const apiKey = 'sk-web-0123456789'
const standIns: SearchStandIn[] = []
afterEach(async () => {
  for (const standIn of standIns.splice(0)) await standIn.close()
})

type Access = SearchAccess & { readonly baseUrl: string; readonly apiKey: string }
const drivers: Readonly<Record<SearchServiceName, (access: Access) => WebSearch>> = {
  brave: braveSearch,
  exa: exaSearch,
  searxng: searxngSearch,
  serper: serperSearch,
  tavily: tavilySearch,
}
const keyOf = (name: SearchServiceName): string =>
  name === 'searxng' || name === 'tavily' ? `Bearer ${apiKey}` : apiKey
const well: SearchServiceMood = {
  pages: [{ title: 'A', url: 'https://a.example/', snippet: 'About a.' }],
  mood: 'well',
}

async function start(
  name: SearchServiceName,
  service: SearchServiceMood = well,
  options: Partial<Parameters<typeof startSearch>[2] & Access> = {},
): Promise<{ search: WebSearch; standIn: SearchStandIn }> {
  const { once, ...access } = options
  const standIn = await startSearch(name, service, { key: keyOf(name), once })
  standIns.push(standIn)
  const search = drivers[name]({ apiKey, baseUrl: standIn.baseUrl, sleep: async () => {}, ...access })
  return { search, standIn }
}

describe.each(searchServices)('%s', (name) => {
  describe('as every web search', () => {
    const tests = webSearchConformance(async (service) => {
      const { search, standIn } = await start(name, service, service.mood === 'silent' ? { timeoutMs: 50 } : {})
      return { search, queries: standIn.queries }
    })
    test.each(tests)('%s', (_title, run) => run())
  })

  test('sends the key in its header, and further parameters as the service names them', async () => {
    const further = { searxng: 'language', brave: 'country', tavily: 'topic', exa: 'category', serper: 'gl' }[name]
    const { search, standIn } = await start(name, well, { parameters: { [further]: 'de' }, headers: { 'x-team': 'a' } })
    await search({ text: 'q', limit: 3 })
    expect(standIn.seen).toMatchObject([{ values: { [further]: 'de' }, headers: { 'x-team': 'a' } }])
    expect(JSON.stringify(standIn.seen[0]?.values)).not.toContain(apiKey)
  })

  test('tries again after a short failure, and only then', async () => {
    const { search, standIn } = await start(name, well, { once: { status: 503 } })
    expect(await search({ text: 'q', limit: 3 })).toHaveLength(1)
    expect(standIn.seen).toHaveLength(2)
    const broken = await start(name, { pages: [], mood: 'failing' })
    await expect(broken.search({ text: 'q', limit: 3 })).rejects.toMatchObject({ code: 'API_ERROR' })
    expect(broken.standIn.seen).toHaveLength(name === 'brave' ? 3 : 2)
    const busy = await start(name, { pages: [], mood: 'busy' })
    await expect(busy.search({ text: 'q', limit: 3 })).rejects.toMatchObject({ code: 'RATE_LIMIT' })
    expect(busy.standIn.seen).toHaveLength(1)
  })

  test('a service that is not there is told as such; a redirect is not followed with the key', async () => {
    const { search, standIn } = await start(name)
    await standIn.close()
    standIns.length = 0
    await expect(search({ text: 'q', limit: 1 })).rejects.toMatchObject({ code: 'CONNECTION_ERROR' })
    const moved = await start(name, well, { once: { status: 302 }, attempts: 1 })
    await expect(moved.search({ text: 'q', limit: 1 })).rejects.toMatchObject({ code: 'API_ERROR' })
  })

  test('a base URL that is none is refused at once', () => {
    for (const baseUrl of ['nowhere', 'file:///etc', 'http://user:pass@host/'])
      expect(() => drivers[name]({ apiKey, baseUrl })).toThrow(/base URL/)
  })
})

test('a key that Brave calls invalid is told as a refused key, any other 422 as a refused query', async () => {
  const { search } = await start('brave', well, { apiKey: 'another' })
  await expect(search({ text: 'q', limit: 1 })).rejects.toMatchObject({ code: 'AUTH_ERROR' })
  const odd = await start('brave', well, { once: { status: 422, body: { error: { code: 'VALIDATION' } } } })
  await expect(odd.search({ text: 'q', limit: 1 })).rejects.toMatchObject({ code: 'UNPROCESSABLE_ENTITY' })
})

test('Brave says in headers of its own when to come back, unless the month is used up', async () => {
  const limited = (remaining: string) => ({
    status: 429,
    headers: { 'x-ratelimit-reset': '1, 1419704', 'x-ratelimit-remaining': remaining },
  })
  const delays: number[] = []
  const sleep = async (delayMs: number): Promise<void> => void delays.push(delayMs)
  const soon = await start('brave', well, { once: limited('0, 1900'), sleep })
  expect(await soon.search({ text: 'q', limit: 1 })).toHaveLength(1)
  expect(delays).toEqual([1000])
  const never = await start('brave', well, { once: limited('0, 0'), attempts: 1 })
  const error = await never.search({ text: 'q', limit: 1 }).catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code: 'RATE_LIMIT', data: { status: 429 } })
  expect(error).not.toHaveProperty('data.retryAfterSeconds')
})

test('Brave gets no longer query than it takes', async () => {
  const { search, standIn } = await start('brave')
  await search({ text: 'word '.repeat(60).trim(), limit: 50 })
  await search({ text: 'x'.repeat(500), limit: 1 })
  expect(standIn.queries.map((query) => [query.length, query.split(' ').length])).toEqual([
    [249, 50],
    [400, 1],
  ])
  expect(standIn.seen[0]?.values['count']).toBe('20')
})

test('what is left of a plan tells of the budget, with Tavily and Serper', async () => {
  const tavily = await start('tavily', well, { once: { status: 432 } })
  await expect(tavily.search({ text: 'q', limit: 1 })).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' })
  const serper = await start('serper', well, { once: { status: 400, body: { message: 'Not enough credits' } } })
  await expect(serper.search({ text: 'q', limit: 1 })).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' })
})

test('an instance of SearXNG that gives no JSON says what its operator can do', async () => {
  const { search } = await start('searxng', { pages: [], mood: 'no access' })
  await expect(search({ text: 'q', limit: 1 })).rejects.toThrow('search.formats')
})

test('an age stands for a date, counted from now', async () => {
  vi.spyOn(Date, 'now').mockReturnValue(Date.UTC(2026, 1, 10))
  onTestFinished(() => void vi.restoreAllMocks())
  const { search } = await start('serper', well, {
    fetch: async () =>
      Response.json({ organic: [{ title: 'A', link: 'https://a.example/', snippet: '', date: '3 days ago' }] }),
  })
  expect((await search({ text: 'q', limit: 1 }))[0]?.publishedAt).toBe(Date.UTC(2026, 1, 7))
})
