import { scriptedModel, type ScriptedModel, type ScriptStep } from '@inlay/agent/testing'
import { createClient } from '@inlay/client'
import type { InlayOptions } from 'inlay'
import { scripted } from '../life/serve.ts'
import { apiKey, openAssistant } from './setting.ts'

export const leaveText = 'Every member of staff gets 25 days of leave in a year.'
export const leaveTitle = 'Rules of leave'
export const leaveLink = 'https://handbook.example/leave'
export const bikeTitle = 'Company bikes'

export type Prompt = Parameters<ScriptedModel['doStream']>[0]

/** Searches once, then answers from what it read; calls a tool of the client if there is one and has no result yet. */
function answer(call: Prompt): ScriptStep {
  const names = (call.tools ?? []).map(({ name }) => name)
  const last = call.prompt.at(-1)
  const read = JSON.stringify(call.prompt.filter(({ role }) => role === 'tool'))
  const question = JSON.stringify(call.prompt.findLast(({ role }) => role === 'user')?.content ?? '')
  if (call.responseFormat?.type === 'json') return ['{"days":', '25}']
  if (question.includes('### Task:')) return [names.length === 0 ? 'A title' : 'Tools!']
  if (question.includes('for ever')) return ['Half an ', { hang: true }]
  if (question.includes('break')) return ['Half an ', { cut: new Error('gone') }]
  if (names.includes('weather') && !read.includes('degrees'))
    return [{ call: { name: 'weather', input: { city: 'Bern' } } }]
  if (last?.role !== 'tool' && names.includes('internal_search'))
    return [{ reasoning: 'I look it up.' }, { call: { name: 'internal_search', input: { queries: [question] } } }]
  if (read.includes('degrees')) return ['It has 21 degrees ', 'in Bern.']
  return read.includes('25 days') ? ['There are 25 days ', 'of leave [', '1].'] : ['Bikes are blue [1].']
}

/** An assistant over two documents, with a model that follows a script. */
export async function openScripted(options: Partial<InlayOptions> = {}, script = answer) {
  const model = scriptedModel(script)
  const facts = { ...scripted, model, grounding: 'tools' as const, takesImages: true }
  const assistant = openAssistant({
    model: {
      resolve: async (override) => ({ ...facts, name: override?.model_version ?? facts.name }),
      list: async () =>
        [facts.name, 'other'].map((name) => ({
          ...facts,
          name,
          providerType: 'scripted',
          providerDisplayName: 'Scripted',
          isDefault: name === facts.name,
        })),
    },
    searchHelp: { expand: false },
    onError: () => {},
    ...options,
  })
  const { ingest } = createClient({ baseUrl: 'http://inlay.test/api', fetch: assistant.fetch, apiKey })
  const documents = [
    { id: 'leave', semantic_identifier: leaveTitle, sections: [{ text: leaveText, link: leaveLink }] },
    { id: 'bikes', semantic_identifier: bikeTitle, sections: [{ text: 'Company bikes are blue.' }] },
  ]
  for (const document of documents) await ingest({ ...document, source: 'file', metadata: {} }, { waitSeconds: 20 })
  return { ...assistant, model }
}
