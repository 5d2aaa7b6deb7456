import type { Accepted, Knowledge, VectorIndex } from '@inlay/knowledge'
import type { Attributes } from '@opentelemetry/api'
import type { Instrument, Instruments } from './instruments.ts'
import { endFailed, errorType, observedBy, startSpan } from './spans.ts'

/** Wraps the knowledge to measure each search and each submitted document. */
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

  const search: Knowledge['search'] = (request) =>
    timed(
      { name: 'retrieval documents', attributes: { 'gen_ai.operation.name': 'retrieval' }, duration: searchDuration },
      () => knowledge.search(request),
      (passages) => ({ 'inlay.search.passages': passages.length }),
    )

  return {
    ...knowledge,
    search,
    accept: (request, options) => accepting(() => knowledge.accept(request, options)),
    ingestFile: (file, options) => accepting(() => knowledge.ingestFile(file, options)),
  }
}

/** Wraps an index to measure each commit of documents and each round of maintenance. */
export function observeIndex(index: VectorIndex, instruments: Instruments): VectorIndex {
  const { staging } = index
  const observed: Partial<VectorIndex> = {
    append: (rows) =>
      timed(
        {
          name: 'index documents',
          attributes: { 'inlay.index.rows': rows.length },
          duration: instruments.indexingDuration,
        },
        () => index.append(rows),
      ),
    maintain: (options) =>
      timed(
        { name: 'upkeep index', attributes: {}, duration: instruments.upkeepDuration },
        () => index.maintain(options),
        ({ rows, unindexedRows }) => ({ 'inlay.index.rows': rows, 'inlay.index.unindexed_rows': unindexedRows }),
      ),
    ...(staging && { staging: (number) => observeIndex(staging.call(index, number), instruments) }),
  }
  return observedBy(index, observed)
}

interface Timing {
  readonly name: string
  readonly attributes: Attributes
  readonly duration: Instrument
}

/** Runs work in a span of its own and measures its time. */
async function timed<Result>(
  { name, attributes, duration }: Timing,
  work: () => Promise<Result>,
  toAttributes: (result: Result) => Attributes = () => ({}),
): Promise<Result> {
  const start = performance.now()
  const { span, within } = startSpan(name, attributes)
  try {
    const result = await within(work)
    span.setAttributes(toAttributes(result)).end()
    duration.record((performance.now() - start) / 1000)
    return result
  } catch (error) {
    endFailed(span, error)
    duration.record((performance.now() - start) / 1000, { 'error.type': errorType(error) })
    throw error
  }
}
