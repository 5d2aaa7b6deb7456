import type { Accepted, Knowledge, VectorIndex } from '@inlay/knowledge'
import type { Attributes } from '@opentelemetry/api'
import { observeMethods, type EngineCall } from './engines.ts'
import type { Instruments } from './instruments.ts'
import { endFailed, errorType, observedBy, startSpan } from './spans.ts'

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
    let failure: Attributes = {}
    try {
      const passages = await within(() => knowledge.search(request))
      span.setAttribute('inlay.search.passages', passages.length).end()
      return passages
    } catch (error) {
      failure = { 'error.type': errorType(error) }
      endFailed(span, error)
      throw error
    } finally {
      searchDuration.record((performance.now() - start) / 1000, failure)
    }
  }

  return {
    ...knowledge,
    search,
    accept: (request, options) => accepting(() => knowledge.accept(request, options)),
    ingestFile: (file, options) => accepting(() => knowledge.ingestFile(file, options)),
  }
}

/** Wraps an index, and those that replace it, to measure their calls. */
export function observeIndex(index: VectorIndex, call: EngineCall): VectorIndex {
  const { staging } = index
  const measured = observeMethods(index, ['open', 'remove', 'search', 'read', 'figures'], call)
  return observedBy(measured, {
    append: (rows) =>
      call(
        'append',
        () => index.append(rows),
        () => ({ 'db.operation.batch.size': rows.length }),
      ),
    maintain: (options) =>
      call(
        'maintain',
        () => index.maintain(options),
        (figures) =>
          figures && { 'inlay.index.rows': figures.rows, 'inlay.index.unindexed_rows': figures.unindexedRows },
      ),
    ...(staging && { staging: (number) => observeIndex(staging.call(index, number), call) }),
  })
}
