import { startService, type Service } from './service.ts'
import { startOpenAi } from '../stand-in/openai.ts'
import type { RecordedRequest, Reply, StandIn } from '../stand-in/model-server.ts'

/** An Inlay over two documents, whose model is a stand-in. */
export interface ScriptedService extends Service {
  readonly model: StandIn
}

/** @param settings more of them, such as PORT */
export async function startScripted(settings: Readonly<Record<string, string>> = {}): Promise<ScriptedService> {
  const model = await startOpenAi(answer)
  const service = await startService({
    INLAY_MODEL: 'scripted',
    INLAY_MODEL_BASE_URL: `${model.origin}/v1`,
    INLAY_MODEL_GROUNDING: 'tools',
    INLAY_SEARCH_HELP: 'off',
    ...settings,
  })
  const documents = [
    { id: 'bikes', semantic_identifier: 'Company bikes', sections: [{ text: 'Company bikes are blue.' }] },
    {
      id: 'leave',
      semantic_identifier: 'Rules of leave',
      sections: [{ text: 'Everyone has 25 days of leave in a year.', link: 'https://handbook.example/leave' }],
    },
  ]
  const headers = { authorization: `Bearer ${service.key}`, 'content-type': 'application/json', prefer: 'wait=60' }
  for (const document of documents) {
    const body = JSON.stringify({ document: { ...document, source: 'file', metadata: {} } })
    const taken = await fetch(`${service.base}/service-api/ingestion`, { method: 'POST', headers, body })
    if (!taken.ok) throw new Error(await taken.text())
  }
  return {
    ...service,
    model,
    async close() {
      await service.close()
      await model.close()
    },
  }
}

const edit =
  'hours.py\n```python\n<<<<<<< SEARCH\nopening = hours[0]\n=======\nopening = hours[1]\n>>>>>>> REPLACE\n```\n'

/** Edits for aider, titles for front ends; else calls the client's tool once, or searches once and cites. */
function answer({ body }: RecordedRequest): Reply {
  const messages = Array.isArray(body['messages']) ? body['messages'] : []
  const tools = JSON.stringify(body['tools'] ?? [])
  const all = JSON.stringify(messages)
  const last = messages.at(-1)
  if (all.includes('### Task:')) return [{ text: tools === '[]' ? '{"title": "Leave", "tags": ["Leave"]}' : 'Tools!' }]
  if (all.includes('SEARCH/REPLACE')) return [{ text: edit }]
  if (body['response_format'] !== undefined) return [{ text: '{"days":' }, { text: ' 25}' }]
  if (last?.role !== 'tool' && tools.includes('"weather"'))
    return [{ calls: [{ id: 'call-1', name: 'weather', input: { city: 'Bern' } }] }]
  if (last?.role !== 'tool')
    return [{ calls: [{ id: 'call-1', name: 'internal_search', input: { queries: ['days of leave'] } }] }]
  const results = JSON.stringify(last)
  if (results.includes('degrees')) return [{ text: 'It has 21 degrees ' }, { text: 'in Bern.' }]
  return results.includes('25 days')
    ? [{ text: 'There are 25 days of leave [' }, { text: '1].' }]
    : [{ text: 'Nothing.' }]
}
