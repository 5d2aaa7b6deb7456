import { readSettings, type Inlay } from 'inlay'
import { expect, onTestFinished, test } from 'vitest'
import { startOpenAi } from '../../stand-in/openai.ts'
import type { ReplyPart } from '../../stand-in/model-server.ts'
import { post, startWithDocuments } from './with-documents.ts'

const documents = {
  leave: 'Employees get 25 days of annual leave. Up to five days carry over to the end of March.',
  rooms: 'The large meeting room in Malmö seats 40 people and has two projectors.',
}

/** An installation with the documents, whose model searches and then writes the parts. */
async function start(parts: readonly ReplyPart[], env: Readonly<Record<string, string>> = {}): Promise<Inlay> {
  const server = await startOpenAi((request) =>
    JSON.stringify(request.body).includes('"role":"tool"')
      ? parts
      : [{ calls: [{ id: 'c1', name: 'internal_search', input: { queries: ['annual leave', 'meeting room'] } }] }],
  )
  const { options } = readSettings({
    INLAY_MODEL: 'plain',
    INLAY_MODEL_BASE_URL: `${server.origin}/v1`,
    INLAY_MODEL_GROUNDING: 'tools',
    INLAY_COMPARED_CITATIONS: 'on',
    ...env,
  })
  onTestFinished(() => server.close())
  return startWithDocuments(documents, { ...options, searchHelp: { expand: false } })
}

interface Answer {
  readonly answer: string
  readonly citation_info: readonly { citation_number: number; document_id: string }[]
}

async function ask(inlay: Inlay, more: object = {}): Promise<Answer> {
  const message = 'How much leave is there, and which room is large?'
  const response = await post(inlay, '/chat/send-chat-message', { message, stream: false, ...more })
  return (await response.json()) as Answer
}

const text =
  'You get 25 days of annual leave. I hope that helps! ' +
  'The large meeting room in Malmö seats 40 people. The one in Lund seats 12 people.'
const words = text.split(/(?= )/).map((word) => ({ text: word }))

test('sentences of a model that cites nothing get the numbers of the documents they stand in', async () => {
  const { answer, citation_info: cited } = await ask(await start(words))
  const numberOf = (id: string): number | undefined =>
    cited.find((citation) => citation.document_id === id)?.citation_number
  const link = (id: string): string => `[[${numberOf(id)}]](https://x.example/${id})`
  expect(cited.map((citation) => citation.document_id)).toEqual(['leave', 'rooms'])
  expect(answer).toBe(
    `You get 25 days of annual leave. ${link('leave')} I hope that helps! ` +
      `The large meeting room in Malmö seats 40 people. ${link('rooms')} The one in Lund seats 12 people.`,
  )
})

test('a number is sent once its sentence is finished, before the model goes on', async () => {
  const rest = Promise.withResolvers<void>()
  const inlay = await start([{ text: 'You get 25 days of annual leave. I' }, { pause: () => rest.promise }, ...words])
  const response = await post(inlay, '/chat/send-chat-message', { message: 'How much leave is there?' })
  let lines = ''
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  while (!lines.includes('"citation_info"')) lines += (await reader.read()).value ?? ''
  expect(lines).toContain('days of annual leave.')
  expect(lines).not.toContain('hope')
  rest.resolve()
  for (let part = await reader.read(); !part.done; part = await reader.read()) lines += part.value
  expect(lines).toContain('hope')
})

test('a model that cites keeps what it cites', async () => {
  const { answer, citation_info: cited } = await ask(await start([{ text: `Leave is 25 days [1]. ${text}` }]))
  expect(cited.map((citation) => citation.citation_number)).toEqual([1])
  expect(answer.match(/\[\[/g)).toHaveLength(1)
})

test.each([
  ['a setting', { INLAY_COMPARED_CITATIONS: 'off' }, {}],
  ['a request without citations', {}, { include_citations: false }],
])('nothing is compared with %s', async (_, env, more) => {
  const { answer, citation_info: cited } = await ask(await start(words, env), more)
  expect(answer).toBe(text)
  expect(cited).toEqual([])
})

test.each([
  ['off for itself', false, {}, 0],
  ['on for itself', true, { INLAY_COMPARED_CITATIONS: 'off' }, 2],
])('an agent may turn that %s', async (_, compared, env, count) => {
  const inlay = await start(words, env)
  const agent = {
    name: 'Clerk',
    description: '',
    document_set_ids: [],
    tool_ids: [1],
    system_prompt: '',
    task_prompt: '',
    datetime_aware: true,
    compared_citations: compared,
  }
  const persona = (await (await post(inlay, '/persona', agent)).json()) as { id: number; compared_citations: unknown }
  expect(persona.compared_citations).toBe(compared)
  const { citation_info: cited } = await ask(inlay, { chat_session_info: { persona_id: persona.id } })
  expect(cited).toHaveLength(count)
})
