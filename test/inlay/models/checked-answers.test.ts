import { describe, expect, test } from 'vitest'
import type { StreamLine } from '@inlay/protocol'
import { startOpenAi } from '../../stand-in/openai.ts'
import type { RecordedRequest } from '../../stand-in/model-server.ts'
import { fact, hasNewResults, overServer, search } from './fixture.ts'

const cellar = 'The cellar opens with a code of six digits from the front desk.'

/** The number of the result that holds a text, as the model reads it. */
function numberOf({ body }: RecordedRequest, text: string): number {
  const messages = body['messages'] as { role: string; content: string }[]
  const results = JSON.parse(messages.find(({ role }) => role === 'tool')!.content).results as {
    document: number
    content: string
  }[]
  return results.find(({ content }) => content.includes(text))!.document
}

async function answersOf(write: (request: RecordedRequest) => string) {
  const server = await startOpenAi((request) => (hasNewResults(request) ? [{ text: write(request) }] : [search]))
  const over = await overServer(server, { name: 'm-1', grounding: 'tools', comparesCitations: true })
  const section = { text: `${cellar} The keys of the house are elsewhere.`, link: 'https://docs.example/cellar' }
  const document = {
    id: 'cellar',
    semantic_identifier: 'Cellar',
    sections: [section],
    source: 'ingestion_api',
    metadata: {},
  }
  expect((await over.post('/service-api/ingestion', { document })).status).toBe(200)
  return over
}

describe('an answer over HTTP', () => {
  test('cites the page that holds its sentence, though the model wrote the number of another', async () => {
    const { ask } = await answersOf((request) => `${fact.slice(0, -1)} [${numberOf(request, cellar)}].`)
    const { answer, citation_info: citations } = await ask('Where do the keys hang?')
    expect(answer).toMatch(/^The keys hang behind the boiler \[\[\d+\]\]\(https:\/\/docs\.example\/keys\)\.$/)
    expect(citations.map(({ document_id: id }) => id)).toEqual(['keys'])
  })

  test('loses a citation that no page carries', async () => {
    const { ask } = await answersOf(
      (request) =>
        `The volcano on the southern island erupted and destroyed several villages [${numberOf(request, cellar)}].`,
    )
    const { answer, citation_info: citations } = await ask('Where do the keys hang?')
    expect(answer).toBe('The volcano on the southern island erupted and destroyed several villages.')
    expect(citations).toEqual([])
  })

  test('streams a moved citation before its link', async () => {
    const { post } = await answersOf(
      (request) => `${fact.slice(0, -1)} [${numberOf(request, cellar)}]. They were hung there 77 years ago.`,
    )
    const response = await post('/chat/send-chat-message', { message: 'Where do the keys hang?' })
    const lines = (await response.text()).match(/(?<=^(?:data: )?)\{.*$/gm) ?? []
    const packets = lines
      .map((line) => JSON.parse(line) as StreamLine)
      .flatMap((line) => ('obj' in line ? [line.obj] : []))
    const at = packets.findIndex(({ type }) => type === 'citation_info')
    expect(packets[at]).toMatchObject({ document_id: 'keys' })
    expect(packets[at + 1]).toMatchObject({
      type: 'message_delta',
      content: expect.stringMatching(/^\[\[\d+\]\]\(https/),
    })
    expect(packets.at(-1)).toEqual({ type: 'stop', stop_reason: null })
  })
})
