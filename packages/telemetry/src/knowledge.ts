import type { Accepted, Knowledge } from '@inlay/knowledge'
import type { Instruments } from './instruments.ts'
import { endFailed, errorType, startSpan } from './spans.ts'

/** Knowledge that tells of each search and of each document that is handed in. */
export function observeKnowledge(knowledge: Knowledge, instruments: Instruments): Knowledge {
  const { searchDuration, acceptedDocuments } = instruments

  async function accepting(accept: () => Promise<Accepted>): Promise<Accepted> {
    const { span, within } = startSpan('accept document', {})
    try {
      const accepted = await within(accept)
      const result = accepted.isUnchanged ? 'unchanged' : accepted.alreadyExisted ? 'changed' : 'new'
      span.setAttributes({ 'inlay.document.id': accepted.documentId, 'inlay.result': result }).end()
      acceptedDocuments.record(1, { 'inlay.result': result })
      return accepted
    } catch (error) {
      endFailed(span, error)
      acceptedDocuments.record(1, { 'inlay.result': 'refused' })
      throw error
    }
  }

  const search: Knowledge['search'] = async (request) => {
    const start = performance.now()
    const { span, within } = startSpan('retrieval documents', { 'gen_ai.operation.name': 'retrieval' })
    try {
      const passages = await within(() => knowledge.search(request))
      span.setAttribute('inlay.search.passages', passages.length).end()
      searchDuration.record((performance.now() - start) / 1000)
      return passages
    } catch (error) {
      endFailed(span, error)
      searchDuration.record((performance.now() - start) / 1000, { 'error.type': errorType(error) })
      throw error
    }
  }

  return {
    ...knowledge,
    search,
    accept: (request, options) => accepting(() => knowledge.accept(request, options)),
    ingestFile: (file, options) => accepting(() => knowledge.ingestFile(file, options)),
  }
}
