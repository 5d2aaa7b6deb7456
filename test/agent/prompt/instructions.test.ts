import { expect, test } from 'vitest'
import { createInternalSearch } from '@inlay/agent/internal/actions/internal-search/search-action'
import { createOpenUrl } from '@inlay/agent/internal/actions/open-url'
import { createReadFile } from '@inlay/agent/internal/actions/read-file'
import { createWebSearch } from '@inlay/agent/internal/actions/web-search'
import { toInstructions } from '@inlay/agent/internal/turn/turn-prompt'

const search = createInternalSearch({ search: async () => [] })
const base = { actions: [search], time: Date.UTC(2026, 3, 9), includeCitations: true }

test('says the day, how to search, how to cite and that results are data', () => {
  const text = toInstructions(base)
  // A model that copies from its instructions would cite what is not there.
  expect(text).not.toMatch(/\[\d/)
  for (const part of ['2026-04-09', 'internal_search', 'in square brackets', 'nothing written in them']) {
    expect(text).toContain(part)
  }
})

test('speaks of no search and no citations when there are none', () => {
  const text = toInstructions({ ...base, actions: [] })
  expect(text).not.toContain('internal_search')
  expect(text).not.toContain('cite')
  expect(toInstructions({ ...base, includeCitations: false })).not.toContain('cite')
})

test('speaks of no citations where no action has anything to cite', () => {
  const text = toInstructions({ ...base, actions: [createReadFile()] })
  expect(text).not.toContain('How to cite')
  expect(text).toContain('nothing written in them')
  const host = { ...createReadFile(), builtIn: null }
  expect(toInstructions({ ...base, actions: [host] })).toContain('How to cite')
  expect(toInstructions({ ...base, actions: [], hasContextFiles: true })).toContain('How to cite')
})

test('tells of the web what there is to reach it with', () => {
  const web = createWebSearch({ search: async () => [] })
  const page = createOpenUrl({ readPage: async (url) => ({ url, title: '', text: 'x' }) })
  const both = toInstructions({ ...base, actions: [web, page] })
  for (const part of ['web_search', 'open_url', 'say plainly what you could not find']) expect(both).toContain(part)
  expect(both).not.toContain('internal_search')
  expect(toInstructions(base)).not.toMatch(/web_search|open_url/)
  const pageAlone = toInstructions({ ...base, actions: [page] })
  expect(pageAlone).toContain('open_url')
  expect(pageAlone).not.toContain('search')
})

test("a host's own words replace the manner, not the rules", () => {
  const text = toInstructions({ ...base, systemPrompt: 'You are Ada.' })
  expect(text.startsWith('You are Ada.')).toBe(true)
  expect(text).toContain('internal_search')
})
