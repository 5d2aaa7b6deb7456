import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInlay, InlayError, type Hooks, type Inlay } from 'inlay'
import { createTestInlay } from 'inlay/testing'
import { afterEach, describe, expect, test } from 'vitest'

const undo: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step()
})

function withHooks(hooks: Hooks, onError: (error: unknown) => void = () => {}): Inlay {
  const dataFolder = mkdtempSync(join(tmpdir(), 'inlay-hooks-'))
  const inlay = createInlay({ dataFolder, hooks, onError, worker: { lingerMs: 1 } })
  undo.push(
    () => rmSync(dataFolder, { recursive: true, force: true, maxRetries: 10 }),
    () => inlay.close(),
  )
  return inlay
}

const policy = { id: 'leave', title: 'Leave policy', sections: [{ text: 'Ana says: staff get 25 days of leave.' }] }
const accept = (inlay: Inlay, document: object = policy) =>
  inlay.knowledge.accept({ document: document as typeof policy }, { waitMs: 60_000 })

describe('before a document is accepted, a host', () => {
  test('may change it', async () => {
    const inlay = withHooks({
      beforeDocument: ({ document }) => ({
        document: { ...document, sections: [{ text: 'Somebody says: staff get 25 days of leave.' }] },
      }),
    })
    await accept(inlay)
    const [passage] = await inlay.knowledge.search({ text: 'days of leave' })
    expect(passage?.content).toContain('Somebody says')
  })

  test('may refuse it, and then nothing is kept', async () => {
    const inlay = withHooks({ beforeDocument: ({ document }) => ({ reject: `No room for ${document.title}.` }) })
    await expect(accept(inlay)).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      message: 'No room for Leave policy.',
    })
    expect(await inlay.knowledge.hasDocuments()).toBe(false)
  })

  test('that fails refuses it, and the host is told why', async () => {
    const errors: unknown[] = []
    const cause = new Error('no scanner')
    const inlay = withHooks({ beforeDocument: () => Promise.reject(cause) }, (error) => errors.push(error))
    await expect(accept(inlay)).rejects.toMatchObject({ code: 'HOOK_EXECUTION_FAILED' })
    expect(errors).toEqual([cause])
  })
})

test('a host is told of each document that is searchable, before it is closed', async () => {
  const ended: unknown[] = []
  const inlay = withHooks({ afterDocument: (document) => void ended.push(document) })
  await accept(inlay)
  await inlay.close()
  expect(ended).toEqual([{ documentId: 'leave', phase: 'indexed', reason: null, chunkCount: 1 }])
})

describe('before a tool call, a host', () => {
  const ask = async (inlay: Inlay) =>
    (await inlay.agent.send({ message: 'How many days of leave do staff get?' })).whole()

  test('sees its arguments, and afterwards its result', async () => {
    const calls: unknown[] = []
    const inlay = withHooks({
      beforeToolCall: ({ name, arguments: input, caller }) => void calls.push([name, input, caller.id]),
      afterToolCall: ({ name, failed, result }) => void calls.push([name, failed, result.includes('25 days')]),
    })
    await accept(inlay)
    await ask(inlay)
    expect(calls).toEqual([
      ['internal_search', { queries: expect.arrayContaining([expect.stringContaining('leave')]) }, 'operator'],
      ['internal_search', false, true],
    ])
  })

  test('may refuse it: the action does not run, and the model is told why', async () => {
    const results: string[] = []
    const inlay = withHooks({
      beforeToolCall: () => ({ reject: 'Not after eight.' }),
      afterToolCall: ({ result }) => void results.push(result),
    })
    await accept(inlay)
    const { answer } = await ask(inlay)
    expect(answer).not.toContain('25 days')
    expect(results).toEqual(['Tool failed with error: Not after eight.'])
  })
})

test('a host replaces the query of a search, its passages, and the arguments of a call', async () => {
  const searched: string[] = []
  const call = { call: { name: 'internal_search', input: { queries: ['holidays'] } } }
  await using inlay = await createTestInlay({
    documents: [{ id: 'leave', semantic_identifier: 'Leave', sections: [{ text: 'Staff get 25 days of leave.' }] }],
    answers: [[[call], 'It is 25 days.']],
    hooks: {
      beforeToolCall: () => ({ arguments: { queries: ['vacation'] } }),
      beforeSearch: ({ query }) => (searched.push(query), { query: 'days of leave' }),
      afterSearch: ({ query, passages }) => ({
        passages: passages.map((passage) => ({ ...passage, content: `${query}: 26 days.` })),
      }),
    },
  })
  const { tool_calls: calls } = await inlay.ask('How long are holidays?')
  expect(calls[0]?.tool_arguments).toEqual({ queries: ['vacation'] })
  expect(searched).toContain('vacation')
  expect(searched).not.toContain('holidays')
  expect(JSON.stringify(inlay.requests.at(-1)?.prompt)).toContain('days of leave: 26 days.')
})

const noGlossary = new InlayError('INSUFFICIENT_PERMISSIONS', { message: 'Nobody searches the glossary.' })
test.each([
  ['arguments that do not fit', { beforeToolCall: () => ({ arguments: {} }) }, /queries/],
  ['a refused search', { beforeSearch: () => Promise.reject(noGlossary) }, /Nobody searches the glossary/],
])('%s reach the model as the failure of the call', async (_, hooks, words) => {
  const call = { call: { name: 'internal_search', input: { queries: ['holidays'] } } }
  const documents = [{ id: 'leave', semantic_identifier: 'Leave', sections: [{ text: 'Staff get 25 days of leave.' }] }]
  await using inlay = await createTestInlay({ documents, answers: [[[call], 'I do not know.']], hooks })
  await inlay.ask('How long are holidays?')
  const [result] = inlay.requests.at(-1)!.prompt.filter(({ role }) => role === 'tool')
  expect(JSON.stringify(result)).toMatch(words)
})
